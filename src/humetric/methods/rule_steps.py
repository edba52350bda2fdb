"""The steps of a rule search, and what is known of a case while it goes on."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from itertools import combinations

import numpy as np

from humetric.methods.rule_acceptance import Acceptance
from humetric.methods.rule_samples import Conditions, Coverage, Draw, Drawn, Samples
from humetric.stats.bernoulli_bounds import divergence_interval, exploration_rate

Asking = Generator[Draw, Drawn, None]

HOPE = 1.0
"""Rate of the bounds that say which rules may still pass: about 1.4 standard errors."""

SHARE = 4
"""The tests of a level may use one part in so many of the samples left."""


class Steps:
    """What is known of a case, and the steps of the search."""

    def __init__(
        self,
        features: int,
        tests: Acceptance,
        batch: int,
        most: int,
        reuse: bool,
        coverage: Coverage,
    ) -> None:
        self.samples = Samples(features, reuse)
        self.tests = tests
        self.coverage = coverage
        self.best: Conditions | None = None
        self._batch = batch
        self._kept = min(4 * batch, most // 4)
        self._room = most - self._kept

    def spent(self) -> bool:
        """Whether no step but a test could still draw: longer rules would be guessed."""
        return self._room < SHARE

    def release(self) -> None:
        """Frees the samples that are kept back for the end."""
        self._room, self._kept = self._room + self._kept, 0

    def look(self, parents: Sequence[Conditions], each: int) -> Asking:
        """Samples under the parents, which tell of all their children.

        A condition that holds by chance half of the time is met in half of its parent's samples,
        so this costs far less than samples of every child.
        """
        if self.samples.reuse:
            own = {p: self.samples.own(p) for p in parents}
            yield from self._ask({p: each - n for p, n in own.items()}, self._room // SHARE)

    def know(self, rules: Sequence[Conditions], enough: int) -> Asking:
        """Samples of rules that were met too rarely."""
        _, trials = self.samples.tally(rules)
        lacking = {r: enough - int(n) for r, n in zip(rules, trials, strict=True)}
        yield from self._ask(lacking, self._room // SHARE)

    def test(self, rules: Sequence[Conditions], at_once: int, share: int) -> Asking:
        """Tests the most precise rules that may pass, until none is left or too much is spent."""
        until = self._room - self._room // share
        while chosen := self._hopeful(rules, self._room - until)[:at_once]:
            for rule in chosen:
                self.tests.start(rule)
            ask = {r: self.tests.without_miss(r, 2 * self._batch) for r in chosen}
            yield from self._ask(ask, self._room)

    def settle(
        self,
        rules: Sequence[Conditions],
        beam: int,
        alpha: float,
        tolerance: float,
        explore: int | None,
    ) -> Asking:
        """KL-LUCB: samples of rules whose bounds do not yet say whether they are of the beam."""
        until = 0 if explore is None else self._room - min(explore, self._room // SHARE)
        while self._room > until:
            hits, trials = self.samples.tally(rules)
            low, high = divergence_interval(hits, trials, exploration_rate(trials, alpha))
            order = [rules.index(r) for r in self.ranked(rules)]
            inside, outside = order[:beam], order[beam:]
            if not outside:
                return
            weakest, strongest = min(low[inside]), max(high[outside])
            if strongest - weakest <= tolerance:
                return
            doubtful = [i for i in inside if strongest - low[i] > tolerance]
            rivals = [i for i in outside if high[i] - weakest > tolerance]
            # The paper asks for one pair at a time; several cost fewer rounds.
            few = max(beam // 2, 1)
            chosen = sorted(doubtful, key=low.__getitem__)[:few]
            chosen += sorted(rivals, key=(-high).__getitem__)[:few]
            yield from self._ask({rules[i]: self._batch for i in chosen}, self._room - until)

    def fall_back(self, rules: Sequence[Conditions]) -> Generator[Draw, Drawn, Conditions]:
        """The rule of highest lower bound, with samples of its own and a last chance to pass."""
        hits, trials = self.samples.tally(rules)
        low = divergence_interval(hits, trials, HOPE).low
        found = rules[int(np.argmax(low))]
        self.tests.start(found)
        yield from self._ask({found: self._batch}, self._room)
        yield from self.test([found], 1, 1)
        return found

    def shorten(
        self, conditions: tuple[int, ...], at_once: int
    ) -> Generator[Draw, Drawn, tuple[int, ...]]:
        """Leaves out conditions of the best rule, one by one, while what remains passes.

        A beam that began with a needless condition never meets the rule without it.
        """
        while conditions:
            shorter = {frozenset(c): c for c in combinations(conditions, len(conditions) - 1)}
            yield from self.know(list(shorter), self._batch // 4)
            yield from self.test(list(shorter), at_once, 1)
            if self.best not in shorter:
                break
            conditions = shorter[self.best]
        return conditions

    def ranked(self, rules: Sequence[Conditions]) -> list[Conditions]:
        """By precision as far as known; ties by samples, then by the conditions' numbers."""
        hits, trials = self.samples.tally(rules)
        mean = hits / np.maximum(trials, 1)
        return [r for *_, r in sorted(zip(-mean, -trials, map(sorted, rules), rules, strict=True))]

    def worthwhile(self, rules: Sequence[Conditions]) -> list[Conditions]:
        """Those whose coverage is clearly higher than that of the best that passed."""
        return [r for r in rules if self.best is None or self.coverage.gained(r, self.best)]

    def _ask(self, wanted: Mapping[Conditions, int], limit: int) -> Asking:
        """Draws, in order and within the limit, and takes note."""
        counts: dict[Conditions, int] = {}
        for rule, count in wanted.items():
            if min(count, limit) > 0:
                counts[rule] = min(count, limit)
                limit -= counts[rule]
        if not counts:
            return
        self._room -= sum(counts.values())
        draw = Draw(tuple(counts), tuple(counts.values()))
        drawn = yield draw
        self.samples.add(draw, drawn)
        for rule, hits in zip(draw.rules, drawn.hits, strict=True):
            self.tests.add(rule, hits)
        for rule in self.ranked([r for r in draw.rules if self._passed(r)]):
            if self.best is None or self.coverage.wider(rule, self.best):
                self.best = rule

    def _hopeful(self, rules: Sequence[Conditions], room: int) -> list[Conditions]:
        """Rules that may pass within the room, if they are as precise as they well may be."""
        rules = self.ranked([r for r in self.worthwhile(rules) if not self._passed(r)])
        high = divergence_interval(*self.samples.tally(rules), HOPE).high.tolist()
        return [r for r, h in zip(rules, high, strict=True) if self.tests.needed(r, h) <= room]

    def _passed(self, rule: Conditions) -> bool:
        return rule in self.tests and self.tests.passed(rule)
