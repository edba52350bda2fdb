"""Importance alignment once more, in plain numpy and by other formulas than the package's."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def c_of(importance: Array, oracle: Array) -> float:
    """0.5 log((1 + r) / (1 - r)) of the clipped correlation by numpy's own function."""
    a, b = np.asarray(importance, float), np.asarray(oracle, float)
    if len(a) < 2 or (a == a[0]).all() or (b == b[0]).all():
        return float("nan")
    r = np.clip(np.corrcoef(a, b)[0, 1], -0.999, 0.999)
    return float(0.5 * np.log((1 + r) / (1 - r)))


def alignment_of(importances: list[Array], owns: list[Array], others: list[list[Array]]) -> float:
    """(e^2m - 1) / (e^2m + 1) of the mean difference m; each case's oracles, tried in order."""
    differences = []
    for importance, own, tried in zip(importances, owns, others, strict=True):
        varying = [o for o in tried[:21] if len(set(np.asarray(o).tolist())) > 1]
        if not varying:
            continue
        difference = c_of(importance, own) - c_of(importance, varying[0])
        if not np.isnan(difference):
            differences.append(difference)
    m = float(np.mean(differences))
    return float((np.exp(2 * m) - 1) / (np.exp(2 * m) + 1))
