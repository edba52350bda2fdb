"""Words and numbers of pictures: how wide they are, and what fits."""

from __future__ import annotations

import functools
import math

TINY, SMALL, NORMAL, LARGE = 6.0, 6.5, 7.5, 9.0  # points


@functools.cache
def _width(words: str, bold: bool) -> float:
    """Of words of one point, in points, as the font has it (spaces at the ends included)."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(weight="bold" if bold else "normal", size=100)
    return float(text_to_path.get_text_width_height_descent(words, font, False)[0]) / 100


def inches(words: str, size: float = SMALL, bold: bool = False) -> float:
    """How wide words are."""
    return 1.03 * _width(words, bold) * size / 72  # hinting makes letters a little wider


def cut(words: str, room: float, size: float = SMALL, bold: bool = False) -> str:
    """Words that fit into so many inches: the middle of longer ones is left out."""
    shown, keep = words, len(words)
    while inches(shown, size, bold) > room and keep > 2:
        keep -= 1
        shown = f"{words[: -(-keep // 2)]}\N{HORIZONTAL ELLIPSIS}{words[len(words) - keep // 2 :]}"
    return shown


def wrapped(words: str, room: float, size: float = SMALL) -> list[str]:
    """Lines of at most so many inches, broken at spaces; a longer word is cut."""
    lines: list[str] = []
    for word in words.split():
        longer = f"{lines[-1]} {word}" if lines else ""
        if longer and inches(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(cut(word, room, size))
    return lines


def signed(value: float) -> str:
    """Two digits with a sign; a dash where it is undefined."""
    if math.isnan(value):
        return "\N{EM DASH}"
    words = f"{value:+.2f}"
    return "0.00" if float(words) == 0 else words.replace("-", "\N{MINUS SIGN}")


def chance(p: float) -> str:
    """A p with three decimals, or two digits where it is smaller; a dash where undefined."""
    if math.isnan(p):
        return "\N{EM DASH}"
    return f"{p:.3f}" if p >= 0.001 else f"{p:.2g}"
