"""One number over studies with an interval: random effects, for five studies or more."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from humetric.stats.joint import StudyData, study_t

LEAST = 5
"""Below this many studies the spread between them is a guess, and so would be the interval."""


class Pooled(NamedTuple):
    """The mean effect over studies."""

    mean: float
    low: float
    high: float
    tau2: float
    """Variance of the true effect between studies."""
    predict_low: float
    """Bounds for the true effect in one new study of the same kind."""
    predict_high: float
    k: int


def random_effects(effect: ArrayLike, variance: ArrayLike, level: float = 0.95) -> Pooled:
    """Random-effects mean with the modified Hartung-Knapp interval and a prediction interval.

    tau2 is Paule and Mandel's (statsmodels, ``method_re="iterated"``): it cannot be negative, while
    DerSimonian and Laird's is often negative or undefined for so few studies. With weights w = 1 /
    (variance + tau2) the interval is mean -+ t(k - 1) sqrt(q / sum(w)), where q = sum(w (effect -
    mean)^2) / (k - 1), but not below 1 (Knapp and Hartung 2003): without that bound, studies that
    happen to agree give a far too short interval. The prediction interval is mean -+ t(k - 2)
    sqrt(tau2 + q / sum(w)) (Higgins, Thompson and Spiegelhalter 2009, with the same q).

    Variances must be those of the permutation distribution, `permutation_variance`: estimated from
    the data they are 0 at D = 1, and the study would decide everything. They are too large where
    metric and people are related, so the interval is cautious, but tau2 is too small and the
    prediction interval too short where studies differ much (docs/statistics.md has the figures).
    Bounds may lie beyond -1 and 1. ValueError below five studies: show the studies instead.
    """
    y, v = np.asarray(effect, np.float64), np.asarray(variance, np.float64)
    if y.ndim != 1 or y.shape != v.shape:
        raise ValueError(f"Expected one variance per effect but got {y.shape} and {v.shape}.")
    k = len(y)
    if k < LEAST:
        raise ValueError(f"Expected at least {LEAST} studies to pool but got {k}: show each.")
    if not (np.isfinite(y).all() and np.isfinite(v).all() and (v > 0).all()):
        raise ValueError(
            f"Expected finite effects and variances above 0 but got {y.tolist()} and {v.tolist()}: "
            "use variances under permutation."
        )
    tau2 = _tau2(y, v)
    w = 1 / (v + tau2)
    mean = float(w @ y / w.sum())
    q = max(1.0, float(w @ (y - mean) ** 2) / (k - 1))
    error = q / float(w.sum())
    tail = (1 + level) / 2
    half = float(stats.t.ppf(tail, k - 1)) * math.sqrt(error)
    ahead = float(stats.t.ppf(tail, k - 2)) * math.sqrt(tau2 + error)
    return Pooled(mean, mean - half, mean + half, tau2, mean - ahead, mean + ahead, k)


def tau_null_variance(n: int) -> float:
    """Variance of Kendall's tau over all orders of n methods: 2 (2n + 5) / (9 n (n - 1)).

    Without ties that of D in one cell, when metric and people are unrelated. NaN below two.
    """
    return 2 * (2 * n + 5) / (9 * n * (n - 1)) if n > 1 else math.nan


def permutation_variance(study: StudyData) -> float:
    """Variance of a study's T over all joint relabellings of its methods, at most eight.

    One cell without ties has `tau_null_variance`; more cells have less, unless they order methods
    alike. NaN where T is undefined, 0 where the metric ties all methods.
    """
    values = study_t(study)
    known = values[~np.isnan(values)]
    return float(np.var(known)) if len(known) else math.nan


def _tau2(effect: np.ndarray[tuple[int, ...], np.dtype[np.float64]], variance: ArrayLike) -> float:
    # Slow to import, and needed for five studies or more only.
    from statsmodels.stats.meta_analysis import combine_effects

    with np.errstate(divide="ignore", invalid="ignore"):  # I^2 of equal effects, not used here
        found = combine_effects(effect, np.asarray(variance), method_re="iterated", use_t=True)
    return max(0.0, float(found.tau2))
