"""One metric against one measure in one cell of a study."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from humetric.agreement.evidence import Evidence, Kind, Level
from humetric.human.figures import Measured
from humetric.human.study import MeasureKind, Study
from humetric.seeding import generator
from humetric.stats.concordance import Concordance, concordance, pearson, spearman, tau_b
from humetric.stats.noise import Ceiling, new_cases_interval, new_people_interval, noise_ceiling
from humetric.stats.permutation import ExactTest, exact_test, leave_one_out

SEPARATED = 0.5
"""Reliability below which people do not separate the methods of a cell."""


class Interval(NamedTuple):
    """NaN: unknown."""

    low: float
    high: float


UNKNOWN = Interval(math.nan, math.nan)


@dataclass(frozen=True)
class CellAgreement:
    """How far a metric orders the methods of a cell as a measure does; higher is better in both."""

    metric: str
    kind: Kind
    direction: Literal["higher", "lower"]
    """Which of the metric's values are better."""
    study: str
    cell: str
    measure: str
    measure_kind: MeasureKind
    primary: bool
    """The study's primary comparison (measure and cell): the only one that enters T."""
    level: Level
    made_on: str
    in_sample: bool
    methods: tuple[str, ...]
    """Those that both have a value of."""
    metric_values: tuple[float, ...]
    """As the metric gives them, not turned."""
    human_values: tuple[float, ...]
    concordance: Concordance
    tau_b: float
    spearman: float
    pearson: float
    """Higher is better in both: where lower is better, the sign is opposite to that of a paper that
    correlates raw values."""
    test: ExactTest
    """Of D."""
    left_out: Interval
    """Smallest and largest D without one of the methods."""
    people: Interval
    """D with other people; unknown without standard errors or if the measure is not primary."""
    cases: Interval
    """D with other cases; unknown for published scores or if the measure is not primary."""
    ceiling: Ceiling

    @property
    def n(self) -> int:
        """Methods that both have a value of."""
        return len(self.methods)

    @property
    def separated(self) -> bool | None:
        """Whether people separate the methods; None where that is unknown."""
        known = not math.isnan(self.ceiling.reliability)
        return self.ceiling.reliability >= SEPARATED if known else None


def measured(study: Study, measure: str, sees_cues: bool = False) -> Measured:
    """A measure's figures, higher is better; the primary one with its declared methods.

    The primary one has its declared cells first, then the others that have figures: those are
    compared too, and enter nothing.

    A condition that shows the highlights of another and something besides is left out, unless the
    metric sees what that is: to others the two are the same, whatever people made of them.
    """
    if study.primary is not None and measure == study.primary.measure:
        cells = (*study.primary.cells, *(figure.cell for figure in study.table(measure)))
        cues = study.cue_conditions if sees_cues else ()
        return study.matrix(
            cells=tuple(dict.fromkeys(cells)), methods=(*study.primary.methods, *cues)
        ).orient()
    methods = [
        name for name in study.methods if sees_cues or not study.condition(name).same_highlights_as
    ]
    return study.matrix(measure, methods=methods).orient()


def cell_agreement(evidence: Evidence, study: Study, human: Measured, seed: int) -> CellAgreement:
    """All that is said of a metric and a measure in a cell.

    Undefined values are left out pair by pair; with fewer than two methods D is undefined. Only
    primary measures get intervals: the others decide nothing, and intervals take most of the time.
    """
    row = human.cells.index(evidence.cell)
    metric, metric_precision = evidence.aligned(human.methods)
    people, se, precision = human.value[row], human.se[row], human.precision[row]
    both = ~(np.isnan(metric) | np.isnan(people))
    purpose = f"{evidence.metric} on {evidence.made_on} against {human.name}"

    def draw(what: str) -> np.random.Generator:
        return generator(seed, f"{evidence.study}/{evidence.cell}", f"{what} of {purpose}")

    cases = evidence.aligned_cases(human.methods)
    rounding = float(metric_precision.max(initial=0.0))
    primary = (
        study.primary is not None
        and human.name == study.primary.measure
        and evidence.cell in study.primary.cells
    )
    return CellAgreement(
        metric=evidence.metric,
        kind=evidence.kind,
        direction=evidence.direction,
        study=study.id,
        cell=evidence.cell,
        measure=human.name,
        measure_kind=study.measure(human.name).kind,
        primary=primary,
        level=evidence.level,
        made_on=evidence.made_on,
        in_sample=evidence.in_sample,
        methods=tuple(np.array(human.methods)[both].tolist()),
        metric_values=tuple((evidence.sign * metric[both]).tolist()),
        human_values=tuple((_turned(study, human.name) * people[both]).tolist()),
        concordance=concordance(metric, people, metric_precision, precision),
        tau_b=tau_b(metric, people),
        spearman=spearman(metric, people),
        pearson=pearson(metric, people),
        test=exact_test(metric, people, "d", metric_precision, precision, draw("relabelling")),
        left_out=Interval(*leave_one_out(metric, people, "d", metric_precision, precision)),
        people=Interval(
            *new_people_interval(
                metric, people, se, "d", draw("people"), metric_precision, precision
            )
        )
        if primary
        else UNKNOWN,
        cases=UNKNOWN
        if cases is None or not primary
        else Interval(*new_cases_interval(cases, people, "d", draw("cases"), rounding, precision)),
        ceiling=_ceiling(tuple(people[both].tolist()), tuple(se[both].tolist()), seed, study.id),
    )


@lru_cache(maxsize=256)
def _ceiling(people: tuple[float, ...], se: tuple[float, ...], seed: int, study: str) -> Ceiling:
    """The noise ceiling of a cell: all metrics are held against the same people."""
    return noise_ceiling(people, se, generator(seed, study, "ceiling"))


def _turned(study: Study, measure: str) -> float:
    return -1.0 if study.measure(measure).direction == "lower" else 1.0
