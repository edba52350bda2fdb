"""Which methods a metric tells apart on a setting or a task, and what that leaves of a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humetric.stats.holm import holm
from humetric.stats.paired import FLIPS, sign_flip
from humetric.stats.steady import NOISE

ALPHA = 0.05

ROUNDING = 1e-6
"""Values of a case that differ by less are the same: in fp32 another batch size moves areas by
about 1e-7."""


class Rank(NamedTuple):
    """The places that a method may have, and the groups of methods that it is not told from."""

    best: int
    """1 + the number of methods that are significantly better."""
    worst: int
    """The number of ranked methods, less those that are significantly worse."""
    group: str
    """Letters; methods that share one are not told apart. The best mean has an ``a``."""


def flips_for(tests: int) -> int:
    """Random sign patterns for a family of tests: enough that the smallest adjusted p is .01."""
    return max(FLIPS, 100 * tests - 1)


def pairs_of(methods: int) -> int:
    """Pairs of so many methods."""
    return methods * (methods - 1) // 2


def rank_methods(
    values: NDArray[np.float64], generator: np.random.Generator, flips: int
) -> list[Rank | None]:
    """Ranks of the columns of (cases, methods), higher values being better.

    Every pair is tested by sign flips over the cases where both are defined, and the p values are
    Holm-corrected over all pairs. A method without a defined value has no rank.

    Of several settings: (cases, settings, methods), NaN where a setting does not have a case. Each
    setting weighs alike, however many cases it has, and a method without a defined value in one of
    them has no rank.
    """
    cube = values if values.ndim == 3 else values[:, None]
    means = np.mean([_means(of_setting) for of_setting in cube.swapaxes(0, 1)], axis=0)
    ranked = [
        int(i) for i in np.argsort(-means.round(NOISE), kind="stable") if not np.isnan(means[i])
    ]
    better = better_than(cube[..., ranked], generator, flips)
    letters = letters_of(better | better.T)
    ranks: list[Rank | None] = [None] * cube.shape[2]
    for place, i in enumerate(ranked):
        best = 1 + int(better[:, place].sum())
        worst = len(ranked) - int(better[place].sum())
        ranks[i] = Rank(best, worst, letters[place])
    return ranks


def better_than(
    values: NDArray[np.float64], generator: np.random.Generator, flips: int
) -> NDArray[np.bool_]:
    """(methods, methods): whether the first is significantly above the second.

    Values are (cases, settings, methods). A case that several settings share is flipped as one:
    their values of it are no independent evidence. What is flipped adds up to the mean difference
    of each setting: a case's difference is divided by how many the setting has. A pair that has no
    defined case in common in one of the settings is not told apart.
    """
    count = values.shape[2]
    first, second = np.triu_indices(count, 1)
    differences = values[..., first] - values[..., second]
    differences[np.abs(differences) < ROUNDING] = 0.0
    test = sign_flip(_of_cases(differences), generator, flips)
    significant = holm(test.p) <= ALPHA
    better = np.zeros((count, count), dtype=np.bool_)
    better[first, second] = significant & (test.difference > 0)
    better[second, first] = significant & (test.difference < 0)
    return better


def _of_cases(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """(cases, pairs): differences of the settings added up, each divided by its defined ones."""
    if differences.shape[1] == 1:
        return differences[:, 0]
    defined = ~np.isnan(differences)
    shared = defined.sum(0)
    added: NDArray[np.float64] = np.nansum(differences / np.maximum(shared, 1), axis=1)
    added[~defined.any(1) | (shared == 0).any(0)] = np.nan
    return added


def _means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of the defined values of each column; NaN where there is none."""
    return np.array([np.nanmean(v) if (~np.isnan(v)).any() else np.nan for v in values.T])


def letters_of(apart: NDArray[np.bool_]) -> list[str]:
    """The compact letter display of methods in order of their means (Piepho 2004).

    Two methods share a letter exactly if they are not told apart. One set of all is split at every
    pair that is, and sets inside another are dropped: what is left are the largest sets within
    which nothing is told apart, one letter each.
    """
    count = len(apart)
    sets = [frozenset(range(count))] if count else []
    for i, j in zip(*np.nonzero(np.triu(apart)), strict=True):
        whole = [s for s in sets if not {i, j} <= s]
        halves = {s - {k} for s in sets if {i, j} <= s for k in (int(i), int(j))}
        sets = whole + [h for h in halves if not any(h <= s for s in whole)]
    ordered = sorted(sorted(s) for s in sets)
    return [
        "".join(_letter(k) for k, members in enumerate(ordered) if i in members)
        for i in range(count)
    ]


def _letter(index: int) -> str:
    """a to z, then a2 to z2 and so on."""
    turn, place = divmod(index, 26)
    return chr(ord("a") + place) + (str(turn + 1) if turn else "")


def order_of(means: Sequence[float]) -> NDArray[np.bool_]:
    """(methods, methods): whether the first mean is above the second by more than rounding."""
    array = np.asarray(means, dtype=np.float64)
    return np.asarray(array[:, None] > array[None, :] + ROUNDING)
