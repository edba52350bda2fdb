"""Deletion, insertion, mu-fidelity and their kin for any function, in plain numpy.

For models that are not torch modules: a scikit-learn pipeline, a service behind a socket, a model
in another framework. ``f`` takes a batch of inputs ``(rows, *x.shape)`` and gives one score per row
(a probability for the curves, a logit or any other score for mu-fidelity). Nothing here imports
torch. It is also the reference that humetric's engine is tested against.

>>> import numpy as np
>>> weights = np.array([3.0, 2.0, 1.0, 0.0])
>>> f = lambda rows: rows @ weights / 6
>>> result = deletion(f, np.ones(4), attribution=weights)
>>> result.scores.tolist()
[1.0, 0.5, 0.16666666666666666, 0.0, 0.0]
>>> round(result.area, 4)
0.2917
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

Array = NDArray[np.float64]
Function = Callable[[NDArray[np.floating]], ArrayLike]

ENUMERABLE = 20_000
"""Up to so many possible subsets, they are listed and drawn without repetition."""


SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)
"""Shares of features that comprehensiveness and sufficiency look at (DeYoung et al. 2020)."""


class Curve(NamedTuple):
    """A curve of scores over the share of features removed or put back, and the area under it."""

    area: float
    shares: Array
    scores: Array


def deletion(
    f: Function,
    x: ArrayLike,
    attribution: ArrayLike,
    *,
    baseline: ArrayLike = 0.0,
    steps: int = 32,
    ties: ArrayLike | None = None,
    batch_size: int = 64,
) -> Curve:
    """Score while features are replaced by the baseline, highest attribution first.

    ``attribution`` has the shape of ``x``, or of its leading axes, or of its trailing ones (one
    map for all channels of a channels-first image). ``ties`` is a permutation of the features that
    orders equal attributions; by default one drawn with seed 0.
    """
    return _curve(f, x, attribution, baseline, steps, ties, batch_size, inserting=False)


def insertion(
    f: Function,
    x: ArrayLike,
    attribution: ArrayLike,
    *,
    baseline: ArrayLike = 0.0,
    steps: int = 32,
    ties: ArrayLike | None = None,
    batch_size: int = 64,
) -> Curve:
    """Score while features are put back into the baseline, highest attribution first."""
    return _curve(f, x, attribution, baseline, steps, ties, batch_size, inserting=True)


def mu_fidelity(
    f: Function,
    x: ArrayLike,
    attribution: ArrayLike,
    *,
    baseline: ArrayLike = 0.0,
    groups: ArrayLike | None = None,
    subsets: int | NDArray[np.bool_] = 200,
    share: float = 0.2,
    seed: int = 0,
    batch_size: int = 64,
) -> float:
    """Spearman correlation between summed attribution of a subset and the drop of f without it.

    ``groups`` numbers the group of each feature (grid cells, say); by default each feature is its
    own. ``subsets`` is how many to draw, or a (subsets, groups) bool array of your own. NaN where
    the correlation is undefined: a constant map, or a score that never moves.
    """
    x = _numbers(x)
    maps = _attribution(x, attribution)
    flat = maps.ravel()
    group = np.arange(flat.size) if groups is None else np.asarray(groups).ravel()
    if group.shape != flat.shape:
        raise ValueError(f"Expected a group for each of {flat.size} features, got {group.size}.")
    n = int(group.max()) + 1
    if isinstance(subsets, np.ndarray):
        if subsets.dtype != np.bool_ or subsets.ndim != 2 or subsets.shape[1] != n:
            raise ValueError(
                f"Expected subsets as a bool array of shape (subsets, {n}) but got "
                f"{subsets.dtype} of shape {subsets.shape}."
            )
    else:
        size = max(1, round(share * n))
        subsets = draw_subsets(n, size, subsets, np.random.default_rng(seed))
    keeps = (~subsets[:, group]).reshape(-1, *maps.shape)
    whole = np.ones((1, *maps.shape), dtype=bool)
    scores = _ask(f, x, baseline, np.concatenate((whole, keeps)), batch_size)
    if flat.min() == flat.max():
        return float("nan")
    sums = subsets @ np.bincount(group, weights=flat, minlength=n)
    top = np.abs(sums).max()
    if top > 0:  # equal sums in another order differ in their last bits: make them ties again
        sums = np.round(sums / top * 1e9)
    drop = scores[0] - scores[1:]
    if np.ptp(sums) == 0 or np.ptp(drop) == 0:
        return float("nan")
    return float(np.corrcoef(rankdata(sums), rankdata(drop))[0, 1])


def comprehensiveness(
    f: Function,
    x: ArrayLike,
    attribution: ArrayLike,
    *,
    baseline: ArrayLike = 0.0,
    ties: ArrayLike | None = None,
    batch_size: int = 64,
) -> float:
    """Mean fall of f when the top 1, 5, 10, 20, 50 % of features (at least one) are removed."""
    return _falls(f, x, attribution, baseline, ties, batch_size, alone=False)


def sufficiency(
    f: Function,
    x: ArrayLike,
    attribution: ArrayLike,
    *,
    baseline: ArrayLike = 0.0,
    ties: ArrayLike | None = None,
    batch_size: int = 64,
) -> float:
    """Mean fall of f when the top 1, 5, 10, 20, 50 % of features (at least one) are left alone."""
    return _falls(f, x, attribution, baseline, ties, batch_size, alone=True)


def top_counts(features: int) -> NDArray[np.int64]:
    """How many features each of SHARES is: rounded, at least one."""
    return np.array([max(1, round(share * features)) for share in SHARES])


def _falls(
    f: Function,
    x: ArrayLike,
    attribution: ArrayLike,
    baseline: ArrayLike,
    ties: ArrayLike | None,
    batch_size: int,
    alone: bool,
) -> float:
    x = _numbers(x)
    maps = _attribution(x, attribution)
    order = _order(maps, ties)
    keeps = np.full((len(SHARES) + 1, maps.size), not alone)
    keeps[0] = True
    for keep, count in zip(keeps[1:], top_counts(maps.size), strict=True):
        keep[order[:count]] = alone
    scores = _ask(f, x, baseline, keeps.reshape(-1, *maps.shape), batch_size)
    return float(np.mean(scores[0] - scores[1:]))


def _order(maps: Array, ties: ArrayLike | None) -> NDArray[np.intp]:
    """Features in descending attribution, equal ones in the order of a permutation."""
    shuffle = np.random.default_rng(0).permutation(maps.size) if ties is None else np.asarray(ties)
    order: NDArray[np.intp] = shuffle[np.argsort(-maps.ravel()[shuffle], kind="stable")]
    return order


def draw_subsets(groups: int, size: int, count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(count, groups): random subsets of exactly ``size`` groups, or all if there are no more.

    Where few are possible they are drawn without repetition.
    """
    possible = comb(groups, size)
    if possible <= max(count, ENUMERABLE):
        members = np.array(list(combinations(range(groups), size)))
        if possible > count:
            members = members[rng.permutation(possible)[:count]]
        subsets = np.zeros((len(members), groups), dtype=bool)
        np.put_along_axis(subsets, members, True, axis=1)
        return subsets
    return rng.random((count, groups)).argsort(1).argsort(1) < size


def _curve(
    f: Function,
    x: ArrayLike,
    attribution: ArrayLike,
    baseline: ArrayLike,
    steps: int,
    ties: ArrayLike | None,
    batch_size: int,
    inserting: bool,
) -> Curve:
    if steps < 1:
        raise ValueError(f"Expected at least one step, got {steps}.")
    x = _numbers(x)
    maps = _attribution(x, attribution)
    n = maps.size
    order = _order(maps, ties)
    points = min(n, steps)
    counts = np.round(np.arange(points + 1) * n / points).astype(int)
    keeps = np.full((points + 1, n), not inserting)
    for keep, count in zip(keeps, counts, strict=True):
        keep[order[:count]] = inserting
    scores = _ask(f, x, baseline, keeps.reshape(-1, *maps.shape), batch_size)
    shares = counts / n
    area = float(np.sum((scores[1:] + scores[:-1]) / 2 * np.diff(shares)))
    return Curve(area, shares, scores)


def _ask(
    f: Function,
    x: NDArray[np.floating],
    baseline: ArrayLike,
    keeps: NDArray[np.bool_],
    batch_size: int,
) -> Array:
    """Scores of x with features replaced where keep is false."""
    if keeps.shape[1:] != x.shape[: keeps.ndim - 1]:
        keeps = keeps.reshape(len(keeps), *(1,) * (x.ndim - keeps.ndim + 1), *keeps.shape[1:])
    else:
        keeps = keeps.reshape(*keeps.shape, *(1,) * (x.ndim - keeps.ndim + 1))
    fill = np.asarray(baseline, dtype=x.dtype)
    found = []
    for start in range(0, len(keeps), batch_size):
        rows = np.where(keeps[start : start + batch_size], x, fill)
        scores = np.asarray(f(rows), dtype=np.float64)
        if scores.shape != (len(rows),):
            raise ValueError(
                f"Expected f to give {len(rows)} scores, one per row, but got shape {scores.shape}."
            )
        found.append(scores)
    return np.concatenate(found)


def _numbers(x: ArrayLike) -> NDArray[np.floating]:
    """Inputs as floating-point numbers: whole ones could not hold a baseline of a half."""
    given = np.asarray(x)
    return given if np.issubdtype(given.dtype, np.floating) else given.astype(np.float64)


def _attribution(x: NDArray[np.floating], attribution: ArrayLike) -> Array:
    maps = np.asarray(attribution, dtype=np.float64)
    if maps.shape not in (x.shape[: maps.ndim], x.shape[x.ndim - maps.ndim :]) or maps.size == 0:
        raise ValueError(
            f"Expected an attribution with the shape of x, {x.shape}, or of its leading or "
            f"trailing axes, but got {maps.shape}."
        )
    if not np.isfinite(maps).all():
        raise ValueError("Expected finite attributions, but some are NaN or infinite.")
    return maps
