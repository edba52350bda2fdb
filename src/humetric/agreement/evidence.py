"""Evidence: a metric's values of the methods of a study's cell, and where they come from.

Values come from the paper itself (its published scores), from a run on a setting that is paired
with the cell, or from something that cannot know (the sentinels).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humetric.boards.ranking import ROUNDING
from humetric.errors import HumetricError
from humetric.human.study import Study
from humetric.metrics import METRICS
from humetric.results.result import Result
from humetric.seeding import generator

Level = Literal["published", "replica", "stand-in", "toy"]
LEVELS: tuple[Level, ...] = ("published", "replica", "stand-in", "toy")
"""How near the metric's values come to what people saw, the nearest first."""

JUDGED: tuple[Level, ...] = ("published", "replica")
"""Levels that verdicts come from."""

Kind = Literal["metric", "baseline", "sentinel"]

BASELINES = ("complexity", "model-calls", "sparseness")
"""To beat, not to trust: what a map or its price looks like, without regard to the model."""

SENTINELS = ("name-hash", "random")
"""They know nothing of either side: if they agreed more often than chance, a test was wrong."""

CALLS = "model-calls"

PAPER = "the paper's own scores"

UNINFORMATIVE = {"control": "random"}
"""What of ours stands for a study's uninformative condition, in the sensitivity check alone."""


CUES = "cues"
"""What a card's ``sees`` names if the metric sees what people are shown besides highlights."""


@dataclass(frozen=True)
class Evidence:
    """Values of one metric for the methods of one cell. NaN: undefined."""

    metric: str
    kind: Kind
    direction: Literal["higher", "lower"]
    study: str
    cell: str
    level: Level
    made_on: str
    """The setting, or whose scores these are."""
    methods: tuple[str, ...]
    value: NDArray[np.float64]
    precision: NDArray[np.float64]
    """Values that differ by less are tied."""
    cases: NDArray[np.float64] | None = None
    """(cases, methods), where the values are means over cases."""
    derived_from: str = ""
    """The study that the metric was found on."""
    sees: tuple[str, ...] = ()
    """What the metric sees besides attributions, as its card says."""

    @property
    def sees_cues(self) -> bool:
        """Whether conditions that differ by what is shown besides the highlights differ to it."""
        return CUES in self.sees

    @property
    def in_sample(self) -> bool:
        """Whether the metric was derived from this very study: shown, never judged by it."""
        return self.derived_from == self.study

    @property
    def sign(self) -> float:
        """What turns values so that higher is better."""
        return 1.0 if self.direction == "higher" else -1.0

    def aligned(self, methods: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values (higher is better) and precisions in the order of some methods, NaN where none."""
        value, precision = np.full(len(methods), np.nan), np.zeros(len(methods))
        for i, name in enumerate(methods):
            if name in self.methods:
                at = self.methods.index(name)
                value[i], precision[i] = self.sign * self.value[at], self.precision[at]
        return value, precision

    def aligned_cases(self, methods: Sequence[str]) -> NDArray[np.float64] | None:
        """Scores of cases (higher is better) in the order of some methods, NaN where none."""
        if self.cases is None:
            return None
        found = np.full((len(self.cases), len(methods)), np.nan)
        for i, name in enumerate(methods):
            if name in self.methods:
                found[:, i] = self.sign * self.cases[:, self.methods.index(name)]
        return found


def published(studies: Mapping[str, Study]) -> list[Evidence]:
    """Automatic scores that the studies themselves printed."""
    found = []
    for study in studies.values():
        for metric in study.metrics:
            scores = study.scores_matrix(metric)
            if scores.direction == "none":
                continue
            for i, cell in enumerate(scores.cells):
                found.append(
                    Evidence(
                        metric,
                        kind_of(metric),
                        scores.direction,
                        study.id,
                        cell,
                        "published",
                        PAPER,
                        scores.methods,
                        scores.value[i],
                        scores.precision[i],
                        derived_from=derived_from(metric),
                    )
                )
    return found


def of_run(result: Result, studies: Mapping[str, Study]) -> list[Evidence]:
    """Every metric of a run, for each cell that one of its settings is paired with."""
    pairs: Mapping[str, Sequence[Mapping[str, str]]] = result.provenance.get("pairs", {})
    found: list[Evidence] = []
    for setting, scores in result.scores.groupby("setting", sort=True):
        for pair in pairs.get(str(setting), ()):
            study = studies.get(pair["study"])
            if study is None:
                raise HumetricError(
                    f"Expected the study {pair['study']!r}, which {setting} is paired with, but it "
                    f"is not among {', '.join(studies)}: name its folder with --human-data."
                )
            study.cell(pair["cell"])
            found += _of_setting(str(setting), scores, pair, result)
    return found


def _of_setting(
    setting: str, scores: pd.DataFrame, pair: Mapping[str, str], result: Result
) -> Iterator[Evidence]:
    level: Level = next(name for name in LEVELS if name == pair["evidence"])
    wanted = int(result.provenance.get("cases", {}).get(setting, 0))
    for name, card in result.metrics.items():
        chosen = scores[scores["metric"] == name]
        if chosen.empty:
            continue
        table = chosen.pivot(index="case", columns="method", values="value").sort_index()
        table = table[sorted(table.columns)]
        cases = table.to_numpy(np.float64)
        there = chosen.groupby("method")["case"].nunique()[table.columns].to_numpy()
        if card.scope == "case":
            cases = np.where(there < wanted, np.nan, cases)  # a part of the cases is no evidence
        count = (~np.isnan(cases)).sum(0)
        total = np.nansum(cases, axis=0)
        mean = np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)
        yield Evidence(
            name,
            kind_of(name),
            card.direction,
            pair["study"],
            pair["cell"],
            level,
            setting,
            tuple(map(str, table.columns)),
            mean,
            np.full(len(mean), ROUNDING),
            cases,
            card.derived_from,
            card.sees,
        )
    priced = {
        method: calls for (of, method), calls in sorted(result.calls.items()) if of == setting
    }
    if priced:
        yield Evidence(
            CALLS,
            "baseline",
            "lower",
            pair["study"],
            pair["cell"],
            level,
            setting,
            tuple(priced),
            np.array(list(priced.values()), dtype=np.float64),
            np.zeros(len(priced)),
        )


def sentinels(studies: Mapping[str, Study], seed: int) -> list[Evidence]:
    """Values that know nothing, for the primary comparison of every study.

    ``name-hash`` is a digest of the method's name, the same in all studies; ``random`` is drawn for
    each method of a study anew. Both order methods alike in all cells, the hardest case for a test.
    """
    found = []
    for study in studies.values():
        if study.primary is None:
            continue
        methods = study.primary.methods
        drawn = generator(seed, study.id, "random sentinel").standard_normal(len(methods))
        hashed = [int(hashlib.sha256(m.encode()).hexdigest()[:8], 16) / 2**32 for m in methods]
        for name, value in (("name-hash", np.array(hashed)), ("random", drawn)):
            found += [
                Evidence(
                    name,
                    "sentinel",
                    "higher",
                    study.id,
                    cell,
                    "published",
                    "nothing",
                    methods,
                    value,
                    np.zeros(len(methods)),
                )
                for cell in study.primary.cells
            ]
    return found


def kind_of(metric: str) -> Kind:
    """What a metric is on the board."""
    return "baseline" if metric in BASELINES else "metric"


def derived_from(metric: str) -> str:
    """The study that a metric was found on; none for one that is known by its scores alone."""
    return METRICS.make(metric).card.derived_from if metric in set(METRICS) else ""
