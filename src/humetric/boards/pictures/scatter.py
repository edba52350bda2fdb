"""Metric values against what people achieved: a row per metric, a column per cell.

Axes run towards the better value, so that agreement rises to the right in every panel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from humetric.agreement.cell import CellAgreement
from humetric.agreement.evidence import Level
from humetric.agreement.report import Agreement
from humetric.boards.pictures import order
from humetric.boards.pictures.order import Column
from humetric.boards.pictures.panel import HIGH, WIDE, compared, draw_nothing, draw_panel
from humetric.boards.pictures.sheet import (
    GREY,
    INK,
    LINE,
    MARGIN,
    READABLE,
    Entry,
    Sheet,
    legend,
    legend_height,
    legend_rows,
    sheet,
)
from humetric.boards.pictures.words import LARGE, NORMAL, SMALL, TINY, chance, cut, signed, wrapped
from humetric.errors import HumetricError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Inches.
TICKS, LABEL, GAP = 0.36, 0.36, 0.1
HEAD, STATISTICS, BELOW, LEAST = 0.14, 0.25, 0.46, 4.6

TITLES: dict[Level, str] = {
    "published": "Metrics against people: the papers' own scores",
    "replica": "Metrics against people: replicas",
    "stand-in": "Metrics against people: stand-ins, no verdict",
    "toy": "Metrics against people: toy settings, not evidence",
}


def title(level: Level) -> str:
    """What the picture is called."""
    return TITLES[level]


def draw(found: Agreement, level: Level) -> Figure:
    """All metrics that have evidence of a level, in all cells that have some."""
    table = {c: row for c, row in order.columns(found).items() if c.level == level}
    if not table:
        raise HumetricError(
            f"Expected evidence of level {level!r} but there is none to draw: "
            f"there is {', '.join(dict.fromkeys(c.level for c in order.columns(found))) or 'none'}."
        )
    cells = [cell for row in table.values() for cell in row.values()]
    names = order.metrics(cells)
    shown = {m for cell in cells for m in cell.methods}
    look = {m: mark for m, mark in order.method_marks(found).items() if m in shown}

    lefts, x = [], MARGIN
    for i in range(len(table)):
        x += (LABEL if _first(list(table), i) else 0.0) + TICKS
        lefts.append(x)
        x += WIDE + GAP
    width = max(x + 0.05, LEAST)
    room = width - 2 * MARGIN
    heads = wrapped(title(level), room / 1.12, LARGE)
    notes = wrapped(_note(found, cells, table), min(room, READABLE))
    key = legend_rows([Entry(cut(m, room - 0.4), mark) for m, mark in look.items()], room)
    top = 0.08 + len(heads) * 0.17 + 0.04
    over = (2 if level == "published" else 3) * HEAD
    rows = [
        STATISTICS + (LINE if any(_in_sample(table, c, name) for c in table) else 0.0)
        for name in names
    ]
    panels = sum(rows) + len(rows) * (HIGH + BELOW)
    height = top + over + panels + legend_height(key) + 0.06 + len(notes) * LINE + MARGIN
    on = sheet(width, height)
    for i, line in enumerate(heads):
        on.text(MARGIN, 0.08 + (i + 0.7) * 0.17, line, LARGE, bold=True)
    for i, (left, column) in enumerate(zip(lefts, table, strict=True)):
        _heading(on, left, top, column, _first(list(table), i))
    y = top + over
    for name, head in zip(names, rows, strict=True):
        for i, (left, (column, row)) in enumerate(zip(lefts, table.items(), strict=True)):
            axes = on.axes(left, y + head, WIDE, HIGH)
            if _first(list(table), i):
                _measure(on, left - TICKS - LABEL + 0.08, y + head + HIGH / 2, found, column)
            if name in row and row[name].n:
                draw_panel(axes, row[name], found, look)
                _statistics(on, left, y + head, row[name], found)
            else:
                draw_nothing(axes, "no defined value" if name in row else "not measured")
            better = next(c.direction for c in (row.get(name), *cells) if c and c.metric == name)
            _metric(on, left + WIDE / 2, y + head + HIGH, name, better)
        y += head + HIGH + BELOW
    legend(on, MARGIN, y, key)
    on.lines(MARGIN, y + legend_height(key) + 0.06, notes)
    return on.figure


def statistics(cell: CellAgreement, of: int) -> tuple[str, str]:
    """D, r and n; p and the smallest that there could have been."""
    n = str(cell.n) if cell.n == of else f"{cell.n} of {of}"
    sign = "=" if cell.test.exact else "\N{ALMOST EQUAL TO}"
    return (
        f"D {signed(cell.concordance.d)}   r {signed(cell.pearson)}   n {n}",
        f"p {sign} {chance(cell.test.p)}   smallest {chance(cell.test.smallest)}",
    )


def _first(table: list[Column], i: int) -> bool:
    """Whether a column is the first one of its study."""
    return i == 0 or table[i - 1].study != table[i].study


def _in_sample(table: dict[Column, dict[str, CellAgreement]], column: Column, name: str) -> bool:
    return name in table[column] and table[column][name].in_sample


def _heading(on: Sheet, left: float, top: float, column: Column, first: bool) -> None:
    middle = left + WIDE / 2
    lines = [column.cell] if column.level == "published" else [column.cell, column.made_on]
    if first:
        words = cut(column.study, WIDE, NORMAL, bold=True)
        on.text(left, top + 0.7 * HEAD, words, NORMAL, bold=True)
    for i, words in enumerate(lines):
        shown = cut(words, WIDE + 0.3, SMALL, bold=i == 0)
        y = top + (i + 1.7) * HEAD
        on.text(middle, y, shown, SMALL, side="center", bold=i == 0, colour=GREY if i else INK)


def _measure(on: Sheet, x: float, middle: float, found: Agreement, column: Column) -> None:
    """What people did, upwards beside the first panel of a study."""
    measure = found.studies[column.study].matrix().name
    of = found.studies[column.study].measure(measure)
    for i, words in enumerate((measure, of.unit, f"{of.direction} is better \N{RIGHTWARDS ARROW}")):
        shown = cut(words, HIGH + 0.3, TINY)
        on.text(x + i * 0.11, middle, shown, TINY, turned=True, colour=INK if i == 0 else GREY)


def _statistics(on: Sheet, left: float, top: float, cell: CellAgreement, found: Agreement) -> None:
    first, second = statistics(cell, len(compared(found, cell).methods))
    on.text(left, top - 0.045 - 0.11, first, TINY)
    on.text(left, top - 0.045, second, TINY, colour=GREY)
    if cell.in_sample:
        on.text(left, top - 0.045 - 0.22, "in sample: not judged", TINY, bold=True)


def _metric(on: Sheet, middle: float, bottom: float, name: str, better: str) -> None:
    """The metric and its better side, below a panel."""
    words = cut(name, WIDE + 0.3, SMALL, bold=True)
    on.text(middle, bottom + 0.24, words, SMALL, bold=True, side="center")
    words = f"{better} is better \N{RIGHTWARDS ARROW}"
    on.text(middle, bottom + 0.345, words, TINY, side="center", colour=GREY)


def _note(
    found: Agreement, cells: list[CellAgreement], table: dict[Column, dict[str, CellAgreement]]
) -> str:
    """How to read it, and what it does not test."""
    errors = [found.studies[c.study].matrix().se for c in table]
    known = any(not np.isnan(se).all() for se in errors)
    said = [
        "Axes run towards the better value: agreement rises to the right.",
        "Bars: one standard error of the human measure, where known."
        if known
        else "No standard errors of the human measure are known.",
        "D: concordant minus discordant pairs, of those that people did not tie; r: Pearson; "
        "n: methods; p: two-sided, of D, over relabellings of the methods"
        f"{'' if all(c.test.exact for c in cells) else ' (≈: sampled)'}; "
        "smallest: the least p that these values could have given.",
    ]
    return " ".join([*said, order.captions(found, cells)])
