"""The method board of a task: how each method does over the task's settings, every one alike.

A cell is the unweighted mean of the settings' means over cases. It is about these settings: the
interval says what other cases of them would give, not what other data or models would. Settings
may share cases (one set of questions, several models): such a case is drawn and flipped as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import RenderableType

from humetric.boards.method_board import (
    FAILED,
    MISSING,
    Cell,
    Column,
    MethodBoard,
    Row,
    counted,
    method_boards,
    place,
    unfinished,
)
from humetric.boards.ranking import flips_for, pairs_of, rank_methods
from humetric.boards.render import markdown, terminal
from humetric.results.result import Result
from humetric.seeding import generator
from humetric.stats.bootstrap import grouped_interval


@dataclass(frozen=True)
class TaskBoard:
    """Rows are methods, controls among them; columns are metrics, as on the board of a setting."""

    task: str
    boards: tuple[MethodBoard, ...]
    """The settings that it is over. With a single one it is that setting's board."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    @property
    def heading(self) -> str:
        """The task and what its means are over."""
        if len(self.boards) == 1:
            return f"{self.boards[0].heading}, the only setting of {self.task} in this run"
        cells = sum(len(row.cells) for board in self.boards for row in board.rows)
        lacking = unfinished(sum(board.missing for board in self.boards), cells)
        return f"{self.task}: mean over {len(self.boards)} settings{lacking}"

    @property
    def note(self) -> str:
        """The settings and their cases, those with as many cases together."""
        if len(self.boards) == 1:
            return ""
        cases: dict[int, list[str]] = {}
        for board in self.boards:
            cases.setdefault(board.cases, []).append(board.setting)
        parts = [f"{', '.join(names)} ({counted(n, 'case')})" for n, names in cases.items()]
        each = " each" if len(cases) == 1 else ""
        return f"Over {', '.join(parts).removesuffix(')')}{each})."

    def markdown(self) -> str:
        """The board as a Markdown table."""
        return markdown(self)

    def table(self, width: int = 100) -> RenderableType:
        """The board for a terminal of so many columns."""
        return terminal(self, width)


class Boards(NamedTuple):
    """All method boards of a run, computed once for all that is made of them."""

    tasks: list[TaskBoard]
    settings: list[MethodBoard]

    def apart(self) -> list[MethodBoard]:
        """The boards of settings that are not shown as a task's already."""
        shown = [board.boards[0].setting for board in self.tasks if len(board.boards) == 1]
        return [board for board in self.settings if board.setting not in shown]


def boards_of(result: Result, verdicts: Mapping[str, str] | None = None) -> Boards:
    """The boards of tasks and of settings; ``verdicts`` are those of the metric board."""
    settings = method_boards(result, verdicts)
    return Boards(task_boards(result, settings), settings)


def task_boards(result: Result, boards: Sequence[MethodBoard]) -> list[TaskBoard]:
    """One board per task, in alphabetical order, from the boards of its settings.

    As there, a board does not depend on the order of rows, and a cell's mean and interval do not
    depend on the other methods.
    """
    ordered = sorted(boards, key=lambda board: (task_of(board.setting), board.setting))
    return [
        _task_board(task, tuple(some), result)
        for task, some in groupby(ordered, key=lambda board: task_of(board.setting))
    ]


def task_of(setting: str) -> str:
    """The first part of a setting's name."""
    return setting.partition("/")[0]


def _task_board(task: str, boards: tuple[MethodBoard, ...], result: Result) -> TaskBoard:
    if len(boards) == 1:
        return TaskBoard(task, boards, boards[0].columns, boards[0].rows)
    known = {c.metric: c for board in boards for c in board.columns}
    methods = sorted({row.method for board in boards for row in board.rows})
    columns, cells = [], []
    for name in result.metrics:
        if name not in known:
            continue
        there = [b for b in boards if any(c.metric == name for c in b.columns)]
        part = f"{len(there)} of {len(boards)} settings" if len(there) < len(boards) else ""
        columns.append(replace(known[name], on=part))
        cells.append(_cells(task, columns[-1], there, methods, result))
    rows = [Row(m, result.methods[m].control, tuple(found[m] for found in cells)) for m in methods]
    return TaskBoard(
        task, boards, tuple(columns), tuple(sorted(rows, key=lambda r: place(r, columns)))
    )


def _cells(
    task: str,
    column: Column,
    boards: Sequence[MethodBoard],
    methods: Sequence[str],
    result: Result,
) -> dict[str, Cell]:
    """The cells of a metric, by method; only methods with a mean of every setting are ranked."""
    seed = int(result.provenance.get("seed", 0))
    parts: dict[str, list[Cell]] = {method: [] for method in methods}
    for board in boards:
        at = [c.metric for c in board.columns].index(column.metric)
        for row in board.rows:
            parts[row.method].append(row.cells[at])
    gaps = {method: {cell.gap for cell in some} - {""} for method, some in parts.items()}
    cells = {
        method: replace(FAILED if "failed" in said else MISSING, settings=0, of=len(boards))
        for method, said in gaps.items()
        if said
    }
    scored = [method for method in methods if method not in cells]
    values = _values(column.metric, boards, scored, result.scores)
    defined: NDArray[np.bool_] = np.asarray((~np.isnan(values)).any(0))
    ranked = np.flatnonzero(defined.all(0)).tolist()
    draw = generator(seed, task, f"sign flips of {column.metric}")
    sign = 1.0 if column.direction == "higher" else -1.0
    flips = flips_for(pairs_of(len(result.methods)))
    ranks = dict(zip(ranked, rank_methods(sign * values[..., ranked], draw, flips), strict=True))
    for i, method in enumerate(scored):
        draw = generator(seed, task, f"bootstrap of {column.metric} of {method}")
        mean, low, high, n = grouped_interval(values[..., i], draw)
        undefined = sum(cell.undefined for cell in parts[method])
        over = int(defined[:, i].sum())
        cells[method] = Cell(
            n, undefined, mean, low, high, ranks.get(i), settings=over, of=len(boards)
        )
    return cells


def _values(
    metric: str, boards: Sequence[MethodBoard], methods: Sequence[str], scores: pd.DataFrame
) -> NDArray[np.float64]:
    """(cases, settings, methods); NaN where undefined and where a setting does not have a case.

    Cases of one name are one case: settings of the same data with other models share them.
    """
    some = scores[(scores["metric"] == metric) & scores["method"].isin(methods)]
    cases = sorted(set(some[some["setting"].isin([b.setting for b in boards])]["case"]))
    values = np.full((len(cases), len(boards), len(methods)), np.nan)
    for i, board in enumerate(boards):
        here = some[some["setting"] == board.setting]
        table = here.pivot(index="case", columns="method", values="value")
        values[:, i] = table.reindex(index=cases, columns=list(methods)).to_numpy(np.float64)
    return values
