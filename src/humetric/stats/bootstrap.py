"""Intervals for means over cases, of one setting or of several: the percentile bootstrap."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 9_999
LEVEL = 0.95
AT_ONCE = 2_000_000
"""Numbers drawn at a time, so that many cases do not need much memory."""


class MeanInterval(NamedTuple):
    """A mean, its interval, and of how many values."""

    mean: float
    low: float
    high: float
    n: int


def mean_interval(
    values: NDArray[np.float64],
    generator: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> MeanInterval:
    """Mean of the defined values, and the percentile bootstrap interval of it.

    The values are drawn anew with replacement, ``resamples`` times; the interval lies between the
    (1 - level) / 2 and (1 + level) / 2 quantiles of the means. One value has no interval and none
    has no mean (NaN). With few values the interval is too short: simulated coverage of a nominal
    95% for normal values is .84 at n = 5, .91 at 10, .93 at 24.
    """
    if values.ndim != 1:
        raise ValueError(f"Expected one value per case but got an array of shape {values.shape}.")
    defined = values[~np.isnan(values)]
    n = len(defined)
    if n == 0:
        return MeanInterval(math.nan, math.nan, math.nan, 0)
    mean = math.fsum(defined) / n
    if n == 1:
        return MeanInterval(mean, math.nan, math.nan, 1)
    means = _means(defined, generator, resamples)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return MeanInterval(mean, float(low), float(high), n)


def grouped_interval(
    values: NDArray[np.float64],
    generator: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> MeanInterval:
    """Unweighted mean of the groups' means, and its bootstrap; values are (cases, groups).

    NaN where a group does not have a case, or has no value of it. Every group weighs alike,
    however many values it has, and one without any is left out. Cases are drawn anew within each
    group; groups that share cases (several models, the same questions) are drawn together, case by
    case, since they do not tell independently of each other. The interval is about other cases of
    the same groups, not about other groups. There is none where a group has one value. One group
    gives what ``mean_interval`` gives, and with few cases this is too short as well.
    """
    if values.ndim != 2:
        raise ValueError(f"Expected (cases, groups) but got an array of shape {values.shape}.")
    values = values[:, ~np.isnan(values).all(0)]
    if values.shape[1] < 2:
        return mean_interval(values.ravel(), generator, resamples, level)
    counts = (~np.isnan(values)).sum(0)
    n = int(counts.sum())
    sums = [math.fsum(column[~np.isnan(column)]) for column in values.T]
    mean = math.fsum(s / c for s, c in zip(sums, counts.tolist(), strict=True)) / len(sums)
    if counts.min() == 1:
        return MeanInterval(mean, math.nan, math.nan, n)
    total = np.zeros(resamples)
    for columns in _sharing(~np.isnan(values)):
        some = values[:, columns]
        some = some[~np.isnan(some).all(1)]
        if len(columns) == 1:
            total += _means(some[:, 0], generator, resamples)
        else:
            total += _sums_of_means(some, generator, resamples)
    # A draw without any value of a group has no mean; that takes very few values.
    low, high = np.nanquantile(total / len(sums), [(1 - level) / 2, (1 + level) / 2])
    return MeanInterval(mean, float(low), float(high), n)


def _sharing(defined: NDArray[np.bool_]) -> list[list[int]]:
    """Columns that have a row in common, directly or through others, put together."""
    found: list[set[int]] = []
    for row in defined:
        here = set(np.flatnonzero(row).tolist())
        joined = here.union(*(group for group in found if group & here))
        found = [group for group in found if not group & here] + ([joined] if joined else [])
    return sorted(sorted(group) for group in found)


def _means(
    defined: NDArray[np.float64], generator: np.random.Generator, resamples: int
) -> NDArray[np.float64]:
    """Means of values drawn with replacement."""
    n = len(defined)
    means = np.empty(resamples)
    step = max(1, AT_ONCE // n)
    for start in range(0, resamples, step):
        stop = min(start + step, resamples)
        drawn = generator.integers(0, n, (stop - start, n))
        means[start:stop] = defined[drawn].mean(1)
    return means


def _sums_of_means(
    values: NDArray[np.float64], generator: np.random.Generator, resamples: int
) -> NDArray[np.float64]:
    """Sums over columns of the means of rows drawn with replacement; NaN where one has none."""
    n = len(values)
    defined = (~np.isnan(values)).astype(np.float64)
    filled = np.nan_to_num(values, nan=0.0)
    total = np.empty(resamples)
    step = max(1, AT_ONCE // n)
    for start in range(0, resamples, step):
        stop = min(start + step, resamples)
        drawn = generator.integers(0, n, (stop - start, n))
        places = drawn + n * np.arange(stop - start)[:, None]
        often = np.bincount(places.ravel(), minlength=places.size).reshape(drawn.shape)
        counts = often @ defined
        means = np.full(counts.shape, math.nan)
        np.divide(often @ filled, counts, out=means, where=counts > 0)
        total[start:stop] = means.sum(1)
    return total
