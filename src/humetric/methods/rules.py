"""Search for an anchor: a rule under which the model keeps to its output (Ribeiro et al. 2018).

It knows nothing of models: it asks for samples and is sent them, so that an engine can advance many
cases together. All randomness is in the samples.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from humetric.methods.rule_samples import Bools, Conditions, Draw, Drawn, Samples
from humetric.methods.rule_tests import Tests
from humetric.stats.bernoulli_bounds import clopper_pearson, divergence_interval, exploration_rate

Asking = Generator[Draw, Drawn, None]

EMPTY: Conditions = frozenset()

HOPE = 1.0
"""Rate of the bounds that say which rules may still pass: about 1.4 standard errors."""

SHARE = 4
"""The tests of a level may use one part in so many of the samples left."""


class Rule(NamedTuple):
    """Where these conditions hold, the model gives the explained output, with this precision."""

    conditions: tuple[int, ...]
    """In the order in which they were added."""
    precision: float
    """Share of hits among the samples drawn under the rule since it was singled out for a test.
    They are taken until it passes, so the share leans upwards a little."""
    precision_low: float
    """Anytime bound from the same samples. With chance 1 - delta the bounds of *all* rules that
    were tested lie below their precisions, hence also that of the rule which is returned."""
    precision_high: float
    """The same from above, with a delta of its own."""
    coverage: float
    """Share of the unconditional samples in which all conditions hold."""
    coverage_low: float
    """Clopper-Pearson at 1 - delta. It ignores that the search prefers rules of high coverage."""
    coverage_high: float
    gains: tuple[float, ...]
    """Precision with each condition minus without it, when it was added, the first against the
    empty rule. They sum to ``precision`` minus that of the empty rule. Estimates without bounds."""
    samples: int
    """Drawn in the whole search, without those for coverage."""
    reached: bool
    """Whether ``precision_low`` is at least the wanted precision. If not, the rule is only the
    most promising one that was looked at."""


def search(
    features: int,
    *,
    precision: float = 0.95,
    delta: float = 0.05,
    tolerance: float = 0.15,
    beam: int = 4,
    batch: int = 50,
    longest: int | None = None,
    most: int = 3000,
    explore: int | None = 200,
    reuse: bool = True,
    coverage_present: Bools,
) -> Generator[Draw, Drawn, Rule]:
    """The rule of highest coverage among those found to reach the precision.

    Beam search over rules of 0, 1, 2 ... up to ``longest`` conditions. On each level KL-LUCB draws
    where it is unclear which ``beam`` rules are the most precise; the next level adds a condition
    to each of these. Once a rule has passed, others are followed only if their coverage is higher
    by more than a standard error of the difference.

    *Guaranteed*: with chance 1 - delta for every case, whatever the model and the perturbations,
    the rule's true precision is at least ``precision_low``. A rule is not believed for the samples
    that made it look good; it is singled out and passes by a test on fresh ones (``Tests``).
    Looking again and again at a bound of fixed level, or giving each rule all of delta, would
    promise more than it keeps.

    *Not guaranteed*: that no better rule was missed. The beam is within ``tolerance`` of the most
    precise rules, with chance 1 - delta, only if ``explore`` is None and ``most`` is not used up:
    such bounds take about a thousand samples of each rule. ``explore`` limits what a level spends
    on them. Rules hardly more precise than wanted cannot be told from those hardly less within
    ``most`` samples; a longer rule is found in their place.

    ``coverage_present`` (samples, features) says which conditions hold in unconditional samples.
    ``reuse``: see ``Samples``; it steers the search and enters ``gains``, never a test.
    """
    _check(features, precision, delta, beam, batch, longest, most, coverage_present)
    longest = features if longest is None else min(longest, features)
    state = _Search(features, Tests(precision, delta), batch, most, reuse, coverage_present)
    path: dict[Conditions, tuple[int, ...]] = {EMPTY: ()}
    rules, parents = [EMPTY], [EMPTY]
    for size in range(longest + 1):
        yield from state.look(parents, rules, beam * batch // len(parents) if size else 0)
        yield from state.test(rules, beam, SHARE if size < longest else 1)
        rules = state.worthwhile(rules)
        if size == longest or not rules:
            break
        alpha = delta / ((size + 1) * (size + 2) * len(rules))
        yield from state.settle(rules, beam, alpha, tolerance, explore)
        yield from state.test(rules, beam, SHARE)
        parents = state.ranked(state.worthwhile(rules))[:beam]
        longer = {
            p | {i}: (*path[p], i) for p in reversed(parents) for i in range(features) if i not in p
        }
        rules = state.worthwhile(sorted(longer, key=sorted))
        path |= longer
        if not rules:
            break
    found = state.best
    if found is None:
        found = yield from state.fall_back(list(path))
    return state.report(path[found])


class _Search:
    """What is known of a case, and the steps of the search."""

    def __init__(
        self,
        features: int,
        tests: Tests,
        batch: int,
        most: int,
        reuse: bool,
        coverage_present: Bools,
    ) -> None:
        self.samples = Samples(features, reuse)
        self.tests = tests
        self.best: Conditions | None = None
        self._batch = batch
        self._room = most - batch  # one batch is kept back for the rule that is fallen back to
        self._covered = coverage_present

    def look(self, parents: Sequence[Conditions], rules: Sequence[Conditions], each: int) -> Asking:
        """Samples under the parents tell of all their children; children hardly met get their own.

        A condition that holds by chance half of the time is met in half of its parent's samples,
        so this costs far less than samples of every child.
        """
        if self.samples.reuse:
            yield from self._ask({p: each - self.samples.own(p) for p in parents})
        _, trials = self.samples.tally(rules)
        enough = self._batch // 4 if each else 2 * self._batch
        yield from self._ask({r: enough - int(n) for r, n in zip(rules, trials, strict=True)})

    def test(self, rules: Sequence[Conditions], at_once: int, share: int) -> Asking:
        """Tests the most precise rules that may pass, until none is left or too much is spent."""
        until = self._room - self._room // share
        while chosen := self._hopeful(rules, self._room - until)[:at_once]:
            for rule in chosen:
                self.tests.start(rule)
            ask = {r: self.tests.without_miss(r, 2 * self._batch) for r in chosen}
            yield from self._ask(ask)

    def settle(
        self,
        rules: Sequence[Conditions],
        beam: int,
        alpha: float,
        tolerance: float,
        explore: int | None,
    ) -> Asking:
        """KL-LUCB: samples of rules whose bounds do not yet say whether they are of the beam."""
        until = 0 if explore is None else self._room - explore
        while self._room > max(until, 0):
            hits, trials = self.samples.tally(rules)
            low, high = divergence_interval(hits, trials, exploration_rate(trials, alpha))
            order = [rules.index(r) for r in self.ranked(rules)]
            inside, outside = order[:beam], order[beam:]
            if not outside:
                return
            weakest, strongest = min(low[inside]), max(high[outside])
            if strongest - weakest <= tolerance:
                return
            doubtful = sorted(
                (i for i in inside if strongest - low[i] > tolerance), key=lambda i: low[i]
            )
            rivals = sorted(
                (i for i in outside if high[i] - weakest > tolerance), key=lambda i: -high[i]
            )
            chosen = [*doubtful[: beam // 2 or 1], *rivals[: beam // 2 or 1]]
            yield from self._ask({rules[i]: self._batch // 2 for i in chosen})

    def fall_back(self, rules: Sequence[Conditions]) -> Generator[Draw, Drawn, Conditions]:
        """The rule of highest lower bound, measured by the samples kept back."""
        hits, trials = self.samples.tally(rules)
        low = divergence_interval(hits, trials, HOPE).low
        found = rules[int(np.argmax(low))]
        self.tests.start(found)
        self._room += self._batch
        yield from self._ask({found: self._batch})
        return found

    def ranked(self, rules: Sequence[Conditions]) -> list[Conditions]:
        """By precision as far as known; ties by samples, then by the conditions' numbers."""
        hits, trials = self.samples.tally(rules)
        mean = hits / np.maximum(trials, 1)
        return [r for *_, r in sorted(zip(-mean, -trials, map(sorted, rules), rules, strict=True))]

    def worthwhile(self, rules: Sequence[Conditions]) -> list[Conditions]:
        """Those whose coverage is clearly higher than that of the best that passed.

        Noise in coverage is not worth samples: what counts are the rows that only one covers.
        """
        if self.best is None:
            return list(rules)
        best = self._rows(self.best)
        found = []
        for rule in rules:
            rows = self._rows(rule)
            more, less = int((rows & ~best).sum()), int((best & ~rows).sum())
            if more - less > math.sqrt(more + less):
                found.append(rule)
        return found

    def report(self, conditions: tuple[int, ...]) -> Rule:
        """The rule with its numbers."""
        rule = frozenset(conditions)
        prefixes = [frozenset(conditions[:k]) for k in range(len(conditions))]
        hits, trials = self.samples.tally(prefixes)
        _, own, drawn = self.tests.of(rule)
        precision = own / drawn
        steps = np.diff([*(hits / np.maximum(trials, 1)), precision])
        rows = self._rows(rule)
        low, high = self.tests.interval(rule)
        least, greatest = clopper_pearson(rows.sum(), len(rows), 1 - self.tests.delta)
        return Rule(
            conditions,
            precision,
            low,
            high,
            float(rows.mean()),
            float(least),
            float(greatest),
            tuple(steps.tolist()),
            len(self.samples),
            self.tests.passed(rule),
        )

    def _ask(self, wanted: Mapping[Conditions, int]) -> Asking:
        """Draws, in order and as far as there is room, and takes note."""
        counts: dict[Conditions, int] = {}
        for rule, count in wanted.items():
            if min(count, self._room) > 0:
                counts[rule] = min(count, self._room)
                self._room -= counts[rule]
        if not counts:
            return
        draw = Draw(tuple(counts), tuple(counts.values()))
        drawn = yield draw
        self.samples.add(draw, drawn)
        for rule, hits in zip(draw.rules, drawn.hits, strict=True):
            self.tests.add(rule, hits)
        passed = [r for r in draw.rules if r in self.tests and self.tests.passed(r)]
        for rule in self.ranked(passed):
            if self.best is None or self._rows(rule).sum() > self._rows(self.best).sum():
                self.best = rule

    def _hopeful(self, rules: Sequence[Conditions], room: int) -> list[Conditions]:
        """Rules that may pass within the room, if they are as precise as they well may be."""
        rules = self.ranked([r for r in self.worthwhile(rules) if not self._done(r)])
        high = divergence_interval(*self.samples.tally(rules), HOPE).high.tolist()
        return [r for r, h in zip(rules, high, strict=True) if self.tests.needed(r, h) <= room]

    def _done(self, rule: Conditions) -> bool:
        return rule in self.tests and self.tests.passed(rule)

    def _rows(self, rule: Conditions) -> Bools:
        rows: Bools = self._covered[:, sorted(rule)].all(1)
        return rows


def _check(
    features: int,
    precision: float,
    delta: float,
    beam: int,
    batch: int,
    longest: int | None,
    most: int,
    coverage_present: Bools,
) -> None:
    if not (0 < precision < 1 and 0 < delta < 1):
        raise ValueError(
            f"Expected precision and delta between 0 and 1 but got {precision} and {delta}: a "
            "precision of 1 takes endless samples."
        )
    if features < 1 or beam < 1 or batch < 4 or (longest is not None and longest < 0):
        raise ValueError(
            "Expected at least one feature, a beam of 1, batches of 4 and no negative length but "
            f"got {features}, {beam}, {batch} and {longest}."
        )
    if most < 2 * batch:
        raise ValueError(
            f"Expected room for two batches of {batch} samples but got {most}: raise most or lower "
            "batch."
        )
    if (
        coverage_present.ndim != 2
        or coverage_present.shape[1] != features
        or len(coverage_present) == 0
    ):
        raise ValueError(
            f"Expected coverage_present of shape (samples, {features}) but got "
            f"{coverage_present.shape}: a row per unconditional sample."
        )
