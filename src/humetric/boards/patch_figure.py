"""The figure of patches: some images of each class, and what methods highlight in them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humetric.boards.figure import bare, draw_image
from humetric.boards.pictures.sheet import GREY, LINE, MARGIN, PALE, Sheet, image, sheet
from humetric.boards.pictures.words import LARGE, NORMAL, SMALL, TINY, cut, inches, wrapped
from humetric.boards.render import ARROWS
from humetric.run.shown_patches import Highlighted, PatchLook, Shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Inches. A method has a heading, then a row per class: images, and as many cells of patches.
CELL, GAP, BETWEEN, LABEL = 0.78, 0.08, 0.3, 0.2
HEADING, CAPTION, BELOW = 0.24, 0.14, 0.1
LEAST = 4.6
WRONG = "*"


def png(look: PatchLook) -> bytes:
    """The figure as a PNG file."""
    return image(draw(look), title(look))


def title(look: PatchLook) -> str:
    """What the figure is of."""
    return f"Highlighted patches of {look.setting}"


def draw(look: PatchLook) -> Figure:
    """Methods below each other, with a row per class each."""
    count = max(map(len, look.classes.values()))
    block = count * CELL + (count - 1) * GAP
    start = MARGIN + LABEL
    second = start + block + BETWEEN
    width = max(second + block + MARGIN, LEAST)
    room = width - 2 * MARGIN
    tall = CELL * min(1.6, max(0.5, look.size[0] / look.size[1]))
    row = tall + CAPTION
    names = list(look.methods)
    notes = wrapped(note(look), room)
    head = 0.36 + len(notes) * LINE + 0.06
    there = [name for name in names if name in look.highlighted]
    heights = [HEADING + (len(look.classes) * row if name in there else 0) for name in names]
    on = sheet(width, head + sum(heights) + BELOW * len(names) + MARGIN)
    on.text(MARGIN, 0.24, cut(title(look), room, LARGE, bold=True), LARGE, bold=True)
    on.lines(MARGIN, 0.3, notes)
    y = head
    for name, height in zip(names, heights, strict=True):
        on.line([MARGIN, width - MARGIN], [y] * 2, PALE, 0.6)
        words = name + (" (control)" if look.methods[name].control else "")
        shown = cut(words, room * 0.6, NORMAL, bold=True)
        on.text(MARGIN, y + 0.17, shown, NORMAL, bold=True)
        beside = MARGIN + inches(shown, NORMAL, bold=True) + 0.12
        on.text(beside, y + 0.17, cut(_said(look, name), width - MARGIN - beside), colour=GREY)
        if name in there:
            for i, (label, cases) in enumerate(look.classes.items()):
                top = y + HEADING + i * row
                on.text(MARGIN + 0.07, top + tall / 2, cut(label, tall), SMALL, turned=True)
                for k, case in enumerate(cases):
                    at = k * (CELL + GAP)
                    _case(on, look.highlighted[name], case, (start + at, second + at), top, tall)
        y += height + BELOW
    return on.figure


def note(look: PatchLook) -> str:
    """How to read it."""
    how, arrow = look.metric.parameters, ARROWS[look.metric.direction]
    several, squares = "patch is", "square with the highest mean"
    if how["patches"] > 1:
        several, squares = f"{how['patches']} patches are", "squares with the highest means"
    pixels = f" ({look.side} of {min(look.size)} pixels)" if look.side else ""
    wrong = any(not case.right for cases in look.classes.values() for case in cases)
    marked = f" ({WRONG}: wrongly)" if wrong else ""
    return (
        f"Left: the first cases that are predicted to be of each class{marked}. The {several} "
        f"outlined: "
        f"the {squares} of the method's map, {how['share']:.3g} of the side"
        f"{pixels}. Right: the same, cut out and resized as {look.metric.id} does. Do patches of a "
        f"class look alike, and unlike those of another? Numbers: {look.metric.id} {arrow}, how "
        f"alike a case's patches and those of the reference cases of other classes are."
    )


def _said(look: PatchLook, name: str) -> str:
    """What stands beside a method's name."""
    if name not in look.highlighted:
        return "failed" if any(f.method == name for f in look.failures) else "skipped"
    values = look.highlighted[name].values
    if values is None:
        return f"{look.metric.id} failed"
    defined = int((~np.isnan(values)).sum())
    if not defined:
        return f"{look.metric.id} undefined"
    return f"{look.metric.id} {look.highlighted[name].mean:.3f}, mean of {defined} cases"


def _case(
    on: Sheet, of: Highlighted, case: Shown, xs: tuple[float, float], y: float, tall: float
) -> None:
    """An image with its patches outlined, and the patches in a cell of their own."""
    there = of.found.there[case.row].tolist()
    corners = [c for c, real in zip(of.found.corner[case.row].tolist(), there, strict=True) if real]
    regions = [region(case.image.shape[:2], y0, x0, of.found.side) for y0, x0 in corners]
    draw_image(on.axes(xs[0], y, CELL, tall), case.image, regions)
    under = y + tall + 0.1
    name = cut(case.case + ("" if case.right else f" {WRONG}"), CELL, TINY)
    on.text(xs[0] + CELL / 2, under, name, TINY, colour=GREY, side="center")
    _patches(on, xs[1], y, tall, of.parts[case.row][: len(corners)])
    if of.values is not None:
        value = of.values[case.row]
        words = "\N{EM DASH}" if math.isnan(value) else f"{value:.3f}"
        on.text(xs[1] + CELL / 2, under, words, TINY, colour=GREY, side="center")


def region(size: tuple[int, ...], top: int, left: int, side: int) -> NDArray[np.bool_]:
    """Where a patch is in its image."""
    found = np.zeros(size, dtype=bool)
    found[top : top + side, left : left + side] = True
    return found


def _patches(on: Sheet, x: float, y: float, tall: float, parts: NDArray[np.uint8]) -> None:
    """Square patches side by side in as few rows as fill the cell."""
    if not len(parts):
        axes = on.axes(x, y, CELL, tall)
        bare(axes)
        for spine in axes.spines.values():
            spine.set(linestyle=(0, (4, 3)), color=PALE)
        axes.text(0.5, 0.5, "no patch", ha="center", va="center", fontsize=TINY, color=GREY)
        return
    across = math.ceil(math.sqrt(len(parts)))
    down = math.ceil(len(parts) / across)
    space = 0.015  # less than between cells
    side = min((CELL - (across - 1) * space) / across, (tall - (down - 1) * space) / down)
    left = x + (CELL - across * side - (across - 1) * space) / 2
    for k, part in enumerate(parts):
        step = side + space
        draw_image(on.axes(left + k % across * step, y + k // across * step, side, side), part)
