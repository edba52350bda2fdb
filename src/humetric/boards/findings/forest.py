"""The figure of the page: T of every metric with its interval, family by family, as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from humetric.agreement.across import Tier
from humetric.agreement.families import RIVALS, Family
from humetric.boards.findings.facts import Findings, Standing
from humetric.boards.findings.words import span
from humetric.boards.metric_board import signed

TITLES: dict[Tier, str] = {
    "judged": "Published and replica scores",
    "stand-in": "Stand-ins: no verdict",
    "toy": "Embedded run (toy): not evidence",
}
FAMILIES: tuple[Family, ...] = (*RIVALS, "baseline", "sentinel")

LEFT, PLOT, NUMBERS, MARGIN = 210, 330, 200, 12
WIDTH = LEFT + PLOT + NUMBERS + MARGIN
ROW, TOP, AXIS = 20, 14, 34

STYLE = """
text { font: 12px sans-serif; fill: #1f2328; }
.tier { font-weight: bold; font-size: 13px; }
.family, .tick { fill: #59636e; font-size: 11px; }
.line { stroke: #d0d7de; stroke-width: 1; }
.zero { stroke: #59636e; stroke-width: 1; stroke-dasharray: 3 3; }
.judged { stroke: #0550ae; fill: #0550ae; stroke-width: 2; }
.pale { stroke: #7d8590; fill: #ffffff; stroke-width: 1.5; }
"""


def forest(found: Findings) -> str:
    """The same bytes whenever it is made from the same numbers: no fonts, no floats beyond .1."""
    y, parts = TOP, list[str]()
    for tier, title in TITLES.items():
        some = [s for s in found.of(tier, *FAMILIES) if s.defined]
        if some:
            block, y = _block(some, tier, title, y)
            parts += block
    height = y + AXIS
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img">\n'
        "<title>T of each metric with its interval; the numbers are in the tables</title>\n"
        f"<style>{STYLE}</style>\n"
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n'
    )
    return head + "\n".join([*parts, *_axis(y)]) + "\n</svg>\n"


def _block(some: list[Standing], tier: Tier, title: str, y: int) -> tuple[list[str], int]:
    """The rows of a tier, and where they end."""
    y += ROW
    parts = [_text(MARGIN, y, title, "tier")]
    start = y + 4
    for name in FAMILIES:
        rows = [s for s in some if s.family == name]
        if rows:
            y += ROW
            parts.append(_text(MARGIN, y, name, "family"))
        for s in rows:
            y += ROW
            parts += _row(s, y)
    lines = [
        _line(_x(at), start, _x(at), y + 6, "zero" if at == 0 else "line") for at in (-1, 0, 1)
    ]
    return [*lines, *parts], y + ROW // 2


def _row(s: Standing, y: int) -> Iterator[str]:
    look = "judged" if s.tier == "judged" and s.family in RIVALS else "pale"
    middle = y - 4
    yield _text(MARGIN + 12, y, s.metric)
    yield _line(_x(s.low), middle, _x(s.high), middle, look)
    yield f'<circle class="{look}" cx="{_x(s.t):.1f}" cy="{middle}" r="4"/>'
    yield _text(LEFT + PLOT + MARGIN, y, f"{signed(s.t)} ({span(s.low, s.high)})")


def _axis(y: int) -> Iterator[str]:
    for at, words in ((-1, "−1: reversed"), (0, "0: chance"), (1, "1: as people")):  # noqa: RUF001
        yield _text(_x(at), y + 18, words, "tick", "middle")


def _x(t: float) -> float:
    return LEFT + 24 + (PLOT - 48) * (t + 1) / 2


def _line(x1: float, y1: float, x2: float, y2: float, look: str) -> str:
    return f'<line class="{look}" x1="{x1:.1f}" y1="{y1}" x2="{x2:.1f}" y2="{y2}"/>'


def _text(x: float, y: int, words: str, look: str = "", anchor: str = "start") -> str:
    kind = f' class="{look}"' if look else ""
    return f'<text{kind} x="{x:.1f}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'
