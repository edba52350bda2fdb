"""Rows of the concordance picture: which cells a metric has in each study, and their marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from humetric.agreement.across import TIERS, Across, Tier
from humetric.agreement.evidence import LEVELS
from humetric.agreement.report import Agreement
from humetric.boards.pictures import order
from humetric.boards.pictures.sheet import FAINT, GREY, INK, Mark
from humetric.boards.pictures.words import SMALL, TINY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LANE, PAD = 0.11, 0.1  # inches

DIAMOND = Mark("D", INK, size=5.2, fill=1.0)
TICK = Mark("|", INK, size=7.0)
NEAR, APART = 0.02, 0.05
"""Marks of a study that are nearer than this are set side by side, so far apart."""


class Row(NamedTuple):
    """A metric, and the cells of each of its studies: D, and whether it is in sample."""

    of: Across
    cells: dict[str, list[tuple[float, bool]]]

    @property
    def height(self) -> float:
        """A lane for T and one for each study."""
        return PAD + LANE * (1 + max(1, len(self.cells)))


def rows_of(found: Agreement, tier: Tier) -> list[Row]:
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


def draw_lanes(axes: Axes, row: Row, top: float, look: dict[str, Mark]) -> None:
    fill = 1.0 if row.of.tier == "judged" else 0.0
    lane = top + LANE / 2
    test = row.of.test
    if np.isnan(test.t):
        words = "in sample only" if row.of.in_sample else "no defined value"
        axes.text(-1.1, lane, words, fontsize=TINY, color=GREY, ha="left", va="center")
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
        step = min(APART, 0.2 / len(group))
        middle = float(np.mean([values[i] for i in group]))
        for k, i in enumerate(group):
            placed[i] = middle + (k - (len(group) - 1) / 2) * step if len(group) > 1 else values[i]
    return placed


def draw_frame(axes: Axes, high: float, last: bool) -> None:
    axes.set(xlim=(-1.12, 1.12), ylim=(high, 0), yticks=[], xticks=[-1, -0.5, 0, 0.5, 1])
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
