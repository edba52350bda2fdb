"""A table of how good prototype models are beside their task models, from the shipped weights.

`humetric models` prints it and writes it to docs/embedded-prototypes.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from humetric.data.embedded import census
from humetric.models import stored
from humetric.models.convnet import WEIGHTS
from humetric.models.prototype_files import beside
from humetric.models.prototype_fit import Data, Rows, given, in_order, predictions
from humetric.models.text_table import Progress, Table
from humetric.models.train_prototypes import RECIPES
from humetric.models.train_text import inputs_of, texts, tokenizer_of

COUNT = 2000
HELD_OUT = {"sentiment": "extra", "tabular": "test"}
"""Splits that no weights and no recipe were chosen by."""


def tables(
    root: Path = WEIGHTS, count: int = COUNT, progress: Progress = lambda setting: None
) -> list[Table]:
    """Measure task and prototype models on the first `count` cases of two splits."""
    rows = []
    for setting in RECIPES:
        models = root / setting
        if (models / "model.safetensors").exists():
            task = stored.load(models / "model.safetensors")
            both = beside(models, task)
            if both is not None:
                progress(setting)
                splits = [measured(setting, split, root, count) for split in splits_of(setting)]
                said = [
                    [
                        _plain(task, data),
                        predictions(both.own(), data),
                        predictions(both.fixed(), data),
                    ]
                    for data in splits
                ]
                size = f"{len(splits[0].target.unique())} x {RECIPES[setting].prototypes}"
                rows.append((setting, size, *_cells(splits, said)))
    each = ("task", "own", "fixed")
    return [
        Table(
            "Prototype models",
            f"Accuracy on {count} cases of the pool, from which the explained cases are, and on "
            f"{count} that nothing was chosen by (held out): of the task model, and of the "
            "prototype model with an extractor of its own and with the task model's. At the end: "
            "how often each says what the task model says, held out.",
            (
                "setting",
                "size",
                *(f"{split} {model}" for split in ("pool", "held out") for model in each),
                "own as task",
                "fixed as task",
            ),
            tuple(rows),
        )
    ]


def splits_of(setting: str) -> tuple[str, str]:
    """The pool, and the split that is held out."""
    return "pool", HELD_OUT[setting.split("/")[0]]


def measured(setting: str, split: str, root: Path, count: int) -> Data:
    """The first cases of a split as the models of a setting take them."""
    task, data, _ = setting.split("/")
    if task == "tabular":
        values, labels = census.rows(split, count)
        return Rows(torch.tensor(values, dtype=torch.float32), torch.tensor(labels))
    return inputs_of(tokenizer_of(data, root), texts(data, split, count))


@torch.no_grad()
def _plain(task: nn.Module, data: Data) -> NDArray[np.int64]:
    """(rows,): what the task model says."""
    return torch.cat([task(*given(batch)).argmax(1) for batch in in_order(data)]).numpy()


def _cells(splits: list[Data], said: list[list[NDArray[np.int64]]]) -> list[str]:
    """Accuracies on each split, and agreement with the task model on the last."""
    right = [
        (guess == data.target.numpy()).mean()
        for data, guesses in zip(splits, said, strict=True)
        for guess in guesses
    ]
    task, *others = said[-1]
    return [f"{share:.3f}" for share in (*right, *((task == other).mean() for other in others))]


def document(found: Iterable[Table]) -> str:
    """The table as a page."""
    head = (
        "# Embedded prototype models\n\nWritten by `humetric models --output docs`, which measures "
        "the shipped weights; nothing here is typed in. The models are those of Hase & Bansal "
        "(2020), section 3.3: src/humetric/models/prototypes.py says what they compute, `python -m "
        "humetric.models.train_prototypes all` trains them. In the study accuracies are 80.93 "
        "(task) and 80.64 (prototype) for texts, 83.49 and 81.90 for rows.\n\n"
    )
    return head + "\n".join(table.markdown() for table in found)
