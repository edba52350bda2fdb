"""Sentences about one metric or one study: each follows from numbers by a rule, none is a result.

A sentence about a metric depends on its standing alone, so that whatever the data say next year is
said without anybody writing it.
"""

from __future__ import annotations

import math

from humetric.agreement.across import AGREES, ALPHA, DISAGREES, STUDIES
from humetric.boards.findings.facts import Findings, OfStudy, Standing
from humetric.boards.findings.power import ENOUGH, GRID, MOST, TRUE_R, Power
from humetric.boards.findings.words import TIER_NAMES, counted, joined, span
from humetric.boards.metric_board import p_value, signed

DECIDED = (AGREES, DISAGREES)

POWER_OF_STUDIES = f"""\
Power: the chance that a true correlation of {TRUE_R} between a metric and people is found (one
metric, p at most .05) with as many methods in one cell. Told from 0: after Holm over the metrics
with scores in the study. Where people's success does not tell methods apart, no metric can follow
it."""


def estimate(s: Standing) -> str:
    """T, its interval and what it is over."""
    if not s.defined:
        return "no T"
    of = f"{counted(len(s.studies), 'study', 'studies')}, {counted(s.cells, 'cell')}"
    return f"T {signed(s.t)}, interval {span(s.low, s.high)}, {of}"


def why(s: Standing, family: int) -> str:
    """What may be said of a metric, and what keeps more from being said."""
    if not s.defined:
        if s.in_sample:
            return (
                f"not judged, since it was derived from {joined(s.in_sample)} and nothing else has "
                f"{TIER_NAMES[s.tier]} scores of it"
            )
        return "no two methods with scores that people's success tells apart"
    covering = (
        "the interval covers 0"
        if s.covers_zero
        else f"the interval does not cover 0 (p {p_value(s.p)} as the only metric)"
    )
    if s.tier == "toy":
        return f"not evidence; {covering}"
    if s.tier == "stand-in":
        return f"no verdict from stand-ins; {covering}"
    if len(s.studies) < STUDIES:
        return f"too few studies ({len(s.studies)} of at least {STUDIES}), and {covering}"
    if s.verdict == AGREES:
        return "it orders methods as people's success does, whichever study is left out"
    if s.verdict == DISAGREES:
        return "it orders methods against people's success, whichever study is left out"
    if s.covers_zero:
        return f"undecided: {covering}"
    if s.holm > ALPHA:
        return (
            f"undecided: the interval does not cover 0, but its p of {p_value(s.p)} is "
            f"{p_value(s.holm)} as one of {family} metrics (Holm)"
        )
    if s.turns:
        return f"undecided: T does not keep its sign without {joined(s.turns)}"
    return "undecided"


def cells(s: Standing) -> list[str]:
    """Whether the cells of a metric say the same; nothing of a single one."""
    if len(s.by_cell) < 2:
        return []
    low, high = min(s.by_cell, key=s.by_cell.__getitem__), max(s.by_cell, key=s.by_cell.__getitem__)
    ends = f"from {signed(s.by_cell[low])} ({low}) to {signed(s.by_cell[high])} ({high})"
    if s.by_cell[low] < 0 < s.by_cell[high]:
        return [f"Its cells do not agree on the sign: D goes {ends}."]
    return [f"In its cells D goes {ends}."]


def of_metric(found: Findings, s: Standing) -> str:
    """A metric in a line: what may be said, and whether its cells say the same."""
    return " ".join([f"{s.metric}: {why(s, len(found.agreement.family))}.", *cells(s)])


def takes(of: Power) -> str:
    """What it would take, in brief."""
    said = f"A true correlation of {TRUE_R} is found there with power {of.single:.2f}"
    if of.single >= ENOUGH:
        return f"{said}."
    return f"{said}; for power {ENOUGH} {_need(of, of.needed)}."


def power(of: Power, family: int) -> str:
    """What studies like these would have found, and what it would take."""
    if not of.methods:
        return "There is no study to have power."
    sizes = joined([str(n) for n in of.methods])
    said = (
        f"With {counted(len(of.methods), 'study', 'studies')} of {sizes} methods a true "
        f"correlation of {TRUE_R} is found with power {of.single:.2f} "
        f"({of.one_of_many:.2f} as the best of {family} metrics), and "
    )
    if math.isnan(of.detectable):
        said += f"not even one of {GRID[-1]} with power {ENOUGH}."
    else:
        said += f"one of {of.detectable:.2f} or more with power {ENOUGH}."
    if of.single < ENOUGH:
        said += f" To find one of {TRUE_R} with power {ENOUGH} {_need(of, of.needed)}."
    if of.one_of_many < ENOUGH:
        said += f" As the best of {family} metrics {_need(of, of.needed_of_many)}."
    return said


def _need(of: Power, n: float) -> str:
    k = len(of.methods)
    who = "the study" if k == 1 else f"each of the {k} studies"
    return f"{who} would need {f'more than {MOST}' if math.isnan(n) else f'{n:.0f}'} methods"


def of_study(found: OfStudy) -> str:
    """Which metrics are told from 0 within a study, and whether any could have been."""
    some = [s for s in found.standings if s.family != "baseline"]
    if not some:
        return f"no {TIER_NAMES[found.tier]} scores"
    away = [f"{s.metric} ({signed(s.t)})" for s in some if s.holm <= ALPHA]
    if away:
        return joined(away)
    least = min(s.smallest for s in some)
    return f"none; none could be (smallest p {p_value(least)})" if least > ALPHA else "none"
