"""The method board of a setting: how each method does by each metric, and how sure that is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import RenderableType

from humetric.boards.ranking import Rank, flips_for, pairs_of, rank_methods
from humetric.boards.render import markdown, terminal
from humetric.boards.settings_line import HOW_TO_READ, settings_line
from humetric.cards import Direction, MetricCard
from humetric.results.gaps import expected, gaps
from humetric.results.result import Failure, Result
from humetric.seeding import generator
from humetric.stats.bootstrap import mean_interval
from humetric.stats.steady import steady

NO_EVIDENCE = "no evidence yet"
"""The verdict on a metric that no published or replica scores exist of."""


@dataclass(frozen=True)
class Column:
    """A metric as it was when the results were made."""

    metric: str
    version: int
    direction: Direction
    superseded: bool
    """Another version is registered now; these results are of the old one."""
    verdict: str = ""
    """What the metric board says of the metric; empty where it was not asked."""
    on: str = ""
    """Of a task: how many of its settings the metric was measured on, if not on all."""


@dataclass(frozen=True)
class Cell:
    """A metric of a method: mean over cases, its interval, and the places that it may have."""

    n: int
    undefined: int
    mean: float
    low: float
    high: float
    rank: Rank | None
    """None for a method without a defined value, or with one on a part of a task's settings."""
    gap: Literal["", "failed", "missing"] = ""
    """Why there is no mean: scoring failed, or some cases were never scored. A mean over the others
    is not shown as one over all."""
    settings: int = 1
    """Of a task: the settings that the mean is over."""
    of: int = 1
    """Of a task: the settings that the metric was measured on."""


FAILED = Cell(0, 0, math.nan, math.nan, math.nan, None, gap="failed")
MISSING = Cell(0, 0, math.nan, math.nan, math.nan, None, gap="missing")


@dataclass(frozen=True)
class Row:
    """A method and its cells, one per column."""

    method: str
    control: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class MethodBoard:
    """Rows are methods, controls among them; columns are metrics."""

    setting: str
    cases: int
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    missing: int = 0
    """Cells that the run set out to fill and did not: it is unfinished."""

    @property
    def heading(self) -> str:
        """The setting and how many cases its means are over."""
        cells = sum(len(row.cells) for row in self.rows)
        return f"{self.setting} ({counted(self.cases, 'case')}{unfinished(self.missing, cells)})"

    @property
    def note(self) -> str:
        """Nothing: the heading says it."""
        return ""

    def markdown(self) -> str:
        """The board as a Markdown table."""
        return markdown(self)

    def table(self, width: int = 100) -> RenderableType:
        """The board for a terminal of so many columns."""
        return terminal(self, width)


def method_boards(result: Result, verdicts: Mapping[str, str] | None = None) -> list[MethodBoard]:
    """One board per setting, in alphabetical order. Methods in order of their first metric.

    ``verdicts`` are those of the metric board; a metric without one has no evidence either way.

    A board depends on the values, the cards and the run's seed alone, not on the order of rows: it
    is the same to the byte whenever it is rebuilt.
    """
    found = {str(name): scores for name, scores in result.scores.groupby("setting", sort=True)}
    planned = expected(result) if result.provenance.get("planned") else {}
    nothing = result.scores.iloc[:0]
    lacking = Counter(gap.setting for gap in gaps(result))
    return [
        replace(
            _board(name, found.get(name, nothing), result, verdicts, planned.get(name, ([], []))),
            missing=lacking[name],
        )
        for name in sorted(found.keys() | {name for name, parts in planned.items() if all(parts)})
    ]


def counted(count: int, noun: str) -> str:
    """A number of things."""
    return f"{count} {noun if count == 1 else f'{noun}s'}"


def unfinished(missing: int, cells: int) -> str:
    """What a heading says of a run that was not finished."""
    return f"; INCOMPLETE: {missing} of {cells} cells are missing" if missing else ""


def legend(result: Result, in_full: bool = True) -> str:
    """How to read the boards, what methods want to be known, and the settings line.

    Only in full it has the versions of all data.
    """
    parts = settings_line(result)
    count = len(result.provenance.get("settings", {}))
    if not in_full and count > 1:
        parts["data"] = f"{count} settings, whose versions are in methods.md and methods.json"
    line = "; ".join(f"{name}: {value}" for name, value in parts.items())
    return "\n\n".join((HOW_TO_READ, *result.notes(), f"{line}."))


def _board(
    setting: str,
    scores: pd.DataFrame,
    result: Result,
    verdicts: Mapping[str, str] | None,
    planned: tuple[list[str], list[str]],
) -> MethodBoard:
    present = set(scores["metric"]) | set(planned[1])
    columns = [_column(card, verdicts) for name, card in result.metrics.items() if name in present]
    failed = {f.method for f in result.failures if f.setting == setting}
    methods = sorted(set(result.methods) & (failed | set(scores["method"]) | set(planned[0])))
    # The manifest knows how many cases there should be; the scores know how many were reached.
    cases = int(result.provenance.get("cases", {}).get(setting, 0)) or scores["case"].nunique()
    cells = {
        column.metric: _cells(
            setting,
            column,
            _matrix(
                scores[scores["metric"] == column.metric],
                cases if result.metrics[column.metric].scope == "case" else None,
                methods,
            ),
            result,
        )
        for column in columns
    }
    rows = [
        Row(m, result.methods[m].control, tuple(cells[c.metric][m] for c in columns))
        for m in methods
    ]
    return MethodBoard(
        setting, cases, tuple(columns), tuple(sorted(rows, key=lambda r: place(r, columns)))
    )


def _matrix(
    scores: pd.DataFrame, rows: int | None, methods: list[str]
) -> dict[str, NDArray[np.float64] | None]:
    """Values of each method in the order of the cases; None where a case is missing.

    Without a number of rows there may be any: replicates of simulated users are stored together.
    """
    found: dict[str, NDArray[np.float64] | None] = dict.fromkeys(methods)
    for method, group in scores.groupby("method"):
        if rows is None or len(group) == rows:
            found[str(method)] = group.sort_values("case")["value"].to_numpy(np.float64)
    return found


def _cells(
    setting: str,
    column: Column,
    values: Mapping[str, NDArray[np.float64] | None],
    result: Result,
) -> dict[str, Cell]:
    """The cells of a metric, by method."""
    seed = int(result.provenance.get("seed", 0))
    complete = {method: v for method, v in values.items() if v is not None}
    sign = 1.0 if column.direction == "higher" else -1.0
    stacked = [sign * v for v in complete.values()]
    ranks: list[Rank | None] = []
    if stacked:
        draw = generator(seed, setting, f"sign flips of {column.metric}")
        flips = flips_for(pairs_of(len(result.methods)))
        ranks = rank_methods(np.stack(stacked, axis=1), draw, flips)
    failed = {f.method for f in result.failures if _concerns(f, setting, column.metric)}
    cells = {method: FAILED if method in failed else MISSING for method in values}
    for (method, of_cases), rank in zip(complete.items(), ranks, strict=True):
        draw = generator(seed, setting, f"bootstrap of {column.metric} of {method}")
        mean, low, high, n = mean_interval(of_cases, draw)
        cells[method] = Cell(n, len(of_cases) - n, mean, low, high, rank)
    return cells


def _concerns(failure: Failure, setting: str, metric: str) -> bool:
    return failure.setting == setting and failure.metric in ("", metric)


def _column(card: MetricCard, verdicts: Mapping[str, str] | None) -> Column:
    from humetric.metrics import METRICS

    known = card.id in set(METRICS)
    superseded = known and METRICS.make(card.id).card.version != card.version
    verdict = "" if verdicts is None else verdicts.get(card.id, NO_EVIDENCE)
    return Column(card.id, card.version, card.direction, superseded, verdict)


def place(row: Row, columns: Sequence[Column]) -> tuple[bool, float, str]:
    """By the first metric, best first; those without a rank last; then by name."""
    first = row.cells[0]
    better = first.mean if columns[0].direction == "lower" else -first.mean
    return first.rank is None, math.inf if math.isnan(better) else steady(better), row.method
