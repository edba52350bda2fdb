"""What a rule search asks for and what it was told: the samples drawn under each rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humetric.stats.bernoulli_bounds import clopper_pearson

Conditions = frozenset[int]
Bools = NDArray[np.bool_]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Draw:
    """So many samples under each of several rules; no rule occurs twice."""

    rules: tuple[Conditions, ...]
    """The features that are held, for each rule."""
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Drawn:
    """The samples of a ``Draw``, in its order."""

    hits: tuple[Bools, ...]
    """(count,) for each rule: whether the model still gives the explained output."""
    present: tuple[Bools, ...]
    """(count, features) for each rule: which conditions hold in the sample, held or by chance."""


class Samples:
    """All samples of a case.

    With ``reuse``, a sample drawn under a rule counts for every longer rule, too, whose further
    conditions hold in it. That is right where holding a condition is the same as waiting until it
    holds by chance: features replaced independently of each other. Where columns depend on each
    other it is not, and the estimates lean.
    """

    def __init__(self, features: int, reuse: bool) -> None:
        self.features = features
        self.reuse = reuse
        self._hit = np.zeros(0)
        self._present = np.zeros((0, features), np.float32)
        self._held = np.zeros((0, features), np.float32)

    def __len__(self) -> int:
        return len(self._hit)

    def add(self, draw: Draw, drawn: Drawn) -> None:
        """Takes in the samples of a draw."""
        self._check(draw, drawn)
        held = [np.tile(_bits([r], self.features), (n, 1)) for r, n in _pairs(draw)]
        self._hit = np.concatenate((self._hit, *drawn.hits))
        self._present = np.concatenate((self._present, *drawn.present), dtype=np.float32)
        self._held = np.concatenate((self._held, *held))

    def tally(self, rules: Sequence[Conditions]) -> tuple[Counts, Counts]:
        """Hits and samples of each rule."""
        wanted = _bits(rules, self.features)
        size = wanted.sum(1)
        if self.reuse:
            # What was held must belong to the rule, or the sample is one of a narrower rule.
            fits = (self._present @ wanted.T == size) & (self._held @ (1 - wanted).T == 0)
        else:
            fits = (self._held @ wanted.T == size) & (self._held.sum(1)[:, None] == size)
        return (self._hit @ fits).astype(np.int64), fits.sum(0)

    def own(self, rule: Conditions) -> int:
        """How many were drawn under exactly this rule."""
        return int((self._held == _bits([rule], self.features)).all(1).sum())

    def _check(self, draw: Draw, drawn: Drawn) -> None:
        if len(drawn.hits) != len(draw.rules) or len(drawn.present) != len(draw.rules):
            raise ValueError(
                f"Expected samples of {len(draw.rules)} rules but got hits of {len(drawn.hits)} "
                f"and conditions of {len(drawn.present)}: answer every rule, in the draw's order."
            )
        for (rule, n), hits, present in zip(_pairs(draw), drawn.hits, drawn.present, strict=True):
            if hits.shape != (n,) or present.shape != (n, self.features):
                raise ValueError(
                    f"Expected hits of shape ({n},) and conditions of shape ({n}, {self.features}) "
                    f"under rule {sorted(rule)} but got {hits.shape} and {present.shape}: one row "
                    "per sample."
                )
            if not present[:, sorted(rule)].all():
                raise ValueError(
                    f"Expected the held conditions {sorted(rule)} to hold in every sample drawn "
                    "under them but got samples where they do not: hold them while sampling."
                )


class Coverage:
    """Shares of unconditional samples in which all conditions of a rule hold."""

    def __init__(self, present: Bools, features: int) -> None:
        shape = present.shape
        if len(shape) != 2 or shape[0] == 0 or shape[1] != features:
            raise ValueError(
                f"Expected coverage_present of shape (samples, {features}) but got {shape}: a row "
                "for each of some unconditional samples."
            )
        self._present = present

    def share(self, rule: Conditions) -> float:
        """Estimated coverage."""
        return float(self._rows(rule).mean())

    def interval(self, rule: Conditions, confidence: float) -> tuple[float, float]:
        """Clopper-Pearson's interval."""
        rows = self._rows(rule)
        low, high = clopper_pearson(rows.sum(), len(rows), confidence)
        return float(low), float(high)

    def wider(self, rule: Conditions, than: Conditions) -> bool:
        """Whether the rule is counted in more rows; a part of a rule always is."""
        return rule < than or self.share(rule) > self.share(than)

    def gained(self, rule: Conditions, than: Conditions) -> bool:
        """Whether the rule covers more by over a standard error: noise is not worth samples.

        Both are counted on the same rows, so only those matter that one covers and the other not.
        """
        if rule < than:
            return True
        rows, others = self._rows(rule), self._rows(than)
        more, less = int((rows & ~others).sum()), int((others & ~rows).sum())
        return more - less > math.sqrt(more + less)

    def _rows(self, rule: Conditions) -> Bools:
        rows: Bools = np.all(self._present[:, sorted(rule)], axis=1)
        return rows


def _pairs(draw: Draw) -> list[tuple[Conditions, int]]:
    return list(zip(draw.rules, draw.counts, strict=True))


def _bits(rules: Sequence[Conditions], features: int) -> NDArray[np.float32]:
    """(rules, features), 1 where a condition belongs to the rule."""
    bits = np.zeros((len(rules), features), np.float32)
    for row, rule in zip(bits, rules, strict=True):
        row[sorted(rule)] = 1
    return bits
