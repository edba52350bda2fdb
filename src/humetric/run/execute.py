"""Doing the work of a run: what is stored is read, what is missing is computed and stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import pandas as pd
from torch import Tensor

from humetric.engine.engine import Engine
from humetric.methods import Method
from humetric.methods.explanation import Explanation
from humetric.metrics import Metric, Scores
from humetric.results.environment import environment
from humetric.results.result import COLUMNS, Failure, Result, curve_points
from humetric.results.store import Store
from humetric.run.isolated import Limits, Workers
from humetric.run.plan import Plan
from humetric.run.records import Chunk, chunk_of
from humetric.run.work import Item, explanations, said, score
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
    with Workers(isolate, seed, store) as workers:
        for item in plan.items:
            placed = settings[item.setting]
            progress(item, 0)
            beside = {"batch_size": batches[item.setting], "environment": found}
            chunk = chunk_of(item, placed, seed, store, beside)
            engine = Engine(
                placed.cases(item.start, item.stop, seed),
                placed.fast_module,
                placed.placement.dtype,
                batches[item.setting],
                progress=lambda rows, item=item: progress(item, rows),  # type: ignore[misc]
                memory=chunk,
            )
            made = _maps(item, placed, [methods[n] for n in item.methods], engine, chunk, workers)
            maps = {n: m.attribution for n, m in made.items() if isinstance(m, Explanation)}
            done.more.update(
                ((item.setting, n), m.setting)
                for n, m in made.items()
                if isinstance(m, Explanation) and m.setting
            )
            for name, metric, scores in _scores(
                maps,
                {name: methods[name] for name in maps},
                [metrics[name] for name in item.metrics],
                engine,
                chunk,
            ):
                if isinstance(scores, Exception):
                    done.failures.append(Failure(item.setting, name, metric, said(scores)))
                else:
                    done.add(item, engine.cases.ids, name, metric, scores)
            done.failures += [
                Failure(item.setting, name, "", said(error))
                for name, error in made.items()
                if isinstance(error, Exception)
            ]
            done.calls += engine.rows
            batches[item.setting] = engine.batch_size  # a back-off holds for the rest of the run
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


def _maps(
    item: Item,
    placed: PlacedSetting,
    methods: list[Method],
    engine: Engine,
    chunk: Chunk,
    workers: Workers,
) -> dict[str, Explanation | Exception]:
    """Maps by method id: stored ones, and new ones method by method."""
    maps: dict[str, Explanation | Exception] = {}
    for method in methods:
        stored = chunk.map(method.card)
        if stored is not None:
            there = stored.attribution.to(engine.cases.device)
            maps[method.card.id] = replace(stored, attribution=there)
            continue
        began, before, known = time.perf_counter(), engine.rows, engine.asked
        if workers.take(method):
            found = workers.explain(method, placed, item, engine.batch_size)
            calls, asked = workers.last_calls, workers.last_asked
        else:
            found = explanations([method], engine)[method.card.id]
            calls, asked = engine.rows - before, engine.asked - known
        maps[method.card.id] = found
        if isinstance(found, Explanation):
            taken = time.perf_counter() - began
            chunk.keep_map(method.card, found, calls, taken, asked)
    return maps


def _scores(
    maps: Mapping[str, Tensor],
    methods: Mapping[str, Method],
    metrics: list[Metric],
    engine: Engine,
    chunk: Chunk,
) -> Iterator[tuple[str, str, Scores | Exception]]:
    """Scores of every method and metric: stored ones, and new ones pair by pair.

    Each pair is asked apart, so that its values are the same to the last bit whatever else a run
    computes, and wherever an earlier one was interrupted.
    """
    for name, attribution in maps.items():
        for metric in metrics:
            stored = chunk.scores(methods[name].card, metric.card)
            if stored is not None:
                yield name, metric.card.id, stored
                continue
            began, before = time.perf_counter(), engine.rows
            found = score({name: attribution}, [metric], engine)[name, metric.card.id]
            if isinstance(found, Scores):
                taken = engine.rows - before, time.perf_counter() - began
                chunk.keep_scores(methods[name].card, metric.card, found, *taken)
            yield name, metric.card.id, found
