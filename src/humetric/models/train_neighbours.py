"""Similar words of the embedded text sets: `python -m humetric.models.train_neighbours [SET ...]`.

A word's vector says in which company it is seen: counts of the words that stand one and two places
before and after it, each place apart, over sentences of the training texts; the counts as positive
pointwise mutual information, with the context counts to the power .75 as is usual; the first
singular vectors, each by the root of its singular value. Near are words of a high cosine
(tasks/neighbours.py). So near a window gives words of like function: adjectives are near
adjectives. It also gives opposites, as it does in GloVe: "good" and "bad" are said of the same
things in the same way. To replace a word by its neighbour keeps the grammar, most of the time; the
sense it often turns.

Names (written with a capital within a sentence), rare words and words of closed classes are left
out, and adpositions are near adpositions only. Nothing is random, and what is written (under
models/weights, TASK/SET/neighbours.json) is rounded, so it comes out the same again.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humetric.data.embedded.texts import TEXTS, segments_of
from humetric.errors import UnknownNameError
from humetric.models.convnet import WEIGHTS
from humetric.models.text_recipes import TASK
from humetric.tasks.neighbours import Table, listing, nearest
from humetric.tasks.words import spans_of

RECIPE_VERSION = 1
SETS = ("reviews", "deception", "inference")
COUNT = 8000
"""Training texts that are read."""
WINDOW = 2
LEAST = 10
"""Times that a word is seen, or it has no vector."""
DIMENSIONS = 50
MOST = 10
FLOOR = 0.5
ENDS = frozenset(".!?")


def sentences(texts: Iterable[str]) -> list[tuple[str, ...]]:
    """The words and signs of each sentence as they are written."""
    found = []
    for text in texts:
        text, spans = spans_of(text, "punctuation")
        sentence: list[str] = []
        for start, stop in spans:
            sentence.append(text[start:stop])
            if text[start:stop] in ENDS:
                found.append(tuple(sentence))
                sentence = []
        if sentence:
            found.append(tuple(sentence))
    return found


def vectors(read: Sequence[Sequence[str]]) -> tuple[list[str], NDArray[np.float64]]:
    """Words in alphabetical order, and a vector for each."""
    names = {w.lower() for s in read for w in s[1:] if w[:1].isupper()}
    lower = [[w.lower() for w in s] for s in read]
    times = Counter(w for s in lower for w in s)
    words = sorted(w for w, n in times.items() if n >= LEAST and w[0].isalpha() and w not in names)
    row = {w: i for i, w in enumerate(words)}
    pairs: Counter[tuple[str, int, str]] = Counter()
    for sentence in lower:
        for at, word in enumerate(sentence):
            near = range(max(0, at - WINDOW), min(len(sentence), at + WINDOW + 1))
            for place in near if word in row else ():
                if place != at and sentence[place][0].isalnum():
                    pairs[word, place - at, sentence[place]] += 1
    contexts = sorted({(step, other) for _, step, other in pairs})
    column = {c: i for i, c in enumerate(contexts)}
    counts = np.zeros((len(words), len(contexts)))
    for (word, step, other), n in pairs.items():
        counts[row[word], column[step, other]] = n
    spread = counts.sum(0) ** 0.75
    expected = counts.sum(1, keepdims=True) * spread / spread.sum()
    seen = counts > 0  # a word that always stands alone is in no company
    information = np.zeros_like(counts)
    information[seen] = np.maximum(np.log(counts[seen] / expected[seen]), 0)
    left, size, _ = np.linalg.svd(information, full_matrices=False)
    return words, left[:, :DIMENSIONS] * np.sqrt(size[:DIMENSIONS])


def train(data: str, count: int = COUNT) -> Table:
    """The neighbours of a data set's words."""
    texts = [s for i in range(count) for s in segments_of(TEXTS[data].draw(i, "train"))]
    return nearest(*vectors(sentences(texts)), MOST, FLOOR)


def write(data: str, root: Path, count: int = COUNT) -> Path:
    """Train and write the neighbours of a data set, with how they came about."""
    about: dict[str, str | int | float] = {
        "data": data,
        "data_version": TEXTS[data].VERSION,
        "split": "train",
        "texts": count,
        "recipe_version": RECIPE_VERSION,
        "recipe": "python -m humetric.models.train_neighbours",
        "window": WINDOW,
        "least": LEAST,
        "dimensions": DIMENSIONS,
        "most": MOST,
        "floor": FLOOR,
    }
    file = root / TASK[data] / data / "neighbours.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(listing(about, train(data, count)), encoding="utf-8")
    return file


def main(arguments: Sequence[str] | None = None) -> None:
    """Train the named sets, or all."""
    parser = argparse.ArgumentParser(description="Find similar words of the embedded text sets.")
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"among {', '.join(SETS)}")
    parser.add_argument("--output", type=Path, default=WEIGHTS, help="where to write")
    options = parser.parse_args(arguments)
    for data in options.sets:
        if data not in SETS:
            raise UnknownNameError("text set with neighbours", data, SETS)
    for data in options.sets or SETS:
        file = write(data, options.output)
        print(f"{data}: {file.stat().st_size} bytes", flush=True)


if __name__ == "__main__":
    main()
