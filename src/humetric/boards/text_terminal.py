"""A text case for a terminal: words shaded by attribution, method below method."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from rich.console import Console, RenderableType
from rich.style import Style
from rich.text import Text

from humetric.boards.kinds import panels, terminal
from humetric.boards.kinds.subject import of_text
from humetric.boards.page_parts import missing, name_of, name_of_case
from humetric.boards.pieces import Piece, clean, pieces, top_names, verdict
from humetric.boards.scale import Scale, numbers, word_scale
from humetric.boards.terminal_parts import has_colours, metric_lines, print_lines
from humetric.run.look import Look
from humetric.run.shown_text import TOP, ShownText

FAINT = 0.1
"""Words below this share of the largest number stay as they are."""
LEVELS = 3
"""Strengths that are told apart where there are no colours."""

# From grey to a colour, all dark enough for white letters and visible on black and on white.
GREY, PLUS, MINUS, UNSIGNED = (110, 110, 110), (190, 24, 30), (20, 80, 200), (120, 30, 150)
ANSWER, GOLD = ("«", "»"), ("{", "}")
PALE = Style(dim=True)


def lines(look: Look[ShownText], colours: bool, width: int) -> Iterator[RenderableType]:
    """The case, line by line; whoever prints them wraps words at ``width`` columns.

    With ``colours`` a word's background is its number: the stronger the colour, the larger. Without
    them its strength from 1 to 3 stands behind a word that matters: ``boring[-2]``.
    """
    yield Text(name_of_case(look), "bold")
    yield Text(f"{verdict(look)}.")
    yield from _marked(look)
    yield from _key(look, colours)
    for name in look.methods:
        yield Text()
        yield from _method(look, name, colours, width)


def print_text(look: Look[ShownText], console: Console) -> None:
    """Print a case to a console, in its width and with its colours."""
    colours = has_colours(console)
    print_lines(lines(look, colours, console.width), console)


def _marked(look: Look[ShownText]) -> Iterator[Text]:
    """The text itself, with answers between signs."""
    for i, segment in enumerate(look.shown.segments):
        yield Text()
        line = Text().append(f"{segment.name}: ", PALE)
        before = Piece("", None, False, False)
        for piece in [*pieces(look.shown, i), before]:
            line.append(_signs(before, piece))
            bold = Style(bold=piece.answer)
            line.append(piece.text, PALE if piece.unread else bold)
            before = piece
        yield line


def _signs(before: Piece, after: Piece) -> str:
    """What closes and opens between two pieces; gold stands inside."""
    signs = ""
    if before.gold and not after.gold:
        signs += GOLD[1]
    if before.answer != after.answer:
        signs += ANSWER[after.answer < before.answer]
    if after.gold and not before.gold:
        signs += GOLD[0]
    return signs


def _key(look: Look[ShownText], colours: bool) -> Iterator[Text]:
    """How to read what follows."""
    shown = look.shown
    yield Text()
    if shown.answer is not None:
        what = "the model's answer" if shown.predicted else "the explained answer"
        yield Text(f"«…» {what}, {{…}} the true answer.", PALE)
    if shown.cut:
        words = "word is" if shown.cut == 1 else "words are"
        yield Text(f"{shown.cut} {words} not seen by the model, and not shaded.", PALE)
    if colours:
        key = Text("Words that ")
        key.append(" speak for ", _background(PLUS, 1.0))
        key.append(" what is explained, ")
        key.append(" against ", _background(MINUS, 1.0))
        key.append(" it, or ")
        key.append(" matter ", _background(UNSIGNED, 1.0))
        key.append(" where a method has no sign; the greyer, the less.")
        yield key
    else:
        yield Text(
            f"word[+{LEVELS}] speaks for what is explained, word[-{LEVELS}] against it, "
            f"word[{LEVELS}] matters where a method has no sign; 1 is little, {LEVELS} most.",
            PALE,
        )


def _method(
    look: Look[ShownText], name: str, colours: bool, width: int
) -> Iterator[RenderableType]:
    card = look.methods[name]
    head = Text(name_of(card), "bold")
    if name not in look.maps:
        head.append(f" {missing(look, name)}", "not bold")
        yield head
        return
    values = look.maps[name]
    scale = word_scale(values, card.signed)
    ends = numbers(scale)
    head.append(f"  words from {ends[0]} to {ends[-1]}", "not bold dim")
    yield head
    yield from metric_lines(look, name, width)
    for i, segment in enumerate(look.shown.segments):
        several = len(look.shown.segments) > 1
        line = Text().append(f"{segment.name}: " if several else "", PALE)
        for piece in pieces(look.shown, i, answers=colours):
            _shade(line, piece, values, scale, colours)
        yield line
    yield from _top(look, name)
    yield from terminal.draw(panels(look, name, of_text(look)), width)


def _shade(line: Text, piece: Piece, values: np.ndarray, scale: Scale, colours: bool) -> None:
    """Add a piece of text to a line, as its word's number says."""
    if piece.word is None:
        line.append(piece.text, PALE if piece.unread else "")
        return
    share = scale.share(float(values[piece.word]))
    if abs(share) < FAINT:
        line.append(piece.text)
    elif colours:
        colour = (PLUS if share > 0 else MINUS) if scale.signed else UNSIGNED
        line.append(piece.text, _background(colour, abs(share)) + Style(underline=piece.answer))
    else:
        sign = ("+" if share > 0 else "-") if scale.signed else ""
        line.append(f"{piece.text}[{sign}{level(share)}]")


def level(share: float) -> int:
    """The strength of a share of the largest number, from 1 to LEVELS, in equal steps."""
    return min(LEVELS, 1 + int(abs(share) * LEVELS))


def _background(colour: tuple[int, int, int], strength: float) -> Style:
    mixed = (round(g + (c - g) * strength) for g, c in zip(GREY, colour, strict=True))
    return Style(color="#ffffff", bgcolor="#{:02x}{:02x}{:02x}".format(*mixed))


def _top(look: Look[ShownText], name: str) -> Iterator[Text]:
    """The words that people would have seen highlighted, highest first."""
    words = look.shown.words
    for what, found in zip(top_names(look.shown), look.shown.top.get(name, ()), strict=False):
        label = f"top {min(TOP, len(found))}{' of the ' if what else ''}{what}: "
        yield Text().append(label, PALE).append(" ".join(clean(words[w]) for w in found))
