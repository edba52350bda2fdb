"""Exact Shapley values, by asking about every coalition: the yardstick for what estimates them."""

from __future__ import annotations

from math import factorial

import numpy as np
import torch
from torch import Tensor

from humetric.engine.questions import Program, about
from humetric.errors import HumetricError
from humetric.methods import Explainer, method
from humetric.tasks.cases import Cases

MOST = 12
"""Columns; each further one doubles the questions."""


@method(
    "shapley",
    version=1,
    reference="Shapley 1953; Lundberg & Lee 2017, arXiv:1705.07874",
    tasks=("tabular",),
)
def shapley() -> Explainer:
    """Mean gain of the logit when a column joins the others, over all orders of joining.

    All 2^n coalitions of n columns are asked, up to n = 12; absent columns are removed as the
    setting says. The values sum to f(x) - f(empty). They explain the model under that removal: with
    background rows, combinations of values are asked that no row has.
    """

    def explain(cases: Cases) -> Program[Tensor]:
        n = cases.features
        if n > MOST:
            raise HumetricError(
                f"Expected at most {MOST} columns for exact Shapley values but got {n}, which "
                f"would take {2**n:,} questions a case: use kernel-shap."
            )
        (answers,) = yield [about(cases, [coalitions(n)] * len(cases), key=("shapley", n))]
        score = answers.logit.view(len(cases), -1)
        return torch.from_numpy(values(score.numpy())).view(cases.shape)

    return explain


def coalitions(n: int) -> np.ndarray:
    """(2^n, n) bool: all of them; the column j of row i is bit j of i."""
    bits: np.ndarray = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)
    return bits


def values(score: np.ndarray) -> np.ndarray:
    """(cases, n) Shapley values from (cases, 2^n) scores of all coalitions."""
    n = score.shape[1].bit_length() - 1
    index = np.arange(2**n)
    size = coalitions(n).sum(1)
    weight = np.array([factorial(s) * factorial(n - s - 1) / factorial(n) for s in range(n)])
    found = np.empty((len(score), n))
    for j in range(n):
        without = index[(index >> j & 1) == 0]
        gain = score[:, without | 1 << j] - score[:, without]
        found[:, j] = gain @ weight[size[without]]
    return found
