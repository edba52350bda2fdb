"""Bootstraps that draw whole blocks: people, or people and items at once.

Responses of one person are alike, and so are responses to one item; drawing single responses anew
treats them as independent and gives intervals that are too short.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 9_999
LEVEL = 0.95
AT_ONCE = 4_000_000
"""Numbers drawn at a time, so that many people do not need much memory."""


class BlockMean(NamedTuple):
    """A mean over responses with an interval for new people and new items."""

    mean: float
    half_width: float
    """Half of the distance between the outer quantiles of the draws."""
    se: float
    """Standard deviation of the draws."""
    p: float
    """Two-sided, against a mean of 0, from draws centred at the mean."""
    n: int
    users: int
    items: int


def two_way_mean(
    values: NDArray[np.float64],
    users: NDArray[np.object_],
    items: NDArray[np.object_],
    generator: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> BlockMean:
    """Mean of the defined values, resampling users and items (Hase & Bansal 2020, section 5).

    Each draw takes as many users as there are, with replacement, and independently as many items;
    a response counts as often as its user was drawn times as often as its item was. This counts
    the noise of single responses up to three times (Owen 2007, "The pigeonhole bootstrap"), while
    drawing from few users makes the spread between them look smaller than it is. The first
    dominates where responses are right or wrong: the interval is then too wide. A single user has
    no interval (NaN), since nothing says how another would do; nor have a single item or values
    that are all alike.
    """
    defined = ~np.isnan(values)
    value = values[defined]
    names, user = np.unique(users[defined].astype(str), return_inverse=True)
    things, item = np.unique(items[defined].astype(str), return_inverse=True)
    n, many, several = len(value), len(names), len(things)
    if n == 0:
        return BlockMean(math.nan, math.nan, math.nan, math.nan, 0, 0, 0)
    mean = math.fsum(value) / n
    if many < 2 or several < 2 or np.ptp(value) == 0:
        return BlockMean(mean, math.nan, math.nan, math.nan, n, many, several)
    total = np.zeros((many, several))
    count = np.zeros((many, several))
    np.add.at(total, (user, item), value)
    np.add.at(count, (user, item), 1.0)
    draws = np.empty(resamples)
    step = max(1, AT_ONCE // max(many, several))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        of_user = _weights(many, size, generator)
        of_item = _weights(several, size, generator)
        weight = ((of_user @ count) * of_item).sum(1)
        hit = ((of_user @ total) * of_item).sum(1)
        draws[start : start + size] = np.divide(
            hit, weight, out=np.full(size, np.nan), where=weight > 0
        )
    draws = draws[~np.isnan(draws)]
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    p = centred_p(draws, mean)
    spread = float(draws.std(ddof=1))
    return BlockMean(mean, float(high - low) / 2, spread, p, n, many, several)


def centred_p(draws: NDArray[np.float64], value: float, null: float = 0.0) -> float:
    """Share of draws at least as far from the value as the value is from the null.

    The draws are centred at the value, so that they stand for what is found when the null is true;
    (b + 1) / (B + 1), never 0.
    """
    slack = 1e-12 * max(1.0, abs(value))
    beyond = int((np.abs(draws - value) >= abs(value - null) - slack).sum())
    return (beyond + 1) / (len(draws) + 1)


def cluster_draws(
    totals: NDArray[np.float64],
    counts: NDArray[np.float64],
    generator: np.random.Generator,
    resamples: int = RESAMPLES,
) -> NDArray[np.float64]:
    """Draws of sum(totals) / sum(counts), clusters drawn anew: (clusters, k) gives (resamples, k).

    All k columns share the draws, so they stay comparable. A draw whose counts sum to 0 in a
    column is NaN there.
    """
    if totals.shape != counts.shape or totals.ndim != 2:
        raise ValueError(
            f"Expected two arrays of one shape (clusters, k) but got {totals.shape} and "
            f"{counts.shape}."
        )
    weights = _weights(len(totals), resamples, generator)
    above, below = weights @ totals, weights @ counts
    out: NDArray[np.float64] = np.divide(
        above, below, out=np.full(above.shape, np.nan), where=below > 0
    )
    return out


def quantile_interval(draws: NDArray[np.float64], level: float = LEVEL) -> tuple[float, float]:
    """The outer quantiles of the defined draws; NaN where there is none."""
    defined = draws[~np.isnan(draws)]
    if len(defined) == 0:
        return math.nan, math.nan
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _weights(count: int, size: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """How often each of ``count`` is drawn in ``count`` draws; (size, count)."""
    return generator.multinomial(count, np.full(count, 1 / count), size).astype(np.float64)
