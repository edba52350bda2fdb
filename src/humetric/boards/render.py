"""A method board as Markdown and as a table for a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from rich import box
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table

if TYPE_CHECKING:
    from humetric.boards.method_board import Cell, Column, MethodBoard, Row

ARROWS = {"higher": "↑", "lower": "↓"}
DASH = "\N{EN DASH}"


class Parts(NamedTuple):
    """The texts of a cell; empty where there is nothing to say."""

    mean: str
    interval: str = ""
    places: str = ""
    letters: str = ""
    undefined: str = ""


def markdown(board: MethodBoard) -> str:
    """A heading and a table; cells: mean, interval, places, letters, undefined."""
    header = [_title(column, ", ") for column in board.columns]
    verdicts = [f"*{column.verdict}*" if column.verdict else "" for column in board.columns]
    lines = [
        f"### {heading(board)}",
        "",
        f"| method | {' | '.join(header)} |",
        f"|---|{'---:|' * len(header)}",
        *([f"| *verdict* | {' | '.join(verdicts)} |"] if any(verdicts) else []),
        *(
            f"| {name_of(row)} | {' | '.join(cell_text(cell) for cell in row.cells)} |"
            for row in board.rows
        ),
    ]
    return "\n".join(lines) + "\n"


def terminal(board: MethodBoard, width: int) -> RenderableType:
    """One table if it fits: without the means' intervals if need be, else one after the other."""
    everything = range(len(board.columns))
    for intervals in (True, False):
        table = _table(board, everything, intervals)
        if _width(table) <= width:
            return Group(table, "")
    tables: list[RenderableType] = []
    start = 0
    while start < len(board.columns):
        stop = len(board.columns)
        while stop > start + 1 and _width(_table(board, range(start, stop), False)) > width:
            stop -= 1
        tables += [_table(board, range(start, stop), False), ""]
        start = stop
    return Group(*tables)


def heading(board: MethodBoard) -> str:
    """The setting and how many cases its means are over."""
    cases = f"{board.cases} {'case' if board.cases == 1 else 'cases'}"
    if not board.missing:
        return f"{board.setting} ({cases})"
    cells = sum(len(row.cells) for row in board.rows)
    return f"{board.setting} ({cases}; INCOMPLETE: {board.missing} of {cells} cells are missing)"


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
    if cell.rank is None:
        return Parts("—", undefined=undefined)
    interval = "" if math.isnan(cell.low) else f"[{number(cell.low)}, {number(cell.high)}]"
    best, worst = cell.rank.best, cell.rank.worst
    places = str(best) if best == worst else f"{best}{DASH}{worst}"
    return Parts(number(cell.mean), interval, places, cell.rank.group, undefined)


def number(value: float) -> str:
    """Three decimals, and no minus sign before a zero."""
    return f"{round(value, 3) + 0.0:.3f}"


def _title(column: Column, newline: str) -> str:
    arrow = f"{column.metric} {ARROWS[column.direction]}"
    return f"{arrow}{newline}v{column.version} superseded" if column.superseded else arrow


def _table(board: MethodBoard, columns: range, intervals: bool) -> Table:
    table = Table(
        title=heading(board),
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
