"""The answer of the page of findings, and what families of metrics say against each other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from humetric.agreement.across import AGREES, ALPHA, DISAGREES, STUDIES, UNDECIDED, Contest, Tier
from humetric.agreement.families import Family, family_of
from humetric.boards.findings.facts import Findings, Standing
from humetric.boards.findings.sentences import DECIDED, cells, estimate, power, takes, why
from humetric.boards.findings.words import counted, joined
from humetric.boards.metric_board import p_value, signed
from humetric.stats.holm import holm

COMPARED: tuple[Family, ...] = ("faithfulness", "perceptual", "simulated")


def answer(found: Findings) -> str:
    """The answer in one paragraph."""
    some, family = rivals(found, "judged"), len(found.agreement.family)
    parts = [headline(some)]
    decided = any(s.verdict in DECIDED for s in some)
    best = None if decided else next((s for s in some if s.defined), None)
    if best is not None:
        parts.append(
            f"The highest agreement is that of {best.metric} ({best.family}), on a scale from -1 "
            f"(reversed) over 0 (chance) to 1 (as people): {estimate(best)}; {why(best, family)}."
        )
        parts += [*cells(best), takes(found.power(best.methods))]
    parts += [of_family(found, name) for name in COMPARED]
    parts.append(between([c for c in found.contests if c.tier == "judged"]))
    if rivals(found, "toy"):
        parts.append("What the embedded run gives is further down and is not evidence.")
    return " ".join(parts)


def headline(some: Sequence[Standing]) -> str:
    """Whether any metric goes with human success, by published and replica evidence."""
    agree = [s for s in some if s.verdict == AGREES]
    against = [s for s in some if s.verdict == DISAGREES]
    if agree or against:
        yes = f"**Yes, in these studies: {_go(agree)} with human success** ({_estimates(agree)})."
        no = f"{_go(against)} against it in these studies ({_estimates(against)})."
        if not against:
            return yes
        return f"{yes} But {no}" if agree else f"**No metric goes with human success**, and {no}"
    if any(s.verdict == UNDECIDED for s in some):
        return (
            "**Undecided: no metric is shown to go with human success, and none to go against it.**"
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


def of_family(found: Findings, name: Family) -> str:
    """How many metrics of a family could be judged and what came of it."""
    here = [s for s in found.of("judged", name) if s.defined]
    sample = [
        f"{s.metric} (mean D {signed(float(np.mean(list(s.by_cell.values()))))})"
        for s in found.of("judged", name)
        if s.in_sample and not s.defined and s.by_cell
    ]
    rest = f"; {joined(sample)} only in the study that it was derived from" if sample else ""
    start, many = f"{name.capitalize()}:", counted(len(members(found, name)), "metric")
    if not here:
        return f"{start} none of {many} has published or replica scores to be judged by{rest}."
    agree = sum(s.verdict == AGREES for s in here)
    against = sum(s.verdict == DISAGREES for s in here)
    counts = {
        "agreeing": agree,
        "disagreeing": against,
        "without a decision": len(here) - agree - against,
    }
    has = "has" if len(here) == 1 else "have"
    said = ", ".join(f"{n} {word}" for word, n in counts.items() if n)
    return f"{start} of {many} {len(here)} {has} published or replica scores ({said}){rest}."


def between(pairs: Sequence[Contest]) -> str:
    """Whether a family beats another, metric by metric."""
    known = [c for c in pairs if not math.isnan(c.result.p)]
    if not known:
        return (
            "No two metrics of different families have scores in the same studies that they could "
            "be judged by, so the families cannot be compared."
        )
    adjusted = holm_of(known)
    apart = [(c, p) for c, p in zip(known, adjusted, strict=True) if p <= ALPHA]
    many = f"{counted(len(known), 'pair')} of metrics of different families"
    if not apart:
        return f"Of {many} none is told apart (smallest Holm p {p_value(min(adjusted))})."
    listed = "; ".join(_above(c, p) for c, p in apart)
    return f"Of {many} {len(apart)} {'is' if len(apart) == 1 else 'are'} told apart: {listed}."


def other_tier(found: Findings, tier: Tier) -> str:
    """What a tier without verdicts gives, in a few sentences."""
    some = [s for s in rivals(found, tier) if s.defined]
    start = (
        "**Not evidence.** People never saw these cases, models or explanations. The numbers show "
        "that the code runs from end to end, and how a page with real scores will read."
        if tier == "toy"
        else "**No verdict.** Scores are of other data or another model than people saw."
    )
    if not some:
        return f"{start} No metric has a T here."
    away = [f"{s.metric} ({signed(s.t)})" for s in some if not s.covers_zero]
    kept = (
        f"those whose interval does not cover 0 are {joined(away)}"
        if away
        else "every interval covers 0"
    )
    means = [
        f"{name} {signed(float(np.mean([s.t for s in some if s.family == name])))}"
        for name in (*COMPARED, "other")
        if any(s.family == name for s in some)
    ]
    return (
        f"{start} Of {counted(len(some), 'metric')}, {kept} (p not corrected for their number). "
        f"Mean T by family: {joined(means)}. "
        f"{between([c for c in found.contests if c.tier == tier])}"
    )


def powers(found: Findings) -> list[str]:
    """What the studies of metrics without a decision could have shown, each set of sizes once."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for s in rivals(found, "judged"):
        if s.defined and s.verdict not in DECIDED:
            groups.setdefault(s.methods, []).append(s.metric)
    family = len(found.agreement.family)
    return [f"{joined(who)}: {power(found.power(of), family)}" for of, who in groups.items()]


def rivals(found: Findings, tier: Tier) -> list[Standing]:
    """Metrics that claim something, without baselines and sentinels; the highest T first."""
    return found.of(tier, *COMPARED, "other")


def members(found: Findings, family: Family) -> list[str]:
    """All metrics of a family that are known here, whether they have scores or not."""
    return [name for name in found.known() if family_of(name, found.cards) == family]


def holm_of(pairs: Sequence[Contest]) -> list[float]:
    """p of comparisons, corrected for their number."""
    found: list[float] = holm(np.array([c.result.p for c in pairs])).tolist()
    return found


def _go(some: Sequence[Standing]) -> str:
    names = joined([f"{s.metric} ({s.family})" for s in some])
    return f"{names} {'goes' if len(some) == 1 else 'go'}"


def _estimates(some: Sequence[Standing]) -> str:
    return "; ".join(f"{s.metric}: {estimate(s)}, Holm p {p_value(s.holm)}" for s in some)


def _above(c: Contest, p: float) -> str:
    high, low = (c.first, c.second) if c.result.difference > 0 else (c.second, c.first)
    return f"{high} above {low} by {signed(abs(c.result.difference))} (Holm p {p_value(p)})"
