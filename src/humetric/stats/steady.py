"""Rounding that does not depend on the machine: sums differ in their last bits between numpy
builds, and a value between two roundings must fall to the same side everywhere."""

from __future__ import annotations

import math

NOISE = 12
"""Decimals behind which there is only rounding."""


def steady(value: float) -> float:
    """A value without the digits that depend on the order of a sum; no negative zero."""
    return round(value, NOISE) + 0.0


def six(value: float) -> float | None:
    """Six significant digits for a file; None for what is undefined."""
    return None if math.isnan(value) else float(f"{steady(value):.6g}")
