"""What the page of findings says, as numbers: no sentence is made here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from humetric.agreement.across import ALPHA, Across, Contest, Tier, across
from humetric.agreement.cell import SEPARATED
from humetric.agreement.evidence import LEVELS, Evidence, of_run, published, sentinels
from humetric.agreement.families import Family, between_families, family_of
from humetric.agreement.report import TIER, Agreement, agreement
from humetric.boards.findings.power import Power, power_with
from humetric.cards import MetricCard
from humetric.human.figures import Measured
from humetric.human.study import Study
from humetric.results.result import Result
from humetric.stats.holm import holm
from humetric.stats.noise import reliability

SEED = 0
TIERS: tuple[Tier, ...] = ("judged", "stand-in", "toy")


@dataclass(frozen=True)
class Standing:
    """A metric over the studies of a tier of evidence. NaN: undefined."""

    metric: str
    family: Family
    tier: Tier
    verdict: str
    levels: tuple[str, ...] = ()
    studies: tuple[str, ...] = ()
    in_sample: tuple[str, ...] = ()
    cells: int = 0
    methods: tuple[int, ...] = ()
    """Methods of each study."""
    t: float = math.nan
    low: float = math.nan
    high: float = math.nan
    """T -+ what is still chance, cut at -1 and 1."""
    p: float = math.nan
    smallest: float = math.nan
    holm: float = math.nan
    """Over the family of metrics that the repository lists; only if judged."""
    by_study: Mapping[str, float] = field(default_factory=dict)
    """T of each study."""
    by_cell: Mapping[str, float] = field(default_factory=dict)
    """D of each cell, also of those that it was derived from; of several rows, their mean."""
    turns: tuple[str, ...] = ()
    """Studies without which T is 0 or has the other sign."""

    @property
    def defined(self) -> bool:
        """Whether it has a T."""
        return not math.isnan(self.t)

    @property
    def covers_zero(self) -> bool:
        """Whether its interval does: exactly where p > .05."""
        return not self.p <= ALPHA


@dataclass(frozen=True)
class OfStudy:
    """What a study says of the metrics that have scores in it."""

    study: str
    tier: Tier
    measure: str
    cells: int
    methods: int
    separated: int
    """Primary cells whose methods people tell apart."""
    unknown: int
    """Primary cells of which nobody knows, since no standard error was published."""
    standings: tuple[Standing, ...]
    """Metrics with a T in this study, the highest first; holm is over these."""
    power: Power


@dataclass(frozen=True)
class Simulated:
    """A simulated user in a run: means over settings and methods that have them all."""

    metric: str
    value: float
    none: float
    """With no explanation."""
    shuffled: float
    """With explanations of other cases."""
    pairs: int
    """Settings times methods."""


@dataclass(frozen=True)
class Findings:
    """All that the page says."""

    agreement: Agreement
    standings: tuple[Standing, ...]
    """By tier, then by T; sentinels and baselines are among them."""
    studies: tuple[OfStudy, ...]
    contests: tuple[Contest, ...]
    """Metrics of one family against metrics of another."""
    cards: Mapping[str, MetricCard]
    simulated: tuple[Simulated, ...]
    about_run: Mapping[str, str]
    """What a run says of itself; empty without one."""

    def of(self, tier: Tier, *families: Family) -> list[Standing]:
        """The standings of a tier, of some families or all."""
        return [
            s for s in self.standings if s.tier == tier and (s.family in families or not families)
        ]

    def known(self) -> list[str]:
        """All metrics: of the repository, of the run and of the studies."""
        return sorted({*self.agreement.family, *self.cards, *(s.metric for s in self.standings)})

    def power(self, methods: Sequence[int]) -> Power:
        """What studies of so many methods could show."""
        return power_with(tuple(methods), len(self.agreement.family), self.agreement.seed)


def findings(
    studies: Mapping[str, Study], result: Result | None = None, seed: int = SEED
) -> Findings:
    """The published figures, and the metrics of a run if there is one, against people's success."""
    found = agreement(studies, result, seed=seed)
    cards = {} if result is None else dict(result.metrics)
    evidence = published(studies) + ([] if result is None else of_run(result, studies))
    return Findings(
        found,
        tuple(standings(found.across, found, cards)),
        tuple(_studies(found, [*evidence, *sentinels(studies, seed)], cards)),
        tuple(between_families(evidence, studies, cards, seed)),
        cards,
        () if result is None else tuple(_simulated(result)),
        {} if result is None else _about(result),
    )


def standings(
    listed: Sequence[Across], found: Agreement, cards: Mapping[str, MetricCard]
) -> list[Standing]:
    """Metrics by tier, the highest T first."""
    made = [_standing(a, found, family_of(a.metric, cards)) for a in listed]
    return sorted(made, key=lambda s: (TIERS.index(s.tier), -s.t if s.defined else 9, s.metric))


def _standing(whole: Across, found: Agreement, family: Family) -> Standing:
    test = whole.test
    names = tuple(test.studies)
    sizes = {name: _size(whole, name, found) for name in names}
    low, high = test.t - test.chance, test.t + test.chance
    return Standing(
        whole.metric,
        family,
        whole.tier,
        whole.verdict,
        tuple(level for level in LEVELS if level in {whole.levels[name] for name in names}),
        names,
        whole.in_sample,
        sum(cells for cells, _ in sizes.values()),
        tuple(n for _, n in sizes.values()),
        test.t,
        float(np.clip(low, -1, 1)),
        float(np.clip(high, -1, 1)),
        test.p,
        test.smallest,
        whole.holm,
        test.studies,
        _cells(whole, found),
        tuple(name for name, t in test.leave_one_out.items() if t * test.t <= 0),
    )


def _cells(whole: Across, found: Agreement) -> dict[str, float]:
    """D of each cell that a metric has, as T takes it: at a study's nearest level of the tier."""
    mine = [
        c
        for c in found.cells
        if c.primary
        and c.metric == whole.metric
        and TIER[c.level] == whole.tier
        and not math.isnan(c.concordance.d)
    ]
    nearest = {
        study: min((c.level for c in mine if c.study == study), key=LEVELS.index)
        for study in {c.study for c in mine}
    } | dict(whole.levels)
    listed: dict[str, list[float]] = {}
    for c in mine:
        if c.level == nearest[c.study]:
            listed.setdefault(f"{c.study}/{c.cell}", []).append(c.concordance.d)
    return {name: float(np.mean(d)) for name, d in listed.items()}


def _size(whole: Across, study: str, found: Agreement) -> tuple[int, int]:
    """Cells and methods that a metric has of a study."""
    if whole.kind == "sentinel":
        primary = found.studies[study].primary
        return (len(primary.cells), len(primary.methods)) if primary else (0, 0)
    here = [
        c
        for c in found.cells
        if c.primary
        and (c.metric, c.study, c.level) == (whole.metric, study, whole.levels[study])
        and not math.isnan(c.concordance.d)
    ]
    return len({c.cell for c in here}), len({m for c in here for m in c.methods})


def _studies(
    found: Agreement, evidence: Sequence[Evidence], cards: Mapping[str, MetricCard]
) -> list[OfStudy]:
    """Each study with a primary measure on its own, tier by tier; judged even if nothing is."""
    made = []
    for study in found.studies.values():
        if study.primary is None:
            continue
        human = study.matrix(methods=study.primary.methods).orient()
        apart = _apart(human, study.primary.cells)
        alone = across([e for e in evidence if e.study == study.id], {study.id: study},
                       found.family, found.seed)  # fmt: skip
        for tier in TIERS:
            mine = standings([a for a in alone if a.tier == tier], found, cards)
            mine = _corrected([s for s in mine if s.defined and s.family != "sentinel"])
            if tier != "judged" and not mine:
                continue
            size = max((n for s in mine for n in s.methods), default=len(study.primary.methods))
            power = power_with((size,), len(found.family), found.seed)
            made.append(
                OfStudy(study.id, tier, study.primary.measure, len(study.primary.cells),
                        len(study.primary.methods), apart.count(True), apart.count(None),
                        tuple(mine), power)
            )  # fmt: skip
    return made


def _apart(human: Measured, cells: Sequence[str]) -> list[bool | None]:
    """Of each cell, whether people separate its methods; None: unknown."""
    found = [reliability(human.value[i], human.se[i]) for i in map(human.cells.index, cells)]
    return [None if math.isnan(r) else r >= SEPARATED for r in found]


def _corrected(some: list[Standing]) -> list[Standing]:
    """With Holm over these metrics: the best of several is not one of one."""
    p = holm(np.array([s.p for s in some])).tolist() if some else []
    return [replace(s, holm=value) for s, value in zip(some, p, strict=True)]


def _simulated(result: Result) -> Iterator[Simulated]:
    """What simulated users do with explanations, with none and with shuffled ones."""
    means = result.scores.groupby(["setting", "method", "metric"])["value"].mean()
    for metric in result.metrics:
        keys = [key for key in result.controls if key[2] == metric and key in means.index]
        rows = np.array(
            [
                [means[key], *(result.controls[key].get(of, np.nan) for of in ("none", "shuffled"))]
                for key in keys
            ]
        ).reshape(-1, 3)
        rows = rows[~np.isnan(rows).any(1)]
        if len(rows):
            value, none, shuffled = rows.mean(0).tolist()
            yield Simulated(metric, value, none, shuffled, len(rows))


def _about(result: Result) -> dict[str, str]:
    about = result.provenance
    cases = sorted(set(about.get("cases", {}).values()))
    return {
        "suite": f"{about.get('suite', 'none')} v{about.get('suite_version', '?')}",
        "humetric": str(about.get("environment", {}).get("humetric", "unknown")),
        "settings": str(result.scores["setting"].nunique()),
        "cases per setting": " to ".join(str(n) for n in dict.fromkeys((cases[0], cases[-1])))
        if cases
        else "unknown",
        "methods": str(len(result.methods)),
        "metrics": ", ".join(f"{c.id} v{c.version}" for c in result.metrics.values()),
    }
