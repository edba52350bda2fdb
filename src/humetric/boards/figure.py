"""The figure of one case: its image, the methods' maps, and their deletion and insertion curves."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from humetric.boards.page_parts import name_of_case
from humetric.boards.scale import CUT, Scale, numbers, scale_of
from humetric.run.look import Look
from humetric.run.shown_image import ShownImage

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 300
COLUMNS = 5
"""Panels beside each other; more go into further rows."""

# Inches. A row has, from its top: a heading, a map, a colour bar, a legend, curves.
PANEL, GAP, LEFT, RIGHT = 1.45, 0.3, 0.5, 0.15
HEADING, BAR, SCALE, LEGEND, CURVES, BELOW = 0.24, 0.08, 0.38, 0.27, 0.95, 0.44
TITLE, LINE, FOOT = 0.16, 0.16, 0.12

TINY, SMALL, NORMAL, LARGE = 5.0, 6.5, 7.5, 9.0  # points
INK, GREY, PALE = "#222222", "#555555", "#bbbbbb"

# Told apart by people with any kind of colour vision, and in grey by their dashes.
LINES = {"deletion": ("#d55e00", "solid"), "insertion": ("#0072b2", (0, (4, 1.5)))}

Side = Literal["left", "center", "right"]


def png(look: Look[ShownImage], titled: bool = True) -> bytes:
    """The figure as a PNG file; without a title it can stand below one."""
    file = io.BytesIO()
    about = {"Title": "; ".join(title(look))}
    draw(look, titled).savefig(file, format="png", dpi=DPI, metadata=about)
    return file.getvalue()


def title(look: Look[ShownImage]) -> tuple[str, str]:
    """Two lines: which case it is, and what the model says of it."""
    return name_of_case(look), (
        f"true label: {look.label}; explained class: {look.target}, "
        f"probability {look.probability:.3f}"
    )


def draw(look: Look[ShownImage], titled: bool = True) -> Figure:
    """The figure: the image first, then one panel per method, in rows of at most five."""
    from matplotlib.figure import Figure

    cells = 1 + len(look.methods)
    rows = math.ceil(cells / COLUMNS)
    columns = math.ceil(cells / rows)
    tall = PANEL * min(1.6, max(0.5, look.shown.image.shape[0] / look.shown.image.shape[1]))
    width = LEFT + columns * PANEL + (columns - 1) * GAP + RIGHT
    first, second = title(look)
    heads = [(line, "bold") for line in _wrapped(first, width, LARGE)]
    heads += [(line, "normal") for line in _wrapped(second, width, NORMAL)]
    heads = heads if titled else []
    notes = _wrapped(_note(), width, SMALL)
    head = TITLE + len(heads) * LINE
    row = HEADING + tall + BAR + SCALE + LEGEND + CURVES + BELOW
    height = head + rows * row + len(notes) * LINE * 0.8 + FOOT
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white")

    def text(x: float, y: float, words: str, size: float, **more: str) -> None:
        options = {"color": INK, "va": "baseline"} | more
        figure.text(x / width, 1 - y / height, words, fontsize=size, **options)  # type: ignore[arg-type]

    def axes(x: float, y: float, wide: float, high: float) -> Axes:
        return figure.add_axes((x / width, 1 - (y + high) / height, wide / width, high / height))

    for i, (line, weight) in enumerate(heads):
        size = LARGE if weight == "bold" else NORMAL
        text(LEFT, TITLE + (i + 0.6) * LINE, line, size, weight=weight)
    for i, line in enumerate(notes):
        below = height - FOOT - (len(notes) - 1 - i) * LINE * 0.8
        text(LEFT, below, line, SMALL, color=GREY)
    for i, name in enumerate(["", *look.methods]):
        x = LEFT + (i % columns) * (PANEL + GAP)
        y = head + (i // columns) * row + HEADING
        words, size = _heading(look, name)
        text(x + PANEL / 2, y - 0.06, words, size, ha="center", weight="bold")
        under = y + tall + 0.06
        if not name:
            region = look.shown.region
            outlined = () if region is None else (region,)
            draw_image(axes(x, y, PANEL, tall), look.shown.image, outlined)
            if region is not None:
                text(x + PANEL / 2, under + 0.1, "outline: true region", SMALL, ha="center")
        elif name in look.maps:
            _map(
                axes(x, y, PANEL, tall),
                axes(x, under, PANEL, BAR),
                look.maps[name],
                scale_of(look.maps[name], look.methods[name].signed),
                look.shown.region,
            )
            curves = axes(x, under + BAR + SCALE + LEGEND, PANEL, CURVES)
            last = i + columns >= cells
            _curves(curves, look, name, labelled=(i % columns == 0 or i == 1, last))
        else:
            _nothing(axes(x, y, PANEL, tall), "failed" if _failed(look, name) else "skipped")
    return figure


def _wrapped(words: str, width: float, size: float) -> list[str]:
    """Lines that fit a figure of so many inches, broken after semicolons if that is enough."""
    letters = int((width - LEFT - RIGHT) * 72 / (0.54 * size))  # their mean width, of the size
    parts = words.replace("; ", ";\n").split("\n")
    if len(words) > letters and len(parts) == 2 and max(map(len, parts)) <= letters:
        return parts
    return textwrap.wrap(words, letters)


def _heading(look: Look[ShownImage], name: str) -> tuple[str, float]:
    """What stands above a panel, and in which size: a long name is set smaller, then cut."""
    words = name or "image"
    if name and look.methods[name].control:
        words += " (control)"
    room = (PANEL + GAP * 0.7) * 72
    keep = len(words) // 2
    shown = words
    while _points(shown, TINY) > room:
        keep -= 1
        shown = f"{words[:keep]}\N{HORIZONTAL ELLIPSIS}{words[-keep:]}"
    return shown, max(TINY, min(NORMAL, room / _points(shown, 1.0)))


def _points(words: str, size: float) -> float:
    """The width of bold words, as the font has it."""
    return sum(map(_letter, words)) * size


@cache
def _letter(letter: str) -> float:
    """The width of a bold letter of size 1."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(weight="bold", size=100)
    width, _, _ = text_to_path.get_text_width_height_descent(letter, font, False)
    return float(width) / 100


def _failed(look: Look[object], name: str) -> bool:
    return any(f.method == name and not f.metric for f in look.failures)


def _note() -> str:
    return (
        f"Each map has its own scale; the outermost {CUT} % of its values share the last colour. "
        f"Curves: probability of the explained class while pixels are removed (deletion) "
        f"or inserted (insertion), most important first; numbers are areas under them, better low "
        f"for deletion and high for insertion."
    )


def bare(axes: Axes) -> None:
    """A thin frame without numbers."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(linewidth=0.5, color=INK)


def draw_image(
    axes: Axes, image: NDArray[np.uint8], outlined: Sequence[NDArray[np.bool_]] = ()
) -> None:
    """Bytes (height, width, channels) as they are, with the borders of regions."""
    shown = image if image.shape[-1] == 3 else image.mean(-1)
    axes.imshow(shown, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    for region in outlined:
        _outline(axes, region)
    bare(axes)


def _map(
    axes: Axes,
    bar: Axes,
    values: NDArray[np.float64],
    scale: Scale,
    region: NDArray[np.bool_] | None,
) -> None:
    shown = axes.imshow(
        values, cmap=scale.colours, vmin=scale.low, vmax=scale.high, interpolation="nearest"
    )
    _outline(axes, region)
    bare(axes)
    colours = axes.figure.colorbar(shown, cax=bar, orientation="horizontal", ticks=scale.ticks)
    colours.outline.set(linewidth=0.5, color=INK)
    bar.set_xticklabels(numbers(scale))
    bar.tick_params(labelsize=SMALL, length=2, width=0.5, pad=1.5, colors=INK)
    for label, side in zip(bar.get_xticklabels(), _sides(scale), strict=True):
        label.set_horizontalalignment(side)
    words = "signed attribution" if scale.signed else "attribution"
    bar.set_xlabel(words, fontsize=SMALL, labelpad=1.5, color=INK)


def _sides(scale: Scale) -> list[Side]:
    """Numbers at the ends of a colour bar stay within its width."""
    return ["left", "center", "right"] if scale.signed else ["left", "right"]


def _outline(axes: Axes, region: NDArray[np.bool_] | None) -> None:
    """Draw the border of a region along the edges of its pixels, white on black."""
    if region is None:
        return
    from matplotlib.collections import LineCollection

    padded = np.pad(region, 1)
    across = np.argwhere(padded[1:, 1:-1] != padded[:-1, 1:-1]) - 0.5
    down = np.argwhere(padded[1:-1, 1:] != padded[1:-1, :-1]) - 0.5
    pieces = [((x, y), (x + 1, y)) for y, x in across] + [((x, y), (x, y + 1)) for y, x in down]
    for colour, wide in (("black", 1.1), ("white", 0.5)):
        lines = LineCollection(pieces, colors=colour, linewidths=wide, capstyle="projecting")
        axes.add_collection(lines, autolim=False)


def _curves(axes: Axes, look: Look[ShownImage], name: str, labelled: tuple[bool, bool]) -> None:
    """Probability of the explained class while pixels go (deletion) or come (insertion)."""
    for metric, (colour, dashes) in LINES.items():
        curve = look.curves.get((name, metric))
        if curve is None:
            axes.plot([], [], color=colour, linestyle=dashes, label=f"{metric} failed")
            continue
        area = look.values[name, metric]
        axes.plot(
            curve.share,
            curve.probability,
            color=colour,
            linestyle=dashes,
            linewidth=1.2,
            label=f"{metric} {area:.3f}",
            clip_on=False,
        )
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    axes.set_xticklabels(["0", "0.5", "1"])
    axes.set_yticklabels(["0", "0.5", "1"])
    axes.tick_params(labelsize=SMALL, length=2, width=0.5, pad=1.5, colors=INK)
    axes.grid(color=PALE, linewidth=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set(linewidth=0.5, color=INK)
    axes.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        frameon=False,
        fontsize=SMALL,
        labelcolor=INK,
        handlelength=2.2,
        labelspacing=0.15,
        borderpad=0.2,
        borderaxespad=0.2,
    )
    if labelled[0]:
        axes.set_ylabel("probability", fontsize=SMALL, labelpad=2, color=INK)
    if labelled[1]:
        axes.set_xlabel("share removed / inserted", fontsize=SMALL, labelpad=1.5, color=INK)


def _nothing(axes: Axes, why: str) -> None:
    """An empty panel that says why."""
    bare(axes)
    for spine in axes.spines.values():
        spine.set(linestyle=(0, (4, 3)), color="#888888")
    axes.text(0.5, 0.5, why, ha="center", va="center", fontsize=NORMAL, color=GREY)
