"""What importance is given to: tokens of a model, or words, as characters of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, get_args

import torch

from humetric.alignment.stop_words import is_stop
from humetric.errors import HumetricError, UnknownNameError
from humetric.tasks.setting import Setting
from humetric.tasks.text import Texts, TextTask, Tokens
from humetric.tasks.words import Encoder

Level = Literal["tokens", "words"]
LEVELS: tuple[Level, ...] = get_args(Level)

CONTINUES = "##"
"""Before a piece that continues a word: "##s" of "dogs" is not the word "s"."""


class Feature(NamedTuple):
    """A token or word of an input."""

    text: str
    """In lower case, without signs at its ends; empty if it is nothing but signs."""
    word: str
    """The word that it is in, in lower case."""
    segment: int
    start: int
    stop: int

    @property
    def stop_word(self) -> bool:
        """Whether it, or the word that it is a piece of, is a stop word."""
        return is_stop(self.text) or is_stop(self.word)


def feature(text: str, segment: int, start: int, stop: int) -> Feature:
    """Characters start to stop of a text as a feature."""
    while start < stop and text[start].isspace():
        start += 1
    first, last = start, max(start, stop)
    while first < last and not text[first].isalnum():
        first += 1
    while last > first and not text[last - 1].isalnum():
        last -= 1
    piece = text[first:last].casefold()
    if not piece:
        return Feature("", text[start:stop].casefold(), segment, start, stop)
    begin, end = first, last
    while begin > 0 and _inside(text[begin - 1]):
        begin -= 1
    while end < len(text) and _inside(text[end]):
        end += 1
    mark = CONTINUES if first > 0 and text[first - 1].isalnum() else ""
    return Feature(mark + piece, text[begin:end].casefold(), segment, start, stop)


def features_of(texts: Texts) -> list[list[Feature]]:
    """The features of each case, in order."""
    found = []
    for case, words in enumerate(texts.words):
        spans: list[tuple[int, int, int] | None] = [None] * len(words)
        for at in range(int(texts.tokens.counts[case])):
            word = int(texts.tokens.word[case, at])
            if word < 0:
                continue
            start, stop = texts.offset[case, at].tolist()
            known = spans[word]
            part = int(texts.tokens.part[case, at])
            if known is not None:
                start, stop = min(start, known[1]), max(stop, known[2])
            spans[word] = (part, start, stop)
        # Every word of a setting has a token: those without are no features.
        whole = [span for span in spans if span is not None]
        found.append([feature(texts.raw[case][s], s, a, b) for s, a, b in whole])
    return found


def said_in(explanation: str, encoder: Encoder, level: Level) -> frozenset[str]:
    """The texts of all features of an explanation, cut as the model, or into words."""
    found = encoder.encode((explanation,))
    if level == "words":
        listed = [feature(word, 0, 0, len(word)) for word in found.words]
    else:
        listed = [
            feature(explanation, 0, *span)
            for span, word in zip(found.offset, found.word, strict=True)
            if word >= 0
        ]
    return frozenset(f.text for f in listed) - {""}


def check_level(level: str) -> Level:
    """One of the levels, or an error that names them."""
    for known in LEVELS:
        if level == known:
            return known
    raise UnknownNameError("level of features", level, LEVELS)


def by_tokens(setting: Setting) -> Setting:
    """The same setting with every token that is not special as a feature of its own.

    Methods then give one number per token, and remove tokens instead of words.
    """
    task, texts = _text(setting)
    real = texts.tokens.word >= 0
    counts = real.sum(1)
    word = torch.where(real, real.cumsum(1) - 1, -1)
    sizes = (torch.arange(int(counts.max()))[None] < counts[:, None]).long()
    pieces: list[tuple[str, ...]] = []
    segments: list[tuple[int, ...]] = []
    for case in range(len(texts.words)):
        own = torch.nonzero(real[case])[:, 0].tolist()
        parts = [int(texts.tokens.part[case, at]) for at in own]
        spans = [texts.offset[case, at].tolist() for at in own]
        pieces.append(
            tuple(texts.raw[case][s][a:b] for s, (a, b) in zip(parts, spans, strict=True))
        )
        segments.append(tuple(parts))
    cut = replace(
        texts,
        words=tuple(pieces),
        segment=tuple(segments),
        tokens=Tokens(word, texts.tokens.part, sizes, texts.tokens.counts),
    )
    return replace(
        setting,
        version=f"{setting.version}, tokens as features",
        task=task.resized(sizes.shape[1]),
        texts=cut,
    )


def _text(setting: Setting) -> tuple[TextTask, Texts]:
    if setting.texts is None or not isinstance(setting.task, TextTask):
        raise HumetricError(
            f"Expected a text setting but {setting.id} is of the task {setting.task.id}."
        )
    return setting.task, setting.texts


def _inside(character: str) -> bool:
    """Whether a character may be within a word."""
    return character.isalnum() or character in "'\N{RIGHT SINGLE QUOTATION MARK}"


def spans_marked(listed: Sequence[Feature], spans: Sequence[tuple[int, int, int]]) -> list[bool]:
    """Which features share a character with one of the spans (segment, start, stop)."""
    return [any(f.segment == s and f.start < b and f.stop > a for s, a, b in spans) for f in listed]
