"""Differences between groups of values: one-way ANOVA, Tukey's test, the t test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats


class Anova(NamedTuple):
    """A one-way analysis of variance; NaN where it is undefined."""

    f: float
    between: int
    within: int
    p: float


class Pair(NamedTuple):
    """Mean of group ``first`` minus mean of group ``second``."""

    first: int
    second: int
    difference: float
    low: float
    high: float
    p: float


class TTest(NamedTuple):
    """Mean of the first group minus mean of the second, with Student's interval."""

    difference: float
    low: float
    high: float
    t: float
    df: float
    p: float


def one_way(groups: Sequence[NDArray[np.float64]]) -> Anova:
    """F = (mean square between groups) / (mean square within); undefined without variance within.

    It assumes independent values. Averages of items that several groups answered are not: the same
    hard item lowers all groups, which makes the test too cautious; one person's answers to many
    items are alike, which makes it too bold.
    """
    between = len(groups) - 1
    within = sum(map(len, groups)) - len(groups)
    if between < 1 or within < 1 or any(len(g) == 0 for g in groups) or _flat(groups):
        return Anova(math.nan, max(between, 0), max(within, 0), math.nan)
    found = stats.f_oneway(*groups)
    return Anova(float(found.statistic), between, within, float(found.pvalue))


def tukey(groups: Sequence[NDArray[np.float64]], level: float = 0.95) -> list[Pair]:
    """All pairs by the honest significant difference (Tukey-Kramer for unequal sizes).

    The chance of any false difference is 1 - level, if values are independent, normal and of one
    variance. Undefined (NaN) without variance within groups or with fewer than two values in all
    to estimate it.
    """
    pairs = list(combinations(range(len(groups)), 2))
    usable = all(len(g) >= 2 for g in groups) and not _flat(groups)
    if len(groups) < 2 or not usable:
        means = [float(np.mean(g)) if len(g) else math.nan for g in groups]
        nan = math.nan
        return [Pair(i, j, means[i] - means[j], nan, nan, nan) for i, j in pairs]
    found = stats.tukey_hsd(*groups)
    bounds = found.confidence_interval(level)
    low, high = np.asarray(bounds.low), np.asarray(bounds.high)
    return [
        Pair(
            i,
            j,
            float(found.statistic[i, j]),
            float(low[i, j]),
            float(high[i, j]),
            float(found.pvalue[i, j]),
        )
        for i, j in pairs
    ]


def t_test(first: NDArray[np.float64], second: NDArray[np.float64], level: float = 0.95) -> TTest:
    """Student's t test of two independent samples of one variance."""
    if len(first) < 2 or len(second) < 2 or _flat([first, second]):
        means = [float(np.mean(g)) if len(g) else math.nan for g in (first, second)]
        nan = math.nan
        return TTest(means[0] - means[1], nan, nan, nan, nan, nan)
    found = stats.ttest_ind(first, second)
    low, high = found.confidence_interval(level)
    difference = float(np.mean(first) - np.mean(second))
    return TTest(
        difference,
        float(low),
        float(high),
        float(found.statistic),
        float(found.df),
        float(found.pvalue),
    )


def _flat(groups: Sequence[NDArray[np.float64]]) -> bool:
    """No variance within any group: the tests divide by it."""
    return all(len(g) == 0 or np.ptp(g) == 0 for g in groups)
