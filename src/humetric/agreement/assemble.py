"""A metric beside the primary measures of studies: the arrays that the joint test needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humetric.agreement.cell import SEPARATED
from humetric.agreement.evidence import LEVELS, UNINFORMATIVE, Evidence, Kind, Level
from humetric.human.figures import Measured
from humetric.human.study import Study
from humetric.stats.joint import StudyData
from humetric.stats.noise import reliability


@dataclass(frozen=True)
class Assembled:
    """A metric and people over the studies of some levels of evidence."""

    kind: Kind
    data: tuple[StudyData, ...]
    separated: tuple[StudyData, ...]
    """The same without the rows whose methods people do not separate, as far as that is known."""
    methods: Mapping[str, tuple[str, ...]]
    """The columns of each study."""
    levels: Mapping[str, Level]
    in_sample: tuple[str, ...]
    """Studies that the metric was derived from: not among the data."""
    controlled: bool
    """Whether the metric has a value of an uninformative condition (only if that was asked for)."""


def assemble(
    metric: str,
    evidence: Sequence[Evidence],
    studies: Mapping[str, Study],
    levels: Sequence[Level],
    *,
    sensitivity: bool = False,
    beside: str = "",
) -> Assembled:
    """A metric and the primary measure of each study, by the nearest level of evidence there is.

    A row is a cell as one setting (or the paper) has it. Rows and columns of a study are those that
    any metric has evidence of at any of the levels, NaN where this one has none, so that they are
    the same for all metrics and relabellings can be shared; sentinels have rows of their own. Rows
    of a cell are averaged before cells are. ``beside`` names a metric to compare with: then a
    study's level is the nearest that both have, and what either was derived from is left out.
    """
    every = [e for e in evidence if e.level in levels]
    mine = [e for e in every if e.metric == metric]
    kind = mine[0].kind
    both = [mine, [e for e in every if e.metric == beside]] if beside else [mine]
    data: list[StudyData] = []
    separated: list[StudyData] = []
    columns: dict[str, tuple[str, ...]] = {}
    used: dict[str, Level] = {}
    in_sample: list[str] = []
    controlled = False
    for study in studies.values():
        here = [
            e
            for e in every
            if e.study == study.id and (e.kind == "sentinel") == (kind == "sentinel")
        ]
        level = next((n for n in LEVELS if all(_has(some, study, n) for some in both)), None)
        if level is None or study.primary is None:
            continue
        if any(e.in_sample for some in both for e in some if e.study == study.id):
            in_sample.append(study.id)
            continue
        control = _controls(study) if sensitivity else ()
        cues = study.cue_conditions if any(e.sees_cues for e in here) else ()
        human = study.matrix(methods=(*study.primary.methods, *control, *cues)).orient()
        places = sorted({(e.cell, e.made_on) for e in here if e.cell in human.cells})
        by_place = {(e.cell, e.made_on): e for e in mine if _is(e, study, level)}
        if not any(place in by_place for place in places):
            continue
        rows = [_row(by_place.get(place), human.methods, cues) for place in places]
        of = tuple(human.cells.index(cell) for cell, _ in places)
        whole = StudyData(
            study.id,
            np.stack([value for value, _ in rows]),
            human.value[list(of)],
            np.stack([precision for _, precision in rows]),
            human.precision[list(of)],
            of,
        )
        data.append(whole)
        kept = [i for i, row in enumerate(whole.metric) if _apart(row, human, of[i])]
        if kept:
            separated.append(_only(whole, kept))
        columns[study.id] = human.methods
        used[study.id] = level
        at = [human.methods.index(name) for name in control]
        controlled |= bool((~np.isnan(whole.metric[:, at])).any())
    return Assembled(
        kind, tuple(data), tuple(separated), columns, used, tuple(in_sample), controlled
    )


def _controls(study: Study) -> tuple[str, ...]:
    names = study.primary.sensitivity if study.primary else ()
    return tuple(name for name in names if study.condition(name).kind == "control")


def _row(
    found: Evidence | None, methods: Sequence[str], cues: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if found is None:
        return np.full(len(methods), np.nan), np.zeros(len(methods))
    value, precision = found.aligned([UNINFORMATIVE.get(name, name) for name in methods])
    if not found.sees_cues:  # to it the condition is the one with the same highlights
        value[[name in cues for name in methods]] = np.nan
    return value, precision


def _apart(metric: NDArray[np.float64], human: Measured, cell: int) -> bool:
    """Whether people separate those methods of a cell that the metric has, or nobody knows."""
    value, se = human.value[cell], human.se[cell]
    both = ~(np.isnan(metric) | np.isnan(value))
    return not reliability(value[both], se[both]) < SEPARATED


def _only(study: StudyData, rows: list[int]) -> StudyData:
    return study._replace(
        metric=study.metric[rows],
        human=study.human[rows],
        metric_precision=np.asarray(study.metric_precision)[rows],
        human_precision=np.asarray(study.human_precision)[rows],
        cell=tuple(study.cell[row] for row in rows),
    )


def _has(evidence: Sequence[Evidence], study: Study, level: Level) -> bool:
    return any(_is(e, study, level) for e in evidence)


def _is(evidence: Evidence, study: Study, level: Level) -> bool:
    return evidence.study == study.id and evidence.level == level
