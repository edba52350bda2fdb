"""Metrics: each gives a number per (method, case).

A metric is declared by decorating its factory. It is two pure functions: ``plan`` says what to ask
of the model given the attributions, ``reduce`` turns the answers into values. A metric that reads
the map alone asks nothing. A metric whose definition needs other cases is one function,
``compare``: these cases are the setting's reference, never the run's selection.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Literal, NamedTuple, ParamSpec, TypeVar, cast

from torch import Tensor

from humetric.cards import (
    EVERY,
    Access,
    Direction,
    MetricCard,
    Registry,
    bound_parameters,
    summary_of,
)
from humetric.engine.questions import Answers, Program, Questions
from humetric.errors import HumetricError
from humetric.metrics.panel import Panel, Replicates, Shown
from humetric.tasks.cases import Cases

T = TypeVar("T")


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
class Reference:
    """Reference cases of a setting, and one method's maps of them."""

    cases: Cases
    attribution: Tensor
    """(cases, *features)."""
    _kept: dict[Hashable, object] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Make something that depends on the reference alone, the first time that it is asked."""
        if key not in self._kept:
            self._kept[key] = make()
        return cast(T, self._kept[key])


Compare = Callable[[Tensor, Cases, Reference], Scores]
"""Attributions (cases, *features), their cases, and what these are compared with -> scores."""


class Comparison(NamedTuple):
    """What the factory of a metric with reference cases returns."""

    compare: Compare


Simulate = Callable[[Panel, Shown], Program[Replicates]]
"""A panel and what one method shows of its learning cases -> replicates; asks the model."""


class Simulation(NamedTuple):
    """What the factory of a simulated user returns."""

    simulate: Simulate
    learning: int = 0
    """Explained cases that the panel must have."""
    test: int = 0
    """Further cases that it must have."""


@dataclass(frozen=True)
class Metric:
    """A card and the functions that do the work."""

    card: MetricCard
    work: Work | Comparison | Simulation

    def program(
        self, attribution: Tensor, cases: Cases, reference: Reference | None = None
    ) -> Program[Scores]:
        """The metric as something that the engine can run."""
        if isinstance(self.work, Simulation):
            raise HumetricError(
                f"{self.card.id} is a simulated user, whose value is of a setting and not of a "
                f"case: use humetric run, or run_settings."
            )
        if isinstance(self.work, Comparison):
            if reference is None:
                raise HumetricError(
                    f"{self.card.id} compares with a method's maps of the setting's reference "
                    f"cases, which are not at hand here: use humetric run, or run_settings."
                )
            return self.work.compare(attribution, cases, reference)
        flat = cases.real(attribution.flatten(1))
        answers = yield self.work.plan(flat, cases)
        return self.work.reduce(answers, flat, cases)

    def simulation(self) -> Simulation:
        """The work of a metric that has a value per setting."""
        if not isinstance(self.work, Simulation):
            raise HumetricError(f"{self.card.id} has a value per case and simulates nobody.")
        return self.work


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
    needs: Access = "predict",
    weights: str = "",
    derived_from: str = "",
    deprecated: str = "",
    sees: Sequence[str] = (),
    rivals: bool = False,
) -> Callable[[Callable[P, Work | Comparison | Simulation]], Callable[P, Metric]]:
    """Declare a metric. The factory's parameters are the metric's and go on its card.

    ``sees`` names what it sees beside attributions (``cues``); ``rivals`` says that it is about a
    setting and its rivals, not about the setting alone. ``deprecated`` says why it should no longer
    be used: suites then leave it out, naming it still runs it, and old results stay.
    """

    def declare(
        factory: Callable[P, Work | Comparison | Simulation],
    ) -> Callable[P, Metric]:
        @wraps(factory)
        def make(*args: P.args, **kwargs: P.kwargs) -> Metric:
            parameters = bound_parameters(id, factory, args, kwargs)
            work = factory(*args, **kwargs)
            card = MetricCard(
                id=id,
                version=version,
                summary=summary_of(factory),
                reference=reference,
                tasks=tuple(tasks),
                parameters=parameters,
                direction=direction,
                range=range,
                scope=_scope(work, rivals),
                sees=tuple(sees),
                derived_from=derived_from,
                needs=needs,
                compares=isinstance(work, Comparison),
                weights=weights,
                deprecated=deprecated,
            )
            return Metric(card, work)

        METRICS.add(id, make)
        return make

    return declare


def _scope(
    work: Work | Comparison | Simulation, rivals: bool
) -> Literal["case", "setting", "setting-pair"]:
    if not isinstance(work, Simulation):
        return "case"
    return "setting-pair" if rivals else "setting"
