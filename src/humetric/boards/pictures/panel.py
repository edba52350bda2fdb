"""One panel of the scatter picture: a metric and what people did, in one cell."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from humetric.agreement.cell import CellAgreement
from humetric.agreement.report import Agreement
from humetric.boards.pictures.sheet import FAINT, GREY, INK, PALE, Mark
from humetric.boards.pictures.words import SMALL, TINY, inches
from humetric.human.figures import Measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE, HIGH = 1.4, 1.2  # inches


def compared(found: Agreement, cell: CellAgreement) -> Measured:
    """What people did with the methods that a metric could be compared on.

    Those that it has no value for are among them; a condition that shows cue words besides is, if
    the metric sees these.
    """
    study = found.studies[cell.study]
    main = study.matrix()
    cues = [name for name in study.cue_conditions if name in cell.methods]
    return study.matrix(methods=(*main.methods, *cues)) if cues else main


def draw_panel(axes: Axes, cell: CellAgreement, found: Agreement, look: dict[str, Mark]) -> None:
    human = compared(found, cell)
    row = human.cells.index(cell.cell)
    error = dict(zip(human.methods, human.se[row].tolist(), strict=True))
    for method, x, y in zip(cell.methods, cell.metric_values, cell.human_values, strict=True):
        mark = look[method]
        if not math.isnan(error[method]):
            ends = [y - error[method], y + error[method]]
            axes.plot([x, x], ends, color=mark.colour, lw=0.9, zorder=2, solid_capstyle="butt")
        axes.plot(
            x, y, mark.shape, mec=mark.colour, mfc=mark.face, ms=mark.size, mew=0.9,
            zorder=3, clip_on=False,
        )  # fmt: skip
    reach = np.nan_to_num(human.se[row])
    axes.set_xlim(*_ends(np.array(cell.metric_values), 0.0, cell.direction == "lower"))
    axes.set_ylim(*_ends(human.value[row], reach, human.direction == "lower"))
    ticks(axes, WIDE)
    if cell.in_sample:
        axes.set_facecolor("#f3f3f3")


def _ends(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    reach: np.ndarray[tuple[int, ...], np.dtype[np.float64]] | float,
    turned: bool,
) -> tuple[float, float]:
    """From the worse end to the better one, with room for marks."""
    low, high = float(np.nanmin(values - reach)), float(np.nanmax(values + reach))
    room = 0.09 * (high - low) or 0.09 * abs(high) or 1.0
    ends = (low - room, high + room)
    return ends[::-1] if turned else ends


def ticks(axes: Axes, wide: float) -> None:
    """Few round values on both axes, and a faint grid; ``wide`` is the panel's width in inches."""
    across = _places(axes.get_xlim(), wide)
    axes.set_xticks(across, _numbers(across))
    up = _places(axes.get_ylim(), math.inf)
    axes.set_yticks(up, _numbers(up))
    axes.tick_params(labelsize=TINY, length=2, width=0.5, pad=1.5, colors=INK)
    axes.grid(color=FAINT, lw=0.5)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set(linewidth=0.5, color=INK, visible=side in ("left", "bottom"))


def _places(ends: tuple[float, float], room: float) -> list[float]:
    """Round values between two ends, as many as have room beside each other."""
    from matplotlib.ticker import MaxNLocator

    low, high = sorted(ends)
    for most in (4, 3, 2, 1):
        found = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
        places = [float(v) for v in found if low <= v <= high]
        if sum(inches(words, TINY) + 0.09 for words in _numbers(places)) <= room:
            break
    return places


def _numbers(places: list[float]) -> list[str]:
    """All with as many decimals as tell them apart; very large or small ones with an exponent."""
    largest = max(map(abs, places), default=0.0)
    words = [f"{v:.5f}".rstrip("0").partition(".")[2] for v in places]
    digits = max(map(len, words), default=0)
    if largest >= 1e6 or (0 < largest < 1e-3):
        named = [f"{v:.2g}".replace("e+0", "e").replace("e-0", "e-") for v in places]
    else:
        named = [f"{v:.{digits}f}" for v in places]
    return [words.replace("-", "\N{MINUS SIGN}") for words in named]


def draw_nothing(axes: Axes, why: str) -> None:
    """An empty panel that says why."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(linewidth=0.5, linestyle=(0, (4, 3)), color=PALE)
    axes.text(0.5, 0.5, why, ha="center", va="center", fontsize=SMALL, color=GREY)
