"""How far the oracles agree with each other: Spearman's rank correlation over tokens.

As in section 5 of Prasad et al. (2021), who validate the hard and the soft oracle against the
expert one. They do not say over what; here it is over all tokens of the cases that have both
oracles, thrown together. Tokens of one case are not independent, so that p is too small; the mean
of the correlations within cases is given beside it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy import stats

from humetric.alignment.arithmetic import Values, constant

ORDER = ("hard", "soft", "expert")


class Between(NamedTuple):
    """Two oracles compared."""

    first: str
    second: str
    rho: float
    p: float
    tokens: int
    within: float
    """Mean over cases of the correlation within a case."""
    cases: int
    """Cases in which neither is constant."""


def between_oracles(oracles: Mapping[str, Sequence[Values]]) -> list[Between]:
    """Rank correlations of all pairs of oracles, given as importances of each case."""
    known = [name for name in ORDER if name in oracles]
    return [_compare(a, b, oracles[a], oracles[b]) for a, b in combinations(known, 2)]


def _compare(first: str, second: str, a: Sequence[Values], b: Sequence[Values]) -> Between:
    varying = [(x, y) for x, y in zip(a, b, strict=True) if not constant(x) and not constant(y)]
    if not varying:
        return Between(first, second, math.nan, math.nan, 0, math.nan, 0)
    one, other = (np.concatenate(side) for side in zip(*varying, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rho, p = stats.spearmanr(one, other)
        within = [float(stats.spearmanr(x, y)[0]) for x, y in varying]
    return Between(
        first, second, float(rho), float(p), len(one), float(np.mean(within)), len(varying)
    )
