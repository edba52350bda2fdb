"""Similar words, by which words of a text may be replaced, and inputs from texts so changed.

Similar are words whose vectors have a high cosine: neighbours are used alike, and need not mean the
same. Vectors from co-occurrence (GloVe as well as ours) put "good" and "bad" close together, so a
replacement may turn the sense of a text. Which words may be replaced is in closed_words.py, how
perturbed texts are drawn in edits.py.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import Tensor

from humetric.errors import HumetricError
from humetric.tasks.closed_words import kind_of
from humetric.tasks.words import Encoder, Text, bare

Floats = NDArray[np.float64]

Table = Mapping[str, tuple[tuple[str, float], ...]]
"""Words in lower case, and the nearest words of each with similarity in (0, 1], best first."""


class Options(NamedTuple):
    """What a word may be replaced by, and how likely."""

    words: tuple[str, ...]
    probability: Floats
    """In proportion to similarity; sums to 1 unless there are none."""


@dataclass(frozen=True)
class Neighbours:
    """Similar words, and the encoder that makes inputs from changed texts."""

    table: Table
    encoder: Encoder
    names: tuple[str, ...]
    """Names of the segments."""
    version: str
    last_only: bool = False
    """Whether a pair that is too long is cut in its second segment, as for qa."""

    def options(self, word: str) -> Options:
        """Replacements of a word as it is written in a text: signs and capitals are kept.

        None for words that must not be edited and for unknown ones; never the word itself. An
        adposition is replaced by adpositions only. "a" before a vowel is not mended.
        """
        inner = bare(word)
        plain, kind = inner.lower(), kind_of(inner)
        near = [
            (other, similarity)
            for other, similarity in self.table.get(plain, ())
            if kind != "closed" and other != plain and kind_of(other) == kind
        ]
        if not near:
            return Options((), np.zeros(0))
        at = word.index(inner)
        before, after = word[:at], word[at + len(inner) :]
        share = np.array([similarity for _, similarity in near])
        return Options(
            tuple(before + _capitals(inner, other) + after for other, _ in near),
            share / share.sum(),
        )

    def encode(self, texts: Sequence[Sequence[Text]]) -> tuple[Tensor, Tensor]:
        """Inputs (texts, 3, tokens) as the encoder makes them of each text, and their lengths.

        They are padded to the longest of these texts, which is cut at the encoder's limit.
        """
        for segments in texts:
            if len(segments) != len(self.names):
                raise HumetricError(
                    f"Expected texts of {len(self.names)} segments ({', '.join(self.names)}) but "
                    f"one has {len(segments)}: give each text as a tuple of its segments."
                )
        x, lengths = self.encoder.rows(texts, self.last_only)
        return torch.from_numpy(x), torch.from_numpy(lengths)


def _capitals(written: str, word: str) -> str:
    """A word in the capitals of another: all of them, the first, or none."""
    if written.isupper() and len(written) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if written[:1].isupper() else word


def nearest(words: Sequence[str], vectors: Floats, most: int = 10, floor: float = 0.3) -> Table:
    """The nearest words of each by cosine of their vectors (words, dimensions), best first.

    Adpositions are near adpositions only; closed words, and what is not a bare word in lower case,
    are left out on both sides. Similarities are rounded to three digits and at least ``floor``;
    words that are equally near come in alphabetical order. All pairs are compared: of vectors for a
    whole language, take the words of the data first.
    """
    if vectors.ndim != 2 or len(vectors) != len(words) or len(set(words)) != len(words):
        raise HumetricError(
            f"Expected a vector for each of {len(set(words))} different words but got {len(words)} "
            f"words and vectors of the shape {vectors.shape}."
        )
    if not 0 < floor <= 1:
        raise HumetricError(f"Expected a floor above 0, at most 1, but got {floor}.")
    order = sorted(range(len(words)), key=lambda i: words[i])
    found: dict[str, tuple[tuple[str, float], ...]] = {}
    for kind in ("adposition", "open"):
        mine = [
            i for i in order if kind_of(words[i]) == kind and words[i] == bare(words[i]).lower()
        ]
        unit = np.asarray(vectors, dtype=np.float64)[mine]
        size = np.linalg.norm(unit, axis=1, keepdims=True)
        unit = np.divide(unit, size, out=np.zeros_like(unit), where=size > 0)
        for begin in range(0, len(mine), 1000):
            near = np.clip(unit[begin : begin + 1000] @ unit.T, -1, 1).round(3)
            for row, similarity in enumerate(near):
                similarity[begin + row] = 0
                best = np.argsort(-similarity, kind="stable")[:most]
                chosen = [(words[mine[j]], float(similarity[j])) for j in best]
                kept = tuple((w, s) for w, s in chosen if s >= floor)
                if kept:
                    found[words[mine[begin + row]]] = kept
    return dict(sorted(found.items()))


def from_vectors(
    words: Sequence[str],
    vectors: Floats,
    encoder: Encoder,
    names: tuple[str, ...],
    version: str,
    most: int = 10,
    floor: float = 0.3,
) -> Neighbours:
    """Neighbours from word vectors of any origin (GloVe, say), as :func:`nearest` finds them."""
    return Neighbours(nearest(words, vectors, most, floor), encoder, names, version)


class _File(BaseModel):
    """What a neighbours.json holds."""

    model_config = ConfigDict(extra="forbid")

    about: dict[str, str | int | float]
    words: dict[str, list[tuple[str, Annotated[float, Field(gt=0, le=1)]]]] = Field(min_length=1)


def load(file: Path, encoder: Encoder, names: tuple[str, ...]) -> Neighbours:
    """The neighbours of a neighbours.json; their version is told by the file's content."""
    content = file.read_bytes()
    try:
        found = _File.model_validate_json(content)
    except ValidationError as error:
        raise HumetricError(
            f"Expected lists of neighbours in {file} but got {error.errors()[0]['msg']}: make it "
            "again with python -m humetric.models.train_neighbours."
        ) from error
    table = {word: tuple(near) for word, near in found.words.items()}
    version = f"neighbours {hashlib.sha256(content).hexdigest()[:12]}"
    return Neighbours(table, encoder, names, version)


def listing(about: Mapping[str, str | int | float], table: Table) -> str:
    """A neighbours.json with one line per word, so that a change shows as changed lines."""
    head = ",\n".join(f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in about.items())
    rows = ",\n".join(f"    {json.dumps(word)}: {json.dumps(near)}" for word, near in table.items())
    return f'{{\n  "about": {{\n{head}\n  }},\n  "words": {{\n{rows}\n  }}\n}}\n'
