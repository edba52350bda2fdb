"""Sentinels, baselines and the controls of simulated users, as the page of findings has them."""

from __future__ import annotations

import math

import numpy as np

from humetric.agreement.across import ALPHA, Tier
from humetric.boards.findings.answer import holm_of, rivals
from humetric.boards.findings.facts import Findings, Simulated, Standing
from humetric.boards.findings.words import TIER_NAMES, counted, joined
from humetric.boards.metric_board import p_value, signed
from humetric.stats.steady import steady


def controls(found: Findings, tier: Tier) -> list[str]:
    """How near to the best metric comes what knows nothing, and what only describes a map."""
    some = [s for s in rivals(found, tier) if s.defined]
    if not some:
        return [f"No metric has {TIER_NAMES[tier]} scores that a control could be held against."]
    best = some[0]
    only = "" if best.covers_zero else "only "
    said = [
        f"The highest T is {signed(best.t)} ({best.metric}); on its studies a metric that knows "
        f"nothing gets as far from 0 {only}with probability {p_value(best.p)}."
    ]
    said += _sentinels(found, best)
    base = [s for s in found.of(tier, "baseline") if s.defined]
    if base:
        high = base[0]
        how = "no less than" if high.t >= best.t else "less than"
        said.append(
            f"The highest baseline, {high.metric}, has {signed(high.t)}, {how} {best.metric}."
        )
    return [*said, *_contests(found, tier)]


def _sentinels(found: Findings, best: Standing) -> list[str]:
    """Sentinels on the studies of the best metric: they need no scores, so any tier has them."""
    reached = {}
    for s in found.of("judged", "sentinel"):
        here = [s.by_study[name] for name in best.studies if name in s.by_study]
        if here:
            reached[s.metric] = float(np.mean(here))
    if not reached:
        return []
    far = max(reached, key=lambda name: abs(reached[name]))
    listed = joined([f"{name} has {signed(t)}" for name, t in reached.items()])
    if abs(reached[far]) >= abs(best.t):
        end = f"{far} is as far from 0 as {best.metric}, so its T alone says nothing"
    else:
        end = f"none is as far from 0 as {best.metric}"
    return [f"Of the sentinels on these studies {listed}: {end}."]


def _contests(found: Findings, tier: Tier) -> list[str]:
    """Whether any metric is better than a baseline."""
    pairs = [c for c in found.agreement.contests if c.tier == tier and not math.isnan(c.result.p)]
    if not pairs:
        return []
    adjusted = holm_of(pairs)
    apart = [(c, p) for c, p in zip(pairs, adjusted, strict=True) if p <= ALPHA]
    decided = [
        f"{c.first} is {'better' if c.result.difference > 0 else 'worse'} than {c.second} by "
        f"{signed(abs(c.result.difference))} (Holm p {p_value(p)})"
        for c, p in apart
    ]
    many = counted(len(pairs), "comparison")
    none = f"none is decided (smallest Holm p {p_value(min(adjusted))})"
    return [f"Of {many} of a metric with a baseline, {joined(decided) or none}."]


def simulated(of: Simulated) -> str:
    """A simulated user beside itself without explanations and with shuffled ones."""
    how = "more than" if of.value > max(of.none, of.shuffled) else "no more than"
    value, none, shuffled = (
        f"{round(steady(number), 2) + 0.0:.2f}" for number in (of.value, of.none, of.shuffled)
    )
    return (
        f"{of.metric}: {value} on average over {of.pairs} pairs of setting and method, {how} its "
        f"controls (no explanation {none}, shuffled ones {shuffled}; means, not a test)."
    )
