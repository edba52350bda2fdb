"""A metric over all studies: T, its test, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from humetric.agreement.assemble import Assembled, assemble
from humetric.agreement.evidence import JUDGED, Evidence, Kind, Level
from humetric.human.study import Study
from humetric.seeding import generator
from humetric.stats.compare import PermSystems, Williams, perm_systems, williams
from humetric.stats.concordance import pearson
from humetric.stats.holm import holm
from humetric.stats.joint import JointTest, StudyData, joint_test, max_t
from humetric.stats.pooling import LEAST, Pooled, permutation_variance, random_effects
from humetric.stats.shared import SharedTest, overlap, shared_test

Tier = Literal["judged", "stand-in", "toy"]
TIERS: dict[Tier, tuple[Level, ...]] = {
    "judged": JUDGED,
    "stand-in": ("stand-in",),
    "toy": ("toy",),
}

ALPHA = 0.05
STUDIES = 3
"""Fewer studies than this decide nothing."""

AGREES, DISAGREES = "agrees in these studies", "disagrees in these studies"
UNDECIDED, TOO_FEW = "undecided", "too few studies"
NOT_SHARED, NO_WILLIAMS = SharedTest(math.nan, 0), Williams(math.nan, math.nan)
NOT_EVIDENCE, NO_VERDICT, SENTINEL = "not evidence", "no verdict", "sentinel"


@dataclass(frozen=True)
class Across:
    """A metric over the studies of a tier of evidence, without those it was derived from."""

    metric: str
    kind: Kind
    tier: Tier
    levels: Mapping[str, Level]
    """The level of evidence of each study."""
    test: JointTest
    holm: float
    """p of T, Holm-corrected over the family; NaN outside of it."""
    max_t: float
    """p of T, corrected by the largest |T| of the family under shared relabelling."""
    verdict: str
    separated: JointTest
    """The same without cells whose methods people do not separate."""
    controlled: JointTest
    """The same with uninformative conditions, a sensitivity check; undefined without a value."""
    pooled: Pooled | None
    """Random effects over studies; None below five."""
    in_sample: tuple[str, ...]
    """Studies left out because the metric was derived from them."""
    shared: SharedTest = NOT_SHARED
    """p with methods of one name relabelled together over studies, a check; NaN where no two
    studies have a method in common, and outside of the judged tier."""

    @property
    def studies(self) -> int:
        """Studies that T is over."""
        return len(self.test.studies)


@dataclass(frozen=True)
class Contest:
    """A metric against another over the studies that both have."""

    first: str
    second: str
    tier: Tier
    result: PermSystems
    williams: Williams = NO_WILLIAMS
    """A supplement, where the contest is over one row of a single study with four methods."""


def across(
    evidence: Sequence[Evidence],
    studies: Mapping[str, Study],
    family: Sequence[str],
    seed: int,
) -> list[Across]:
    """Every metric over the studies of every tier, with corrections over the family of metrics.

    The family is what the repository lists, whether a metric has evidence or not: one without any
    counts as p = 1, so that a metric gains nothing by the others' absence.
    """
    found: list[Across] = []
    for tier, levels in TIERS.items():
        data = {m: assemble(m, evidence, studies, levels) for m in _metrics(evidence, levels)}
        data = {m: some for m, some in data.items() if some.data or some.in_sample}
        tests = {m: joint_test(some.data, _draw(seed, tier, m)) for m, some in data.items()}
        judged = tier == "judged"
        corrected = _holm(tests, family) if judged else {}
        shared = {
            m: some.data
            for m, some in data.items()
            if m in family and some.data and some.kind != "sentinel"
        }
        largest = max_t(shared, _draw(seed, tier, "max-T")) if judged and shared else {}
        for name, some in data.items():
            control = assemble(name, evidence, studies, levels, sensitivity=True)
            adjusted = corrected.get(name, math.nan)
            found.append(
                Across(
                    metric=name,
                    kind=some.kind,
                    tier=tier,
                    levels=some.levels,
                    test=tests[name],
                    holm=adjusted,
                    max_t=largest.get(name, math.nan),
                    verdict=verdict(tests[name], adjusted, tier, some.kind),
                    separated=joint_test(some.separated, _draw(seed, tier, f"{name} separated")),
                    controlled=joint_test(
                        control.data if control.controlled else (),
                        _draw(seed, tier, f"{name} controlled"),
                    ),
                    pooled=_pooled(some.data, tests[name]),
                    in_sample=some.in_sample,
                    shared=_shared(some, tests[name], _draw(seed, tier, f"{name} shared"))
                    if judged
                    else NOT_SHARED,
                )
            )
    return found


def contests(
    evidence: Sequence[Evidence],
    studies: Mapping[str, Study],
    baselines: Sequence[str],
    seed: int,
) -> list[Contest]:
    """Every metric against every baseline, tier by tier.

    In a study both are taken at the nearest level of evidence that both have, on the same settings.
    """
    found = []
    for tier, levels in TIERS.items():
        names = _metrics(evidence, levels)
        kinds = {e.metric: e.kind for e in evidence}
        for name in names:
            for other in baselines:
                if kinds[name] != "metric" or other not in names:
                    continue
                first = assemble(name, evidence, studies, levels, beside=other).data
                second = assemble(other, evidence, studies, levels, beside=name).data
                result = perm_systems(first, second, _draw(seed, tier, f"{name} against {other}"))
                if result.studies:
                    found.append(Contest(name, other, tier, result, _williams(first, second)))
    return found


def verdict(test: JointTest, holm: float, tier: Tier, kind: Kind) -> str:
    """What may be said of a metric: never more than "in these studies".

    It agrees (or disagrees) if the corrected p is at most .05, there are at least three studies,
    and T keeps its sign without each of them.
    """
    if kind == "sentinel":
        return SENTINEL
    if tier == "toy":
        return NOT_EVIDENCE
    if tier == "stand-in":
        return NO_VERDICT
    if len(test.studies) < STUDIES:
        return TOO_FEW
    survives = all(np.sign(t) == np.sign(test.t) for t in test.leave_one_out.values())
    if holm <= ALPHA and survives and test.t != 0:
        return AGREES if test.t > 0 else DISAGREES
    return UNDECIDED


def _metrics(evidence: Sequence[Evidence], levels: Sequence[Level]) -> list[str]:
    return sorted({e.metric for e in evidence if e.level in levels})


def _shared(some: Assembled, test: JointTest, draw: np.random.Generator) -> SharedTest:
    used = {study: some.methods[study] for study in test.studies}
    if not overlap(used):
        return NOT_SHARED
    return shared_test([study for study in some.data if study.name in used], used, draw)


def _williams(first: Sequence[StudyData], second: Sequence[StudyData]) -> Williams:
    """Williams' test, which knows neither cells nor studies: only where there is one row."""
    rows = [
        (a.human[i][both], a.metric[i][both], b.metric[i][both])
        for a, b in zip(first, second, strict=True)
        for i in range(len(a.human))
        if (both := ~np.isnan(a.human[i] + a.metric[i] + b.metric[i])).sum() > 1
    ]
    if len(rows) != 1:
        return NO_WILLIAMS
    ((people, x, y),) = rows
    return williams(pearson(people, x), pearson(people, y), pearson(x, y), len(people))


def _holm(tests: Mapping[str, JointTest], family: Sequence[str]) -> dict[str, float]:
    names = list(dict.fromkeys(family))
    p = [tests[name].p if name in tests else 1.0 for name in names]
    p = [1.0 if math.isnan(value) else value for value in p]
    return dict(zip(names, holm(np.array(p)).tolist(), strict=True))


def _pooled(data: Sequence[StudyData], test: JointTest) -> Pooled | None:
    usable = [study for study in data if study.name in test.studies]
    variance = [permutation_variance(study) for study in usable]
    if len(usable) < LEAST or not all(v > 0 for v in variance):
        return None
    return random_effects([test.studies[study.name] for study in usable], variance)


def _draw(seed: int, tier: str, what: str) -> np.random.Generator:
    return generator(seed, tier, f"agreement: {what}")
