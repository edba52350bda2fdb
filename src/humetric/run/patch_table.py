"""How much perceptual similarity depends on the size and number of patches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humetric.engine.engine import Engine
from humetric.errors import HumetricError
from humetric.methods import Method
from humetric.metrics import METRICS, Scores
from humetric.results.result import Failure, Skip
from humetric.run.reference_maps import reference_maps, reference_plan
from humetric.run.work import said, score
from humetric.seeding import generator
from humetric.stats.bootstrap import MeanInterval, mean_interval
from humetric.stats.concordance import spearman
from humetric.tasks.setting import PlacedSetting

SHARES = (Fraction(1, 8), Fraction(1, 6), Fraction(1, 4), Fraction(1, 3))
"""Of the image's side."""
COUNTS = (1, 3)
"""Patches of a case."""
USUAL = (Fraction(1, 4), 1)
"""What the metrics take by default, which the others are compared with."""


class Column(NamedTuple):
    """One size and number of patches."""

    share: Fraction
    patches: int
    means: dict[str, MeanInterval]
    """By method."""
    order: float
    """Spearman's rho of the methods' means with those of the usual column."""


class PatchTable(NamedTuple):
    """The metric of each method over the setting's reference cases, column by column."""

    setting: str
    metric: str
    cases: int
    columns: tuple[Column, ...]
    failures: tuple[Failure, ...]
    skips: tuple[Skip, ...]


def patch_table(
    placed: PlacedSetting,
    methods: Sequence[Method],
    metric: str,
    *,
    chunk: int,
    seed: int,
    folder: Path,
    progress: Callable[[str], object] = lambda method: None,
) -> PatchTable:
    """Every case of the reference against those of other classes, for all sizes and numbers.

    Maps are those of a run with the same chunks and seed: they are read from the folder, or made
    and kept there. The values are not kept: they take a moment.
    """
    setting = placed.setting
    plan = reference_plan(setting, methods, METRICS.make(metric), chunk)
    values: dict[tuple[Fraction, int], dict[str, NDArray[np.float64]]] = {}
    failures = []
    for name, found in reference_maps(
        placed, plan, methods, seed=seed, folder=folder, progress=progress
    ):
        if isinstance(found, HumetricError):
            failures.append(Failure(setting.id, name, "", said(found)))
            continue
        engine = Engine(found.cases, placed.fast_module, placed.placement.dtype)
        for share in SHARES:
            for count in COUNTS:
                made = METRICS.make(metric, {"share": float(share), "patches": count})
                scores = score({name: found.attribution}, [made], engine, found)[name, metric]
                if isinstance(scores, Scores):
                    values.setdefault((share, count), {})[name] = scores.value.numpy()
                else:
                    failures.append(Failure(setting.id, name, metric, said(scores)))
    columns = _columns(values, seed)
    cases = 0 if setting.reference is None else len(setting.reference)
    some = tuple(dict.fromkeys(failures))
    return PatchTable(setting.id, metric, cases, columns, some, plan.skips)


def _columns(
    values: dict[tuple[Fraction, int], dict[str, NDArray[np.float64]]], seed: int
) -> tuple[Column, ...]:
    """Means with intervals, and how far they order methods as the usual ones do."""
    means = {
        key: {
            name: mean_interval(row, generator(seed, name, "patches")) for name, row in of.items()
        }
        for key, of in values.items()
    }
    found = []
    for count in COUNTS:
        for share in SHARES:
            own, usual = means.get((share, count), {}), means.get(USUAL, {})
            both = [name for name in own if name in usual]
            order = spearman([own[n].mean for n in both], [usual[n].mean for n in both])
            found.append(Column(share, count, own, order))
    return tuple(found)
