"""Hidden Boolean functions of a few conditions, small enough to enumerate, and rules found in them.

A condition that a rule does not hold is present with a chance of its own, 1/2 unless said, so all
truths are sums over at most 2^n sets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humetric.methods.rule_samples import Draw, Drawn
from humetric.methods.rules import Rule, search

KINDS = ("conjunction", "alternatives", "majority", "noisy", "table", "random")


class World(NamedTuple):
    """Which outputs are the explained one: ``kept[m]`` for the bits m of the conditions present."""

    features: int
    kept: NDArray[np.bool_]
    chance: NDArray[np.float64]
    """With which each condition is present where it is not held."""


class Run(NamedTuple):
    """A rule, and what was asked for it."""

    rule: Rule
    draws: list[Draw]


def masks(features: int) -> NDArray[np.bool_]:
    """All sets of conditions, (2^n, n); row m holds the bits of m."""
    found: NDArray[np.bool_] = (np.arange(2**features)[:, None] >> np.arange(features) & 1) > 0
    return found


def world(kind: str, features: int, rng: np.random.Generator, uneven: bool = False) -> World:
    """A random function of the kind; ``uneven``: chances of presence from .2 to .8."""
    x = masks(features)
    some = rng.permutation(features)
    if kind == "conjunction":
        out = x[:, some[: rng.integers(1, 5)]].all(1)
    elif kind == "alternatives":
        out = x[:, some[:2]].all(1) | x[:, some[2:5]].all(1)
    elif kind == "majority":
        out = x @ rng.exponential(size=features) > rng.uniform(0.5, 2.5)
    elif kind == "noisy":
        out = x[:, some[: rng.integers(1, 4)]].all(1) ^ (rng.random(len(x)) < rng.uniform(0, 0.06))
    elif kind == "table":
        few = x[:, some[: rng.integers(2, 5)]]
        out = (rng.random(2 ** few.shape[1]) < 0.5)[few @ (1 << np.arange(few.shape[1]))]
    elif kind == "random":
        out = rng.random(len(x)) < rng.uniform(0.5, 1)
    else:
        raise AssertionError(kind)
    chance = rng.uniform(0.2, 0.8, features) if uneven else np.full(features, 0.5)
    return World(features, out == out[-1], chance)


def truth(hidden: World) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Precision and coverage of every rule, by the bits of its conditions: sums over supersets."""
    x = masks(hidden.features)
    count = np.where(x, hidden.chance, 1 - hidden.chance).prod(1)
    hits = count * hidden.kept
    for i in range(hidden.features):
        for table in (hits, count):
            pairs = table.reshape(-1, 2, 2**i)
            pairs[:, 0] += pairs[:, 1]
    return hits / count, count


def bits(rule: Rule) -> int:
    """The rule as bits."""
    return sum(1 << i for i in rule.conditions)


def run(hidden: World, rng: np.random.Generator, **options: object) -> Run:
    """Searches the world, answering from the generator."""
    n, draws = hidden.features, []
    program = search(n, coverage_present=rng.random((2000, n)) < hidden.chance, **options)  # type: ignore[arg-type]
    drawn: Drawn | None = None
    while True:
        try:
            draw = program.send(drawn)  # type: ignore[arg-type]
        except StopIteration as end:
            return Run(end.value, draws)
        draws.append(draw)
        present = []
        for rule, count in zip(draw.rules, draw.counts, strict=True):
            rows = rng.random((count, n)) < hidden.chance
            rows[:, sorted(rule)] = True
            present.append(rows)
        drawn = Drawn(tuple(hidden.kept[p @ (1 << np.arange(n))] for p in present), tuple(present))
