"""Tests of rules that a search has singled out: what makes an anchor's precision a guarantee."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from humetric.methods.rule_samples import Bools, Conditions
from humetric.stats.bernoulli_bounds import anytime_interval, divergence, evidence


class Standing(NamedTuple):
    """Hits and samples of a rule since it was singled out, and the level of its test."""

    alpha: float
    hits: int = 0
    trials: int = 0


class Acceptance:
    """A sequence of tests that together let a false rule pass with chance delta at most.

    Each test starts when its rule is singled out and sees only samples drawn under the rule from
    then on, so the samples that made the rule look good are not used again. It is anytime valid
    (``evidence``), so it may be looked at after every batch. The j-th has the level
    delta / (j (j + 1)); these sum to delta over however many there will be.
    """

    def __init__(self, precision: float, delta: float) -> None:
        self.precision = precision
        self.delta = delta
        self._of: dict[Conditions, Standing] = {}

    def __contains__(self, rule: Conditions) -> bool:
        return rule in self._of

    def start(self, rule: Conditions) -> None:
        """Singles the rule out; nothing changes if it was before."""
        self._of.setdefault(rule, self.of(rule))

    def of(self, rule: Conditions) -> Standing:
        """The rule's test, or the one it would get next."""
        j = len(self._of) + 1
        return self._of.get(rule) or Standing(self.delta / (j * (j + 1)))

    def add(self, rule: Conditions, hits: Bools) -> None:
        """Samples drawn under the rule; those of rules not singled out are let go."""
        if rule in self._of:
            alpha, before, trials = self._of[rule]
            self._of[rule] = Standing(alpha, before + int(hits.sum()), trials + len(hits))

    def passed(self, rule: Conditions) -> bool:
        """Whether the evidence for more than the wanted precision is enough."""
        return self._lacks(rule) <= 0

    def needed(self, rule: Conditions, chance: float) -> float:
        """About how many more samples it takes to pass if this is the chance of a hit."""
        if chance <= self.precision:
            return math.inf
        return self._lacks(rule) / float(divergence(chance, self.precision))

    def without_miss(self, rule: Conditions, most: int) -> int:
        """How many more samples it takes to pass if all are hits, ``most`` at most."""
        alpha, hits, trials = self.of(rule)
        more = np.arange(1, most)
        enough = evidence(hits + more, trials + more, self.precision) >= math.log(1 / alpha)
        return int(more[enough][0]) if enough.any() else most

    def interval(self, rule: Conditions) -> tuple[float, float]:
        """Bounds of the rule's precision at its level; [0, 1] without samples."""
        alpha, hits, trials = self.of(rule)
        low, high = anytime_interval(hits, trials, alpha)
        # Where the test has passed, rounding must not put the bound a hair below.
        return max(float(low), self.precision if self.passed(rule) else 0.0), float(high)

    def _lacks(self, rule: Conditions) -> float:
        alpha, hits, trials = self.of(rule)
        return math.log(1 / alpha) - float(evidence(hits, trials, self.precision))
