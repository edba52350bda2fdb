"""What stands in a panel, said once for all who draw it: a terminal and a page.

Texts are kept as they came. Whoever draws them makes them harmless, so that no kind can forget to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

Stress = Literal["", "strong", "pale", "new", "code"]
"""How a run of letters stands out; ``new`` is what was put in another's place."""


class Run(NamedTuple):
    """Letters that look alike."""

    text: str
    stress: Stress = ""


@dataclass(frozen=True)
class Words:
    """A paragraph, with a word for what it is before it if need be."""

    runs: tuple[Run, ...]
    label: str = ""


class Bar(NamedTuple):
    """A number as a bar: to the right where it is positive, to the left where it is negative."""

    name: str
    value: float
    text: str


@dataclass(frozen=True)
class Bars:
    """Bars on a common scale, and below a line what they add up to."""

    rows: tuple[Bar, ...]
    totals: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Grid:
    """Rows of cells under heads."""

    head: tuple[str, ...]
    rows: tuple[tuple[Run, ...], ...]
    numeric: bool = False
    """Whether the last column is numbers."""


Block = Words | Bars | Grid


@dataclass(frozen=True)
class Panel:
    """One kind of explanation."""

    title: str
    blocks: tuple[Block, ...]


def words(text: str, stress: Stress = "", label: str = "") -> Words:
    """A paragraph that looks the same throughout."""
    return Words((Run(text, stress),), label)


def writer(values: Iterable[float]) -> Callable[..., str]:
    """How to write numbers that stand below each other: the largest with three digits that count.

    The function takes a number, and ``plus`` for a sign before positive ones.
    """
    largest = max((abs(float(value)) for value in values), default=0.0)
    power = math.floor(math.log10(largest)) if largest else 0
    form = f".{max(0, 2 - power)}f" if -4 <= power <= 5 else ".2e"

    def write(value: float, plus: bool = False) -> str:
        found = f"{float(value):{'+' if plus else ''}{form}}"
        if not any(digit in found.split("e")[0] for digit in "123456789"):
            found = found.lstrip("+-")  # a number that is written as 0 has no sign
        return found.replace("-", "\N{MINUS SIGN}")

    return write


def bars(
    named: Iterable[tuple[str, float]], totals: Iterable[tuple[str, float, bool]] = ()
) -> Bars:
    """Signed bars and totals, all with as many decimals; a total says if it has a sign."""
    named, totals = list(named), list(totals)
    write = writer([*(value for _, value in named), *(value for _, value, _ in totals)])
    return Bars(
        tuple(Bar(name, float(value), write(value, True)) for name, value in named),
        tuple((name, write(value, sign)) for name, value, sign in totals),
    )


def count(number: int, one: str, many: str) -> str:
    """A number and what it counts."""
    return f"{number:,} {one if number == 1 else many}"
