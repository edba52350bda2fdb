"""Is the mean of paired differences zero? A sign-flip permutation test of many pairs at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FLIPS = 9_999
EXACT = 12
"""Up to this many differences all sign patterns are looked at."""

SLACK = 1e-12
"""Sums that differ by less than this share of the largest possible sum are equal: the order in
which a machine adds must not decide a tie."""

AT_ONCE = 4_000_000
"""Sums held at a time, so that many pairs do not need much memory."""


class SignFlip(NamedTuple):
    """One entry per pair."""

    difference: NDArray[np.float64]
    """Mean of the defined differences; NaN where there is none."""
    p: NDArray[np.float64]
    """Two-sided; NaN where there is no defined difference."""
    n: NDArray[np.int64]
    """Defined differences."""


def sign_flip(
    differences: NDArray[np.float64], generator: np.random.Generator, flips: int = FLIPS
) -> SignFlip:
    """Two-sided paired permutation test of a zero mean, for each column of (cases, pairs).

    If it does not matter which of the two is which, the sign of each difference is a coin toss; p
    is the share of sign patterns whose sum is at least as far from zero as the one found. Undefined
    differences (NaN) are left out. Zeros have no sign, so patterns are over the others: all of them
    if there are at most twelve (p is exact), else ``flips`` random ones and p = (b + 1) / (flips +
    1). All pairs share the random patterns. Differences that are all zero give p = 1.

    With n differences p cannot be below 2 / 2^n: five cases never reach .05.
    """
    if differences.ndim != 2:
        raise ValueError(f"Expected (cases, pairs) but got an array of shape {differences.shape}.")
    defined = ~np.isnan(differences)
    n = defined.sum(0)
    values = np.where(defined, differences, 0.0)
    total = values.sum(0)
    signed = (values != 0).sum(0)
    p = np.ones(values.shape[1])
    few = signed <= EXACT
    # Zeros first, so that the last rows hold all there is to flip.
    packed = np.take_along_axis(values, np.argsort(values != 0, axis=0, kind="stable"), axis=0)
    p[few] = _exact(packed[-EXACT:, few])
    p[~few] = _sampled(values[:, ~few], generator, flips)
    p[n == 0] = np.nan
    mean = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
    return SignFlip(mean, p, n)


def _exact(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of all sign patterns as extreme as the one found; half of them mirror the rest."""
    rows = len(values)
    if rows == 0:
        return np.ones(values.shape[1])
    patterns = np.arange(2 ** (rows - 1))[:, None] >> np.arange(rows) & 1
    return _count(1.0 - 2.0 * patterns, values) / len(patterns)


def _sampled(
    values: NDArray[np.float64], generator: np.random.Generator, flips: int
) -> NDArray[np.float64]:
    """(b + 1) / (flips + 1) over random sign patterns."""
    rows, pairs = values.shape
    if pairs == 0:
        return np.ones(0)
    extreme = np.zeros(pairs)
    step = max(1, AT_ONCE // max(rows, pairs))
    for start in range(0, flips, step):
        size = (min(step, flips - start), rows)
        signs = 1.0 - 2.0 * generator.integers(0, 2, size).astype(np.float64)
        extreme += _count(signs, values)
    return (extreme + 1) / (flips + 1)


def _count(signs: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many of the sign patterns give a sum at least as far from zero as the plain one."""
    bound = np.abs(values.sum(0)) - SLACK * np.abs(values).sum(0)
    counts: NDArray[np.float64] = (np.abs(signs @ values) >= bound).sum(0).astype(np.float64)
    return counts
