"""Answers to questions as texts: what a span says, and how far two answers agree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from humetric.tasks.text import PASSAGE, Texts


def answer_text(texts: Texts, case: int, span: Sequence[int]) -> str:
    """The characters of the passage that a pair of tokens stands for."""
    first, last = (int(i) for i in span)
    start, stop = int(texts.offset[case, first, 0]), int(texts.offset[case, last, 1])
    return texts.raw[case][PASSAGE][start:stop]


def f1(answer: str, truth: str) -> float:
    """Overlap of the words of two answers, as SQuAD counts it: 2 p r / (p + r), in 0..1.

    Case, punctuation and articles do not count.
    """
    one, other = Counter(_words(answer)), Counter(_words(truth))
    if not one or not other:
        return float(one == other)
    return 2 * sum((one & other).values()) / (sum(one.values()) + sum(other.values()))


def exact(answer: str, truth: str) -> bool:
    """Whether two answers have the same words in the same order; the same does not count."""
    return _words(answer) == _words(truth)


def _words(text: str) -> list[str]:
    return re.sub(r"\b(a|an|the)\b|[^\w\s]", " ", text.lower()).split()
