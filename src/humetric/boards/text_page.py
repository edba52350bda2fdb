"""One text case as a web page of a single file: shaded words, highlights, curves, tables."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import numpy as np
from numpy.typing import NDArray

from humetric.boards import curve_svg, text_style
from humetric.boards.kinds import html, panels
from humetric.boards.kinds.subject import of_text
from humetric.boards.page_parts import cell, document, missing, name_of
from humetric.boards.pieces import Piece, clean, pieces, top_names, verdict
from humetric.boards.render import ARROWS
from humetric.boards.scale import Scale, numbers, word_scale
from humetric.run.look import Look
from humetric.run.shown_text import TOP, ShownText

Draw = Callable[[Piece], str]


def text_page(look: Look[ShownText]) -> str:
    """The page as HTML. Everything that is shown is escaped, and nothing is fetched."""
    body = f"{_case(look)}\n" + "\n".join(_section(look, name) for name in look.methods)
    return document(look, verdict(look), text_style.STYLE + curve_svg.STYLE + html.STYLE, body)


def _case(look: Look[ShownText]) -> str:
    """The text without shades, answers marked, and how to read the rest."""
    shown, notes = look.shown, []
    if shown.answer is not None:
        what = "the model's answer" if shown.predicted else "the explained answer"
        notes.append(
            f'<span class="answer">Line below</span>: {what}; '
            f'<span class="gold">dashed line above</span>: the true answer.'
        )
    if shown.cut:
        words = "word was" if shown.cut == 1 else "words were"
        notes.append(f'{shown.cut} {words} <span class="unread">not seen</span> by the model.')
    notes.append(
        "Shades are attributions, each method's on its own scale. A word's number appears when the "
        "pointer rests on it, when it is tapped, and in the list below each text."
    )
    return _text(shown, _plain) + f'\n<p class="key">{" ".join(notes)}</p>'


def _section(look: Look[ShownText], name: str) -> str:
    """A method: metrics, shaded words beside curves, highlights, numbers."""
    card = look.methods[name]
    head = f"<h2>{escape(name_of(card))}</h2>"
    if name not in look.maps:
        return f"<section>{head}<p>{escape(missing(look, name))}</p></section>"
    values = look.maps[name]
    scale = word_scale(values, card.signed)
    first = {w for top in look.shown.top.get(name, ()) for w in top}
    shaded = _text(look.shown, lambda piece: _shaded(piece, values, scale, first))
    return (
        f"<section>{head}{_metrics(look, name)}"
        f'<div class="sides"><div>{shaded}{_scale(scale)}{_highlights(look.shown, name)}'
        f"{_numbers(look.shown, values)}</div>{curve_svg.curves(look, name)}</div>"
        f"{html.draw(panels(look, name, of_text(look)))}</section>"
    )


def _text(shown: ShownText, draw: Draw, answers: bool = True) -> str:
    """All segments, each below its name where there are several."""
    parts = []
    for i, segment in enumerate(shown.segments):
        head = f"<h4>{escape(segment.name)}</h4>" if len(shown.segments) > 1 else ""
        written = "".join(draw(piece) for piece in pieces(shown, i, answers))
        parts.append(f"{head}<p>{written}</p>")
    return f'<div class="text">{"".join(parts)}</div>'


def _plain(piece: Piece) -> str:
    return _span(piece, _marks(piece))


def _marks(piece: Piece) -> list[str]:
    named = (("answer", piece.answer), ("gold", piece.gold), ("unread", piece.unread))
    return [name for name, true in named if true]


def _span(piece: Piece, classes: list[str], more: str = "") -> str:
    text = escape(piece.text)
    return f'<span class="{" ".join(classes)}"{more}>{text}</span>' if classes or more else text


def _shaded(piece: Piece, values: NDArray[np.float64], scale: Scale, first: set[int]) -> str:
    """A piece with its word's colour. The top words are reached by the tab key, others by a tap."""
    if piece.word is None:
        return _plain(piece)
    value = float(values[piece.word])
    share = scale.share(value)
    kind = ("plus" if share > 0 else "minus") if scale.signed else "size"
    reach = 0 if piece.word in first else -1
    more = f' style="--a:{abs(share):.2f}" title="{number(value)}" tabindex="{reach}"'
    return _span(piece, ["w", kind, *_marks(piece)], more)


def number(value: float) -> str:
    """An attribution with three digits that count, and a true minus sign."""
    return f"{value + 0.0:.3g}".replace("-", "\N{MINUS SIGN}")


def _metrics(look: Look[ShownText], name: str) -> str:
    shown = "".join(
        f'<span title="{escape(card.summary)}">{escape(metric)} {ARROWS[card.direction]} '
        f"<b>{cell(look, name, metric)}</b></span>"
        for metric, card in look.metrics.items()
    )
    return f'<div class="values">{shown}</div>'


def _scale(scale: Scale) -> str:
    """The colours with their numbers."""
    ends = numbers(scale)
    kind = "signed" if scale.signed else "unsigned"
    words = "against and for what is explained" if scale.signed else "importance, without a sign"
    return (
        f'<p class="key"><span>{ends[0]}</span><span class="bar {kind}"></span>'
        f"<span>{ends[-1]}</span> {words}</p>"
    )


def _highlights(shown: ShownText, name: str) -> str:
    """The text as people saw it in Gonzalez et al. 2021: top words marked, no numbers, no shades.

    They saw tokens where words are marked here, and answers only; classes are shown likewise.
    """
    tops = shown.top.get(name)
    if tops is None:
        return ""
    count = len(tops[0])
    if shown.answer is None:
        words = (
            f"top {count} words" if count == TOP else f"all {count} words are among the top {TOP}"
        )
        key = ""
    else:
        words = f"top {count} words of the answer's start and of its end"
        key = (
            '<p class="key"><span class="start of-start">start</span> '
            '<span class="end of-end">end</span> '
            '<span class="start end of-start of-end">both</span></p>'
        )
    sets = [set(top) for top in tops]
    kinds = ["start", "end"]

    def draw(piece: Piece) -> str:
        if piece.word is None:
            return _span(piece, ["unread"] if piece.unread else [])
        classes = [k for k, top in zip(kinds, sets, strict=False) if piece.word in top]
        edges = [f"of-{k}" for k in classes] if len(top_names(shown)) > 1 else []
        return _span(piece, classes + edges)

    return f"<h3>As people would see it: {words}</h3>{_text(shown, draw, answers=False)}{key}"


def _numbers(shown: ShownText, values: NDArray[np.float64]) -> str:
    """Every word with its number, for those who cannot point."""
    items = "".join(
        f"<li>{escape(clean(word))} <b>{number(float(value))}</b></li>"
        for word, value in zip(shown.words, values, strict=True)
    )
    listed = f'<ol class="numbers">{items}</ol>'
    return f"<details><summary>Numbers of all words</summary>{listed}</details>"
