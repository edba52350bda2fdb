"""The reader of several protocols: what it learns of a model from a few cases.

Two things are learned. Which terms matter: how much a term was highlighted on average wherever it
was seen, believed as far as highlights are consistent. If they differ between terms no more than
they do within a term from case to case, they say nothing of terms, and all matter alike; the share
that is believed is the best linear prediction under one-way random effects, by moments. And which
output they speak for: logistic regression on the terms of the learning cases and the model's
outputs, each term in proportion to how much it matters, there and in the cases to predict; with a
normal prior of variance 1 on every weight. Without highlights all terms matter alike, so that both
arms of a protocol are one reader.

It knows what the outputs are and that they are equally common, as people are told. Nothing else: no
language, no eyes, no idea where terms stand in a case, no memory of other models; and it does not
tire. Weights are fitted in their dual, since cases are fewer than terms, for many people at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humetric.metrics.panel import Panel
from humetric.seeding import generator

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STEPS = 12
"""Newton steps; with this prior, six are exact to 1e-9."""
PRIOR = 1.0
"""Precision of the weights' prior. Cases are vectors of length 1."""
COIN = 1e-9
ROUNDING = 1e-12


class Spread(NamedTuple):
    """How what is shown of terms varies, where each is seen in some cases."""

    mean: float
    """Over all that is shown."""
    between: float
    """Variance of terms' own worth."""
    within: float
    """Variance of what is shown of one term from case to case."""

    @property
    def trust(self) -> float:
        """How far one thing shown is the term's own worth: 0 to 1."""
        return self.between / (self.between + self.within) if self.between > 0 else 0.0


def spread(counts: Floats, worth: Floats) -> Spread:
    """One-way random effects of terms, by moments.

    counts: (cases, terms) how often a case has a term, worth: (cases, terms) the sum of what is
    shown of it there. Where no term is seen twice nothing is known, and nothing is trusted.
    """
    seen = counts > 0
    each = np.where(seen, worth / np.maximum(counts, 1), 0)
    times = seen.sum(0)
    total, terms_seen = int(times.sum()), int((times > 0).sum())
    mean = float(each.sum() / max(total, 1))
    if terms_seen < 2 or total == terms_seen:
        return Spread(mean, 0.0, 1.0)
    own = each.sum(0) / np.maximum(times, 1)
    within = float((seen * (each - own) ** 2).sum() / (total - terms_seen))
    across = float((times * (own - mean) ** 2).sum() / (terms_seen - 1))
    typical = (total - float((times**2).sum()) / total) / (terms_seen - 1)
    between = (across - within) / typical
    return Spread(mean, between if between > ROUNDING else 0.0, within)


def mattering(counts: Floats, highlighted: Floats) -> Floats:
    """(terms,): how much each term matters to who saw some cases: all alike if nothing says more.

    counts: (cases, terms) how often a case has a term, highlighted: (cases, terms) its highlights,
    which are 1 per unit on average.
    """
    known, seen = spread(counts, highlighted), counts > 0
    times = np.maximum(seen.sum(0), 1)
    own = np.where(seen, highlighted / np.maximum(counts, 1), known.mean)
    off = own.mean(0, where=seen | ~seen.any(0)) - known.mean
    if known.between == 0:
        return np.ones_like(off)
    found: Floats = known.mean + off * known.between / (known.between + known.within / times)
    return found


def of_length_one(rows: Floats) -> Floats:
    """The same rows, each of length 1 unless it is empty."""
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    found: Floats = rows / np.where(length > 0, length, 1)
    return found


def guesses(
    learn: Floats, said: Ints, test: Floats, outputs: int, rng: np.random.Generator
) -> Ints:
    """(people, test cases): what readers expect the model to say.

    learn: (people, cases, terms), said: (people, cases) the model's output of each, test: (people,
    test cases, terms). Outputs that seem equally likely are decided by a coin.
    """
    learn, test = of_length_one(learn), of_length_one(test)
    inner = learn @ learn.transpose(0, 2, 1)
    across = test @ learn.transpose(0, 2, 1)
    believed = [across @ fit(inner, said == k)[..., None] for k in range(outputs)]
    either = np.concatenate(believed, axis=2)
    found: Ints = (either + rng.random(either.shape) * COIN).argmax(2)
    return found


def fit(inner: Floats, yes: NDArray[np.bool_]) -> Floats:
    """(draws, cases): dual weights of logistic regression without a bias.

    inner: (draws, cases, cases) products of cases, yes: (draws, cases). Both answers weigh alike in
    total, whichever is seen more often; where all are one answer, the reader learns nothing.
    """
    count = inner.shape[1]
    share = np.where(yes, yes.sum(1, keepdims=True), (~yes).sum(1, keepdims=True))
    weight = count / (2 * share)
    weight[yes.all(1) | (~yes).all(1)] = 0.0
    dual = np.zeros(yes.shape)
    eye = np.eye(count)
    for _ in range(STEPS):
        seen = (inner @ dual[..., None])[..., 0]
        p = 1 / (1 + np.exp(-seen))
        curve = np.maximum(weight * p * (1 - p), 1e-12)
        aim = curve * seen + weight * (yes - p)
        left = PRIOR * eye + curve[..., None] * inner
        dual = np.linalg.solve(left, aim[..., None])[..., 0]
    return dual


class Draw(NamedTuple):
    """Cases of a panel that one simulated person is shown."""

    learning: Ints
    test: Ints


def draws(panel: Panel, purpose: str, count: int, learning: int, test: int) -> list[Draw]:
    """Cases for so many people: learning cases among the explained ones, test cases among the rest.

    They are as even as can be over outputs and over whether these are true, from the first case on.
    """
    found = []
    for i in range(count):
        rng = generator(panel.cases.seed, panel.setting.id, f"{purpose} draw {i}")
        pools = np.arange(panel.learning), np.arange(panel.learning, len(panel))
        own, rest = (evenly(pool, panel, rng) for pool in pools)
        found.append(Draw(own[:learning], rest[:test]))
    return found


def evenly(pool: Ints, panel: Panel, rng: np.random.Generator) -> Ints:
    """The cases of a pool in random order, such that its groups take turns."""
    kind = panel.target[pool] * 2 + panel.right[pool]
    turn = np.empty(len(pool))
    for group in np.unique(kind):
        members = np.flatnonzero(kind == group)
        turn[rng.permutation(members)] = np.arange(len(members))
    found: Ints = pool[np.lexsort((rng.random(len(pool)), turn))]
    return found


def names(count: int) -> list[str]:
    """Names of replicates that are draws."""
    return [f"draw-{i + 1:02d}" for i in range(count)]


def shuffles(panel: Panel, purpose: str, count: int) -> list[np.random.Generator]:
    """Generators of the shuffled explanations that so many people are shown as a control."""
    who = panel.cases.seed, panel.setting.id
    return [generator(*who, f"{purpose} shuffle {i}") for i in range(count)]
