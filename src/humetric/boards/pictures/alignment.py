"""Accuracy against importance alignment, model by model: Figure 2 of Prasad et al. (2021).

A column per oracle, a row per accuracy. Their printed values and ours have panels of their own:
other data, other models, other people. Their figure has a mark for each seed and round, of which
only the means over both are printed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from humetric.alignment.report import ALL, COMMON, WRONG, Report
from humetric.alignment.rows import PUBLISHED, Row
from humetric.boards.pictures.panel import draw_nothing, ticks
from humetric.boards.pictures.sheet import (
    GREY,
    LINE,
    MARGIN,
    Entry,
    Mark,
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
    signed,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches.
WIDE, HIGH, LABEL, TICKS, GAP, LEAST = 1.85, 1.3, 0.2, 0.3, 0.12, 4.6
TOP, STATISTICS, BELOW = 0.24, 0.3, 0.22

ORACLES = ("hard", "soft", "expert")
CASES = {
    COMMON: "over the cases that all models get wrong",
    WRONG: "over the cases that a model gets wrong",
    ALL: "over all cases",
}


class Point(NamedTuple):
    """A model: alignment with its interval (NaN: none known), and accuracy."""

    model: str
    alignment: float
    low: float
    high: float
    accuracy: float


class Band(NamedTuple):
    """A row of panels."""

    words: str
    label: str
    """Of the axis upwards."""
    points: Mapping[str, Sequence[Point]]
    """By oracle; models without a defined alignment are left out."""
    said: Mapping[str, tuple[str, str]]
    """Two lines above each panel."""


def title(report: Report) -> str:
    """What the picture is called."""
    return f"Accuracy and importance alignment: {report.about['data']}"


def cases_of(rows: Sequence[Row]) -> str:
    """The cases that are drawn: as in the study those that all models get wrong, if there are."""
    known = {
        (r.cases, r.model)
        for r in rows
        if r.table == "alignment" and r.evidence != PUBLISHED and not math.isnan(r.value)
    }
    two = [cases for cases in (COMMON, WRONG, ALL) if sum(c == cases for c, _ in known) > 1]
    return two[0] if two else ""


def bands(own: Sequence[Row], printed: Sequence[Row], cases: str) -> list[Band]:
    """The study's accuracy, ours, and ours on the diagnostic set, as far as there are values."""
    found = [
        _band("Prasad et al. (2021), printed values: accuracy on ANLI", "accuracy", printed, cases,
              "accuracy"),
        _band("Here: accuracy", "accuracy", own, cases, "accuracy"),
        _band("Here: diagnostic accuracy, all heuristics", "diagnostic accuracy", own, cases,
              "diagnostic all"),
    ]  # fmt: skip
    if printed:
        # The study's diagnostic accuracies are in a plot only, their correlations are printed.
        theirs = _band("", "", printed, cases, "diagnostic all").said
        said = {o: (lines[0], f"theirs on HANS: {theirs[o][0]}".removesuffix(": "))
                for o, lines in found[2].said.items()}  # fmt: skip
        found[2] = found[2]._replace(said=said)
    return [band for band in found if any(band.points.values())]


def _band(words: str, label: str, rows: Sequence[Row], cases: str, term: str) -> Band:
    accuracy = {r.model: r.value for r in rows if r.table == "accuracy" and r.term == term}
    points = {
        oracle: [
            Point(r.model, r.value, r.low, r.high, accuracy[r.model])
            for r in rows
            if (r.table, r.cases, r.oracle) == ("alignment", cases, oracle)
            and r.model in accuracy
            and not math.isnan(r.value)
        ]
        for oracle in ORACLES
    }
    r = {(r.oracle, r.term): r for r in rows if r.table == "correlation" and r.cases == cases}
    said = {
        oracle: (_correlation(r.get((oracle, term))), _less(r.get((oracle, f"{term} without bow"))))
        for oracle in ORACLES
    }
    return Band(words, label, points, said)


def _less(row: Row | None) -> str:
    """Without the bag of words, which the study's only correlation hangs on."""
    return "" if row is None else f"without bow: {_correlation(row)}"


def _correlation(row: Row | None) -> str:
    if row is None or math.isnan(row.value):
        return ""
    if isinstance(row.p, str):
        return f"r {signed(row.value)}   p {row.p}"
    p = "" if math.isnan(row.p) else f"   p {chance(row.p)}"
    n = "" if row.n is None else f"   {row.n} models"
    return f"r {signed(row.value)}{p}{n}"


def draw(report: Report, own: Sequence[Row], printed: Sequence[Row]) -> Figure:
    """The picture of a report; ``printed`` are the study's rows where they belong beside ours."""
    cases = cases_of(own)
    rows = bands(own, printed, cases)
    oracles = [o for o in ORACLES if any(band.points[o] for band in rows)]
    ours = dict.fromkeys(p.model for b in rows for p in _of(b) if not _theirs(b))
    theirs = dict.fromkeys(p.model for b in rows for p in _of(b) if _theirs(b))
    look = marks([f"{m} (toy)" for m in ours] + [f"{m} (published)" for m in theirs])
    look = {n: m._replace(fill=0.0) if n.endswith("(published)") else m for n, m in look.items()}

    width = max(MARGIN + len(oracles) * (LABEL + TICKS + WIDE + GAP), LEAST)
    room = width - 2 * MARGIN
    heads = wrapped(title(report), room / 1.12, LARGE)
    notes = wrapped(_note(report, cases, bool(theirs), len(rows)), room)
    keys = [
        legend_rows([Entry(name, mark) for name, mark in look.items() if name.endswith(kind)], room)
        for kind in ("(published)", "(toy)")
    ]
    key = [line for lines in keys for line in lines]
    top = 0.08 + len(heads) * 0.17 + 0.08
    band_high = TOP + STATISTICS + HIGH + BELOW
    end = top + len(rows) * band_high + 0.2
    height = end + legend_height(key) + 0.08 + len(notes) * LINE + MARGIN
    on = sheet(width, height)
    for i, line in enumerate(heads):
        on.text(MARGIN, 0.08 + (i + 0.7) * 0.17, line, LARGE, bold=True)
    across = {o: _across([p for band in rows for p in band.points[o]]) for o in oracles}
    for i, band in enumerate(rows):
        y = top + i * band_high
        words = f"{'abc'[i]}   {band.words}"
        on.text(MARGIN, y + 0.14, cut(words, room, NORMAL, bold=True), NORMAL, bold=True)
        for j, oracle in enumerate(oracles):
            left = MARGIN + j * (LABEL + TICKS + WIDE + GAP) + LABEL + TICKS
            for k, line in enumerate(band.said[oracle]):
                base = y + TOP + STATISTICS - 0.06 - (1 - k) * 0.11
                on.text(left, base, cut(line, WIDE, TINY), TINY, colour=GREY)
            axes = on.axes(left, y + TOP + STATISTICS, WIDE, HIGH)
            if band.points[oracle]:
                _panel(axes, band.points[oracle], across[oracle], look, _theirs(band))
            else:
                draw_nothing(axes, "no defined value")
            if j == 0:
                middle = y + TOP + STATISTICS + HIGH / 2
                on.text(MARGIN + 0.04, middle, band.label, SMALL, turned=True)
            if i == len(rows) - 1:
                words = f"alignment, {oracle} oracle"
                on.text(left + WIDE / 2, end - 0.12, words, SMALL, side="center", bold=True)
    legend(on, MARGIN, end, key)
    on.lines(MARGIN, end + legend_height(key) + 0.08, notes)
    return on.figure


def _theirs(band: Band) -> bool:
    return band.words.startswith("Prasad")


def _of(band: Band) -> list[Point]:
    return [point for points in band.points.values() for point in points]


def _panel(
    axes: Axes,
    points: Sequence[Point],
    across: tuple[float, float],
    look: Mapping[str, Mark],
    theirs: bool,
) -> None:
    axes.axvline(0, color=GREY, lw=0.8, zorder=1)
    for p in points:
        mark = look[f"{p.model} ({'published' if theirs else 'toy'})"]
        if not math.isnan(p.low):
            axes.plot([p.low, p.high], [p.accuracy] * 2, color=mark.colour, lw=0.9, zorder=2,
                      solid_capstyle="butt")  # fmt: skip
        axes.plot(
            p.alignment, p.accuracy, mark.shape, mec=mark.colour, mfc=mark.face, ms=mark.size,
            mew=0.9, zorder=3, clip_on=False,
        )  # fmt: skip
    axes.set_xlim(*across)
    axes.set_ylim(*_ends([p.accuracy for p in points]))
    ticks(axes, WIDE)


def _across(points: Sequence[Point]) -> tuple[float, float]:
    """The same for all panels of an oracle, so that rows can be compared; 0 is always among it."""
    values = [v for p in points for v in (p.alignment, p.low, p.high) if not math.isnan(v)]
    return _ends([0.0, *values])


def _ends(values: Sequence[float]) -> tuple[float, float]:
    room = 0.09 * (max(values) - min(values)) or 0.05
    return min(values) - room, max(values) + room


def _note(report: Report, cases: str, theirs: bool, rows: int) -> str:
    """How to read it, and what it does not show."""
    said = [
        f"A mark is a model; alignment {CASES[cases]}, higher is better, 0: no better than a random"
        " explanation. Bars: 95% interval over cases. r: Pearson, p two-sided; a few models decide "
        "next to nothing. Scales of accuracy differ between rows. toy: embedded data and models, "
        "not evidence about people."
    ]
    if theirs:
        table = {COMMON: "their cases are the 60 with expert marks", WRONG: "Table 2"}[cases]
        said.append(
            f"published: means over five seeds and three rounds ({table}); Figure 2 of the paper "
            "has a mark for each seed and round, and r is over those. Their accuracies on HANS "
            "are in that figure only, so that they have no marks here."
        )
    return " ".join(said)
