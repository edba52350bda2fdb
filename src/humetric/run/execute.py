"""Doing the work of a run: what is stored is read, what is missing is computed and stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

import pandas as pd

from humetric.methods import Method
from humetric.metrics import Metric, Scores
from humetric.metrics.panel import LEARNING, Replicates
from humetric.results.environment import environment
from humetric.results.replicates import control_means
from humetric.results.result import COLUMNS, Failure, Result, curve_points
from humetric.results.store import Store
from humetric.run.desk import Desk, Desks
from humetric.run.isolated import Limits, Workers
from humetric.run.pending import missing
from humetric.run.plan import Plan
from humetric.run.simulate import Stage, panel_setting, stage_of
from humetric.run.work import Item, said
from humetric.tasks.setting import PlacedSetting, Setting

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
    controls: dict[tuple[str, str, str], dict[str, float]] = field(default_factory=dict)
    calls: int = 0

    def add_replicates(self, item: Item, name: str, metric: str, found: Replicates) -> None:
        """Replicates of one method and simulated user."""
        keys = [(item.setting, replicate, name, metric) for replicate in found.names]
        self.values.update(zip(keys, found.value.tolist(), strict=True))
        self.controls[item.setting, name, metric] = control_means(found)

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
            if item.scope == "setting":
                stage = stage_of(desks, item, [metrics[m] for m in item.metrics])
                for name, metric, met in _replicates(item, methods, metrics, stage):
                    if isinstance(met, Exception):
                        done.failures.append(Failure(item.setting, name, metric, said(met)))
                    else:
                        done.add_replicates(item, name, metric, met)
                continue
            desk = desks.at(item, _others(settings[item.setting], plan, metrics))
            lacking = missing(item, desk.chunk, methods, metrics)
            needed = {*lacking.methods, *(name for name, _ in lacking.pairs)}
            for name in item.methods:
                if name not in needed and not desk.chunk.has_map(methods[name].card):
                    continue  # published: scores are there, and what the map took
                made = desk.map(methods[name])
                if isinstance(made, Exception):
                    done.failures.append(Failure(item.setting, name, "", said(made)))
                elif made.setting:
                    done.more[item.setting, name] = made.setting
            for name, metric, scores in _scores(item, methods, metrics, desk, desks, needed):
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
        controls=done.controls,
    )


def _others(placed: PlacedSetting, plan: Plan, metrics: Mapping[str, Metric]) -> list[Setting]:
    """Cases of a setting that will be looked at beside those of an item."""
    here = [item for item in plan.items if item.setting == placed.setting.id]
    found = []
    compares = any(metrics[m].card.compares for item in here for m in item.metrics)
    if compares and placed.setting.reference is not None:
        found.append(placed.setting.reference)
    if any(item.scope == "setting" for item in here):
        found.append(panel_setting(placed).first(LEARNING))
    return found


def _replicates(
    item: Item, methods: Mapping[str, Method], metrics: Mapping[str, Metric], stage: Stage
) -> Iterator[tuple[str, str, Replicates | Exception]]:
    """What every simulated user does with what every method shows."""
    for name in item.methods:
        for metric in item.metrics:
            yield name, metric, stage.replicates(methods[name], metrics[metric])


def _scores(
    item: Item,
    methods: Mapping[str, Method],
    metrics: Mapping[str, Metric],
    desk: Desk,
    desks: Desks,
    needed: Set[str],
) -> Iterator[tuple[str, str, Scores | Exception]]:
    """Scores of every metric and every method that gave maps, or whose scores are all there."""
    for name in item.methods:
        method = methods[name]
        if name in needed and isinstance(desk.map(method), Exception):
            continue
        reference = partial(desks.reference, item.setting, method)
        for metric in item.metrics:
            yield name, metric, desk.scores(method, metrics[metric], reference)
