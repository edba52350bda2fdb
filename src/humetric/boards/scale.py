"""Which numbers get which colours: the scale of a map or of a text's words."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SIGNED, UNSIGNED = "RdBu_r", "viridis"

CUT = 0.5
"""Per cent of a map's values that lie beyond either end of its colours."""


@dataclass(frozen=True)
class Scale:
    """Which values of a map get the first and the last colour."""

    low: float
    high: float
    signed: bool

    @property
    def colours(self) -> str:
        """Matplotlib's name of the colour map."""
        return SIGNED if self.signed else UNSIGNED

    @property
    def ticks(self) -> list[float]:
        """The values to name."""
        if self.signed:
            return [self.low, 0.0, self.high]
        return [self.low, self.high]

    def share(self, value: float) -> float:
        """Where a value lies: from -1 to 1 on a signed scale, from 0 to 1 on another."""
        if self.signed:
            return max(-1.0, min(1.0, value / self.high))
        return max(0.0, min(1.0, (value - self.low) / (self.high - self.low)))


def scale_of(values: NDArray[np.float64], signed: bool) -> Scale:
    """Symmetric about 0 for a signed map, from low to high for another; few outliers are cut off.

    A map that is the same everywhere gets a range around its value.
    """
    if signed:
        end = float(np.percentile(np.abs(values), 100 - CUT)) or float(np.abs(values).max()) or 1.0
        return Scale(-end, end, True)
    low, high = (float(v) for v in np.percentile(values, (CUT, 100 - CUT)))
    if low == high:
        low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    return Scale(low, high, False)


def word_scale(values: NDArray[np.float64], signed: bool) -> Scale:
    """The same for words: few enough that none is cut off, and colourless where a number is 0.

    An unsigned map begins at 0, or at its lowest value if that is below.
    """
    if signed:
        end = float(np.abs(values).max()) or 1.0
        return Scale(-end, end, True)
    low, high = min(0.0, float(values.min())), float(values.max())
    return Scale(low, high if high > low else low + 1.0, False)


def numbers(scale: Scale) -> list[str]:
    """The ticks in words, with as many digits as tell a hundredth of the range apart."""
    reach = scale.high if scale.signed else scale.high - scale.low
    digits = 1 - math.floor(math.log10(reach))
    if -3 <= digits <= 4:
        named = [f"{tick:.{max(0, digits)}f}" for tick in scale.ticks]
    else:
        named = [f"{tick:.1e}".replace("e+0", "e").replace("e-0", "e-") for tick in scale.ticks]
    return ["0" if float(words) == 0 else words.replace("-", "\N{MINUS SIGN}") for words in named]
