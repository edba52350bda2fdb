"""A table of how good the embedded models of rows are, measured from the shipped weights.

`humetric models` prints it and writes it to docs/embedded-tabular.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humetric.data.embedded import census
from humetric.models.convnet import WEIGHTS
from humetric.models.tabular_weights import load, parameters, probabilities
from humetric.models.text_table import Progress, Table
from humetric.models.train_tabular import RECIPES

MEASURED = ("pool", "test")


def tables(
    root: Path = WEIGHTS,
    count: int = census.SPLITS["pool"],
    progress: Progress = lambda setting: None,
) -> list[Table]:
    """Measure every model, and the rule behind the labels, on the first `count` rows."""
    rows = []
    for setting in RECIPES:
        if (root / setting).exists():
            progress(setting)
            model = load(root / setting / "model.safetensors")
            found = [probabilities(model, census.rows(s, count)[0])[:, 1] > 0.5 for s in MEASURED]
            kind = setting.split("/")[-1]
            rows.append((setting, kind, f"{parameters(model):,}", *_shares(found, count)))
    points = [[census.rule(row) for row in census.rows(s, count)[0]] for s in MEASURED]
    best = _shares([np.array(p) > 0 for p in points], count)
    return [
        Table(
            "Tabular",
            f"Accuracy on {count} rows of the pool, from which the cases are, and on {count} that "
            "nothing was chosen by (held out). The rule knows all but the noise: no model can be "
            "expected to do better.",
            ("setting", "model", "parameters", "pool", "held out"),
            (*rows, ("census", "the rule", "", *best)),
        )
    ]


def _shares(said: Iterable[NDArray[np.bool_]], count: int) -> list[str]:
    """Shares of right answers on each split."""
    return [
        f"{(guess == census.rows(split, count)[1]).mean():.3f}"
        for split, guess in zip(MEASURED, said, strict=True)
    ]


def document(found: Iterable[Table]) -> str:
    """The tables as a page."""
    head = (
        "# Embedded tabular models\n\nWritten by `humetric models --output docs`, which measures "
        "the shipped weights; nothing here is typed in. The rows are generated "
        "(src/humetric/data/embedded/census.py says by which rule), the models trained by `python "
        "-m humetric.models.train_tabular`.\n\n"
    )
    return head + "\n".join(table.markdown() for table in found)
