"""How far people's own noise limits any agreement, and what other people or cases would give."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humetric.stats.concordance import Precision
from humetric.stats.statistic import Statistic, rowwise

DRAWS = 9_999
LEVEL = 0.95


class Ceiling(NamedTuple):
    """How well people separate the methods of a cell. NaN throughout where it is unknown."""

    reliability: float
    """R, from 0 (all differences may be noise) to 1."""
    low: float
    high: float
    pearson: float
    """sqrt(R): Pearson's r that a perfect metric would reach on average."""
    concordance: float
    """(2 / pi) asin(sqrt(R)): the same for D."""


def reliability(human: ArrayLike, se: ArrayLike) -> float:
    """R = 1 - mean(se^2) / var(h), cut at 0: `noise_ceiling` without its interval."""
    h, error = _known(human, se)
    if len(h) < 2 or np.isnan(error).any():
        return math.nan
    noise, found = float(np.mean(error**2)), float(np.var(h, ddof=1))
    if found > 0:
        return max(0.0, 1 - noise / found)
    return 0.0 if noise > 0 else math.nan


def noise_ceiling(
    human: ArrayLike,
    se: ArrayLike,
    generator: np.random.Generator,
    draws: int = DRAWS,
    level: float = LEVEL,
) -> Ceiling:
    """R = 1 - mean(se^2) / var(h), cut at 0, with an interval; unknown without standard errors.

    var(h) is the sample variance (n - 1) over methods. Below .5 people do not separate the methods.
    A method with a human value but no standard error makes all unknown; methods without a human
    value are left out; one method has none.

    The interval is found by inverting a test. Let true values be normal over methods with variance
    v; then h_i is normal with variance v + se_i^2. The bounds are those v for which the variance
    found lies at the upper and lower (1 - level) / 2 quantile of ``draws`` simulated ones, turned
    into v / (v + mean(se^2)). With equal standard errors these are chi-squared quantiles. Drawing
    h* ~ N(h, se) instead would add the noise a second time and put R too high. The interval speaks
    about methods like these, not these alone, and at five methods it spans most of 0 to 1: that is
    what is known. Both bounds are 0 where the values lie closer together than such standard errors
    allow: then these are too large, or not independent between methods.
    """
    r = reliability(human, se)
    if math.isnan(r):
        return Ceiling(math.nan, math.nan, math.nan, math.nan, math.nan)
    h, error = _known(human, se)
    noise, found = float(np.mean(error**2)), float(np.var(h, ddof=1))
    if noise == 0:
        low = high = 1.0
    else:
        z = generator.standard_normal((draws, len(h)))
        # The quantile that the found variance takes falls as the true variance grows.
        low = _reliability_at(found, (1 + level) / 2, z, error, noise)
        high = _reliability_at(found, (1 - level) / 2, z, error, noise)
    return Ceiling(r, low, high, math.sqrt(r), 2 / math.pi * math.asin(math.sqrt(r)))


def new_people_interval(
    metric: ArrayLike,
    human: ArrayLike,
    se: ArrayLike,
    statistic: Statistic,
    generator: np.random.Generator,
    metric_precision: Precision = 0.0,
    human_precision: Precision = 0.0,
    draws: int = DRAWS,
    level: float = LEVEL,
) -> tuple[float, float]:
    """Quantiles of the statistic over h* ~ N(h, se): these methods, other people.

    A pair of NaN ("unknown") where a method has a human value but no standard error. Methods with
    an undefined value are left out. Since h carries noise already, agreement under h* is pulled
    towards zero; where people do not separate the methods the interval is wide and low. Draws in
    which the statistic is undefined are left out.
    """
    x, h = np.asarray(metric, np.float64), np.asarray(human, np.float64)
    error = np.broadcast_to(np.asarray(se, np.float64), h.shape)
    keep = ~(np.isnan(x) | np.isnan(h))
    if keep.sum() < 2 or np.isnan(error[keep]).any():
        return math.nan, math.nan
    drawn = h[keep] + error[keep] * generator.standard_normal((draws, int(keep.sum())))
    first, second = (
        np.broadcast_to(np.asarray(p, np.float64), h.shape)[keep]
        for p in (metric_precision, human_precision)
    )
    return _interval(rowwise(statistic, x[keep][None], drawn, first, second), level)


def new_cases_interval(
    scores: NDArray[np.float64],
    human: ArrayLike,
    statistic: Statistic,
    generator: np.random.Generator,
    metric_precision: Precision = 0.0,
    human_precision: Precision = 0.0,
    draws: int = DRAWS,
    level: float = LEVEL,
) -> tuple[float, float]:
    """Quantiles of the statistic over bootstrapped cases: these methods, other cases.

    ``scores`` are (cases, methods). Cases are drawn with replacement, jointly for all methods, and
    a method's metric is the mean of its defined scores among them. A method without any score, or
    without a human value, is left out; so are draws that leave another method without one. Nothing
    in it speaks about other methods. NaN with fewer than two cases or methods.
    """
    h = np.asarray(human, np.float64)
    if scores.ndim != 2 or scores.shape[1:] != h.shape:
        raise ValueError(
            f"Expected scores of shape (cases, {h.size}) but got {scores.shape}: one column per "
            "human value."
        )
    defined = ~np.isnan(scores)
    keep = defined.any(0) & ~np.isnan(h)
    cases = len(scores)
    if cases < 2 or keep.sum() < 2:
        return math.nan, math.nan
    times = generator.multinomial(cases, np.full(cases, 1 / cases), draws).astype(np.float64)
    count = times @ defined[:, keep]
    total = times @ np.where(defined, scores, 0.0)[:, keep]
    whole = (count > 0).all(1)
    means = total[whole] / count[whole]
    first, second = (
        np.broadcast_to(np.asarray(p, np.float64), h.shape)[keep]
        for p in (metric_precision, human_precision)
    )
    return _interval(rowwise(statistic, means, h[keep][None], first, second), level)


def _reliability_at(
    found: float,
    quantile: float,
    z: NDArray[np.float64],
    error: NDArray[np.float64],
    noise: float,
) -> float:
    """R for which the variance found is the given quantile of what methods and people yield."""

    def at(reliability: float) -> float:
        between = noise * reliability / (1 - reliability)
        simulated = np.var(z * np.sqrt(between + error**2), axis=1, ddof=1)
        return float(np.quantile(simulated, quantile))

    low, high = 0.0, 1 - 1e-9
    if at(low) >= found:
        return 0.0
    if at(high) <= found:
        return 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) < found else (low, middle)
    return (low + high) / 2


def _known(human: ArrayLike, se: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    h = np.asarray(human, np.float64)
    error = np.broadcast_to(np.asarray(se, np.float64), h.shape)
    keep = ~np.isnan(h)
    return h[keep], error[keep]


def _interval(values: NDArray[np.float64], level: float) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    if not len(known):
        return math.nan, math.nan
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
