"""How the chance of success changes with a number: logistic regression with blocks of people."""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats


class LogisticChange(NamedTuple):
    """Change of the expected chance of success between two values of x."""

    change: float
    low: float
    high: float
    p: float
    """Of the slope, two-sided."""
    n: int
    note: str


def logistic_change(
    y: NDArray[np.float64],
    x: NDArray[np.float64],
    blocks: NDArray[np.object_],
    start: float,
    stop: float,
    level: float = 0.95,
) -> LogisticChange:
    """P(y = 1 | x = stop) - P(y = 1 | x = start) under logit P = a + b x.

    The interval is by the delta method with a covariance that is robust to the likeness of
    responses within a block (a person). It needs tens of blocks: with few it is too short.
    Undefined where y or x does not vary, with fewer than two blocks, or where x separates right
    from wrong completely, since the slope is then infinite.
    """
    defined = ~(np.isnan(y) | np.isnan(x))
    y, x, blocks = y[defined], x[defined], blocks[defined]
    n = len(y)

    def undefined(why: str) -> LogisticChange:
        return LogisticChange(math.nan, math.nan, math.nan, math.nan, n, why)

    if n < 3 or np.ptp(y) == 0:
        return undefined("all responses are alike")
    if np.ptp(x) == 0:
        return undefined("x does not vary")
    if len(set(blocks)) < 2:
        return undefined("fewer than two people")
    right, wrong = x[y == 1], x[y == 0]
    if right.min() >= wrong.max() or right.max() <= wrong.min():
        return undefined("x separates right from wrong: the slope is infinite")
    from statsmodels.discrete.discrete_model import Logit

    design = np.column_stack([np.ones(n), x])
    _, codes = np.unique(blocks.astype(str), return_inverse=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = Logit(y, design).fit(disp=0, cov_type="cluster", cov_kwds={"groups": codes})
    beta, covariance = np.asarray(fit.params), np.asarray(fit.cov_params())
    ends = np.array([[1.0, start], [1.0, stop]])
    chance = 1 / (1 + np.exp(-(ends @ beta)))
    slope = (chance * (1 - chance))[:, None] * ends
    gradient = slope[1] - slope[0]
    se = math.sqrt(max(float(gradient @ covariance @ gradient), 0.0))
    z = float(stats.norm.ppf((1 + level) / 2))
    change = float(chance[1] - chance[0])
    p = float(2 * stats.norm.sf(abs(beta[1]) / math.sqrt(covariance[1, 1])))
    return LogisticChange(change, change - z * se, change + z * se, p, n, "")
