"""Embedded tabular settings by name: generated rows, shipped weights."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from humetric.data.embedded import census
from humetric.errors import HumetricError
from humetric.models.convnet import WEIGHTS
from humetric.models.prototype_files import beside
from humetric.models.tabular_weights import load
from humetric.models.trees import Trees
from humetric.tasks.setting import Setting
from humetric.tasks.tabular_setting import DRAWS, tabular_setting


def load_tabular_setting(
    id: str,
    chosen: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    removal: str = "expectation",
    draws: int = DRAWS,
) -> Setting:
    """A tabular setting from its cases.json (`chosen`) and the rows of it that are wanted.

    The region holds the columns that take part in the row's rule (see the census).
    """
    data = chosen["data"]
    values = [census.draw(row["index"], "pool").values for row in rows]
    other = sum(census.digest(v) != row["sha256"] for v, row in zip(values, rows, strict=True))
    if other:
        raise HumetricError(
            f"Expected the recorded rows of {id} but {other} of {len(rows)} are others: data and "
            "weights of this package do not belong together. Install it again, or train the models "
            "with python -m humetric.models.train_tabular."
        )
    weights = WEIGHTS / id / "model.safetensors"
    model = load(weights)
    made = tabular_setting(
        id,
        model.predict if isinstance(model, Trees) else model,
        census.COLUMNS,
        values,
        background=census.rows("background")[0],
        label=[row["label"] for row in rows],
        target=[row["predicted"] for row in rows],
        ids=[f"{data}-{row['index']:04d}" for row in rows],
        version=f"data {chosen['data_version']}, weights "
        + hashlib.sha256(weights.read_bytes()).hexdigest()[:12],
        classes=census.CLASSES,
        removal=removal,
        draws=draws,
        prototypes=None if isinstance(model, Trees) else beside(weights.parent, model),
    )
    return replace(made, region=torch.tensor([census.relevant(v) for v in values]))
