"""Doing the work of a run: what is stored is read, what is missing is computed and stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

import pandas as pd

from humetric.methods import Method
from humetric.metrics import Metric, Scores
from humetric.results.environment import environment
from humetric.results.result import COLUMNS, Failure, Result, curve_points
from humetric.results.store import Store
from humetric.run.desk import Desk, Desks
from humetric.run.isolated import Limits, Workers
from humetric.run.plan import Plan
from humetric.run.work import Item, said
from humetric.tasks.setting import PlacedSetting

Progress = Callable[[Item, int], object]
"""Told the item in progress and how many rows the model was called with since the last time."""

Key = tuple[str, str, str, str]
"""(setting, case, method, metric)."""


@dataclass
class Done:
    """What the items found so far."""

    values: dict[Key, float] = field(default_factory=dict)
    curves: dict[Key, list[float]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    more: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    calls: int = 0

    def add(
        self, item: Item, cases: tuple[str, ...], name: str, metric: str, found: Scores
    ) -> None:
        """Values and curves of one method and metric."""
        keys = [(item.setting, case, name, metric) for case in cases]
        self.values.update(zip(keys, found.value.tolist(), strict=True))
        if found.curve is not None:
            self.curves.update(zip(keys, curve_points(found.curve), strict=True))


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
    store: Store | None = None,
    isolate: Limits | None = None,
) -> Result:
    """Run all items. A method or metric that fails is recorded; the rest goes on.

    ``about`` is what the caller knows of the run, for its provenance. With a ``store`` only what it
    lacks is computed. With ``isolate`` methods that are not built in explain in their own process.
    """
    began, done = time.perf_counter(), Done()
    found = environment()
    batches = dict(batches)

    def told(item: Item, rows: int) -> None:
        done.calls += rows
        progress(item, rows)

    with Workers(isolate, seed, store) as workers:
        about_records = {"environment": found}
        desks = Desks(settings, plan.chunk, batches, workers, told, seed, store, about_records)
        for item in plan.items:
            progress(item, 0)
            desk = desks.at(item, any(metrics[m].card.compares for m in item.metrics))
            for name in item.methods:
                made = desk.map(methods[name])
                if isinstance(made, Exception):
                    done.failures.append(Failure(item.setting, name, "", said(made)))
                elif made.setting:
                    done.more[item.setting, name] = made.setting
            for name, metric, scores in _scores(item, methods, metrics, desk, desks):
                if isinstance(scores, Exception):
                    done.failures.append(Failure(item.setting, name, metric, said(scores)))
                else:
                    done.add(item, desk.engine.cases.ids, name, metric, scores)
            # A back-off holds for the rest of the run.
            batches[item.setting] = min(batches[item.setting], desk.engine.batch_size)
        done.calls += workers.calls
    table = [(*key, value) for key, value in done.values.items()]
    some = next(iter(settings.values())).placement
    return Result(
        scores=pd.DataFrame(table, columns=COLUMNS),
        curves=done.curves,
        failures=tuple(dict.fromkeys(done.failures)),
        skips=plan.skips,
        methods={name: method.card for name, method in methods.items()},
        metrics={name: metric.card for name, metric in metrics.items()},
        provenance={
            **about,
            "seed": seed,
            "cases": {name: len(placed.setting) for name, placed in settings.items()},
            "chunk": plan.chunk,
            "device": str(some.device),
            "precision": some.precision,
            "settings": {name: placed.setting.version for name, placed in settings.items()},
            "batch_size": batches,
            "model_calls": done.calls,
            "seconds": round(time.perf_counter() - began, 2),
            "environment": found,
        },
        damaged=tuple(dict.fromkeys(store.damaged)) if store is not None else (),
        more=done.more,
    )


def _scores(
    item: Item,
    methods: Mapping[str, Method],
    metrics: Mapping[str, Metric],
    desk: Desk,
    desks: Desks,
) -> Iterator[tuple[str, str, Scores | Exception]]:
    """Scores of every metric and every method that gave maps."""
    for name in item.methods:
        method = methods[name]
        if isinstance(desk.map(method), Exception):
            continue
        reference = partial(desks.reference, item.setting, method)
        for metric in item.metrics:
            yield name, metric, desk.scores(method, metrics[metric], reference)
