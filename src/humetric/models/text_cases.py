"""Which texts of the pool the benchmark explains: 84 for each setting, chosen once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from humetric.errors import HumetricError
from humetric.models.training import CASES, choose

MARGIN = 0.02
"""No case's best class or span leads by less, so that rounding cannot change a prediction."""

__all__ = ["CASES", "MARGIN", "choose", "choose_shared", "choose_spans"]


def choose_shared(
    labels: NDArray[np.int64], scores: Sequence[NDArray[np.float64]], best: int, count: int
) -> list[int]:
    """Pool indices of the cases that several models share, given their class probabilities.

    Every run of six holds, for each of three outputs of model number `best`, a case in which it is
    wrong and one in which it is right, so that any prefix of a multiple of six is balanced, and so
    that the output says nothing about whether it is right. Among its errors, those that most models
    share come first: Prasad et al. also look at the cases that all models get wrong, of which there
    must be some. The right ones come in pool order.
    """
    guesses = np.stack([score.argmax(1) for score in scores])
    wrong = guesses != labels
    ordered = [np.sort(score, 1) for score in scores]
    clear = np.all([o[:, -1] - o[:, -2] > MARGIN for o in ordered], axis=0)
    groups = []
    for output in range(3):
        errors = np.flatnonzero(clear & wrong[best] & (guesses[best] == output))
        errors = errors[np.argsort(-wrong[:, errors].sum(0), kind="stable")]
        right = np.flatnonzero(clear & ~wrong[best] & (guesses[best] == output))
        for group, kind in ((errors, "wrongly"), (right, "rightly")):
            if len(group) < count // 6:
                raise HumetricError(
                    f"Expected at least {count // 6} pool pairs predicted as class {output} {kind} "
                    f"but got {len(group)}: train differently, or make the data harder."
                )
            groups.append(group[: count // 6])
    return [int(index) for six in zip(*groups, strict=True) for index in six]


def choose_spans(leads: Sequence[Sequence[float]], count: int) -> list[int]:
    """The first pool indices at which no model is undecided, in either version of the case.

    Gonzalez et al. did not balance their cases by the correctness of models, and neither do we.
    """
    clear = np.flatnonzero(np.min(np.asarray(leads), axis=0) > MARGIN)
    return [int(index) for index in clear[:count]]
