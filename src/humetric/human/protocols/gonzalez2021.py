"""Gonzalez, Rogers & Sogaard (2021): forward prediction and model selection, with belief bias."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humetric.human.analysis import Direction, Estimate, Findings, Statistic
from humetric.human.exclusions import Exclusions, Screened
from humetric.human.protocols.protocol import Randomness, numbers, protocol, two_way_estimate
from humetric.human.trials import NONE
from humetric.stats.anova import one_way, t_test, tukey

MEASURES: tuple[tuple[str, str, str, Direction], ...] = (
    ("accuracy-model-answer", "correct", "share", "higher"),
    ("accuracy-gold-answer", "correct_gold", "share", "none"),
    ("seconds", "response_time", "s", "lower"),
)


@protocol(
    "gonzalez2021",
    summary="accuracy on the model's answer, and on the gold answer as a sign of belief bias",
    reference="Gonzalez, Rogers and Sogaard, Findings of ACL 2021",
    primary="accuracy-model-answer",
    required=("correct",),
    rules=Exclusions(one_condition=True, drop_first=15),
)
def analyse(screened: Screened, randomness: Randomness) -> Findings:
    """Accuracies per condition, ANOVA and Tukey's test over averages of items, both variants.

    - ``accuracy-model-answer`` (share): responses that are the model's answer;
      ``accuracy-gold-answer``: those that are the true one, which people give who follow their own
      beliefs; ``seconds``. Interval: block bootstrap over participants and items (the study prints
      none).
    - One-way ANOVA over conditions of a cell, then Tukey's honest significant difference of all
      pairs, on the average of each item in each condition, as in the study; Student's t test
      between each two methods.
    - The first 15 trials are training and dropped; ``-all-trials`` are the same with them.

    The tests treat items as independent values. People answer many items each, so that a good
    participant lifts many averages at once: with simulated participants who differ by 9 points
    (standard deviation) ANOVA found a difference in .11 and the t test in .12 of true nulls at .05,
    and Tukey's nominal 95% covered .933. The bootstrap interval covered .990: it is too wide.
    """
    every = pd.concat([screened.kept, screened.training]).sort_index()
    variants = [("", screened.kept)]
    if len(screened.training):
        variants.append(("-all-trials", every))
    estimates: list[Estimate] = []
    statistics: list[Statistic] = []
    notes: list[str] = []
    for suffix, frame in variants:
        for cell, rows in frame.groupby("cell"):
            for name, column, unit, direction in MEASURES:
                if not rows[column].notna().any():
                    continue
                measure = name + suffix
                for _, some in rows.groupby("condition"):
                    found, _ = two_way_estimate(
                        some, some[column], measure, randomness, 1.0, unit, direction
                    )
                    estimates.append(found)
                if column != "response_time":
                    statistics += compare(str(cell), rows, column, measure)
            if NONE not in set(rows["condition"]) and not suffix:
                notes.append(f"{cell}: no condition {NONE!r}, so nothing is compared with it.")
    return Findings(tuple(estimates), tuple(statistics), tuple(notes))


@protocol(
    "gonzalez2021-selection",
    summary="which of two models is better? accuracy of the choice, by method",
    reference="Gonzalez, Rogers and Sogaard, Findings of ACL 2021, section 6",
    primary="selection-accuracy",
    required=("correct",),
    rules=Exclusions(one_condition=True),
)
def selection(screened: Screened, randomness: Randomness) -> Findings:
    """``selection-accuracy`` (share) per method; Student's t test on averages of items.

    ``correct`` says whether the better model was chosen.
    """
    estimates: list[Estimate] = []
    statistics: list[Statistic] = []
    for cell, rows in screened.kept.groupby("cell"):
        for _, some in rows.groupby("condition"):
            found, _ = two_way_estimate(
                some, some["correct"], "selection-accuracy", randomness, 1.0, "share"
            )
            estimates.append(found)
        groups = item_means(rows, "correct")
        statistics += _t_tests(str(cell), "selection-accuracy", groups)
    return Findings(tuple(estimates), tuple(statistics))


def item_means(rows: pd.DataFrame, column: str) -> dict[str, NDArray[np.float64]]:
    """Average of each item, per condition: the unit of the study's tests."""
    known = rows[rows[column].notna()]
    return {
        str(condition): numbers(some.groupby(["test", "item"])[column].mean())
        for condition, some in known.groupby("condition")
    }


def compare(cell: str, rows: pd.DataFrame, column: str, measure: str) -> list[Statistic]:
    """ANOVA over the conditions of a cell, Tukey's pairs, and t tests between methods."""
    groups = item_means(rows, column)
    names = sorted(groups, key=lambda name: (name == NONE, name))
    values = [groups[name] for name in names]
    n = sum(map(len, values))
    whole = one_way(values)
    note = "undefined: too few items or no variance" if math.isnan(whole.f) else ""
    degrees = f"F({whole.between}, {whole.within})"
    found = [
        Statistic(
            cell, "", measure, "conditions", f"anova {degrees}", whole.f, p=whole.p, n=n, note=note
        )
    ]
    for pair in tukey(values):
        first, second = names[pair.first], names[pair.second]
        term = "above none" if second == NONE else f"{first} - {second}"
        found.append(
            Statistic(
                cell,
                first,
                measure,
                term,
                "tukey",
                pair.difference,
                pair.low,
                pair.high,
                pair.p,
                len(values[pair.first]) + len(values[pair.second]),
            )
        )
    return found + _t_tests(cell, measure, {n: v for n, v in groups.items() if n != NONE})


def _t_tests(cell: str, measure: str, groups: dict[str, NDArray[np.float64]]) -> list[Statistic]:
    found = []
    for first, second in combinations(sorted(groups), 2):
        test = t_test(groups[first], groups[second])
        found.append(
            Statistic(
                cell,
                first,
                measure,
                f"{first} - {second}",
                "t test",
                test.difference,
                test.low,
                test.high,
                test.p,
                len(groups[first]) + len(groups[second]),
            )
        )
    return found
