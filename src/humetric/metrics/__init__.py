"""Metrics: each gives a number per (method, case).

A metric is declared by decorating its factory. It is two pure functions: ``plan`` says what to ask
of the model given the attributions, ``reduce`` turns the answers into values. A metric that reads
the map alone asks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import NamedTuple, ParamSpec

from torch import Tensor

from humetric.cards import EVERY, Direction, MetricCard, Registry, bound_parameters, summary_of
from humetric.engine.questions import Answers, Program, Questions
from humetric.tasks.cases import Cases


class Scores(NamedTuple):
    """Values of a metric, NaN where it is undefined, and the curves behind them."""

    value: Tensor
    """(cases,) float64."""
    curve: Tensor | None = None
    """(cases, points) float64; NaN after the last point where curves differ in length."""


Plan = Callable[[Tensor, Cases], Sequence[Questions]]
"""Attributions (cases, features) -> questions."""

Reduce = Callable[[Sequence[Answers], Tensor, Cases], Scores]
"""Answers, attributions (cases, features) -> scores."""


def nothing(attribution: Tensor, cases: Cases) -> Sequence[Questions]:
    """The plan of a metric that reads the map alone."""
    return ()


class Work(NamedTuple):
    """The two functions that a metric's factory returns."""

    reduce: Reduce
    plan: Plan = nothing


@dataclass(frozen=True)
class Metric:
    """A card and the two functions that do the work."""

    card: MetricCard
    plan: Plan
    reduce: Reduce

    def program(self, attribution: Tensor, cases: Cases) -> Program[Scores]:
        """The metric as something that the engine can run."""
        flat = cases.real(attribution.flatten(1))
        answers = yield self.plan(flat, cases)
        return self.reduce(answers, flat, cases)


METRICS: Registry[Metric] = Registry("metric", __name__)
P = ParamSpec("P")


def metric(
    id: str,
    *,
    version: int,
    direction: Direction,
    range: tuple[float, float],
    reference: str,
    tasks: Sequence[str] = EVERY,
    deprecated: str = "",
) -> Callable[[Callable[P, Work]], Callable[P, Metric]]:
    """Declare a metric. The factory's parameters are the metric's and go on its card.

    ``deprecated`` says why it should no longer be used: suites then leave it out, naming it still
    runs it, and old results stay.
    """

    def declare(factory: Callable[P, Work]) -> Callable[P, Metric]:
        @wraps(factory)
        def make(*args: P.args, **kwargs: P.kwargs) -> Metric:
            card = MetricCard(
                id=id,
                version=version,
                summary=summary_of(factory),
                reference=reference,
                tasks=tuple(tasks),
                parameters=bound_parameters(id, factory, args, kwargs),
                direction=direction,
                range=range,
                deprecated=deprecated,
            )
            work = factory(*args, **kwargs)
            return Metric(card, work.plan, work.reduce)

        METRICS.add(id, make)
        return make

    return declare
