"""Explaining and scoring one chunk of cases: the work that a run is made of."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from humetric.cards import MethodCard
from humetric.engine.engine import Engine
from humetric.engine.questions import Program, Questions
from humetric.methods import Method, checked_explanation
from humetric.methods.explanation import Explanation
from humetric.metrics import Metric, Reference, Scores
from humetric.tasks.setting import PlacedSetting, Setting

LONG = {"unlabelled", "neighbours"}
"""What methods use that takes long, or answers that mean something, to make much of: left out of a
dry run."""


@dataclass(frozen=True)
class Item:
    """A piece of work that can be done by itself: all methods and metrics on one chunk of cases.

    Or, with the scope ``setting``, simulated users of one setting, on all cases of its panel.
    """

    setting: str
    start: int
    stop: int
    methods: tuple[str, ...]
    metrics: tuple[str, ...]
    scope: Literal["case", "setting"] = "case"


def reference_items(placed: PlacedSetting, size: int) -> Iterator[tuple[Item, PlacedSetting]]:
    """Chunks of a setting's reference cases, without methods or metrics, and what they are rows of.

    That is the setting itself where it has the same cases in the same place.
    """
    others = placed.setting.reference
    return iter(()) if others is None else items_beside(placed, others, size)


def items_beside(
    placed: PlacedSetting, others: Setting, size: int
) -> Iterator[tuple[Item, PlacedSetting]]:
    """Chunks of other cases of a setting, likewise."""
    beside = placed.beside(others)
    for start in range(0, len(others), size):
        stop = min(start + size, len(others))
        own = placed.setting.ids[start:stop] == others.ids[start:stop]
        yield Item(others.id, start, stop, (), ()), placed if own else beside


class Counter(Engine):
    """An engine that counts what would be asked and answers nothing: for dry runs."""

    def evaluate(self, families: Sequence[Questions]) -> list[Tensor]:
        """Zeros for answers; rows are counted as the real engine would count them."""
        for family in families:
            self.rows += len(family) * (1 if family.fill is not None else self._fill.shape[1])
        return [torch.zeros(len(family), 3) for family in families]


def counted(card: MethodCard) -> bool:
    """Whether a dry run knows what a method asks before it is answered."""
    return not (LONG & set(card.uses) or card.source)


def explain(methods: Sequence[Method], engine: Engine) -> dict[str, Tensor | Exception]:
    """Attributions by method id; a method that fails costs itself only."""
    return {
        name: found.attribution if isinstance(found, Explanation) else found
        for name, found in explanations(methods, engine).items()
    }


def explanations(methods: Sequence[Method], engine: Engine) -> dict[str, Explanation | Exception]:
    """Attributions by method id, each with what more the method has to show."""
    cases = engine.cases
    found: dict[str, Explanation | Exception] = {}
    asking: dict[str, Program[Tensor] | Program[Explanation]] = {}
    for method in methods:
        name, card = method.card.id, method.card
        try:
            if isinstance(engine, Counter) and (card.passes or not counted(card)):
                outcome: object = torch.zeros(cases.shape)
            else:
                outcome = method.explain(cases)
            if isinstance(outcome, Generator):
                asking[name] = outcome
            else:
                found[name] = checked_explanation(outcome, cases, name)
        except Exception as error:
            found[name] = error
    programs: list[Program[Any]] = list(asking.values())
    for name, answer in zip(asking, engine.run(programs), strict=True):
        try:
            found[name] = (
                answer
                if isinstance(answer, Exception)
                else checked_explanation(answer, cases, name)
            )
        except Exception as error:
            found[name] = error
    return {method.card.id: found[method.card.id] for method in methods}


def score(
    attributions: Mapping[str, Tensor],
    metrics: Sequence[Metric],
    engine: Engine,
    reference: Reference | None = None,
) -> dict[tuple[str, str], Scores | Exception]:
    """Scores by (method id, metric id); all questions go through the engine together.

    ``reference`` is the one method's of whom there are attributions, if any metric compares.
    """
    pairs = [(name, metric) for name in attributions for metric in metrics]
    programs = [m.program(attributions[name], engine.cases, reference) for name, m in pairs]
    outcomes = engine.run(programs)
    return {
        (name, metric.card.id): outcome
        for (name, metric), outcome in zip(pairs, outcomes, strict=True)
    }


def said(error: Exception) -> str:
    """What an exception says, with its kind where that adds something."""
    kind = type(error)
    own = kind.__module__.startswith("humetric")
    return str(error) if own else f"{kind.__name__}: {error}"
