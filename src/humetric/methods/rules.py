"""Search for an anchor: a rule under which the model keeps to its output (Ribeiro et al. 2018).

It knows nothing of models: it asks for samples and is sent them, so that an engine can advance many
cases together. All randomness is in the samples.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from humetric.methods.rule_acceptance import Acceptance
from humetric.methods.rule_samples import Bools, Conditions, Coverage, Draw, Drawn
from humetric.methods.rule_steps import SHARE, Steps

EMPTY: Conditions = frozenset()


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
    tests: int
    """Samples that precision and its bounds rest on."""
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
    by more than a standard error of the difference. In the end conditions are left out, one by
    one, as long as what remains passes (not in the paper: it mends what a narrow beam missed).

    *Guaranteed*: with chance 1 - delta for every case, whatever the model and the perturbations,
    the rule's true precision is at least ``precision_low``. A rule is not believed for the samples
    that made it look good; it is singled out and passes by a test on fresh ones (``Acceptance``).
    Looking again and again at a bound of fixed level, or giving each rule all of delta, would
    promise more than it keeps.

    *Not guaranteed*: that no better rule was missed. KL-LUCB promises a beam within ``tolerance``
    of the level's most precise rules, with chance 1 - delta, only if ``explore`` is None, ``most``
    is not used up and ``reuse`` is right: such bounds take about a thousand samples of each rule.
    ``explore`` limits what a level spends on them. Rules hardly more precise than wanted cannot be
    told from those hardly less within ``most`` samples; a longer rule is found in their place.
    And of a thousand cases in which no rule is precise enough, up to 1000 delta may report one:
    delta is a share of all cases, not of those that reached.

    ``coverage_present`` (samples, features) says which conditions hold in unconditional samples.
    ``reuse``: see ``Samples``; it steers the search and enters ``gains``, never a test.
    """
    _check(features, precision, delta, beam, batch, longest, most)
    longest = features if longest is None else min(longest, features)
    coverage = Coverage(coverage_present, features)
    steps = Steps(features, Acceptance(precision, delta), batch, most, reuse, coverage)
    path: dict[Conditions, tuple[int, ...]] = {EMPTY: ()}
    rules = [EMPTY]
    yield from steps.know(rules, 2 * batch)
    for size in range(longest + 1):
        yield from steps.test(rules, beam, SHARE if size < longest else 1)
        rules = steps.worthwhile(rules)
        if size == longest or not rules:
            break
        alpha = delta / ((size + 1) * (size + 2) * len(rules))
        yield from steps.settle(rules, beam, alpha, tolerance, explore)
        yield from steps.test(rules, beam, SHARE)
        parents = steps.ranked(steps.worthwhile(rules))[:beam]
        longer = {  # a rule with several parents is remembered as the child of the first
            parent | {feature}: (*path[parent], feature)
            for parent in reversed(parents)
            for feature in range(features)
            if feature not in parent
        }
        path |= longer
        rules = steps.worthwhile(sorted(longer, key=sorted))
        if not rules or steps.spent():
            break
        yield from steps.look(parents, beam * batch // len(parents))
        yield from steps.know(rules, batch // 4)
    steps.release()
    if steps.best is None:
        conditions = path[(yield from steps.fall_back(list(path)))]
    else:
        conditions = yield from steps.shorten(path[steps.best], beam)
    return (yield from _report(steps, conditions, batch))


def _report(steps: Steps, conditions: tuple[int, ...], batch: int) -> Generator[Draw, Drawn, Rule]:
    prefixes = [frozenset(conditions[:k]) for k in range(len(conditions))]
    yield from steps.know(prefixes, batch // 4)  # a shortened rule may have some never met
    hits, trials = steps.samples.tally(prefixes)
    rule = frozenset(conditions)
    _, own, drawn = steps.tests.of(rule)
    precision = own / drawn
    gains = np.diff([*(hits / np.maximum(trials, 1)), precision])
    return Rule(
        conditions,
        precision,
        *steps.tests.interval(rule),
        steps.coverage.share(rule),
        *steps.coverage.interval(rule, 1 - steps.tests.delta),
        tuple(gains.tolist()),
        int(drawn),
        len(steps.samples),
        steps.tests.passed(rule),
    )


def _check(
    features: int,
    precision: float,
    delta: float,
    beam: int,
    batch: int,
    longest: int | None,
    most: int,
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
    if most < 4 * batch:
        raise ValueError(
            f"Expected room for four batches of {batch} samples but got {most}: raise most or "
            "lower batch."
        )
