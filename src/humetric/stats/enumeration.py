"""All relabellings of a few things, and sums of independent draws, exactly."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

EXACT = 8
"""Up to this many methods all n! relabellings (40,320) are looked at."""

SLACK = 1e-9
"""Statistics closer than this are equal: the order in which a machine adds must not decide."""

SUMS = 2_000_000
"""Sums looked at in one step of a convolution, at most."""

LATTICE = 10_000
"""Steps that a part may span to be convolved on a lattice."""


class Distribution(NamedTuple):
    """Distinct values in rising order and how often each occurs (whole numbers, as floats)."""

    values: NDArray[np.float64]
    counts: NDArray[np.float64]


@functools.cache
def relabellings(n: int) -> NDArray[np.intp]:
    """All n! orders of 0..n-1, (n!, n), the unchanged one first."""
    if n > EXACT:
        raise ValueError(f"Expected at most {EXACT} to enumerate but got {n}: sample instead.")
    found = np.array(list(itertools.permutations(range(n))), dtype=np.intp).reshape(-1, n)
    found.flags.writeable = False
    return found


@functools.cache
def swaps(n: int) -> NDArray[np.bool_]:
    """All 2^n ways to swap or not, (2^n, n), none swapped first."""
    found: NDArray[np.bool_] = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)
    found.flags.writeable = False
    return found


def tally(values: NDArray[np.float64], counts: NDArray[np.float64] | None = None) -> Distribution:
    """The distribution of the values, those that differ by rounding only taken together."""
    # Adding 0 turns -0. into 0.
    distinct, where = np.unique(np.round(values, 12) + 0.0, return_inverse=True)
    return Distribution(distinct, np.bincount(where, counts, len(distinct)).astype(np.float64))


def convolve(parts: Sequence[Distribution], sums: int = SUMS) -> Distribution | None:
    """The distribution of the sum of independent draws, one of each part.

    Exact: every combination is counted. None where a step would need more than ``sums`` sums.
    Counts beyond 2^53 are rounded, by less than one part in 10^15.
    """
    step = _step(parts)
    if step is not None:
        return _on_lattice(parts, step)
    total = Distribution(np.zeros(1), np.ones(1))
    for part in sorted(parts, key=lambda d: len(d.values)):
        if len(total.values) * len(part.values) > sums:
            return None
        total = tally(
            np.add.outer(total.values, part.values).ravel(),
            np.multiply.outer(total.counts, part.counts).ravel(),
        )
    return total


def _step(parts: Sequence[Distribution]) -> float | None:
    """The step of a lattice on which the values of every part lie, if a simple one is found.

    Without ties D moves in steps of two pairs, so studies of one size share a lattice and their
    sum needs few values however many studies there are.
    """
    gaps = [np.diff(part.values) for part in parts if len(part.values) > 1]
    if not gaps:
        return None
    step = float(min(gap.min() for gap in gaps))
    for gap in gaps:
        steps = gap / step
        if steps.sum() > LATTICE or np.abs(steps - np.round(steps)).max() > SLACK / step:
            return None
    # From the widest part: an error of the step is multiplied by the number of steps.
    span = max(float(gap.sum()) for gap in gaps)
    return span / round(span / step)


def _on_lattice(parts: Sequence[Distribution], step: float) -> Distribution:
    start = 0.0
    counts: NDArray[np.float64] = np.ones(1)
    for part in parts:
        at = np.round((part.values - part.values[0]) / step).astype(np.intp)
        dense = np.zeros(at[-1] + 1)
        dense[at] = part.counts
        counts = np.asarray(np.convolve(counts, dense), dtype=np.float64)
        start += float(part.values[0])
    values = np.round(start + step * np.arange(len(counts)), 12) + 0.0
    return Distribution(values[counts > 0], counts[counts > 0])


def share_beyond(found: Distribution, bound: float) -> float:
    """Share of the distribution at least as far from zero as ``bound``, up to the slack."""
    extreme = np.abs(found.values) >= abs(bound) - SLACK
    # Counts first, one division last: 6 / 120 is .05 and not a hair more.
    return float(found.counts[extreme].sum() / found.counts.sum())


def two_sided(
    found: Distribution, seen: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distances from zero in falling order, and the two-sided p of each.

    ``seen`` is 1 where the distribution was sampled: the observed value counts as one more draw.
    """
    distance = np.abs(found.values)
    order = np.argsort(-distance, kind="stable")
    reached = (np.cumsum(found.counts[order]) + seen) / (found.counts.sum() + seen)
    sizes = distance[order]
    # Values at the same distance are reached together: the last of them holds their share.
    last = np.append(np.diff(sizes) < -SLACK, True)
    return sizes[last], reached[last]


def reach(found: Distribution, alpha: float, seen: int = 0) -> float:
    """The largest distance from zero that is still chance: its two-sided p is above alpha.

    Infinite where every distance is: such data exclude nothing.
    """
    sizes, p = two_sided(found, seen)
    chance = p > alpha + SLACK
    return math.inf if chance.all() else float(sizes[chance].max(initial=0.0))


def share_at_most_extreme(parts: Sequence[Distribution]) -> float:
    """Share of the sums that lie as far from zero as any can: the smallest two-sided p."""
    top = sum(float(d.values[-1]) for d in parts)
    bottom = sum(float(d.values[0]) for d in parts)
    most = max(abs(top), abs(bottom))
    if most <= SLACK:
        return 1.0
    share = 0.0
    for end, extreme in ((-1, top), (0, bottom)):
        if abs(extreme) >= most - SLACK:
            reached = math.prod(float(d.counts[end]) for d in parts)
            share += reached / math.prod(float(d.counts.sum()) for d in parts)
    return share
