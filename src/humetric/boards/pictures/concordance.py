"""Every metric's agreement with people on one scale: cells, studies, T and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from humetric.agreement.across import TIERS, Across, Tier
from humetric.agreement.report import Agreement
from humetric.boards.pictures import order
from humetric.boards.pictures.lanes import DIAMOND, PAD, TICK, Row, draw_frame, draw_lanes, rows_of
from humetric.boards.pictures.sheet import (
    FAINT,
    GREY,
    INK,
    LINE,
    MARGIN,
    PALE,
    READABLE,
    Entry,
    Mark,
    Sheet,
    legend,
    legend_height,
    legend_rows,
    marks,
    sheet,
)
from humetric.boards.pictures.words import (
    LARGE,
    NORMAL,
    SMALL,
    TINY,
    chance,
    cut,
    inches,
    signed,
    wrapped,
)
from humetric.errors import HumetricError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Do metrics order methods as people do?"

# Inches.
PLOT, NAME, BLOCK, HEADING, AXIS = 3.2, 2.0, 0.32, 0.16, 0.36

BLOCKS: dict[Tier, str] = {
    "judged": "judged: published scores and replicas",
    "stand-in": "stand-in: no verdict",
    "toy": "toy: not evidence",
}
KINDS = {
    "metric": "metrics",
    "baseline": "baselines: to beat, not to trust",
    "sentinel": "sentinels: they know nothing",
}
HEADS = ("T", "p", "Holm p", "studies", "verdict")


def draw(found: Agreement) -> Figure:
    """Blocks of evidence, in each the metrics, then baselines, then sentinels."""
    blocks = {tier: rows for tier in TIERS if (rows := rows_of(found, tier))}
    if not blocks:
        raise HumetricError(
            "Expected a metric with evidence but there is none to draw: choose other studies or "
            "metrics, or give a run."
        )
    every = [row for rows in blocks.values() for row in rows]
    look = {name: mark._replace(fill=1.0) for name, mark in marks(found.studies).items()}
    used = [study for study in look if any(study in row.cells for row in every)]
    names = max(inches(row.of.metric, NORMAL) for row in every)
    left = MARGIN + max(min(names, NAME), *(inches(KINDS[r.of.kind], TINY) for r in every)) + 0.12
    table = [_words(row.of) for row in every]
    wide = [max(inches(w[i]) for w in (*table, HEADS)) + 0.16 for i in range(len(HEADS))]
    right = [left + PLOT + 0.16]
    for step in wide:
        right.append(right[-1] + step)
    width = right[-1] + MARGIN - 0.1
    room = width - 2 * MARGIN
    key = legend_rows(_key(every, used, look, room), room)
    notes = wrapped(_note(found, every), min(room, READABLE))
    top = 0.08 + 0.17 + 0.04
    inside = {tier: _height(rows) for tier, rows in blocks.items()}
    below = legend_height(key) + 0.08 + len(notes) * LINE + MARGIN
    height = top + sum(inside.values()) + len(blocks) * BLOCK + AXIS + below
    on = sheet(width, height)
    on.text(MARGIN, 0.2, TITLE, LARGE, bold=True)
    y = top
    for tier, rows in blocks.items():
        base = y + BLOCK - 0.1
        on.text(MARGIN, base, BLOCKS[tier], NORMAL, bold=True)
        for x, words in zip(right, HEADS, strict=False):
            on.text(x, base, words, SMALL, colour=GREY)
        on.line([MARGIN, width - MARGIN], [y + BLOCK - 0.04] * 2, PALE, 0.6)
        axes = on.axes(left, y + BLOCK, PLOT, inside[tier])
        draw_frame(axes, inside[tier], last=tier == list(blocks)[-1])
        _block(on, axes, rows, y + BLOCK, look, right)
        y += BLOCK + inside[tier]
    legend(on, MARGIN, y + AXIS, key)
    on.lines(MARGIN, y + AXIS + legend_height(key) + 0.08, notes)
    return on.figure


def _height(rows: Sequence[Row]) -> float:
    return sum(row.height for row in rows) + HEADING * len({row.of.kind for row in rows})


def _words(a: Across) -> tuple[str, ...]:
    """T, p, Holm p, studies and verdict of a metric."""
    sampled = f" + {len(a.in_sample)} in sample" if a.in_sample else ""
    nothing = np.isnan(a.test.t)
    sign = "" if a.test.exact else "\N{ALMOST EQUAL TO} "
    return (
        signed(a.test.t),
        sign + chance(a.test.p),
        chance(np.nan if nothing else a.holm),
        f"{a.studies}{sampled}",
        a.verdict,
    )


def _block(
    on: Sheet,
    axes: Axes,
    rows: Sequence[Row],
    top: float,
    look: dict[str, Mark],
    right: Sequence[float],
) -> None:
    """Rows of one tier; the axes' y is inches below their top."""
    y, kind = 0.0, ""
    for row in rows:
        if row.of.kind != kind:
            kind = row.of.kind
            on.text(MARGIN, top + y + 0.115, KINDS[kind], TINY, colour=GREY)
            y += HEADING
        middle = top + y + row.height / 2
        name = cut(row.of.metric, NAME, NORMAL)
        on.text(MARGIN, middle + 0.035, name, NORMAL)
        for x, words in zip(right, _words(row.of), strict=False):
            on.text(x, middle + 0.03, words, SMALL)
        draw_lanes(axes, row, y + PAD / 2, look)
        y += row.height
        axes.axhline(y, color=FAINT, lw=0.6, zorder=0)


def _key(
    rows: Sequence[Row], used: Sequence[str], look: dict[str, Mark], room: float
) -> list[Entry]:
    cells = {study for row in rows for study, values in row.cells.items() if values}
    known = [Entry("T: mean over studies", DIAMOND), Entry("mean of a study", TICK)]
    if any(sampled for row in rows for values in row.cells.values() for _, sampled in values):
        known.append(Entry("cell in sample: not in T", Mark("x", INK)))
    known += [
        Entry(cut(f"cell of {study}", room - 0.4), mark)
        if study in cells
        else Entry(cut(f"{study}, mean only", room - 0.4), TICK._replace(colour=mark.colour))
        for study, mark in look.items()
        if study in used
    ]
    return known


def _note(found: Agreement, rows: Sequence[Row]) -> str:
    """How to read it, and what the family has besides."""
    said = ["D: concordant minus discordant pairs of methods, of those that people did not tie."]
    said.append("p: two-sided, of T, methods relabelled jointly over the cells of a study.")
    if any(not row.of.test.exact for row in rows):
        said.append("\N{ALMOST EQUAL TO}: sampled.")
    if any(row.of.tier != "judged" for row in rows):
        said.append("Hollow: not judged.")
    said.append("In a row: T, below it its studies in the order of the legend.")
    said.append("Marks of one study that would hide each other stand side by side.")
    judged = {row.of.metric for row in rows if row.of.tier == "judged"}
    without = [name for name in found.family if name not in judged]
    if without and judged:
        said.append(
            f"Holm over {len(found.family)} metrics; without judged evidence: {', '.join(without)}."
        )
    tiers = {row.of.tier for row in rows}
    drawn = [c for c in order.primary_cells(found) if any(c.level in TIERS[t] for t in tiers)]
    return " ".join([*said, order.captions(found, drawn)])
