"""Which pictures of a pool are cases, where a model errs too seldom for as many wrong as right."""

from __future__ import annotations

from itertools import chain, zip_longest

import numpy as np
from numpy.typing import NDArray

MARGIN = 0.0005
"""No case has a probability this close to .5, so that rounding cannot flip its prediction."""


def choose_even(
    labels: NDArray[np.int64], scores: NDArray[np.float64], count: int, margin: float = MARGIN
) -> list[int]:
    """Pool indices of the cases, in order, given labels and probabilities of class 1.

    Runs of four as in :func:`humetric.models.training.choose`: of each output one case in which it
    is right and one in which it is wrong, in the order of the pool. When an output is wrong no more
    often, right ones take the place of wrong ones (or wrong of right), so that outputs stay even;
    when an output is given no more often, the other fills up to ``count``. So errors come first:
    any prefix is as balanced as the model allows. No probability is within ``margin`` of one half.
    """
    predicted, clear = scores > 0.5, np.abs(scores - 0.5) > margin
    turns = []
    for output in (0, 1):
        own = clear & (predicted == output)
        right, wrong = (
            np.flatnonzero(own & ((labels == output) == is_so)) for is_so in (True, False)
        )
        both = chain.from_iterable(zip_longest(right, wrong))
        turns.append([int(i) for i in both if i is not None])
    taken: list[int] = []
    for start in range(0, max(map(len, turns)), 2):
        taken += turns[0][start : start + 2] + turns[1][start : start + 2]
    return taken[:count]
