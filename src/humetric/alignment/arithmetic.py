"""The arithmetic of importance alignment, on plain arrays (Prasad et al. 2021, equations 5 to 7).

For a case with model importance a and oracle importance o over its tokens: C = artanh(r(a, o)),
with Pearson's r, and C_R the same with an oracle made from another case's explanation. Over cases:
alignment = tanh(mean(C - C_R)), and a paired t test of C against C_R.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from humetric.cards import TEXT, MetricCard
from humetric.seeding import generator

Values = NDArray[np.float64]

CLIP = 0.999
"""r is clipped to this: artanh(1) is infinite."""

REDRAWS = 20
"""How often another explanation is drawn where one leaves the oracle constant."""

FLAT = 1e-12
"""Importances that differ by less than this share of the largest are constant: rounding."""

CARD = MetricCard(
    id="importance-alignment",
    version=1,
    summary="tanh of the mean over cases of artanh r(importance, oracle), less that with a random "
    "other case's explanation.",
    reference="Prasad et al. 2021, arXiv:2012.13354, equations 5 to 7",
    tasks=("image", *TEXT),
    direction="higher",
    range=(-1.0, 1.0),
    scope="setting",
)

CONSTANT_IMPORTANCE = "the importances do not vary"
CONSTANT_ORACLE = "the oracle does not vary"
NO_IMPORTANCE = "the gold answer is beyond the model's longest input"
NO_OTHER = "no other explanation leaves an oracle that varies"


class Pair(NamedTuple):
    """C and C_R of one case."""

    c: float
    c_random: float
    other: int
    """Which of the candidates was taken; -1 where none was."""
    why: str
    """Why the case is undefined; empty if it is defined."""


class Alignment(NamedTuple):
    """Over cases. Range -1 to 1, higher is better, 0: no better than a random explanation."""

    value: float
    t: float
    p: float
    """Two-sided."""
    n: int
    undefined: int


def constant(values: Values) -> bool:
    """Whether values do not vary, as one value never does."""
    if values.size < 2:
        return True
    return bool(np.ptp(values) <= FLAT * np.abs(values).max())


def fisher(importance: Values, oracle: Values) -> float:
    """artanh of Pearson's r, clipped to +-.999; NaN where either is constant or not known (NaN).

    It misleads for short texts: of two tokens r is 1 or -1 whatever they are.
    """
    if importance.shape != oracle.shape or importance.ndim != 1:
        raise ValueError(
            f"Expected as many importances as oracle values but got arrays of shape "
            f"{importance.shape} and {oracle.shape}: one value per token, special ones left out."
        )
    unknown = np.isnan(importance).any() or np.isnan(oracle).any()
    if unknown or constant(importance) or constant(oracle):
        return math.nan
    # Scaled first: the product of very small importances would underflow.
    a, b = (v / np.abs(v).max() for v in (importance, oracle))
    a, b = a - a.mean(), b - b.mean()
    r = float(a @ b / math.sqrt(float(a @ a) * float(b @ b)))
    return math.atanh(min(CLIP, max(-CLIP, r)))


def pair(importance: Values, own: Values, others: Iterable[Callable[[], Values]]) -> Pair:
    """C and C_R of a case; ``others`` makes the oracle from one other explanation after the other.

    The first is drawn, and redrawn up to 20 times as long as the oracle is constant.
    """
    if np.isnan(importance).any():
        return Pair(math.nan, math.nan, -1, NO_IMPORTANCE)
    if constant(importance):
        return Pair(math.nan, math.nan, -1, CONSTANT_IMPORTANCE)
    if constant(own):
        return Pair(math.nan, math.nan, -1, CONSTANT_ORACLE)
    c = fisher(importance, own)
    for number, make in enumerate(islice(others, 1 + REDRAWS)):
        oracle = make()
        if not constant(oracle):
            return Pair(c, fisher(importance, oracle), number, "")
    return Pair(c, math.nan, -1, NO_OTHER)


def drawn(ids: Sequence[str], explanations: Sequence[str], seed: int) -> list[list[int]]:
    """For each case the other cases in a random order: whose explanation is taken first, second ...

    The order depends on the seed, on the case's id and on which cases there are, not on theirs: all
    models and oracles of one data set meet the same other explanations. A case whose explanation
    says the same is no other.
    """
    by_name = sorted(range(len(ids)), key=lambda i: ids[i])
    found = []
    for own, name in enumerate(ids):
        order = generator(seed, name, "another explanation").permutation(len(ids))
        candidates = (by_name[place] for place in order)
        found.append(
            [i for i in candidates if i != own and explanations[i] != explanations[own]]
            if explanations[own]
            else [i for i in candidates if i != own]
        )
    return found


def align(c: Values, c_random: Values) -> Alignment:
    """tanh of the mean of C - C_R over the cases that have both, and the paired t test.

    t and p are NaN for fewer than two cases, and where all differences are the same.
    """
    difference = c - c_random
    defined = difference[~np.isnan(difference)]
    n, undefined = len(defined), len(difference) - len(defined)
    if n == 0:
        return Alignment(math.nan, math.nan, math.nan, 0, undefined)
    mean = float(defined.mean())
    if n < 2 or np.ptp(defined) == 0:
        return Alignment(math.tanh(mean), math.nan, math.nan, n, undefined)
    t = mean / (float(defined.std(ddof=1)) / math.sqrt(n))
    p = float(2 * stats.t.sf(abs(t), n - 1))
    return Alignment(math.tanh(mean), t, p, n, undefined)
