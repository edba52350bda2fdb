"""Real texts as samples of one form, and which of them train and which are explained.

A model never learns from what it is explained on: pools are splits of their own, and texts that
stand in both (there are some in every collection of reviews) are left out of training.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
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

    def training(self) -> list[Sample]:
        """What models learn from: nothing that is in the pool, whatever its label."""
        held = {_plain(sample) for sample in self.pool()}
        return [sample for sample in self.train() if _plain(sample) not in held]


def _plain(sample: Sample) -> str:
    return " ".join(" ".join(sample.segments).lower().split())


def classified(source: str, split: str) -> tuple[Sample, ...]:
    """Single texts with their class."""
    return tuple(Sample(r["id"], (r["text"],), r["label"]) for r in _rows(source, split))


def inferred(source: str, *splits: str) -> tuple[Sample, ...]:
    """Premises and hypotheses, with reasons where there are any."""
    found = [r for split in splits for r in _rows(source, split)]
    return tuple(
        Sample(r["id"], (r["premise"], r["hypothesis"]), r["label"], tuple(r["reasons"]))
        for r in found
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
