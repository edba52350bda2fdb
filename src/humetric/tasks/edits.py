"""Edits of a text: words replaced where they stand, and the perturbations of a text at random.

Hase and Bansal (2020, A.2), after Ribeiro et al. (2018), substitute words by neighbours, drawn in
proportion to similarity; the longer the sentence, the less likely is each word to change; five
edits at most "if possible"; only some parts of speech (closed_words.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humetric.errors import HumetricError
from humetric.tasks.neighbours import Options
from humetric.tasks.text import Texts
from humetric.tasks.words import Span

Edits = Mapping[int, str]
"""Words of a text by number, and what is written in their place."""


class Place(NamedTuple):
    """Where a word is: its segment, and its characters there."""

    segment: int
    span: Span


def places_of(texts: Texts, case: int) -> tuple[Place, ...]:
    """Where the words of a case are in its raw segments.

    A word lies around the characters of its tokens, which need not be all of it, and may have a
    space before it.
    """
    mine: list[list[list[int]]] = [[] for _ in texts.words[case]]
    for word, offset in zip(
        texts.tokens.word[case].tolist(), texts.offset[case].tolist(), strict=True
    ):
        if word >= 0:
            mine[word].append(offset)
    found: list[Place] = []
    for i, (word, segment) in enumerate(zip(texts.words[case], texts.segment[case], strict=True)):
        text, offsets = texts.raw[case][segment], mine[i]
        whole = Span(offsets[0][0], offsets[-1][1])
        if text[slice(*whole)] == word:
            found.append(Place(segment, whole))
            continue
        last = next((b - 1 for a, b in reversed(offsets) if text[a:b].strip()), whole.stop - 1)
        start = text.find(word, max(0, last - len(word) + 1))
        if not 0 <= start <= last:
            raise HumetricError(
                f"Expected {word!r} around character {last} of {text[:60]!r} but it is not there: "
                "words, offsets and raw text must come from one encoding."
            )
        found.append(Place(segment, Span(start, start + len(word))))
    return tuple(found)


def changed(
    raw: Sequence[str], places: Sequence[Place], edits: Sequence[Edits]
) -> list[tuple[str, ...]]:
    """The raw segments with the words of each row of edits replaced; nothing else moves."""
    pieces: list[str] = []
    piece = [0] * len(places)  # which piece each word is
    ends = []  # of each segment among the pieces
    for segment, text in enumerate(raw):
        done = 0
        for word in sorted(range(len(places)), key=lambda w: places[w].span):
            if places[word].segment != segment:
                continue
            start, stop = places[word].span
            start = max(start, done)  # where tokens are words, several may share a character
            piece[word] = len(pieces) + 1
            pieces += text[done:start], text[start:stop]
            done = max(done, stop)
        pieces.append(text[done:])
        ends.append(len(pieces))
    bounds = list(zip([0, *ends], ends, strict=False))
    found = []
    for row in edits:
        own = pieces.copy()
        for word, replacement in row.items():
            own[piece[word]] = replacement
        found.append(tuple("".join(own[a:b]) for a, b in bounds))
    return found


def edit_chance(eligible: int) -> float:
    """How likely each of so many eligible words is to change: min(1/2, 3 / eligible).

    The paper says that it falls with the length of the sentence, but not how. With this, three
    words change on average in a long text, whatever its length, and half of them in a short one.
    """
    return min(0.5, 3 / eligible) if eligible else 0.0


def choices(
    options: Sequence[Options],
    rng: np.random.Generator,
    count: int,
    most: int = 5,
    held: Collection[int] = (),
) -> NDArray[np.int64]:
    """(count, words): which option each word of each perturbed text takes; -1 leaves the word.

    ``options`` are those of every word of a text. Each word that has some changes with
    :func:`edit_chance`, apart from the others; of more than ``most`` edits so many stay, any of
    them alike, and where there is none one word changes that is drawn evenly. Words that are
    ``held`` never change, but do not make the others likelier to. Without a word to change all
    texts stay as they are.
    """
    if most < 1:
        raise HumetricError(f"Expected at most 1 or more edits but got {most}.")
    found = np.full((count, len(options)), -1, dtype=np.int64)
    eligible = [i for i, o in enumerate(options) if o.words]
    free = [i for i in eligible if i not in held]
    if not free:
        return found
    draw = rng.random((count, len(free)))
    rank = draw.argsort(1).argsort(1)
    edited = ((draw < edit_chance(len(eligible))) & (rank < most)) | (rank == 0)
    which = rng.random((count, len(free)))
    for column, word in enumerate(free):
        upto = options[word].probability.cumsum()
        option = np.searchsorted(upto / upto[-1], which[:, column], side="right")
        found[:, word] = np.where(edited[:, column], option, -1)
    return found


def edits_of(options: Sequence[Options], chosen: NDArray[np.int64]) -> list[dict[int, str]]:
    """The replacements behind :func:`choices`, a row each."""
    found: list[dict[int, str]] = [{} for _ in chosen]
    rows, words = np.nonzero(chosen >= 0)
    picked = chosen[rows, words].tolist()
    for row, word, option in zip(rows.tolist(), words.tolist(), picked, strict=True):
        found[row][word] = options[word].words[option]
    return found


def perturbed(
    options: Sequence[Options],
    rng: np.random.Generator,
    count: int,
    most: int = 5,
    held: Collection[int] = (),
) -> list[dict[int, str]]:
    """Edits of so many perturbed texts, drawn as :func:`choices` says."""
    return edits_of(options, choices(options, rng, count, most, held))
