"""A protocol: which columns and phases a study's analysis reads, its rules, and the analysis."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humetric.errors import HumetricError
from humetric.human.analysis import Direction, Estimate, Findings
from humetric.human.exclusions import Exclusions, Screened
from humetric.stats.block_bootstrap import cluster_draws, quantile_interval, two_way_mean

RESAMPLES = 9_999
LEVEL = 0.95


class Randomness(NamedTuple):
    """What a bootstrap needs."""

    generator: np.random.Generator
    resamples: int = RESAMPLES


Analyse = Callable[[Screened, Randomness], Findings]


@dataclass(frozen=True)
class Protocol:
    """How the raw responses of a study are analysed."""

    name: str
    summary: str
    reference: str
    primary: str
    """The measure that stands for success with an explanation."""
    required: tuple[str, ...]
    """Columns it cannot do without, beside participant, condition and item."""
    phases: tuple[str, ...]
    """Phases whose trials are analysed; none named: all but practice, quiz and learn."""
    rules: Exclusions
    """Exclusion rules that apply unless the user declares others."""
    analyse: Analyse
    table: Literal["trials", "alignments"] = "trials"


PROTOCOLS: dict[str, Protocol] = {}


def protocol(
    name: str,
    *,
    summary: str,
    reference: str,
    primary: str,
    required: tuple[str, ...] = (),
    phases: tuple[str, ...] = (),
    rules: Exclusions = Exclusions(),  # noqa: B008
    table: Literal["trials", "alignments"] = "trials",
) -> Callable[[Analyse], Analyse]:
    """Register the decorated function as the analysis of a protocol."""

    def register(analyse: Analyse) -> Analyse:
        if name in PROTOCOLS:
            raise HumetricError(f"Expected one protocol named {name!r} but got a second one.")
        PROTOCOLS[name] = Protocol(
            name, summary, reference, primary, required, phases, rules, analyse, table
        )
        return analyse

    return register


def texts(column: pd.Series) -> NDArray[np.object_]:
    """A column of labels as an array."""
    return column.to_numpy(dtype=object)


def numbers(column: pd.Series) -> NDArray[np.float64]:
    """A column of numbers as an array."""
    return column.to_numpy(dtype=np.float64)


def per_person(
    rows: pd.DataFrame, by: str, levels: list[str] | list[float], value: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums and counts of defined values: a row per participant, a column per level of ``by``."""
    known = rows[rows[value].notna() & rows[by].isin(levels)]
    names, person = np.unique(texts(known["participant"]).astype(str), return_inverse=True)
    place = {level: index for index, level in enumerate(levels)}
    level = np.array([place[one] for one in known[by]], dtype=int)
    sums, counts = np.zeros((len(names), len(levels))), np.zeros((len(names), len(levels)))
    np.add.at(sums, (person, level), numbers(known[value]))
    np.add.at(counts, (person, level), 1.0)
    return sums, counts


def why_no_interval(users: int, items: int = 2) -> str:
    """The sentence that stands where an interval would."""
    if users < 2:
        return "no interval: one participant"
    if items < 2:
        return "no interval: one item"
    return "no interval: the responses do not vary"


def two_way_estimate(
    rows: pd.DataFrame,
    values: pd.Series,
    measure: str,
    randomness: Randomness,
    scale: float = 1.0,
    unit: str = "",
    direction: Direction = "higher",
) -> tuple[Estimate, float]:
    """Mean of values over the rows of one cell and condition, resampling people and items.

    With it comes the two-sided p of a mean of 0, from the same draws.
    """
    found = two_way_mean(
        numbers(values) * scale,
        texts(rows["participant"]),
        texts(rows["test"] + "\n" + rows["item"]),
        randomness.generator,
        randomness.resamples,
        LEVEL,
    )
    note = why_no_interval(found.users, found.items) if math.isnan(found.half_width) else ""
    estimate = Estimate(
        str(rows["cell"].iloc[0]),
        str(rows["condition"].iloc[0]),
        measure,
        found.mean,
        found.mean - found.half_width,
        found.mean + found.half_width,
        found.se,
        found.n,
        found.users,
        unit,
        direction,
        note if found.n else "no response",
    )
    return estimate, found.p


def people_estimate(
    rows: pd.DataFrame,
    above: pd.Series,
    below: pd.Series,
    measure: str,
    randomness: Randomness,
    unit: str = "%",
    direction: Direction = "higher",
) -> Estimate:
    """100 x sum(above) / sum(below) over rows of one cell and condition, resampling people.

    Rows where either is undefined are left out.
    """
    defined = above.notna() & below.notna()
    who = rows["participant"][defined]
    totals = above[defined].groupby(who).sum()
    counts = below[defined].groupby(who).sum()
    base = Estimate(
        str(rows["cell"].iloc[0]),
        str(rows["condition"].iloc[0]),
        measure,
        math.nan,
        n=int(defined.sum()),
        participants=len(totals),
        unit=unit,
        direction=direction,
    )
    if not counts.sum() > 0:
        return base._replace(note="no response")
    value = 100 * float(totals.sum()) / float(counts.sum())
    draws = 100 * cluster_draws(
        numbers(totals)[:, None],
        numbers(counts)[:, None],
        randomness.generator,
        randomness.resamples,
    )
    if len(totals) < 2 or np.nanmax(draws) - np.nanmin(draws) < 1e-9:
        return base._replace(value=value, note=why_no_interval(len(totals)))
    low, high = quantile_interval(draws[:, 0], LEVEL)
    return base._replace(value=value, low=low, high=high, se=float(np.nanstd(draws, ddof=1)))
