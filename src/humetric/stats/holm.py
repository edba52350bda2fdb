"""Many tests at once: Holm's correction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Holm-adjusted p values (Holm 1979), of any shape; undefined ones (NaN) are not counted.

    The i-th smallest of m becomes the largest of (m - j + 1) p_(j) over j <= i, at most 1. Calling
    those at most alpha significant keeps the chance of any false one below alpha, however the
    tests depend on each other.
    """
    flat = p.ravel()
    adjusted = np.full(flat.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(flat))
    order = tested[np.argsort(flat[tested], kind="stable")]
    steps = flat[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted.reshape(p.shape)
