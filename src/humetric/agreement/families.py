"""Families of metrics: what kind of thing stands in for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from humetric.agreement.across import Contest, contests
from humetric.agreement.evidence import SENTINELS, Evidence, kind_of
from humetric.cards import MetricCard
from humetric.human.study import Study
from humetric.metrics import METRICS

Family = Literal["faithfulness", "perceptual", "simulated", "other", "baseline", "sentinel"]

RIVALS: tuple[Family, ...] = ("faithfulness", "perceptual", "simulated", "other")
"""Families that claim to tell which explanations help people."""

ABOUT: Mapping[Family, str] = {
    "faithfulness": "what the model says when features are removed or put back",
    "perceptual": "whether highlighted parts of different classes look different",
    "simulated": "a program in the place of a study's people: simulated users, not people",
    "other": "metrics that humetric does not know; only their printed scores are there",
    "baseline": "what a map looks like or costs, whatever the model: to beat, not to trust",
    "sentinel": "values that know nothing",
}


def family_of(metric: str, cards: Mapping[str, MetricCard]) -> Family:
    """The family of a metric, by its card; ``cards`` are those of a run.

    A metric with a value per setting, or per pair of settings, is a simulated user; one that
    compares a case with the setting's other cases is perceptual; what else has a card asks the
    model about a case with features removed. Baselines and sentinels are those of the metric board.
    """
    if metric in SENTINELS:
        return "sentinel"
    if kind_of(metric) == "baseline":
        return "baseline"
    card = cards.get(metric)
    if card is None and metric in set(METRICS):
        card = METRICS.make(metric).card
    if card is None:
        return "other"
    if card.scope != "case":
        return "simulated"
    return "perceptual" if card.compares else "faithfulness"


def between_families(
    evidence: Sequence[Evidence],
    studies: Mapping[str, Study],
    cards: Mapping[str, MetricCard],
    seed: int,
) -> list[Contest]:
    """Every metric against every metric of another family, where both have the same studies."""
    names = sorted({e.metric for e in evidence if e.kind == "metric"})
    place = {name: RIVALS.index(family_of(name, cards)) for name in names}
    return [
        contest
        for i in range(1, len(RIVALS))
        for contest in contests(evidence, studies, [n for n in names if place[n] == i], seed)
        if place[contest.first] < i
    ]
