"""A text in pieces: words and what lies between them, cut where answers begin and end."""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import NamedTuple

from humetric.run.look import UNKNOWN, Look
from humetric.run.shown_text import Segment, ShownText
from humetric.tasks.text import PASSAGE
from humetric.tasks.words import Span

OVERRIDES = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Characters that change the direction of what comes after them."""


class Piece(NamedTuple):
    """Characters that belong to one word or to none, and to an answer or not."""

    text: str
    word: int | None
    """Number of the word among all words; None between words."""
    answer: bool
    gold: bool

    @property
    def unread(self) -> bool:
        """Whether it is text that the model did not see."""
        return self.word is None and bool(self.text.strip())


def pieces(shown: ShownText, index: int, answers: bool = True) -> list[Piece]:
    """The pieces of a segment; put together they are its text, each character made harmless.

    Without ``answers`` every word is whole: an answer may begin or end within a word.
    """
    segment = shown.segments[index]
    inside = answers and index == PASSAGE
    answer = shown.answer if inside else None
    gold = shown.gold if inside else None
    spans = [*segment.words, *(span for span in (answer, gold) if span is not None)]
    bounds = sorted({0, len(segment.text), *(edge for span in spans for edge in span)})
    words = _words(segment)
    return [
        Piece(clean(segment.text[a:b]), words.get(a), _in(a, answer), _in(a, gold))
        for a, b in pairwise(bounds)
    ]


def clean(text: str) -> str:
    """White space as spaces, and nothing that would steer a terminal or turn the reading order."""
    return "".join(map(_harmless, text))


def verdict(look: Look[ShownText]) -> str:
    """What is true, and what is explained with which probability."""
    own = look.shown.predicted
    if look.shown.answer is None:
        return class_verdict(look, own)
    label, target = clean(look.label), clean(look.target)
    true = label if look.label == UNKNOWN else f"“{label}”"
    what = "model's answer" if own else "explained answer"
    return (
        f"true answer: {true}; {what}: “{target}”, probability {look.probability:.3f} "
        f"(mean of its start and its end)"
    )


def class_verdict(look: Look[object], predicted: bool) -> str:
    """The same of a class; ``predicted`` is whether the model gives it."""
    what = "predicted label" if predicted else "explained label"
    return (
        f"true label: {clean(look.label)}; {what}: {clean(look.target)}, "
        f"probability {look.probability:.3f}"
    )


def top_names(shown: ShownText) -> tuple[str, ...]:
    """What the highlights of a method are of."""
    return ("",) if shown.answer is None else ("start", "end")


def _words(segment: Segment) -> dict[int, int]:
    """The number of the word of each character that is in a word."""
    return {at: segment.first + i for i, (a, b) in enumerate(segment.words) for at in range(a, b)}


def _in(at: int, span: Span | None) -> bool:
    return span is not None and span.start <= at < span.stop


def _harmless(character: str) -> str:
    if character.isspace():
        return "\N{NO-BREAK SPACE}" if character == "\N{NO-BREAK SPACE}" else " "
    steers = unicodedata.category(character) in ("Cc", "Cs") or character in OVERRIDES
    return "\N{REPLACEMENT CHARACTER}" if steers else character
