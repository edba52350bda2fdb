"""A method board, of a setting or of a task, as Markdown and as a table for a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rich import box
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from humetric.stats.steady import steady

if TYPE_CHECKING:
    from humetric.boards.method_board import Cell, Column, Row

ARROWS = {"higher": "↑", "lower": "↓"}
DASH = "\N{EN DASH}"
WIDE = 6
"""Metrics side by side in Markdown."""


class Board(Protocol):
    """What is rendered."""

    @property
    def heading(self) -> str:
        """What it is of."""

    @property
    def note(self) -> str:
        """A line beside the table; empty for none."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Metrics."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Methods."""


class Parts(NamedTuple):
    """The texts of a cell; empty where there is nothing to say."""

    mean: str
    interval: str = ""
    places: str = ""
    letters: str = ""
    undefined: str = ""


def markdown(board: Board) -> str:
    """A heading and tables of some columns each; cells: mean, interval, places, letters, n?."""
    parts = [f"### {board.heading}", "", *([board.note, ""] if board.note else [])]
    for start in range(0, len(board.columns), WIDE):
        parts += [*_part(board, slice(start, start + WIDE)), ""]
    return "\n".join(parts)


def _part(board: Board, of: slice) -> list[str]:
    """Some columns of a board: all of them make a table that nobody can read."""
    columns = board.columns[of]
    header = [_title(column, ", ") for column in columns]
    verdicts = [f"*{column.verdict}*" if column.verdict else "" for column in columns]
    return [
        f"| method | {' | '.join(header)} |",
        f"|---|{'---:|' * len(header)}",
        *([f"| *verdict* | {' | '.join(verdicts)} |"] if any(verdicts) else []),
        *(
            f"| {name_of(row)} | {' | '.join(cell_text(cell) for cell in row.cells[of])} |"
            for row in board.rows
        ),
    ]


def terminal(board: Board, width: int) -> RenderableType:
    """One table if it fits: without the means' intervals if need be, else one after the other."""
    below = [Text(board.note), ""] if board.note else [""]
    everything = range(len(board.columns))
    for intervals in (True, False):
        table = _table(board, everything, intervals)
        if _width(table) <= width:
            return Group(table, *below)
    tables: list[RenderableType] = []
    start = 0
    while start < len(board.columns):
        stop = len(board.columns)
        while stop > start + 1 and _width(_table(board, range(start, stop), False)) > width:
            stop -= 1
        tables += [_table(board, range(start, stop), False), ""]
        start = stop
    return Group(*tables[:-1], *below)


def name_of(row: Row) -> str:
    """A method's name, controls marked."""
    return f"{row.method} (control)" if row.control else row.method


def cell_text(cell: Cell) -> str:
    """All parts of a cell in a line."""
    return " ".join(part for part in parts_of(cell) if part)


def parts_of(cell: Cell) -> Parts:
    """The texts of a cell."""
    if cell.gap:
        return Parts(cell.gap)
    undefined = f"({cell.undefined}?)" if cell.undefined else ""
    part = f"{cell.settings} of {cell.of}" if cell.settings < cell.of else ""
    if math.isnan(cell.mean):
        return Parts("—", places="" if undefined else part, undefined=undefined)
    interval = "" if math.isnan(cell.low) else f"[{number(cell.low)}, {number(cell.high)}]"
    if cell.rank is None:
        return Parts(number(cell.mean), interval, part, undefined=undefined)
    best, worst = cell.rank.best, cell.rank.worst
    places = str(best) if best == worst else f"{best}{DASH}{worst}"
    return Parts(number(cell.mean), interval, places, cell.rank.group, undefined)


def number(value: float) -> str:
    """Three decimals, and no minus sign before a zero."""
    return f"{round(steady(value), 3) + 0.0:.3f}"


def _title(column: Column, newline: str) -> str:
    parts = [f"{column.metric} {ARROWS[column.direction]}"]
    parts += [f"v{column.version} superseded"] * column.superseded
    parts += [f"on {column.on}"] * bool(column.on)
    return newline.join(parts)


def _table(board: Board, columns: range, intervals: bool) -> Table:
    table = Table(
        title=board.heading,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
    )
    table.add_column("method", no_wrap=True)
    cells = []
    for i in columns:
        table.add_column(_title(board.columns[i], "\n"), no_wrap=True)
        cells.append(_aligned([parts_of(row.cells[i]) for row in board.rows], intervals))
    for row, texts in zip(board.rows, zip(*cells, strict=True), strict=True):
        table.add_row(name_of(row), *texts)
    return table


def _aligned(column: list[Parts], intervals: bool) -> list[str]:
    """The cells of a column without their letters, means below means and places below places."""
    mean = max((len(p.mean) for p in column if p.places), default=0)
    interval = max((len(p.interval) for p in column), default=0) if intervals else 0
    texts = []
    for p in column:
        middle = [p.interval.rjust(interval)] if interval and p.places else []
        rest = [part for part in (p.places, p.undefined) if part]
        texts.append(" ".join([p.mean.rjust(mean), *middle, *rest]))
    return texts


def _width(table: Table) -> int:
    console = Console(width=10_000)
    return Measurement.get(console, console.options, table).maximum
