"""Replicates of simulated users as records hold them."""

from __future__ import annotations

import torch
from torch import Tensor

from humetric.metrics.panel import Replicates
from humetric.results.store import Record

CONTROL = "control "
"""What the names of a record's controls begin with."""


def tensors_of(found: Replicates) -> dict[str, Tensor]:
    """The numbers of a record; names of replicates are beside them."""
    return {"value": found.value} | {f"{CONTROL}{name}": v for name, v in found.controls.items()}


def as_replicates(record: Record) -> Replicates:
    """A record of a simulated user as replicates."""
    controls = {
        name.removeprefix(CONTROL): values
        for name, values in sorted(record.tensors.items())
        if name.startswith(CONTROL)
    }
    return Replicates(record.about["names"], record.tensors["value"], controls)


def control_means(found: Replicates) -> dict[str, float]:
    """The mean over replicates of each control, NaN where it has no defined value."""
    return {name: float(torch.nanmean(values)) for name, values in sorted(found.controls.items())}
