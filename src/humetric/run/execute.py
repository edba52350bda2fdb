"""Doing the work of a run in this process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd
from torch import Tensor

from humetric.engine.engine import Engine
from humetric.methods import Method
from humetric.metrics import Metric
from humetric.results.environment import environment
from humetric.results.result import COLUMNS, Failure, Result
from humetric.run.plan import Plan
from humetric.run.work import Item, explain, score
from humetric.tasks.setting import PlacedSetting

Progress = Callable[[Item, int], object]
"""Told the item in progress and how many rows the model was called with since the last time."""

Key = tuple[str, str, str, str]
"""(setting, case, method, metric)."""


@dataclass(frozen=True)
class Done:
    """What one item left behind."""

    values: Mapping[Key, float]
    curves: Mapping[Key, list[float]]
    failures: tuple[Failure, ...]
    calls: int
    batch_size: int


def execute(
    plan: Plan,
    settings: Mapping[str, PlacedSetting],
    methods: Mapping[str, Method],
    metrics: Mapping[str, Metric],
    *,
    batches: Mapping[str, int],
    seed: int = 0,
    about: Mapping[str, Any] = MappingProxyType({}),
    progress: Progress = lambda item, rows: None,
) -> Result:
    """Run all items. A method or metric that fails is recorded; the rest goes on.

    ``about`` is what the caller knows of the run, for its provenance.
    """
    began = time.perf_counter()
    batches = dict(batches)
    finished: list[Done] = []
    for item in plan.items:
        done = run_item(
            item, settings[item.setting], methods, metrics, seed, batches[item.setting], progress
        )
        batches[item.setting] = done.batch_size  # a back-off holds for the rest of the run
        finished.append(done)
    table = [(*key, value) for done in finished for key, value in done.values.items()]
    some = next(iter(settings.values())).placement
    return Result(
        scores=pd.DataFrame(table, columns=COLUMNS),
        curves={key: curve for done in finished for key, curve in done.curves.items()},
        failures=tuple(dict.fromkeys(f for done in finished for f in done.failures)),
        skips=plan.skips,
        methods={name: method.card for name, method in methods.items()},
        metrics={name: metric.card for name, metric in metrics.items()},
        provenance={
            **about,
            "seed": seed,
            "cases": {name: len(placed.setting) for name, placed in settings.items()},
            "chunk": max(item.stop - item.start for item in plan.items),
            "device": str(some.device),
            "precision": some.precision,
            "settings": {name: placed.setting.version for name, placed in settings.items()},
            "batch_size": batches,
            "model_calls": sum(done.calls for done in finished),
            "seconds": round(time.perf_counter() - began, 2),
            "environment": environment(),
        },
    )


def run_item(
    item: Item,
    placed: PlacedSetting,
    methods: Mapping[str, Method],
    metrics: Mapping[str, Metric],
    seed: int,
    batch: int,
    progress: Progress,
) -> Done:
    """Explain and score one chunk of cases."""
    progress(item, 0)
    cases = placed.cases(item.start, item.stop, seed)
    engine = Engine(
        cases,
        placed.fast_module,
        placed.placement.dtype,
        batch,
        progress=lambda rows: progress(item, rows),
    )
    explained = explain([methods[name] for name in item.methods], engine)
    maps = {name: found for name, found in explained.items() if isinstance(found, Tensor)}
    scored = score(maps, [metrics[name] for name in item.metrics], engine)
    failures = [
        Failure(item.setting, name, "", _said(found))
        for name, found in explained.items()
        if isinstance(found, Exception)
    ]
    values: dict[Key, float] = {}
    curves: dict[Key, list[float]] = {}
    for (name, metric), scores in scored.items():
        if isinstance(scores, Exception):
            failures.append(Failure(item.setting, name, metric, _said(scores)))
            continue
        keys = [(item.setting, case, name, metric) for case in cases.ids]
        values.update(zip(keys, scores.value.tolist(), strict=True))
        if scores.curve is not None:
            curves.update(zip(keys, scores.curve.tolist(), strict=True))
    return Done(values, curves, tuple(failures), engine.rows, engine.batch_size)


def _said(error: Exception) -> str:
    """What an exception says, with its kind where that adds something."""
    kind = type(error)
    own = kind.__module__.startswith("humetric")
    return str(error) if own else f"{kind.__name__}: {error}"
