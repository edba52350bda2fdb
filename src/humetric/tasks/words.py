"""Words and the model's tokens, with an exact map between them.

The text goes to the tokenizer as it is. The tokenizer says which characters each token stands for,
and these say which word it belongs to; nothing is decoded or tokenised twice, so nothing shifts.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from humetric.errors import HumetricError

Text = str | Sequence[str]
"""A text, or its words where they are split already."""

AT_ONCE = 1000
"""Texts that are encoded together: an encoding takes many times the memory of its numbers."""

SPLITS = ("space", "punctuation", "tokens")


class Span(NamedTuple):
    """Characters start to stop of a text."""

    start: int
    stop: int


@dataclass(frozen=True)
class Encoding:
    """One input as tokens, and which word and segment each token belongs to."""

    ids: tuple[int, ...]
    types: tuple[int, ...]
    word: tuple[int, ...]
    """Word of each token; -1 for special tokens."""
    part: tuple[int, ...]
    """Segment of each token; -1 for special tokens."""
    offset: tuple[Span, ...]
    """Characters of each token in its segment's text."""
    words: tuple[str, ...]
    """Words of all segments in order: the features."""
    segment: tuple[int, ...]
    """Segment of each word."""
    cut: int
    """Words that are not features: beyond the model's longest input, or without a token."""


@dataclass(frozen=True)
class Special:
    """Ids of the tokens that removal needs."""

    pad: int
    unknown: int
    mask: int | None

    @property
    def removed(self) -> int:
        """What a removed token becomes: the mask, or the unknown token where there is no mask."""
        return self.unknown if self.mask is None else self.mask


NAMES = {
    "pad": ("[PAD]", "<pad>"),
    "unknown": ("[UNK]", "<unk>"),
    "mask": ("[MASK]", "<mask>"),
}


def _joined(rows: Iterable[Sequence[int]]) -> NDArray[np.int64]:
    """All numbers of some rows in one array."""
    return np.fromiter(chain.from_iterable(rows), np.int64)


def special_tokens(tokenizer: Any) -> Special:
    """Special tokens of a tokenizer of ``transformers``, or by name of one of ``tokenizers``."""
    if hasattr(tokenizer, "backend_tokenizer"):
        pad, unknown = tokenizer.pad_token_id, tokenizer.unk_token_id
        mask = tokenizer.mask_token_id
    else:
        pad, unknown, mask = (
            next((i for i in map(tokenizer.token_to_id, names) if i is not None), None)
            for names in NAMES.values()
        )
    if unknown is None and mask is None:
        raise HumetricError(
            "Expected a tokenizer with a mask token or an unknown token but it has neither: "
            "removed words must become something."
        )
    removed = mask if mask is not None else unknown
    return Special(pad if pad is not None else 0, unknown if unknown is not None else removed, mask)


class Encoder:
    """A tokenizer that encodes texts and pairs of texts up to a longest length."""

    def __init__(self, tokenizer: Any, limit: int | None, split: str = "space") -> None:
        from tokenizers import Tokenizer

        if split not in SPLITS:
            raise HumetricError(f"Expected a split of {', '.join(SPLITS)} but got {split!r}.")
        backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
        if not isinstance(backend, Tokenizer):
            raise HumetricError(
                f"Expected a fast tokenizer (of transformers or tokenizers) but got "
                f"{type(tokenizer).__name__}: others do not say where a token comes from."
            )
        self.special = special_tokens(tokenizer)
        self.split, self.limit = split, limit
        # A copy: the options below are its own.
        self._whole: Any = Tokenizer.from_str(backend.to_str())
        self._whole.no_padding()
        self._whole.no_truncation()
        self._whole.encode_special_tokens = True  # "[SEP]" in a text is text
        self.name = json.loads(backend.to_str())["model"]["type"]

    def encode(self, segments: Sequence[Text], last_only: bool = False) -> Encoding:
        """One text, or a pair. Too long a pair is cut in the longer of the two.

        With ``last_only`` the second is cut, unless the first alone is too long.
        """
        texts, spans = zip(*(spans_of(s, self.split) for s in segments), strict=True)
        found = self._encode(texts, last_only)
        owner = [_owners(text, words) for text, words in zip(texts, spans, strict=True)]
        begin = [0]
        for words in spans:
            begin.append(begin[-1] + len(words))
        special = found.special_tokens_mask
        part = [-1 if special[i] or s is None else s for i, s in enumerate(found.sequence_ids)]
        if self.split == "tokens":
            return self._tokens(found, texts, part)
        word = [
            -1 if s < 0 or not spans[s] else begin[s] + _word(owner[s], *found.offsets[i])
            for i, s in enumerate(part)
        ]
        seen = sorted({w for w in word if w >= 0})
        place = {w: i for i, w in enumerate(seen)} | {-1: -1}
        all_words = [
            (text[a:b], s)
            for s, (text, words) in enumerate(zip(texts, spans, strict=True))
            for a, b in words
        ]
        return Encoding(
            ids=tuple(found.ids),
            types=tuple(found.type_ids),
            word=tuple(place[w] for w in word),
            part=tuple(part),
            offset=tuple(Span(*o) for o in found.offsets),
            words=tuple(all_words[w][0] for w in seen),
            segment=tuple(all_words[w][1] for w in seen),
            cut=begin[-1] - len(seen),
        )

    def rows(
        self, texts: Sequence[Sequence[Text]], last_only: bool = False
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Many inputs as (rows, 3, tokens): ids, attention, types; and (rows,): tokens of each.

        The tokens are those of :meth:`encode`, padded at the end, without the way back to words.
        """
        plain = [tuple(t if isinstance(t, str) else " ".join(t) for t in s) for s in texts]
        sizes, ids, types = [], [], []
        for start in range(0, len(plain), AT_ONCE):
            found = self._many(plain[start : start + AT_ONCE], last_only)
            sizes += [len(each.ids) for each in found]
            ids.append(_joined(each.ids for each in found))
            types.append(_joined(each.type_ids for each in found))
        lengths = np.array(sizes, dtype=np.int64)
        inside = np.arange(lengths.max(initial=0)) < lengths[:, None]
        x = np.zeros((len(plain), 3, inside.shape[1]), dtype=np.int64)
        x[:, 0] = self.special.pad
        x[:, 1] = inside
        if len(plain):
            x[:, 0][inside] = np.concatenate(ids)
            x[:, 2][inside] = np.concatenate(types)
        return x, lengths

    def _many(self, texts: Sequence[tuple[str, ...]], last_only: bool) -> list[Any]:
        """Inputs without offsets, cut as :meth:`_encode` cuts them."""
        given = [t[0] if len(t) == 1 else t for t in texts]
        if self.limit is None:
            return list(self._whole.encode_batch_fast(given))
        if not last_only:
            self._whole.enable_truncation(self.limit, strategy="longest_first")
            try:
                return list(self._whole.encode_batch_fast(given))
            finally:
                self._whole.no_truncation()
        found = list(self._whole.encode_batch_fast(given))
        for i, each in enumerate(found):
            if len(each.ids) > self.limit:
                found[i] = self._encode(texts[i], last_only)
        return found

    def _tokens(self, found: Any, texts: Sequence[str], part: Sequence[int]) -> Encoding:
        """Every token that is not special is a feature of its own."""
        inside = [i for i, s in enumerate(part) if s >= 0]
        place = {at: i for i, at in enumerate(inside)}
        spans = [Span(*o) for o in found.offsets]
        return Encoding(
            ids=tuple(found.ids),
            types=tuple(found.type_ids),
            word=tuple(place.get(i, -1) for i in range(len(part))),
            part=tuple(part),
            offset=tuple(spans),
            words=tuple(texts[part[i]][slice(*spans[i])] for i in inside),
            segment=tuple(part[i] for i in inside),
            cut=len(self._whole.encode(*texts).ids) - len(found.ids),
        )

    def _encode(self, texts: Sequence[str], last_only: bool) -> Any:
        whole = self._whole.encode(*texts)
        if self.limit is None or len(whole.ids) <= self.limit:
            return whole
        if last_only and len(texts) == 2:
            room = self.limit - len(self._whole.encode(texts[0], "").ids)
            strategy = "only_second" if room > 0 else "longest_first"
        else:
            strategy = "longest_first"
        self._whole.enable_truncation(self.limit, strategy=strategy)
        try:
            return self._whole.encode(*texts)
        finally:
            self._whole.no_truncation()


def spans_of(text: Text, split: str) -> tuple[str, list[Span]]:
    """A text and where its words are. Words that are given are joined by single spaces.

    ``space`` cuts at white space. ``punctuation`` also cuts punctuation and symbols (emoji, too)
    off both ends of a word; those inside of a word stay. ``tokens`` leaves it to the tokenizer.
    """
    if not isinstance(text, str):
        spans, at = [], 0
        for word in text:
            if not isinstance(word, str):
                raise HumetricError(
                    f"Expected a text, or words of a text, but got {type(word).__name__}."
                )
            spans.append(Span(at, at + len(word)))
            at += len(word) + 1
        return " ".join(text), [s for s in spans if s.start < s.stop]
    found, at = [], 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        found += _ends(text, start, at) if split == "punctuation" else [Span(start, at)]
    return text, found


def _ends(text: str, start: int, stop: int) -> list[Span]:
    """A word without the signs at its ends, and these."""
    first, last = start, stop
    while first < stop and _sign(text[first]):
        first += 1
    while last > first and _sign(text[last - 1]):
        last -= 1
    return [Span(a, b) for a, b in ((start, first), (first, last), (last, stop)) if a < b]


def bare(word: str) -> str:
    """A word without the signs around it; signs alone stay as they are."""
    inner = [word[a:b] for a, b in _ends(word, 0, len(word)) if not _sign(word[a])]
    return inner[0] if inner else word


def _sign(character: str) -> bool:
    """Punctuation, symbols, and what joins or modifies emoji."""
    return unicodedata.category(character)[0] in "PSC" or character == "\ufe0f"


def _owners(text: str, words: Sequence[Span]) -> list[int]:
    """The word of each character, or the next one for what is between; one more at the end."""
    owner = [max(0, len(words) - 1)] * (len(text) + 1)
    upcoming = 0
    for i in range(len(text)):
        while upcoming < len(words) and words[upcoming].stop <= i:
            upcoming += 1
        owner[i] = min(upcoming, max(0, len(words) - 1))
    return owner


def _word(owner: Sequence[int], start: int, stop: int) -> int:
    """The word of a token by its last character: a space may come before a word, never after."""
    return owner[max(start, stop - 1)]
