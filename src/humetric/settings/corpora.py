"""Real texts as samples of one form, and which of them train and which are explained.

A model never learns from what it is explained on: pools are splits of their own, and texts that
stand in both (there are some in every collection of reviews) are left out of training.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from humetric.data.sources import rows
from humetric.data.sources.records import Row


class Sample(NamedTuple):
    """A text, a pair of texts or a question with its passage, and what is true of it."""

    id: str
    segments: tuple[str, ...]
    label: int | tuple[int, int]
    """A class, or the characters of the passage that answer."""
    reasons: tuple[str, ...] = ()
    """Why the label holds, in people's words, where the data have that."""
    split: str = ""
    """Which part of the data it is in."""
    answers: tuple[str, ...] = ()
    """All answers that count as true; `label` is where the first of them is."""

    @property
    def sha256(self) -> str:
        """What tells this text from another."""
        return hashlib.sha256(json.dumps(self.segments).encode()).hexdigest()


@dataclass(frozen=True)
class Corpus:
    """A collection of texts for one task."""

    name: str
    task: str
    sources: tuple[str, ...]
    classes: tuple[str, ...]
    train: Callable[[], Sequence[Sample]]
    pool: Callable[[], Sequence[Sample]]
    """Held out; the cases are among these."""
    elsewhere: bool = False
    """Whether training texts are of another kind than the pool's."""

    def training(self) -> list[Sample]:
        """What models learn from: nothing that is in the pool, whatever its label.

        Of pairs, none whose first text is in the pool, whatever the second: hypotheses are written
        for a premise, and say what others were.
        """
        held = {plain(sample) for sample in self.pool()}
        return [sample for sample in self.train() if plain(sample) not in held]

    def alike(self, cases: Container[str]) -> list[Sample]:
        """Texts of the cases' kind, none of them a case, for what learns from the model's answers.

        These are the training texts, or where those are of another kind the others of the pool.
        """
        if not self.elsewhere:
            return self.training()
        held = {plain(sample) for sample in self.pool() if sample.id in cases}
        return [sample for sample in self.pool() if plain(sample) not in held]


def plain(sample: Sample) -> str:
    """The text, or of a pair the first, without what differs between two prints of it."""
    if len(sample.segments) == 1:
        return " ".join(sample.segments[0].lower().split())
    return "".join(c for c in sample.segments[0].lower() if c.isalnum())


def classified(source: str, split: str) -> tuple[Sample, ...]:
    """Single texts with their class."""
    return tuple(Sample(r["id"], (r["text"],), r["label"]) for r in _rows(source, split))


def inferred(source: str, *splits: str) -> tuple[Sample, ...]:
    """Premises and hypotheses, with reasons where there are any."""
    return tuple(
        Sample(r["id"], (r["premise"], r["hypothesis"]), r["label"], tuple(r["reasons"]), split)
        for split in splits
        for r in _rows(source, split)
    )


@cache
def _rows(source: str, split: str) -> list[Row]:
    """Settings of a suite share their data."""
    return rows(source, split)


ROTTEN_TOMATOES = Corpus(
    "rotten-tomatoes",
    "sentiment",
    ("rotten_tomatoes",),
    ("negative", "positive"),
    train=lambda: classified("rotten_tomatoes", "train"),
    pool=lambda: classified("rotten_tomatoes", "test"),
)

HOTEL_REVIEWS = Corpus(
    "hotel-reviews",
    "sentiment",
    ("hotel_reviews",),
    ("genuine", "fake"),
    train=lambda: classified("hotel_reviews", "train"),
    pool=lambda: classified("hotel_reviews", "test"),
)


@cache
def _snli() -> list[Sample]:
    """SNLI without the premises of either pool, since one model is explained on both."""
    held = {plain(sample) for pool in (_esnli(), _anli()) for sample in pool}
    return [sample for sample in inferred("snli", "train") if plain(sample) not in held]


def _esnli() -> tuple[Sample, ...]:
    return inferred("esnli", "validation")


def _anli() -> tuple[Sample, ...]:
    return inferred("anli", "dev_r1", "dev_r2")


RELATIONS = ("entailment", "neutral", "contradiction")

ESNLI = Corpus("esnli", "nli", ("snli", "esnli", "anli"), RELATIONS, train=_snli, pool=_esnli)
"""Extension: its reasons explain the gold label only, not what fooled a model."""

ANLI = Corpus(
    "anli", "nli", ("snli", "anli", "esnli"), RELATIONS, train=_snli, pool=_anli, elsewhere=True
)
