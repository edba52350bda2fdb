"""What the embedded text sets share: the generator of a text, its split, and marked wording.

Every text comes from its own generator, seeded by data set, split and index. To which split a text
may belong is decided by a hash of the text itself, and a text that belongs elsewhere is drawn
again: so no text of the pool can ever be a training text, whatever the grammar repeats.

Only bounded integers are drawn, which numpy has kept the same on every platform.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from humetric.errors import HumetricError, UnknownNameError

T = TypeVar("T")

SPLITS = {"train": 20000, "pool": 2000, "extra": 4000}
"""Texts of each split: to train on, to choose cases from, and unlabelled ones for students.

A recipe says how many of the training texts it uses."""

_SHARES = {"train": range(7), "pool": range(7, 9), "extra": range(9, 10)}
"""Which tenths of all texts, by hash, belong to each split."""

Span = tuple[int, int]
"""First character of a stretch of text and the one after its last."""


class Text(NamedTuple):
    """One labelled text and the words in it that were planted to decide the label."""

    text: str
    label: int
    """Index into the data set's CLASSES."""
    marks: tuple[Span, ...]
    """Where the deciding words are, in order."""


def generator(name: str, split: str, index: int) -> np.random.Generator:
    """The generator of one text, so that any text can be drawn without the others."""
    if split not in SPLITS:
        raise UnknownNameError("split", split, SPLITS)
    if not 0 <= index < SPLITS[split]:
        raise IndexError(f"Expected an index in 0..{SPLITS[split] - 1} of {split} but got {index}.")
    return seeded(f"{name}/{split}/{index}")


def seeded(key: str) -> np.random.Generator:
    """A generator that depends on a string only."""
    digest = hashlib.sha256(key.encode()).digest()
    # PCG64 by name: numpy may change which bit generator default_rng picks by itself.
    return np.random.default_rng(np.random.PCG64(int.from_bytes(digest[:16], "little")))


def split_of(text: str) -> str:
    """The only split that a text may belong to."""
    tenth = hashlib.sha256(text.encode()).digest()[0] % 10
    return next(split for split, share in _SHARES.items() if tenth in share)


def settle(
    name: str,
    split: str,
    index: int,
    make: Callable[[np.random.Generator], T],
    text: Callable[[T], str],
) -> T:
    """Draw until the text belongs to the split; each draw hits with a chance of .1 or more."""
    rng = generator(name, split, index)
    for _ in range(1000):
        made = make(rng)
        if split_of(text(made)) == split:
            return made
    raise HumetricError(
        f"Expected a text of {name} that belongs to {split} within 1000 draws but got none: "
        "the grammar has too few texts."
    )


def words(text: str) -> tuple[str, ...]:
    """The expressions of a list: apart by "|" where it has one, otherwise by spaces."""
    return tuple(text.split("|") if "|" in text else text.split())


def pick(rng: np.random.Generator, options: Sequence[T]) -> T:
    """One of the options, all alike."""
    return options[int(rng.integers(len(options)))]


def chance(rng: np.random.Generator, percent: int) -> bool:
    """True in so many of a hundred draws."""
    return int(rng.integers(100)) < percent


def several(rng: np.random.Generator, options: Sequence[T], count: int) -> list[T]:
    """So many different options, in random order."""
    rest = list(options)
    return [rest.pop(int(rng.integers(len(rest)))) for _ in range(count)]


def zipf(rng: np.random.Generator, options: Sequence[T]) -> T:
    """One of the options, the earlier the likelier: the rank is a uniform draw below another."""
    return options[int(rng.integers(int(rng.integers(len(options))) + 1))]


def sentence(text: str) -> str:
    """Capitalise the first letter, and write "an" before vowels, also where marks are between."""
    text = re.sub(r"\b([Aa]) (\[?[aeio]|\[?un(?!i))", r"\1n \2", text)
    place = next(i for i, letter in enumerate(text) if letter.isalnum())
    return text[:place] + text[place].upper() + text[place + 1 :]


def unmark(text: str) -> tuple[str, tuple[Span, ...]]:
    """The text without its [square brackets], and where the bracketed words are."""
    plain, marks, start = "", [], 0
    for piece in re.split(r"([\[\]])", text):
        if piece == "[":
            start = len(plain)
        elif piece == "]":
            marks.append((start, len(plain)))
        else:
            plain += piece
    return plain, tuple(marks)
