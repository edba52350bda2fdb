"""Deletion and insertion curves as a small picture within a page."""

from __future__ import annotations

from html import escape

from humetric.boards.page_parts import cell
from humetric.run.look import Curve, Look

WIDE, HIGH = 150, 84
LEFT, TOP, RIGHT, BELOW = 22, 6, 8, 16

LINES = {"deletion": "del", "insertion": "ins"}
"""Curves, and the class of the line that each is drawn with."""

STYLE = """
.curves { margin: 0; }
.curves svg { display: block; width: 100%; max-width: 15rem; height: auto; color: var(--ink); }
.curves text { font-size: 8.5px; fill: currentColor; }
.curves .axis { stroke: currentColor; stroke-width: .7; fill: none; }
.curves polyline { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
.curves .del { stroke: var(--del); }
.curves .ins { stroke: var(--ins); stroke-dasharray: 5 2; }
.curves figcaption { font-size: .85em; }
.curves figcaption b { font-weight: 600; }
.curves figcaption span { white-space: nowrap; margin-right: .8em; }
.curves i { display: inline-block; width: 1.6em; vertical-align: .25em; height: 0;
  border-top: 2px solid var(--del); }
.curves i.ins { border-top: 2px dashed var(--ins); }
"""


def curves(look: Look[object], method: str, features: str = "words") -> str:
    """The curves of a method as a figure: share of changed features across, probability up."""
    drawn = "".join(
        _line(look.curves[method, metric], name)
        for metric, name in LINES.items()
        if (method, metric) in look.curves
    )
    values = {metric: cell(look, method, metric) for metric in LINES}
    words = "; ".join(f"{metric} {value}" for metric, value in values.items())
    caption = " ".join(
        f'<span><i class="{name}"></i> {metric} <b>{values[metric]}</b></span>'
        for metric, name in LINES.items()
    )
    return (
        f'<figure class="curves"><svg viewBox="0 0 {WIDE} {HIGH}" role="img" '
        f'aria-label="Curves of {escape(method)}: {words}">'
        f'<path class="axis" d="M{LEFT} {TOP}V{HIGH - BELOW}H{WIDE - RIGHT}"/>'
        f"{_ticks(features)}{drawn}</svg><figcaption>{caption}</figcaption></figure>"
    )


def _line(curve: Curve, name: str) -> str:
    points = " ".join(
        f"{_x(float(share)):.1f},{_y(float(probability)):.1f}"
        for share, probability in zip(curve.share, curve.probability, strict=True)
    )
    return f'<polyline class="{name}" points="{points}"/>'


def _ticks(features: str) -> str:
    up = "".join(
        f'<text x="{LEFT - 4}" y="{_y(at) + 3:.1f}" text-anchor="end">{words}</text>'
        for at, words in ((0.0, "0"), (0.5, ".5"), (1.0, "1"))
    )
    low = HIGH - 5
    return (
        f'{up}<text x="{LEFT}" y="{low}">0</text>'
        f'<text x="{(LEFT + WIDE - RIGHT) / 2}" y="{low}" text-anchor="middle">{features} changed'
        f"</text>"
        f'<text x="{WIDE - RIGHT}" y="{low}" text-anchor="end">all</text>'
    )


def _x(share: float) -> float:
    return LEFT + share * (WIDE - RIGHT - LEFT)


def _y(probability: float) -> float:
    return TOP + (1 - probability) * (HIGH - BELOW - TOP)
