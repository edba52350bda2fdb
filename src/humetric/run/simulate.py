"""Simulated users at work: a panel with its engine and its records, and what a method shows.

What a method shows to people comes from the same desks as what metrics score: a learning case that
a run scores anyway is explained once. Cases that people change are explained anew and not kept.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import torch
from torch import Tensor
from torch.nn.functional import pad

from humetric.engine.engine import Engine
from humetric.errors import HumetricError
from humetric.methods import Method
from humetric.methods.explanation import Explanation
from humetric.metrics import Metric
from humetric.metrics.panel import LEARNING, Panel, Replicates, Shown
from humetric.run.desk import Desk, Desks
from humetric.run.plan import find_batch_size
from humetric.run.work import Item, explanations, said
from humetric.tasks.setting import PlacedSetting, Setting


@dataclass
class Stage:
    """A setting's panel, where simulated users see what methods show."""

    desks: Desks
    placed: PlacedSetting
    item: Item
    rivals: Mapping[str, PlacedSetting]
    """Settings of the same cases that it is compared with; none unless they are needed."""
    _shown: dict[str, Explanation] = field(default_factory=dict, init=False)
    """By method."""
    _memo: dict[str, dict[Hashable, object]] = field(default_factory=dict, init=False)
    """By method, what one simulated user leaves for another."""

    @cached_property
    def desk(self) -> Desk:
        """Of all cases of the panel."""
        return self.desks.open(self.item, self.placed.beside(panel_setting(self.placed)))

    @cached_property
    def panel(self) -> Panel:
        """The panel; its first cases are for learning."""
        setting, cases = self.desk.placed.setting, self.desk.engine.cases
        return Panel(cases, LEARNING, setting.label, setting.right.numpy(), setting)

    def replicates(self, method: Method, metric: Metric) -> Replicates | Exception:
        """What a simulated user does with what a method shows: stored, or found out now."""
        chunk, engine = self.desk.chunk, self.desk.engine
        versions = {name: placed.setting.version for name, placed in self.rivals.items()}
        stored = chunk.replicates(method.card, metric.card, versions)
        if stored is not None:
            return stored
        try:
            shown = self.shown(method, metric)
        except HumetricError as error:
            return error
        began, before = time.perf_counter(), engine.rows
        (found,) = engine.run([metric.simulation().simulate(self.panel, shown)])
        if isinstance(found, Exception):
            return found
        wrong = problem(found)
        if wrong:
            return HumetricError(f"Expected replicates from {metric.card.id} but {wrong}.")
        taken = engine.rows - before, time.perf_counter() - began
        chunk.keep_replicates(method.card, metric.card, versions, found, *taken)
        return found

    def shown(self, method: Method, metric: Metric) -> Shown:
        """What a method shows of the learning cases, made when it is first asked for."""
        name, setting = method.card.id, self.placed.setting.id
        self.desks.turn_to(setting)
        if name not in self._shown:
            self._shown[name] = self._explained(self.placed, method)
        made = self._shown[name]
        beside = self.rivals if metric.card.scope == "setting-pair" else {}
        others = {i: aligned(self._explained(p, method), self.panel) for i, p in beside.items()}
        memo = self._memo.setdefault(name, {})
        return Shown(aligned(made, self.panel), made, partial(self._again, method), others, memo)

    def _explained(self, placed: PlacedSetting, method: Method) -> Explanation:
        learning = panel_setting(placed).first(LEARNING)
        what = f"learning cases of {placed.setting.id}, which simulated users see"
        return self.desks.explained(placed, learning, method, what)

    def _again(self, method: Method, other: Setting) -> Explanation:
        """A method's explanations of changed cases."""
        desks, engine = self.desks, self.desk.engine
        item = Item(other.id, 0, len(other), (method.card.id,), ())
        if desks.workers.take(method):
            found = desks.workers.explain(method, self.placed, item, engine.batch_size, other)
        else:
            placed = self.placed.beside(other)
            asked = Engine(
                placed.cases(0, len(other), desks.seed),
                placed.fast_module,
                placed.placement.dtype,
                engine.batch_size,
                progress=lambda rows: desks.told(item, rows),
            )
            found = explanations([method], asked)[method.card.id]
            engine.rows += asked.rows
        if isinstance(found, Exception):
            raise HumetricError(f"{method.card.id} failed on changed cases. {said(found)}")
        return found


def stage_of(desks: Desks, item: Item, metrics: Sequence[Metric]) -> Stage:
    """The panel of a setting, and its rivals if any of the metrics is about pairs of settings."""
    placed = desks.placed[item.setting]
    rivals: dict[str, PlacedSetting] = {}
    if any(metric.card.scope == "setting-pair" for metric in metrics):
        for name, load in placed.setting.rivals.items():
            rivals[name] = desks.placed.get(name) or load().place(placed.placement)
            desks.batches.setdefault(name, find_batch_size(rivals[name], "auto"))
    return Stage(desks, placed, item, rivals)


def panel_setting(placed: PlacedSetting) -> Setting:
    """All cases that simulated users of a setting are shown."""
    found = placed.panel
    assert found is not None  # the planner leaves out metrics that lack it
    return found


def aligned(found: Explanation, panel: Panel) -> Tensor:
    """Maps of learning cases (cases, features), as wide as those of the panel."""
    maps = found.attribution.detach().double().cpu().flatten(1)
    return pad(maps, (0, panel.cases.features - maps.shape[1]))


def problem(found: object) -> str:
    """What is wrong with what a simulated user left behind; empty if nothing."""
    if not isinstance(found, Replicates):
        return f"got {type(found).__name__}: return Replicates(names, value)"
    count = len(found.names)
    if len(set(found.names)) != count or not count:
        return f"got {count} names that are not all different"
    for name, values in {"value": found.value, **found.controls}.items():
        if values.shape != (count,) or values.dtype != torch.float64 or values.isinf().any():
            return f"{name} is not a finite or undefined float64 number for each of {count} names"
    return ""
