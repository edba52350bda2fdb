"""Every metric's agreement with people on one scale: cells, studies, T and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from humetric.agreement.across import TIERS, Across, Tier
from humetric.agreement.evidence import LEVELS
from humetric.agreement.report import Agreement
from humetric.boards import metric_order as order
from humetric.boards.sheet import (
    FAINT,
    GREY,
    INK,
    LARGE,
    LINE,
    MARGIN,
    NORMAL,
    PALE,
    READABLE,
    SMALL,
    TINY,
    Entry,
    Mark,
    Sheet,
    chance,
    cut,
    inches,
    legend,
    legend_height,
    legend_rows,
    marks,
    sheet,
    signed,
    wrapped,
)
from humetric.errors import HumetricError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Do metrics order methods as people do?"

# Inches.
PLOT, NAME, LANE, PAD, BLOCK, HEADING, AXIS = 3.2, 2.0, 0.11, 0.1, 0.28, 0.16, 0.36

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

DIAMOND = Mark("D", INK, size=5.2, fill=1.0)
TICK = Mark("|", INK, size=7.0)
NEAR, APART = 0.02, 0.035
"""Marks of a study that are nearer than this are set side by side, so far apart."""


class Row(NamedTuple):
    """A metric, and the cells of each of its studies: D, and whether it is in sample."""

    of: Across
    cells: dict[str, list[tuple[float, bool]]]

    @property
    def height(self) -> float:
        """A lane for T and one for each study."""
        return PAD + LANE * (1 + max(1, len(self.cells)))


def draw(found: Agreement) -> Figure:
    """Blocks of evidence, in each the metrics, then baselines, then sentinels."""
    blocks = {tier: rows for tier in TIERS if (rows := _rows(found, tier))}
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
        _frame(axes, inside[tier], last=tier == list(blocks)[-1])
        _block(on, axes, rows, y + BLOCK, look, right)
        y += BLOCK + inside[tier]
    legend(on, MARGIN, y + AXIS, key)
    on.lines(MARGIN, y + AXIS + legend_height(key) + 0.08, notes)
    return on.figure


def _rows(found: Agreement, tier: Tier) -> list[Row]:
    """Cells of the level of evidence that T is over; those in sample at the nearest level."""
    cells = order.primary_cells(found)
    rows = []
    for a in found.across:
        if a.tier != tier:
            continue
        mine = [c for c in cells if c.metric == a.metric and c.level in TIERS[tier]]
        lanes: dict[str, list[tuple[float, bool]]] = {}
        for study in found.studies:
            here = [c for c in mine if c.study == study]
            nearest = min((LEVELS.index(c.level) for c in here), default=0)
            level = a.levels.get(study, LEVELS[nearest])
            values = [(c.concordance.d, c.in_sample) for c in here if c.level == level]
            values = [value for value in values if not np.isnan(value[0])]
            if values or study in a.test.studies:
                lanes[study] = values
        rows.append(Row(a, lanes))
    return sorted(rows, key=lambda row: (order.KINDS.index(row.of.kind), row.of.metric))


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
        _lanes(axes, row, y + PAD / 2, look)
        y += row.height
        axes.axhline(y, color=FAINT, lw=0.6, zorder=0)


def _lanes(axes: Axes, row: Row, top: float, look: dict[str, Mark]) -> None:
    fill = 1.0 if row.of.tier == "judged" else 0.0
    lane = top + LANE / 2
    test = row.of.test
    if np.isnan(test.t):
        words = "in sample only" if row.of.in_sample else "no defined value"
        axes.text(-1.06, lane, words, fontsize=TINY, color=GREY, ha="left", va="center")
    else:
        _put(axes, test.t, lane, DIAMOND._replace(fill=fill), 5)
    for study, values in row.cells.items():
        lane += LANE
        mark = look[study]
        if study in test.studies:
            ends = [lane - LANE * 0.47, lane + LANE * 0.47]
            axes.plot([test.studies[study]] * 2, ends, color=mark.colour, lw=2.0, zorder=4,
                      solid_capstyle="butt")  # fmt: skip
        for (_, sampled), x in zip(values, side_by_side([v for v, _ in values]), strict=True):
            drawn = mark._replace(shape="x") if sampled else mark
            _put(axes, x, lane, drawn._replace(size=3.6, fill=fill), 3)


def _put(axes: Axes, x: float, y: float, mark: Mark, above: int) -> None:
    axes.plot(x, y, mark.shape, mec=mark.colour, mfc=mark.face, ms=mark.size, mew=0.9,
              zorder=above, clip_on=False)  # fmt: skip


def side_by_side(values: Sequence[float]) -> list[float]:
    """Where to draw values so that none hides another."""
    placed = list(values)
    ranked = sorted(range(len(values)), key=lambda i: values[i])
    groups: list[list[int]] = []
    for i in ranked:
        if groups and values[i] - values[groups[-1][0]] < NEAR:
            groups[-1].append(i)
        else:
            groups.append([i])
    for group in groups:
        step = min(APART, 0.14 / len(group))
        middle = float(np.mean([values[i] for i in group]))
        for k, i in enumerate(group):
            placed[i] = middle + (k - (len(group) - 1) / 2) * step if len(group) > 1 else values[i]
    return placed


def _frame(axes: Axes, high: float, last: bool) -> None:
    axes.set(xlim=(-1.08, 1.08), ylim=(high, 0), yticks=[], xticks=[-1, -0.5, 0, 0.5, 1])
    names = ["\N{MINUS SIGN}1", "\N{MINUS SIGN}0.5", "0", "0.5", "1"]
    axes.set_xticklabels(names if last else [])
    axes.tick_params(labelsize=SMALL, length=2 if last else 0, width=0.5, pad=1.5, colors=INK)
    axes.axvline(0, color=GREY, lw=0.8, zorder=1)
    for x in (-1, -0.5, 0.5, 1):
        axes.axvline(x, color=FAINT, lw=0.6, zorder=0)
    for side, spine in axes.spines.items():
        spine.set(linewidth=0.5, color=INK, visible=side == "bottom" and last)
    if last:
        words = "D and T: 1 as people, 0 no relation, \N{MINUS SIGN}1 the other way round"
        axes.set_xlabel(words, fontsize=SMALL, color=INK, labelpad=2)


def _key(
    rows: Sequence[Row], used: Sequence[str], look: dict[str, Mark], room: float
) -> list[Entry]:
    cells = {study for row in rows for study, values in row.cells.items() if values}
    known = [
        Entry(cut(f"cell of {study}", room - 0.4), mark)
        if study in cells
        else Entry(cut(f"{study}, mean only", room - 0.4), TICK._replace(colour=mark.colour))
        for study, mark in look.items()
        if study in used
    ]
    known.append(Entry("mean of a study", TICK))
    if any(sampled for row in rows for values in row.cells.values() for _, sampled in values):
        known.append(Entry("cell in sample: not in T", Mark("x", INK)))
    known.append(Entry("T: mean over studies", DIAMOND))
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
