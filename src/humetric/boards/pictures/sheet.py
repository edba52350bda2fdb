"""What the pictures of the metric board share: a sheet in inches, words that fit, marks, files."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from humetric.boards.pictures.words import SMALL, inches
from humetric.errors import HumetricError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 300
LARGEST = 60e6
"""Pixels; what would have more is drawn with fewer per inch, since many programs cannot show it."""
SUFFIXES = (".png", ".svg", ".pdf")

LINE, MARGIN, READABLE = 0.13, 0.12, 9.0  # inches; longer lines are hard to read
INK, GREY, PALE, FAINT = "#222222", "#555555", "#bbbbbb", "#eeeeee"

# Told apart by people with any kind of colour vision (Okabe and Ito), and in grey by their shapes.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#222222")
SHAPES = ("o", "s", "^", "D", "v", "P", "<", "h", ">", "p", "X")
"""Seven colours and eleven shapes, taken in turn, give 77 different marks."""

Side = Literal["left", "center", "right"]


class Mark(NamedTuple):
    """How something is drawn wherever it is drawn."""

    shape: str
    colour: str
    size: float = 4.6
    fill: float = 0.35
    """Opacity of the inside: little, so that marks below others are seen; 0 for white."""

    @property
    def face(self) -> str | tuple[str, float]:
        """What matplotlib fills it with."""
        return (self.colour, self.fill) if self.fill else "white"


def marks(names: Iterable[str]) -> dict[str, Mark]:
    """A colour and shape for each name."""
    return {
        name: Mark(SHAPES[i % len(SHAPES)], COLOURS[i % len(COLOURS)])
        for i, name in enumerate(names)
    }


@dataclass(frozen=True)
class Sheet:
    """A figure measured in inches from its upper left corner."""

    figure: Figure
    width: float
    height: float

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float = SMALL,
        *,
        colour: str = INK,
        bold: bool = False,
        side: Side = "left",
        turned: bool = False,
    ) -> None:
        """Words whose baseline is at y; turned ones run upwards, centred on y."""
        self.figure.text(
            x / self.width,
            1 - y / self.height,
            words,
            fontsize=size,
            color=colour,
            weight="bold" if bold else "normal",
            ha="center" if turned else side,
            va="center" if turned else "baseline",
            rotation=90 if turned else 0,
        )

    def axes(self, x: float, y: float, wide: float, high: float) -> Axes:
        """Axes with their upper left corner at x, y."""
        return self.figure.add_axes(
            (
                x / self.width,
                1 - (y + high) / self.height,
                wide / self.width,
                high / self.height,
            )
        )

    def line(self, xs: Sequence[float], ys: Sequence[float], colour: str, wide: float) -> None:
        """A line through points."""
        from matplotlib.lines import Line2D

        self.figure.add_artist(
            Line2D(
                [x / self.width for x in xs],
                [1 - y / self.height for y in ys],
                color=colour,
                lw=wide,
                solid_capstyle="butt",
            )
        )

    def mark(self, x: float, y: float, mark: Mark) -> None:
        """A mark centred on a point."""
        from matplotlib.lines import Line2D

        self.figure.add_artist(
            Line2D(
                [x / self.width],
                [1 - y / self.height],
                marker=mark.shape,
                ms=mark.size,
                mew=1.0,
                color=mark.colour,
                mec=mark.colour,
                mfc=mark.face,
            )
        )

    def lines(self, x: float, y: float, words: Sequence[str], colour: str = GREY) -> None:
        """Lines below each other, the first with its baseline a line below y."""
        for i, line in enumerate(words):
            self.text(x, y + (i + 0.8) * LINE, line, SMALL, colour=colour)


def sheet(width: float, height: float) -> Sheet:
    """An empty sheet."""
    from matplotlib.figure import Figure

    return Sheet(Figure(figsize=(width, height), dpi=DPI, facecolor="white"), width, height)


def image(figure: Figure, title: str, suffix: str = ".png") -> bytes:
    """A figure as the content of a .png, .svg or .pdf file, the same bytes every time."""
    import matplotlib

    kind = suffix.removeprefix(".").lower()
    if f".{kind}" not in SUFFIXES:
        raise HumetricError(
            f"Expected a picture's name to end in {', '.join(SUFFIXES)} but got {suffix!r}: "
            f"choose one of these."
        )
    dates = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    file = io.BytesIO()
    wide, high = figure.get_size_inches()
    dpi = min(DPI, int(math.sqrt(LARGEST / (wide * high))))
    with matplotlib.rc_context({"svg.hashsalt": title, "pdf.fonttype": 42}):
        figure.savefig(file, format=kind, dpi=dpi, metadata={"Title": title} | dates)
    return file.getvalue()


def small(png: bytes, widest: int = 2800, colours: int = 64) -> bytes:
    """A picture of few colours and no wider than that, for a repository: a third of its size."""
    from PIL import Image

    drawn = Image.open(io.BytesIO(png)).convert("RGB")
    if drawn.width > widest:
        drawn = drawn.resize((widest, round(drawn.height * widest / drawn.width)))
    file = io.BytesIO()
    drawn.quantize(colours).save(file, "PNG", optimize=True)
    return file.getvalue()


class Entry(NamedTuple):
    """A mark of a legend and what it means."""

    words: str
    mark: Mark


def legend_rows(entries: Sequence[Entry], room: float) -> list[list[Entry]]:
    """Entries beside each other as far as they fit into so many inches."""
    rows: list[list[Entry]] = []
    used = math.inf
    for entry in entries:
        wide = _entry_width(entry)
        if used + wide > room:
            rows.append([])
            used = 0.0
        rows[-1].append(entry)
        used += wide
    return rows


def legend(on: Sheet, x: float, y: float, rows: Sequence[Sequence[Entry]]) -> None:
    """Draw the rows of a legend from y downwards."""
    for i, row in enumerate(rows):
        at, base = x, y + (i + 0.8) * (LINE + 0.02)
        for entry in row:
            on.mark(at + 0.05, base - 0.03, entry.mark)
            on.text(at + 0.14, base, entry.words, SMALL)
            at += _entry_width(entry)


def legend_height(rows: Sequence[Sequence[Entry]]) -> float:
    """Inches that a legend takes."""
    return len(rows) * (LINE + 0.02)


def _entry_width(entry: Entry) -> float:
    return 0.14 + inches(entry.words) + 0.18
