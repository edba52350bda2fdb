"""What an analysis of raw responses gives: estimates, statistics, and what they rest on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from humetric.human.exclusions import Screened

Direction = Literal["higher", "lower", "none"]


class Estimate(NamedTuple):
    """One measure of one condition in one cell: a row of ``results.csv``."""

    cell: str
    condition: str
    measure: str
    value: float
    low: float = math.nan
    high: float = math.nan
    se: float = math.nan
    n: int = 0
    """Responses."""
    participants: int = 0
    unit: str = ""
    direction: Direction = "higher"
    note: str = ""
    """Why there is no interval, or what else one should know."""


class Statistic(NamedTuple):
    """A test, a coefficient or a contrast: a row of ``statistics.csv``."""

    cell: str
    condition: str
    measure: str
    term: str
    statistic: str
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    n: int = 0
    note: str = ""


@dataclass(frozen=True)
class Findings:
    """What a protocol computes from screened responses."""

    estimates: tuple[Estimate, ...] = ()
    statistics: tuple[Statistic, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Analysis:
    """All that is said about a table of responses."""

    protocol: str
    findings: Findings
    screened: Screened
    settings: str
    """How it was computed, in one line: resamples, level, seed, rules."""
    unused: tuple[str, ...] = ()
    """Columns of the file that nothing read."""
