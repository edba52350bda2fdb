"""A linear student: multinomial logistic regression over TF-IDF values of words.

value of term t in a text = count * idf / norm, idf = 1 + log((1 + n) / (1 + texts with t)), norm =
Euclidean norm of the text's count * idf. Logits = W value + b. W minimises the summed cross-entropy
to the teacher's answers plus penalty / 2 * |W|^2; the bias is free. With two classes the two rows
of W are each other's negatives, and in general the rows sum to zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse
from scipy.special import log_softmax

from humetric.tasks.words import bare

Floats = NDArray[np.float64]


class Term(NamedTuple):
    """A word in lower case without the signs around it, and the segment that it is in."""

    segment: int
    word: str


def terms_of(words: Sequence[str], segments: Sequence[int]) -> list[Term]:
    """The term of each word: the same word in premise and hypothesis is two terms."""
    return [Term(s, bare(w).lower()) for w, s in zip(words, segments, strict=True)]


@dataclass(frozen=True)
class Student:
    """A vocabulary with its weights."""

    terms: tuple[Term, ...]
    place: Mapping[Term, int]
    idf: Floats
    weight: Floats
    """(classes, terms)."""
    bias: Floats

    def values(self, texts: Sequence[Sequence[Term]]) -> sparse.csr_array:
        """(texts, terms): TF-IDF values; a text without a known term is all zero."""
        return values_of(texts, self.place, self.idf)

    def logits(self, texts: Sequence[Sequence[Term]]) -> Floats:
        """(texts, classes)."""
        return np.asarray(self.values(texts) @ self.weight.T) + self.bias

    def contributions(self, text: Sequence[Term], target: int) -> Floats:
        """What each word adds to the logit of a class: with the bias they sum to it.

        A term that occurs several times is shared out evenly; unknown terms add nothing.
        """
        counts = Counter(text)
        row = self.values([text])
        value = dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        found = np.zeros(len(text))
        for i, term in enumerate(text):
            at = self.place.get(term)
            if at is not None:
                found[i] = self.weight[target, at] * value[at] / counts[term]
        return found

    def cues(self, count: int) -> list[list[tuple[Term, float]]]:
        """For each class the terms of the largest positive weights, largest first."""
        found = []
        for own in self.weight:
            order = np.argsort(-own, kind="stable")[:count]
            found.append([(self.terms[i], float(own[i])) for i in order if own[i] > 0])
        return found


def values_of(
    texts: Sequence[Sequence[Term]], place: Mapping[Term, int], idf: Floats
) -> sparse.csr_array:
    """(texts, terms): TF-IDF values of the terms that have a place."""
    rows, columns, counts = [], [], []
    for i, text in enumerate(texts):
        for term, times in Counter(t for t in text if t in place).items():
            rows.append(i)
            columns.append(place[term])
            counts.append(float(times))
    at = np.asarray(columns, dtype=np.int64)
    raw = np.asarray(counts, dtype=np.float64) * idf[at]
    norm = np.sqrt(np.bincount(rows, raw**2, len(texts))) if rows else np.ones(len(texts))
    scaled = raw / norm[np.asarray(rows, dtype=np.int64)]
    return sparse.csr_array((scaled, (rows, at)), shape=(len(texts), len(place)))


def fit(
    texts: Sequence[Sequence[Term]], answers: Floats, penalty: float = 1.0, least: int = 2
) -> Student:
    """A student of answers (texts, classes), each row a distribution over the classes.

    Terms that are in fewer than ``least`` texts are left out. Nothing here is random: L-BFGS starts
    at zero.
    """
    frequency = Counter(term for text in texts for term in set(text))
    terms = tuple(sorted(t for t, n in frequency.items() if n >= least))
    place = {term: i for i, term in enumerate(terms)}
    seen = np.array([frequency[t] for t in terms], dtype=np.float64)
    idf: Floats = 1 + np.log((1 + len(texts)) / (1 + seen))
    x = values_of(texts, place, idf)
    transposed = x.T.tocsr()
    n, classes = answers.shape
    shape = (classes, len(terms) + 1)

    def loss(flat: Floats) -> tuple[float, Floats]:
        both = flat.reshape(shape)
        weight, bias = both[:, :-1], both[:, -1]
        share = log_softmax(np.asarray(x @ weight.T) + bias, axis=1)
        error = np.exp(share) - answers
        slope = np.empty(shape)
        slope[:, :-1] = np.asarray(transposed @ error).T + penalty * weight
        slope[:, -1] = error.sum(0)
        total = -(answers * share).sum() + penalty / 2 * (weight**2).sum()
        return float(total / n), slope.ravel() / n

    found = optimize.minimize(
        loss,
        np.zeros(shape[0] * shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 2000, "maxfun": 4000, "ftol": 1e-13, "gtol": 1e-8},
    )
    both = found.x.reshape(shape)
    return Student(terms, place, idf, both[:, :-1], both[:, -1])
