"""A measure of a study as a figure: one panel per cell, values with intervals per condition."""

from __future__ import annotations

import io
import math
import textwrap
from typing import TYPE_CHECKING

from humetric.human.figures import Figure
from humetric.human.study import Condition, Measure, Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

DPI = 300
SUFFIXES = (".png", ".svg", ".pdf")
COLUMNS = 4
"""Panels beside each other; more go into further rows."""

# Inches.
PANEL, GAP, ROW, LETTER, RIGHT = 1.75, 0.22, 0.2, 0.054, 0.18
TOP, HEADING, AXIS, LINE, FOOT = 0.22, 0.22, 0.42, 0.13, 0.08

SMALL, NORMAL, LARGE = 6.5, 7.5, 8.5  # points
INK, GREY, PALE, METHOD = "#222222", "#666666", "#cccccc", "#0072b2"

STATUS = {
    "read-off": "read off a plot",
    "inferred": "computed from printed figures",
    "notebook": "from the authors' files, unchecked",
    "responses": "computed from raw responses",
}


def image(study: Study, measure: str, suffix: str) -> bytes:
    """The figure as the content of a .png, .svg or .pdf file, the same bytes every time."""
    import matplotlib

    file = io.BytesIO()
    kind = suffix.removeprefix(".").lower()
    dates = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with matplotlib.rc_context({"svg.hashsalt": study.digest, "pdf.fonttype": 42}):
        draw(study, measure).savefig(
            file, format=kind, dpi=DPI, metadata={"Title": f"{study.id}: {measure}"} | dates
        )
    return file.getvalue()


def draw(study: Study, measure: str) -> Drawing:
    """Methods in colour, in the order of study.toml; then what they are compared with, in grey."""
    from matplotlib.figure import Figure as Drawing

    what = study.measure(measure)
    found = {(f.cell, f.condition): f for f in study.table(measure)}
    cells = [c for c in study.cells if any(key[0] == c.id for key in found)]
    shown = [c for c in study.conditions if any(key[1] == c.id for key in found)]
    shown.sort(key=lambda condition: condition.kind != study.unit)
    columns = min(COLUMNS, len(cells))
    rows = math.ceil(len(cells) / columns)
    left = 0.16 + LETTER * max(len(_name(c, study)) for c in shown)
    width = max(left + columns * PANEL + (columns - 1) * GAP + RIGHT, 3.4)
    wide = (width - left - RIGHT - (columns - 1) * GAP) / columns
    notes = textwrap.wrap(_note(study, list(found.values())), int((width - 0.2) / 0.047))
    high = ROW * len(shown) + 0.08
    block = HEADING + high + AXIS
    height = TOP + rows * block + len(notes) * LINE + FOOT
    figure = Drawing(figsize=(width, height), dpi=DPI, facecolor="white")
    figure.text(
        0.1 / width, 1 - 0.16 / height, f"{study.id}: {measure}",
        fontsize=LARGE, weight="bold", color=INK,
    )  # fmt: skip
    ends = _ends(list(found.values()))
    for i, cell in enumerate(cells):
        x = left + (i % columns) * (wide + GAP)
        y = TOP + (i // columns) * block + HEADING
        axes = figure.add_axes((x / width, 1 - (y + high) / height, wide / width, high / height))
        axes.set_title(cell.id, fontsize=NORMAL, weight="bold", color=INK, pad=3)
        _panel(axes, [found.get((cell.id, c.id)) for c in shown], shown, study)
        axes.set_xlim(*ends)
        axes.set_xlabel(_axis(what), fontsize=SMALL, color=INK, labelpad=2)
        if i % columns:
            axes.set_yticklabels([])
    for i, line in enumerate(notes):
        below = FOOT + (len(notes) - 1 - i) * LINE
        figure.text(0.1 / width, below / height, line, fontsize=SMALL - 0.5, color=GREY)
    return figure


def _panel(axes: Axes, figures: list[Figure | None], shown: list[Condition], study: Study) -> None:
    from matplotlib.ticker import MaxNLocator

    for place, (figure, condition) in enumerate(zip(figures, shown, strict=True)):
        if figure is None:
            continue
        method = condition.kind == study.unit
        colour = METHOD if method else GREY
        if not math.isnan(figure.low):
            ends = [figure.low, figure.high]
            axes.plot(ends, [place, place], color=colour, lw=1.1, zorder=2, solid_capstyle="butt")
        axes.plot(
            figure.value, place, "o", ms=4.2, mew=1.0, color=colour, zorder=3,
            mfc=colour if method else "white",
        )  # fmt: skip
        if condition.kind == "none":
            axes.axvline(figure.value, color=PALE, lw=0.8, zorder=1)
    axes.set_ylim(len(shown) - 0.45, -0.55)
    axes.set_yticks(range(len(shown)), [_name(c, study) for c in shown])
    axes.tick_params(labelsize=SMALL, length=2, width=0.5, colors=INK)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.grid(axis="y", color="#eeeeee", lw=0.6, zorder=0)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set(linewidth=0.5, color=INK, visible=side == "bottom")
    if all(f is None or f.unit in ("percentage points", "ratio") for f in figures):
        axes.axvline(_neutral(figures), color=PALE, lw=0.8, zorder=1)


def _neutral(figures: list[Figure | None]) -> float:
    """Where explanations make no difference: a ratio of 1, a change of 0."""
    return 1.0 if any(f is not None and f.unit == "ratio" for f in figures) else 0.0


def _ends(figures: list[Figure]) -> tuple[float, float]:
    """All panels share one axis, so that cells can be compared."""
    lows = [f.value if math.isnan(f.low) else f.low for f in figures]
    highs = [f.value if math.isnan(f.high) else f.high for f in figures]
    room = 0.06 * (max(highs) - min(lows) or 1.0)
    return min(lows) - room, max(highs) + room


def _name(condition: Condition, study: Study) -> str:
    """An id, and what it is where it is no method."""
    plain = condition.kind in (study.unit, "none") or condition.kind == condition.id
    return condition.id if plain else f"{condition.id} ({condition.kind})"


def _axis(measure: Measure) -> str:
    arrow = {"higher": ", higher is better", "lower": ", lower is better", "none": ""}
    return f"{measure.unit}{arrow[measure.direction]}"


def _note(study: Study, figures: list[Figure]) -> str:
    """What is drawn, how far it can be relied on, and where it is from."""
    known = sum(not math.isnan(f.low) for f in figures)
    bars = {0: "No intervals are published.", len(figures): "Lines: 95% intervals."}
    said = [study.measure(figures[0].measure).description.rstrip(".") + "."]
    said.append(bars.get(known, "Lines: 95% intervals where published."))
    states = dict.fromkeys(STATUS[f.status] for f in figures if f.status in STATUS)
    said += [f"Values {state}." for state in states]
    said.append(f"{study.citation} {', '.join(dict.fromkeys(f.source for f in figures))}.")
    return " ".join(said)
