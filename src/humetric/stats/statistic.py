"""The coefficients of `concordance`, for many rows at once: what permutations and draws need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from humetric.stats.concordance import TIE_SLACK, Precision

Name = Literal["d", "spearman", "pearson", "tau-b"]
Statistic = Name | Callable[[NDArray[np.float64], NDArray[np.float64]], float]
"""One of the four by name, or any function of two vectors (called row by row)."""

NAMES: tuple[Name, ...] = ("d", "spearman", "pearson", "tau-b")


def rowwise(
    statistic: Statistic,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    x_precision: Precision = 0.0,
    y_precision: Precision = 0.0,
) -> NDArray[np.float64]:
    """The statistic of each row of x (rows, n) with the same row of y; one of them may have one
    row only. Values must be defined; the result is NaN where the statistic is not.

    Precisions are for "d" only and may be (n,) or (rows, n): where values travel, theirs do too.
    """
    x, y = np.broadcast_arrays(x, y)
    if callable(statistic):
        return np.array([statistic(a, b) for a, b in zip(x, y, strict=True)], dtype=np.float64)
    if statistic == "d":
        people = _signs(y, y_precision)
        total = (_signs(x, x_precision) * people).sum(1)
        return _ratio(total, np.abs(people).sum(1))
    if statistic == "tau-b":
        first, second = _signs(x, 0.0), _signs(y, 0.0)
        # Rounded counts: a square root of a product of integers, the same in every order.
        pairs = np.abs(first).sum(1) * np.abs(second).sum(1)
        return _ratio((first * second).sum(1), np.sqrt(pairs))
    if statistic == "spearman":
        return _pearson(stats.rankdata(x, axis=1), stats.rankdata(y, axis=1))
    if statistic == "pearson":
        return _pearson(x, y)
    raise ValueError(f"Expected one of {', '.join(NAMES)} or a function but got {statistic!r}.")


def _signs(values: NDArray[np.float64], precision: Precision) -> NDArray[np.float64]:
    """Signs of the differences of all pairs i < j, (rows, pairs), by the rule of `signs`."""
    i, j = np.triu_indices(values.shape[1], 1)
    difference = values[:, i] - values[:, j]
    coarse = np.broadcast_to(np.nan_to_num(np.asarray(precision, np.float64)), values.shape)
    if coarse.any():
        bound = np.maximum(coarse[:, i], coarse[:, j]) * (1 - TIE_SLACK)
        difference = np.where(np.abs(difference) < bound, 0.0, difference)
    return np.sign(difference)


def _pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    if x.shape[1] < 3:
        return np.full(len(x), np.nan)
    a, b = x - x.mean(1, keepdims=True), y - y.mean(1, keepdims=True)
    # What is constant up to rounding has no correlation.
    for raw, centred in ((x, a), (y, b)):
        centred[np.ptp(raw, axis=1) <= 1e-13 * np.abs(raw).max(1)] = 0.0
    return _ratio((a * b).sum(1), np.sqrt((a * a).sum(1) * (b * b).sum(1)))


def _ratio(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> NDArray[np.float64]:
    out = np.full(len(top), np.nan)
    np.divide(top, bottom, out=out, where=bottom > 0)
    return out
