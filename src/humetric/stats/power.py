"""How many studies of how many methods would decide about a metric?"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humetric.stats.concordance import Precision
from humetric.stats.enumeration import SLACK, Distribution, convolve, two_sided
from humetric.stats.joint import StudyData, joint_test
from humetric.stats.statistic import rowwise

SHARED = 0.5
"""Share of the variance within a cell that is the same in all cells of a study."""


class Design(NamedTuple):
    """The size of a study."""

    methods: int
    cells: int = 1


class PowerRow(NamedTuple):
    """Power of so many studies of so many methods at a true correlation."""

    studies: int
    methods: int
    r: float
    single: float
    """For one metric at alpha."""
    family: float
    """For one of a family of metrics, at alpha / family."""


def power(
    n_methods: int,
    n_studies: int,
    r: float,
    generator: np.random.Generator,
    cells: int = 1,
    alpha: float = 0.05,
    family: int = 1,
    draws: int = 2_000,
) -> float:
    """Chance that `joint_test` finds p <= alpha / family for equally large studies.

    See `power_of` for what is simulated.
    """
    return power_of([Design(n_methods, cells)] * n_studies, r, generator, alpha, family, draws)


def power_of(
    designs: Sequence[Design],
    r: float,
    generator: np.random.Generator,
    alpha: float = 0.05,
    family: int = 1,
    draws: int = 2_000,
    shared: float = SHARED,
) -> float:
    """Chance that `joint_test` finds p <= alpha / family, by simulation of ``draws`` data sets.

    Metric and human values are bivariate normal over methods with correlation r in every cell; the
    share ``shared`` of both variances is a method effect common to the cells of a study, the rest
    differs from cell to cell. alpha / family is the first step of Holm, so it is a lower bound
    where several metrics of the family are good. The standard error is at most .5 / sqrt(draws).

    Reality is worse: r differs between studies, and people and metrics tie.
    """
    bound = alpha / family
    if all(design.cells == 1 for design in designs):
        critical = _critical([design.methods for design in designs], bound)
        if critical is not None:
            total = np.zeros(draws)
            for design in designs:
                metric, human = bivariate(design, r, 1.0, 1.0, draws, generator)
                total += rowwise("d", metric[:, 0], human[:, 0])
            return float((np.abs(total) >= critical - SLACK).mean())
    found = 0
    for _ in range(draws):
        found += joint_test(simulate(designs, r, generator, shared), generator).p <= bound
    return found / draws


def power_table(
    methods: Sequence[int],
    studies: Sequence[int],
    correlations: Sequence[float],
    generator: np.random.Generator,
    family: int = 12,
    alpha: float = 0.05,
    draws: int = 4_000,
) -> list[PowerRow]:
    """`power` with one cell per study, over all combinations."""
    return [
        PowerRow(
            k,
            n,
            r,
            power(n, k, r, generator, alpha=alpha, draws=draws),
            power(n, k, r, generator, alpha=alpha, family=family, draws=draws),
        )
        for r in correlations
        for n in methods
        for k in studies
    ]


def simulate(
    designs: Sequence[Design],
    r: float,
    generator: np.random.Generator,
    metric_shared: float = SHARED,
    human_shared: float | None = None,
    precision: Precision = 0.0,
) -> list[StudyData]:
    """One data set, as described in `power_of`; metric and people may share unlike parts."""
    human_shared = metric_shared if human_shared is None else human_shared
    found = []
    for number, design in enumerate(designs):
        metric, human = bivariate(design, r, metric_shared, human_shared, 1, generator)
        found.append(StudyData(f"study {number + 1}", metric[0], human[0], precision, precision))
    return found


def bivariate(
    design: Design,
    r: float,
    metric_shared: float,
    human_shared: float,
    draws: int,
    generator: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Standard normal metric and human values (draws, cells, methods).

    Common parts correlate by r over methods, and so do those of a cell; where both shares are the
    same that is the correlation in a cell.
    """
    n, cells = design

    def correlated(size: tuple[int, int, int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        first, other = generator.standard_normal((2, *size))
        return first, r * first + math.sqrt(1 - r * r) * other

    common, own = correlated((draws, 1, n)), correlated((draws, cells, n))
    metric, human = (
        math.sqrt(share) * a + math.sqrt(1 - share) * e
        for share, a, e in zip((metric_shared, human_shared), common, own, strict=True)
    )
    return metric, human


def _critical(methods: Sequence[int], bound: float) -> float | None:
    """The smallest |sum of T| that is significant, without ties; infinite where none is.

    Without ties and with one cell the permutation distribution depends on n only.
    """
    whole = convolve([_untied(n) for n in methods])
    if whole is None:
        return None
    sizes, p = two_sided(whole)
    return float(sizes[p <= bound + 1e-12].min(initial=math.inf))


@functools.cache
def _untied(n: int) -> Distribution:
    """D of n methods under all relabellings, without ties: how many orders have k inversions.

    Adding a method to an order of i - 1 adds 0 to i - 1 inversions, each in one way.
    """
    counts: NDArray[np.float64] = np.ones(1)
    for i in range(2, n + 1):
        counts = np.asarray(np.convolve(counts, np.ones(i)), dtype=np.float64)
    pairs = n * (n - 1) / 2
    return Distribution(2 * np.arange(len(counts)) / pairs - 1 if n > 1 else np.zeros(1), counts)
