"""D of every metric in every cell, as a matrix of numbers and colours."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from humetric.agreement.cell import CellAgreement
from humetric.agreement.report import Agreement
from humetric.boards.pictures import order
from humetric.boards.pictures.order import LEVEL_WORDS, Column
from humetric.boards.pictures.sheet import (
    GREY,
    INK,
    LINE,
    MARGIN,
    PALE,
    READABLE,
    Sheet,
    Side,
    sheet,
)
from humetric.boards.pictures.words import LARGE, NORMAL, SMALL, cut, inches, signed, wrapped
from humetric.errors import HumetricError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "D of every metric in every cell"
COLOURS = "RdBu"
"""Blue where metric and people agree, red where they do not: safe for all colour vision."""

# Inches.
CELL, HIGH, NAME, LABEL, GROUP, BETWEEN, BAR = 0.46, 0.24, 2.0, 1.5, 0.16, 0.1, 1.6
LEAST = 4.4
IN_SAMPLE = "*"


class Placed(NamedTuple):
    """A column and where it stands."""

    column: Column
    x: float
    wide: float


def draw(found: Agreement) -> Figure:
    """Metrics, then baselines; columns by level of evidence, then study, then cell."""
    table = order.columns(found)
    if not table:
        raise HumetricError(
            "Expected a metric with evidence but there is none to draw: choose other studies or "
            "metrics, or give a run."
        )
    cells = [cell for row in table.values() for cell in row.values()]
    names = list(order.metrics(cells))
    left = MARGIN + min(max(inches(name, NORMAL) for name in names), NAME) + 0.1
    placed = _placed(list(table), left)
    width = max(placed[-1].x + placed[-1].wide + MARGIN, LEAST)
    room = width - 2 * MARGIN
    label = min(max(inches(words) for c in table for words in _label(c)), LABEL) + 0.08
    missing = len(cells) < len(names) * len(table)
    notes = wrapped(_note(found, cells, missing), min(room, READABLE))
    heads = 0.08 + 0.17 + 0.06
    top = heads + 2 * GROUP + 0.04 + label
    high = HIGH * len(names)
    height = top + high + 0.5 + len(notes) * LINE + MARGIN
    on = sheet(width, height)
    on.text(MARGIN, 0.2, TITLE, LARGE, bold=True)
    _groups(on, placed, heads)
    axes = on.axes(left, top, placed[-1].x + placed[-1].wide - left, high)
    axes.set(xlim=(0, placed[-1].x + placed[-1].wide - left), ylim=(high, 0))
    axes.axis("off")
    for column, x, wide in placed:
        for i, words in enumerate(lines := _label(column)):
            shift = (i - (len(lines) - 1) / 2) * 0.11
            axes.text(
                x - left + wide / 2 + shift, -0.05, cut(words, LABEL), rotation=90, ha="center",
                va="bottom", fontsize=SMALL, color=GREY if i else INK,
            )  # fmt: skip
        for i, name in enumerate(names):
            _square(axes, x - left, i * HIGH, wide, table[column].get(name))
    for i, name in enumerate(names):
        shown = cut(name, NAME, NORMAL)
        on.text(left - 0.08, top + (i + 0.5) * HIGH + 0.035, shown, NORMAL, side="right")
    kinds = order.metrics(cells)
    first = next((i for i, name in enumerate(names) if kinds[name] == "baseline"), 0)
    if first:
        axes.plot(axes.get_xlim(), [first * HIGH] * 2, color=INK, lw=1.2, clip_on=False)
    _bar(on, left, top + high + 0.14, min(BAR, width - left - MARGIN))
    on.lines(MARGIN, top + high + 0.5, notes)
    return on.figure


def _label(column: Column) -> list[str]:
    """The cell and, where it is not the paper's own, the setting."""
    return [column.cell] if column.level == "published" else [column.cell, column.made_on]


def _placed(table: list[Column], left: float) -> list[Placed]:
    """Columns from left to right, a gap between studies, wide enough for what is above them."""
    found = []
    x = left
    for level, at_level in groupby(table, key=lambda c: c.level):
        studies = [list(some) for _, some in groupby(at_level, key=lambda c: c.study)]
        words = [inches(some[0].study, SMALL, bold=True) + 0.08 for some in studies]
        wide = [max(CELL, need / len(some)) for some, need in zip(studies, words, strict=True)]
        gaps = BETWEEN * (len(studies) - 1)
        total = sum(w * len(s) for w, s in zip(wide, studies, strict=True)) + gaps
        grow = max(1.0, (inches(LEVEL_WORDS[level], NORMAL, bold=True) + 0.08) / total)
        for some, each in zip(studies, wide, strict=True):
            for column in some:
                found.append(Placed(column, x, each * grow))
                x += each * grow
            x += BETWEEN
        x += BETWEEN
    return found


def _groups(on: Sheet, placed: list[Placed], top: float) -> None:
    """Levels and studies above their columns, with a rule below each."""
    for level, some in groupby(placed, key=lambda p: p.column.level):
        here = list(some)
        _group(on, here, top, LEVEL_WORDS[level], NORMAL)
        for study, of in groupby(here, key=lambda p: p.column.study):
            _group(on, list(of), top + GROUP, study, SMALL)


def _group(on: Sheet, placed: list[Placed], top: float, words: str, size: float) -> None:
    start, end = placed[0].x, placed[-1].x + placed[-1].wide
    on.text((start + end) / 2, top + 0.11, words, size, bold=True, side="center")
    on.line([start + 0.02, end - 0.02], [top + GROUP - 0.015] * 2, PALE, 0.7)


def _square(axes: Axes, x: float, y: float, wide: float, cell: CellAgreement | None) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    d = np.nan if cell is None else cell.concordance.d
    if np.isnan(d):
        empty = Rectangle(
            (x, y), wide, HIGH, facecolor="white", edgecolor=PALE, hatch="////", lw=0.4
        )
        axes.add_patch(empty)
        return
    colour = colormaps[COLOURS]((d + 1) / 2)
    axes.add_patch(Rectangle((x, y), wide, HIGH, facecolor=colour, edgecolor="white", lw=0.8))
    words = signed(d) + (IN_SAMPLE if cell is not None and cell.in_sample else "")
    axes.text(
        x + wide / 2, y + HIGH / 2, words, fontsize=SMALL, ha="center", va="center",
        color="white" if abs(d) > 0.6 else INK,
    )  # fmt: skip


def _bar(on: Sheet, x: float, y: float, wide: float) -> None:
    axes = on.axes(x, y, wide, 0.08)
    axes.imshow(
        np.linspace(-1, 1, 256)[None], cmap=COLOURS, vmin=-1, vmax=1, aspect="auto",
        extent=(-1, 1, 0, 1),
    )  # fmt: skip
    axes.set_yticks([])
    axes.set_xticks([-1, 0, 1], ["\N{MINUS SIGN}1 opposite", "0", "1 as people"])
    axes.tick_params(labelsize=SMALL, length=2, width=0.5, pad=1.5, colors=INK)
    for spine in axes.spines.values():
        spine.set(linewidth=0.5, color=INK)
    sides: tuple[Side, ...] = ("left", "center", "right")
    for label, side in zip(axes.get_xticklabels(), sides, strict=True):
        label.set_horizontalalignment(side)


def _note(found: Agreement, cells: list[CellAgreement], missing: bool) -> str:
    said = ["D: concordant minus discordant pairs of methods, of those that people did not tie."]
    if missing or any(np.isnan(cell.concordance.d) for cell in cells):
        said.append("Hatched: no defined value.")
    if any(cell.in_sample for cell in cells):
        said.append(f"{IN_SAMPLE} in sample: the metric was found on this study.")
    if len({cell.kind for cell in cells}) > 1:
        said.append("Below the line: baselines.")
    return " ".join([*said, order.captions(found, cells)])
