"""Does one metric agree with people better than another?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from humetric.stats.concordance import signs
from humetric.stats.enumeration import SLACK, convolve, share_beyond, swaps, tally
from humetric.stats.joint import StudyData

DRAWS = 99_999
MOST = 16
"""Up to this many methods in a study all 2^n ways to swap are looked at."""


class Williams(NamedTuple):
    """Student's t with n - 3 degrees of freedom, and its two-sided p."""

    t: float
    p: float


class PermSystems(NamedTuple):
    """The first metric's T minus the second's. NaN throughout without a common cell."""

    difference: float
    p: float
    """Two-sided."""
    studies: dict[str, float]
    """The difference in each study."""


def williams(r12: float, r13: float, r23: float, n: int) -> Williams:
    """Are two correlations that share variable 1 equal? (Williams 1959, as in Steiger 1980.)

    t = (r12 - r13) sqrt((n - 1)(1 + r23) / (2 |R| (n - 1) / (n - 3) + m^2 (1 - r23)^3)), with m the
    mean of r12 and r13 and |R| the determinant of the three correlations. People are variable 1
    here, the metrics 2 and 3, and n methods the sample. It supposes normal values and needs n >= 4;
    NaN below. Equal correlations give t = 0.
    """
    if n < 4 or any(map(math.isnan, (r12, r13, r23))):
        return Williams(math.nan, math.nan)
    if r12 == r13:
        return Williams(0.0, 1.0)
    determinant = max(0.0, 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23)
    middle = (r12 + r13) / 2
    bottom = 2 * determinant * (n - 1) / (n - 3) + middle**2 * (1 - r23) ** 3
    if bottom <= 0:
        # r23 = 1 with unlike r12 and r13 cannot come from data.
        return Williams(math.nan, math.nan)
    t = (r12 - r13) * math.sqrt((n - 1) * (1 + r23) / bottom)
    return Williams(t, float(2 * stats.t.sf(abs(t), n - 3)))


def perm_systems(
    first: Sequence[StudyData],
    second: Sequence[StudyData],
    generator: np.random.Generator,
    b: int = DRAWS,
) -> PermSystems:
    """Stratified Perm-Systems: swap the two metrics' scores of a method, or not.

    If it does not matter which metric is which, a method's two scores could be exchanged. So that
    they can, scores become ranks within a cell (among methods with a human value and both scores;
    ties share the mean rank), where Deutsch et al. (2021) standardise: D sees the order only.
    A swap applies to all cells of a study at once. The statistic is the difference of T, computed
    from the ranks; it is the difference of the metrics' own T where both have the same methods and
    ties are transitive (precision can make a = b and b = c but a > c). p is two-sided over all
    swaps, or over ``b`` draws with (count + 1) / (b + 1) where those are too many.

    Ranks of one metric add up to the same sum whatever the data, those of a mixture do not; so
    differences under swaps spread too little, by n / (n - 1) in variance, and the plain test
    rejects 7% (six methods) to 10% (three) of true nulls at .05. Differences under swaps are
    therefore multiplied by sqrt(n / (n - 1)). The methods of a two-method study are swapped both or
    neither, which is exact. What is left is in docs/statistics.md.

    The studies of both must have the same names, methods and human values; those found in one only
    are left out. With n methods in a single study p is at least 2 / 2^n.
    """
    others = {study.name: study for study in second}
    values: list[NDArray[np.float64]] = []
    sampled: list[bool] = []
    found: dict[str, float] = {}
    for study in first:
        if study.name not in others:
            continue
        result = _swapped(study, others[study.name], generator, b)
        if result is None:
            continue
        found[study.name] = result[0]
        values.append(result[1])
        sampled.append(study.human.shape[1] > MOST)
    if not found:
        return PermSystems(math.nan, math.nan, {})
    total = math.fsum(found.values())
    k = len(found)
    whole = None if any(sampled) else convolve([tally(v) for v in values])
    if whole is not None:
        return PermSystems(total / k, share_beyond(whole, total), found)
    drawn = np.zeros(b)
    for v, fresh in zip(values, sampled, strict=True):
        drawn += v[1:] if fresh else v[generator.integers(0, len(v), b)]
    count = int((np.abs(drawn) >= abs(total) - SLACK).sum())
    return PermSystems(total / k, (count + 1) / (b + 1), found)


def _swapped(
    first: StudyData, second: StudyData, generator: np.random.Generator, b: int
) -> tuple[float, NDArray[np.float64]] | None:
    """Difference of a study's T, and (scaled) under every swap, none first; None if undefined."""
    shape = first.human.shape
    shapes = {first.metric.shape, second.metric.shape, second.human.shape, shape}
    if (
        len(shapes) > 1
        or first.cells != second.cells
        or not np.array_equal(first.human, second.human, equal_nan=True)
    ):
        raise ValueError(
            f"Expected the same methods and human values of {first.name!r} with both metrics but "
            "they differ: put NaN where a metric has no value."
        )
    n = shape[1]
    if n == 2:
        ways = np.array([[False, False], [True, True]])
    elif n <= MOST:
        ways = swaps(n)
    else:
        ways = np.concatenate([np.zeros((1, n), bool), generator.integers(0, 2, (b, n)) > 0])
    # Of each cell what its rows give: the difference, and the same under every swap.
    gained: dict[int, list[tuple[float, NDArray[np.float64]]]] = {}
    people = np.broadcast_to(first.human_precision, shape)
    for cell in range(shape[0]):
        keep = ~np.isnan(first.metric[cell] + second.metric[cell] + first.human[cell])
        i, j = np.triu_indices(int(keep.sum()), 1)
        ordered = signs(first.human[cell, keep], people[cell, keep])[i, j].astype(np.float64)
        if not ordered.any():
            continue
        a, c = (
            _ranks(s.metric[cell, keep], np.broadcast_to(s.metric_precision, shape)[cell, keep])
            for s in (first, second)
        )
        swap = ways[:, keep]
        x, y = np.where(swap, c, a), np.where(swap, a, c)
        gain = np.sign(x[:, i] - x[:, j]) - np.sign(y[:, i] - y[:, j])
        gains = gain @ ordered / np.abs(ordered).sum()
        m = int(keep.sum())
        scaled = gains * (math.sqrt(m / (m - 1)) if n > 2 else 1.0)
        gained.setdefault(first.cells[cell], []).append((float(gains[0]), scaled))
    if not gained:
        return None
    observed = math.fsum(sum(d for d, _ in rows) / len(rows) for rows in gained.values())
    total = np.zeros(len(ways))
    for rows in gained.values():
        total += sum((found for _, found in rows), np.zeros(len(ways))) / len(rows)
    return observed / len(gained), total / len(gained)


def _ranks(values: NDArray[np.float64], precision: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean ranks under the tie rule: half of (wins minus losses)."""
    ranks: NDArray[np.float64] = signs(values, precision).sum(1, dtype=np.float64) / 2
    return ranks
