"""Sentences of the page of findings: each follows from numbers by a rule, and none is a result.

A sentence about a metric depends on its standing alone, so that whatever the data say next year is
said without anybody writing it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from humetric.agreement.across import ALPHA, STUDIES, Contest, Tier
from humetric.agreement.families import Family, family_of
from humetric.boards.findings.facts import Findings, OfStudy, Standing
from humetric.boards.findings.power import ENOUGH, MOST, TRUE_R, Power
from humetric.boards.metric_board import p_value, signed
from humetric.stats.holm import holm

COMPARED: tuple[Family, ...] = ("faithfulness", "perceptual", "simulated")
TIER_NAMES: dict[Tier, str] = {
    "judged": "published or replica",
    "stand-in": "stand-in",
    "toy": "toy",
}

POWER_OF_STUDIES = (
    f"Power: the chance that a true correlation of {TRUE_R:g} between a metric and people is found "
    "(p at most .05, one metric) with as many methods in one cell. Told from 0: after Holm over the "
    "metrics that have scores in the study. Success of people differs between methods by more than "
    "its own noise only where they tell them apart."
)


def answer(found: Findings) -> str:
    """The answer in one paragraph."""
    some = rivals(found, "judged")
    family = len(found.agreement.family)
    parts = [headline(some)]
    best = next((s for s in some if s.defined), None)
    if best is not None and not _decided(some):
        parts.append(
            f"The highest T is that of {best.metric}: {estimate(best)}; {why(best, family)}."
        )
    parts += [_of_family(found, name) for name in COMPARED]
    pairs = [c for c in found.contests if c.tier == "judged"]
    parts.append(between(pairs))
    if best is not None and not _decided(some):
        parts.append(power(found.power(best.methods), family))
    if rivals(found, "toy"):
        parts.append("What the embedded run gives is below and is not evidence.")
    return " ".join(parts)


def headline(some: Sequence[Standing]) -> str:
    """Whether any metric goes with human success, by published and replica evidence."""
    agree = [s for s in some if s.verdict.startswith("agrees")]
    against = [s for s in some if s.verdict.startswith("disagrees")]
    if agree or against:
        said = []
        if agree:
            said.append(
                f"**Yes, in these studies: {_each(agree)}** {_verb(agree, 'goes', 'go')} with human "
                f"success ({'; '.join(f'{s.metric}: {estimate(s)}, Holm p {p_value(s.holm)}' for s in agree)})."
            )
        if against:
            start = "But" if agree else "**No metric goes with human success**, and"
            said.append(
                f"{start} **{_each(against)}** {_verb(against, 'goes', 'go')} against it in these "
                f"studies ({'; '.join(f'{s.metric}: {estimate(s)}, Holm p {p_value(s.holm)}' for s in against)})."
            )
        return " ".join(said)
    if any(s.verdict == "undecided" for s in some):
        return (
            "**Undecided: no metric is shown to go with human success, and none is shown not to.**"
        )
    if any(s.defined for s in some):
        most = max(len(s.studies) for s in some)
        return (
            "**Nobody can say yet.** No metric has published or replica scores in the "
            f"{STUDIES} studies that a verdict needs; the most that any has is {most}."
        )
    return (
        "**No evidence.** No metric can be judged by published or replica scores of methods that a "
        "study compared."
    )


def estimate(s: Standing) -> str:
    """T, its interval and what it is over."""
    if not s.defined:
        return "no T"
    of = f"{len(s.studies)} {'study' if len(s.studies) == 1 else 'studies'}, {s.cells} cells"
    return f"T {signed(s.t)}, interval {span(s.low, s.high)}, {of}"


def why(s: Standing, family: int) -> str:
    """What may be said of a metric, and what keeps more from being said."""
    if not s.defined:
        if s.in_sample:
            return (
                f"not judged: {_list(s.in_sample)} is what it was derived from, and nothing else has "
                f"{TIER_NAMES[s.tier]} scores of it"
            )
        return "no scores of two methods or more that people tell apart"
    if s.tier == "toy":
        return f"not evidence; {_covering(s)}"
    if s.tier == "stand-in":
        return f"no verdict from stand-ins; {_covering(s)}"
    if len(s.studies) < STUDIES:
        return f"too few studies ({len(s.studies)} of at least {STUDIES}), and {_covering(s)}"
    if s.verdict.startswith("agrees"):
        return "it orders methods as people's success does, whichever study is left out"
    if s.verdict.startswith("disagrees"):
        return "it orders methods against people's success, whichever study is left out"
    if s.covers_zero:
        return "undecided: the interval covers 0"
    if s.holm > ALPHA:
        return (
            f"undecided: the interval does not cover 0, but p {p_value(s.p)} is {p_value(s.holm)} "
            f"as one of {family} metrics (Holm)"
        )
    if s.turns:
        return f"undecided: T does not keep its sign without {_list(s.turns)}"
    return "undecided"


def _covering(s: Standing) -> str:
    if s.covers_zero:
        return "the interval covers 0"
    return f"the interval does not cover 0 (p {p_value(s.p)} as the only metric)"


def _of_family(found: Findings, name: Family) -> str:
    """A family in a clause: how many of its metrics could be judged and what came of it."""
    known = members(found, name)
    here = [s for s in found.of("judged", name) if s.defined]
    sample = sorted({s.metric for s in found.of("judged", name) if not s.defined and s.in_sample})
    many = f"{len(known)} {'metric' if len(known) == 1 else 'metrics'}"
    start = f"{name.capitalize()} ({many}):"
    rest = f"; {_list(sample)} only where derived from" if sample else ""
    if not here:
        return f"{start} no published or replica scores that could be judged{rest}."
    agree = sum(s.verdict.startswith("agrees") for s in here)
    against = sum(s.verdict.startswith("disagrees") for s in here)
    open_ = len(here) - agree - against
    said = [
        f"{n} {word}"
        for n, word in (
            (agree, "agreeing"),
            (against, "disagreeing"),
            (open_, "without a decision"),
        )
        if n
    ]
    return f"{start} {len(here)} with scores, {', '.join(said)}{rest}."


def between(pairs: Sequence[Contest]) -> str:
    """Whether a family beats another, metric by metric."""
    known = [c for c in pairs if not math.isnan(c.result.p)]
    if not known:
        return "No two metrics of different families have scores in the same studies, so the families cannot be compared."
    adjusted = holm_of(known)
    apart = [(c, p) for c, p in zip(known, adjusted, strict=True) if p <= ALPHA]
    many = f"{len(known)} {'pair' if len(known) == 1 else 'pairs'} of metrics of different families"
    if not apart:
        return f"Of {many} none is told apart (smallest Holm p {p_value(min(adjusted))})."
    listed = "; ".join(
        f"{_winner(c)} above {_loser(c)} by {signed(abs(c.result.difference))} (Holm p {p_value(p)})"
        for c, p in apart
    )
    return f"Of {many} {len(apart)} {'is' if len(apart) == 1 else 'are'} told apart: {listed}."


def holm_of(pairs: Sequence[Contest]) -> list[float]:
    """p of comparisons, corrected for their number."""
    found: list[float] = holm(np.array([c.result.p for c in pairs])).tolist()
    return found


def power(of: Power, family: int) -> str:
    """What studies like these would have found, and what it would take."""
    if not of.methods:
        return "Without studies there is no power."
    sizes = ", ".join(map(str, of.methods))
    such = "one study" if len(of.methods) == 1 else f"{len(of.methods)} studies"
    detected = (
        f"only a correlation of {of.detectable:.2f} or more is found with power {ENOUGH:g}"
        if not math.isnan(of.detectable)
        else f"not even one of .95 is found with power {ENOUGH:g}"
    )
    return (
        f"With {such} of {sizes} methods a true correlation of {TRUE_R:g} is found with power "
        f"{of.single:.2f} ({of.one_of_many:.2f} as the best of {family} metrics), and {detected}; a "
        f"correlation of {TRUE_R:g} would be found with power {ENOUGH:g} only with "
        f"{_methods(of.needed)} per study in {such} ({_methods(of.needed_of_many)} as the best of "
        f"{family})."
    )


def of_study(found: OfStudy) -> str:
    """Whether any metric is told from 0 within a study."""
    some = [s for s in found.standings if s.family != "baseline"]
    if not some:
        return f"no {TIER_NAMES[found.tier]} scores"
    away = [f"{s.metric} ({signed(s.t)})" for s in some if s.holm <= ALPHA]
    least = min(s.smallest for s in some)
    if away:
        return ", ".join(away)
    return f"none; none could be (smallest p {p_value(least)})" if least > ALPHA else "none"


def other_tier(found: Findings, tier: Tier) -> str:
    """What a tier without verdicts gives, in a few sentences that end where they began."""
    some = [s for s in rivals(found, tier) if s.defined]
    toy = tier == "toy"
    start = (
        "**Not evidence.** People never saw these cases, models or explanations; the numbers show "
        "that the code runs end to end, and what the page will look like with real scores."
        if toy
        else "**No verdict.** Scores are of other data or another model than people saw."
    )
    if not some:
        return f"{start} No metric has a T here."
    away = [s for s in some if not s.covers_zero]
    many = f"{len(some)} {'metric' if len(some) == 1 else 'metrics'}"
    kept = (
        f"the interval of {_list([f'{s.metric} ({signed(s.t)})' for s in away])} does not cover 0"
        if away
        else "every interval covers 0"
    )
    means = [
        f"{name} {signed(float(np.mean([s.t for s in some if s.family == name])))}"
        for name in COMPARED
        if any(s.family == name for s in some)
    ]
    pairs = [c for c in found.contests if c.tier == tier]
    return (
        f"{start} Of {many}, {kept} (p not corrected for their number). Mean T by family: "
        f"{', '.join(means)}. {between(pairs)}"
    )


def controls(found: Findings, tier: Tier) -> list[str]:
    """What knows nothing, and how near to it the best metric is."""
    some = [s for s in rivals(found, tier) if s.defined]
    if not some:
        return [f"No metric has {TIER_NAMES[tier]} scores that a sentinel could be held against."]
    best = max(some, key=lambda s: s.t)
    said = [_reach(best)]
    null = [s for s in found.of(tier, "sentinel") if s.defined]
    if null:
        far = max(null, key=lambda s: abs(s.t))
        relation = (
            "is as far from 0 as the best metric"
            if abs(far.t) >= abs(best.t)
            else "stays nearer to 0 than the best metric"
        )
        word = "; nothing above can be taken for knowledge" if abs(far.t) >= abs(best.t) else ""
        said.append(
            f"The sentinel {far.metric} {relation}: {signed(far.t)} over {len(far.studies)} studies "
            f"against {best.metric}'s {signed(best.t)} over {len(best.studies)}{word}."
        )
    base = [s for s in found.of(tier, "baseline") if s.defined]
    if base:
        high = max(base, key=lambda s: s.t)
        said.append(
            f"The baseline {high.metric} has T {signed(high.t)}, "
            + (f"no lower than {best.metric}." if high.t >= best.t else f"below {best.metric}.")
        )
    against = [c for c in found.agreement.contests if c.tier == tier and not math.isnan(c.result.p)]
    if against:
        beaten = [
            f"{c.first} beats {c.second} by {signed(c.result.difference)} (Holm p {p_value(p)})"
            for c, p in zip(against, holm_of(against), strict=True)
            if p <= ALPHA and c.result.difference > 0
        ]
        many = f"{len(against)} {'comparison' if len(against) == 1 else 'comparisons'}"
        said.append(
            f"Of {many} of a metric with a baseline, "
            + ("; ".join(beaten) if beaten else "none shows the metric to be better")
            + "."
        )
    return said


def _reach(best: Standing) -> str:
    """How far chance alone gets on the studies of a metric: its two-sided p, in words."""
    only = "" if best.covers_zero else "only "
    return (
        f"The best metric is {best.metric}; on its studies one that knows nothing gets as far from "
        f"0 as its {signed(best.t)} {only}with probability {p_value(best.p)}."
    )


def rivals(found: Findings, tier: Tier) -> list[Standing]:
    """Metrics that claim something, without baselines and sentinels; the highest T first."""
    return found.of(tier, *COMPARED, "other")


def members(found: Findings, family: Family) -> list[str]:
    """All metrics of a family that are known here, whether they have scores or not."""
    names = {*found.agreement.family, *found.cards, *(s.metric for s in found.standings)}
    return sorted(n for n in names if family_of(n, found.cards) == family)


def span(low: float, high: float) -> str:
    """An interval in words."""
    return "unknown" if math.isnan(low) else f"{signed(low)} to {signed(high)}"


def _decided(some: Sequence[Standing]) -> bool:
    return any(s.verdict.startswith(("agrees", "disagrees")) for s in some)


def _each(some: Sequence[Standing]) -> str:
    return _list([f"{s.metric} ({s.family})" for s in some])


def _list(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _verb(some: Sequence[Standing], one: str, many: str) -> str:
    return one if len(some) == 1 else many


def _methods(n: float) -> str:
    return f"more than {MOST} methods" if math.isnan(n) else f"{n:.0f} methods"


def _winner(c: Contest) -> str:
    return c.first if c.result.difference > 0 else c.second


def _loser(c: Contest) -> str:
    return c.second if c.result.difference > 0 else c.first
