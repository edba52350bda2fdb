"""An interval for a mean over cases: the percentile bootstrap."""

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
    means = np.empty(resamples)
    step = max(1, AT_ONCE // n)
    for start in range(0, resamples, step):
        stop = min(start + step, resamples)
        drawn = generator.integers(0, n, (stop - start, n))
        means[start:stop] = defined[drawn].mean(1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return MeanInterval(mean, float(low), float(high), n)
