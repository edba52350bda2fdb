"""Does a metric order methods as people do? Pairwise concordance D, and the usual coefficients."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

TIE_SLACK = 1e-6
"""Share of the precision by which a difference may fall short of it and still count: 1.07 - 1.06
is not exactly .01 on a machine, but it is a difference of one printed digit."""

Precision = float | NDArray[np.float64]
"""Half-open: values whose difference is below it are tied. One for all, or one per value."""


class Concordance(NamedTuple):
    """Pairs of methods by what the metric says about those that people did not tie."""

    d: float
    """(concordant - discordant) / pairs, from -1 to 1; NaN without a pair."""
    concordant: int
    discordant: int
    metric_ties: int
    pairs: int
    """Pairs that people did not tie and of which both metric values are defined."""


def signs(values: ArrayLike, precision: Precision = 0.0) -> NDArray[np.int8]:
    """Sign of values[i] - values[j], for all i and j.

    It is 0 where the difference is below the precision of either value, up to a relative slack of
    1e-6 (a difference of exactly the precision is no tie), and where either value is NaN.
    """
    flat = _vector(values)
    coarse = np.broadcast_to(np.asarray(precision, dtype=np.float64), flat.shape)
    with np.errstate(invalid="ignore"):
        difference = flat[:, None] - flat
    known = ~np.isnan(difference)
    if coarse.any():
        # Where a precision is not known, nothing is tied but equal values.
        coarse = np.nan_to_num(coarse)
        bound = np.maximum(coarse[:, None], coarse) * (1 - TIE_SLACK)
        known &= np.abs(difference) >= bound
    found: NDArray[np.int8] = np.sign(np.where(known, difference, 0.0)).astype(np.int8)
    return found


def concordance(
    metric: ArrayLike,
    human: ArrayLike,
    metric_precision: Precision = 0.0,
    human_precision: Precision = 0.0,
) -> Concordance:
    """D = (concordant - discordant) / (pairs that people did not tie), both oriented alike.

    A pair that the metric ties counts 0 in the numerator and 1 in the denominator, so a metric
    gains nothing by not deciding. Without ties D is Kendall's tau, whose expectation does not
    depend on the number of methods. A pair with an undefined value (NaN) is left out. D is Somers'
    d of the metric given people, up to the tie rule of `signs`.

    It misleads where people's differences are noise: see `noise.noise_ceiling`.
    """
    x, y = _pair(metric, human)
    upper = np.triu_indices(len(x), 1)
    defined = ~np.isnan(x)
    people = signs(y, human_precision)[upper].astype(int)
    product = people * signs(x, metric_precision)[upper]
    counted = (people != 0) & (defined[:, None] & defined)[upper]
    pairs = int(counted.sum())
    concordant, discordant = int((product > 0).sum()), int((product < 0).sum())
    d = (concordant - discordant) / pairs if pairs else math.nan
    return Concordance(d, concordant, discordant, pairs - concordant - discordant, pairs)


def tau_b(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's tau-b of the pairs defined in both; NaN if constant or fewer than two.

    Ties are exact equality here, and those of either side shrink the denominator.
    """
    first, second = _defined(x, y)
    if len(first) < 2 or _constant(first) or _constant(second):
        return math.nan
    return float(stats.kendalltau(first, second).statistic)


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's rho of the pairs defined in both; NaN if constant or fewer than three.

    Two points always give -1 or 1, which would look like a result. At few methods rho is biased
    towards zero by an amount that depends on their number; D is not.
    """
    first, second = _defined(x, y)
    if len(first) < 3:
        return math.nan
    return pearson(stats.rankdata(first), stats.rankdata(second))


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson's r of the pairs defined in both; NaN if constant or fewer than three.

    One method far from the others decides it.
    """
    first, second = _defined(x, y)
    if len(first) < 3 or _constant(first) or _constant(second):
        return math.nan
    return float(stats.pearsonr(first, second).statistic)


def _vector(values: ArrayLike) -> NDArray[np.float64]:
    flat = np.asarray(values, dtype=np.float64)
    if flat.ndim != 1:
        raise ValueError(f"Expected one value per method but got an array of shape {flat.shape}.")
    return flat


def _pair(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first, second = _vector(x), _vector(y)
    if len(first) != len(second):
        raise ValueError(
            f"Expected two values per method but got {len(first)} and {len(second)}: "
            "put NaN where a method has none."
        )
    return first, second


def _defined(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first, second = _pair(x, y)
    both = ~(np.isnan(first) | np.isnan(second))
    return first[both], second[both]


def _constant(values: NDArray[np.float64]) -> bool:
    """Up to rounding: ten times .1 and their mean differ in the last digit."""
    return bool(np.ptp(values) <= 1e-13 * np.abs(values).max())
