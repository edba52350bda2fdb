"""What the data at hand could have shown, and what it would take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from humetric.seeding import generator
from humetric.stats.power import Design, power_of

TRUE_R = 0.8
"""The correlation that is asked for: about what the best metric of a study was printed with."""

ENOUGH = 0.8
DRAWS = 4_000
MOST = 40
"""Methods per study beyond which nobody goes on asking."""

GRID = tuple(r / 100 for r in range(5, 100, 5))


class Power(NamedTuple):
    """Of studies of so many methods, with one cell each: cells of a study share their methods."""

    methods: tuple[int, ...]
    single: float
    """Chance to find a true correlation of `TRUE_R`, as the only metric."""
    one_of_many: float
    """The same as the best of a family of metrics (Holm's first step)."""
    detectable: float
    """The smallest correlation that is found with a chance of `ENOUGH`; NaN: not even .95."""
    needed: float
    """Methods per study, in as many studies, that would find `TRUE_R` with that chance."""
    needed_of_many: float


@cache
def power_with(methods: tuple[int, ...], family: int, seed: int) -> Power:
    """Power of the joint test with studies of so many methods; nothing of it without studies."""
    if not methods:
        return Power((), 0.0, 0.0, math.nan, math.nan, math.nan)
    return Power(
        methods,
        _chance(methods, TRUE_R, 1, seed),
        _chance(methods, TRUE_R, family, seed),
        next((r for r in GRID if _chance(methods, r, 1, seed) >= ENOUGH), math.nan),
        _needed(len(methods), 1, seed),
        _needed(len(methods), family, seed),
    )


def _needed(studies: int, family: int, seed: int) -> float:
    sizes = range(2, MOST + 1)
    return next(
        (n for n in sizes if _chance([n] * studies, TRUE_R, family, seed) >= ENOUGH), math.nan
    )


def _chance(methods: Sequence[int], r: float, family: int, seed: int) -> float:
    designs = [Design(n) for n in methods]
    draw = generator(seed, "", f"findings: power of {list(methods)} at {r}")
    return power_of(designs, r, draw, family=family, draws=DRAWS)
