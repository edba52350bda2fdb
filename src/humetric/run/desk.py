"""Desks: a chunk of cases at work, with its engine, its records and the maps that were made.

Metrics that compare with other cases need a method's maps of the setting's reference, simulated
users those of their panel's learning cases. Those chunks have desks like any other: stored maps are
read, missing ones are made and stored, and a chunk that a run scores anyway is explained once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from humetric.engine.engine import Engine
from humetric.errors import HumetricError
from humetric.methods import Method
from humetric.methods.explanation import Explanation, joined
from humetric.metrics import Metric, Reference, Scores
from humetric.results.store import Store
from humetric.run.isolated import Workers
from humetric.run.records import Chunk, chunk_of
from humetric.run.work import Item, explanations, items_beside, said, score
from humetric.tasks.setting import PlacedSetting, Setting


@dataclass
class Desk:
    """Methods and metrics on one chunk of cases."""

    item: Item
    placed: PlacedSetting
    engine: Engine
    chunk: Chunk
    workers: Workers
    _maps: dict[str, Explanation | Exception] = field(default_factory=dict, init=False)

    def map(self, method: Method) -> Explanation | Exception:
        """A method's maps: stored ones, or new ones, which are stored."""
        name = method.card.id
        if name not in self._maps:
            self._maps[name] = self._map(method)
        return self._maps[name]

    def _map(self, method: Method) -> Explanation | Exception:
        stored, engine = self.chunk.map(method.card), self.engine
        if stored is not None:
            there = stored.attribution.to(engine.cases.device)
            return replace(stored, attribution=there)
        began, before, known = time.perf_counter(), engine.rows, engine.asked
        if self.workers.take(method):
            found = self.workers.explain(method, self.placed, self.item, engine.batch_size)
            calls, asked = self.workers.last_calls, self.workers.last_asked
        else:
            found = explanations([method], engine)[method.card.id]
            calls, asked = engine.rows - before, engine.asked - known
        if isinstance(found, Explanation):
            taken = time.perf_counter() - began
            self.chunk.keep_map(method.card, found, calls, taken, asked)
        return found

    def scores(
        self, method: Method, metric: Metric, reference: Callable[[], Reference]
    ) -> Scores | Exception:
        """A metric's values of a method's maps, which must be there: stored ones, or new ones.

        Each pair is asked apart, so that its values are the same to the last bit whatever else a
        run computes, and wherever an earlier one was interrupted.
        """
        stored = self.chunk.scores(method.card, metric.card)
        if stored is not None:
            return stored
        explained = self.map(method)
        if isinstance(explained, Exception):
            return explained
        try:
            others = reference() if metric.card.compares else None
        except HumetricError as error:
            return error
        began, before = time.perf_counter(), self.engine.rows
        name, maps = method.card.id, {method.card.id: explained.attribution}
        found = score(maps, [metric], self.engine, others)[name, metric.card.id]
        if isinstance(found, Scores):
            taken = self.engine.rows - before, time.perf_counter() - began
            self.chunk.keep_scores(method.card, metric.card, found, *taken)
        return found


@dataclass
class Desks:
    """Desks of a run. Those of cases beside the run's stay until the next setting's turn comes."""

    placed: Mapping[str, PlacedSetting]
    size: int
    """Cases of a chunk."""
    batches: dict[str, int]
    workers: Workers
    told: Callable[[Item, int], object]
    """Told the chunk, and how many rows the model was called with."""
    seed: int = 0
    store: Store | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    """What is written beside every record, the batch size aside."""
    _setting: str = field(default="", init=False)
    _beside: dict[tuple[str, ...], Desk] = field(default_factory=dict, init=False)
    """By the setting and the cases that they are of."""
    _cases: dict[str, Reference] = field(default_factory=dict, init=False)
    """By method."""

    def at(self, item: Item, others: Sequence[Setting]) -> Desk:
        """The desk of an item; it is kept if it is of some of the other cases, needed later."""
        self.turn_to(item.setting)
        placed = self.placed[item.setting]
        key = (item.setting, *placed.setting.ids[item.start : item.stop])
        known = self._beside.get(key)
        # The same cases as rows of another setting have no reference of their own.
        if known is not None and known.placed is placed:
            return known
        opened = self.open(item, placed)
        if any(
            (i.start, i.stop) == (item.start, item.stop) and where is placed
            for cases in others
            for i, where in items_beside(placed, cases, self.size)
        ):
            self._beside[key] = opened
        return opened

    def explained(
        self, placed: PlacedSetting, others: Setting, method: Method, what: str
    ) -> Explanation:
        """A method's explanations of other cases of a setting; ``what`` they are, for errors."""
        parts: list[Explanation] = []
        for item, where in items_beside(placed, others, self.size):
            ids = where.setting.ids[item.start : item.stop]
            key = (where.setting.id, *ids)
            if key not in self._beside:
                self._beside[key] = self.open(item, where)
            found = self._beside[key].map(method)
            if isinstance(found, Exception):
                raise HumetricError(
                    f"{method.card.id} failed on {what} ({ids[0]} to {ids[-1]}). {said(found)}"
                )
            parts.append(found)
        return joined(parts)

    def reference(self, setting: str, method: Method) -> Reference:
        """A method's maps of a setting's reference cases, made when they are first asked for."""
        self.turn_to(setting)
        name, placed = method.card.id, self.placed[setting]
        if name not in self._cases:
            others = placed.setting.reference
            assert others is not None  # the planner leaves out metrics that lack it
            what = "reference cases, which this metric compares with"
            found = self.explained(placed, others, method, what)
            cases = placed.beside(others).cases(0, len(others), self.seed)
            self._cases[name] = Reference(cases, found.attribution)
        return self._cases[name]

    def turn_to(self, setting: str) -> None:
        """Let go of what was kept for another setting."""
        if setting != self._setting:
            self._setting = setting
            self._beside.clear()
            self._cases.clear()

    def open(self, item: Item, placed: PlacedSetting) -> Desk:
        """A new desk of some cases."""
        batch = self.batches[item.setting]
        beside = {"batch_size": batch, **self.about}
        chunk = chunk_of(item, placed, self.seed, self.store, beside)
        engine = Engine(
            placed.cases(item.start, item.stop, self.seed),
            placed.fast_module,
            placed.placement.dtype,
            batch,
            progress=lambda rows: self.told(item, rows),
            memory=chunk,
        )
        return Desk(item, placed, engine, chunk, self.workers)
