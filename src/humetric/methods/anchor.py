"""Anchor: conditions under which the model keeps to its output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from humetric.engine.questions import Program, instead, together
from humetric.methods import Explainer, method, shared
from humetric.methods.changes import Changes, Held, changes_of
from humetric.methods.explanation import Explanation
from humetric.methods.rule_samples import Draw, Drawn
from humetric.methods.rules import Rule, search
from humetric.tasks.cases import Cases

COVERAGE = 1000
"""Unconditional samples that say how often a rule applies; the model is not asked about them."""


OF_ROWS = 5
"""So many times the samples for a row of a table. What is drawn under one rule tells nothing of
another there, and a row is asked about in a thousandth of a text's time."""


class Wanted(NamedTuple):
    """What a rule must be like, and what the search for it may take."""

    precision: float = 0.95
    delta: float = 0.05
    beam: int = 4
    batch: int = 50
    samples: int = 3000


@method(
    "anchor",
    version=1,
    reference="Ribeiro et al. 2018, AAAI",
    tasks=("sentiment", "nli", "tabular"),
    signed=False,
    uses=("neighbours",),
)
def anchor(
    precision: float = 0.95,
    delta: float = 0.05,
    beam: int = 4,
    batch: int = 50,
    samples: int = 3000,
) -> Explainer:
    """How much each condition of a rule adds to the share of inputs that keep the model's output.

    The rule: where its words are there (its columns keep category or quartile), the model gives the
    same output in a share of at least ``precision`` of inputs drawn around the case
    (methods/changes.py: other words become similar ones with probability 1/2, other columns are
    those of a background row), wrong with a chance of at most ``delta``. Of the rules found by a
    beam search (methods/rules.py) it is the one that applies most often. As a map: the gain of
    precision by each condition in the order in which it was added, 0 for all others. A gain may be
    negative in a sample; it then counts as 0.

    A rule without conditions says that the model hardly ever changes its output around the case:
    its map is all 0. Where no rule was found within ``samples`` (for rows five times as many), the
    most promising one is given and says so. Conditions were chosen together: a gain is not what a
    feature does alone.
    """

    wanted = Wanted(precision, delta, beam, batch, samples)

    def explain(cases: Cases) -> Program[Explanation]:
        rules = yield from shared_rules(cases, wanted)
        return Explanation(projected(cases, rules), told(cases, rules, precision))

    return explain


def shared_rules(cases: Cases, wanted: Wanted) -> Program[list[Rule]]:
    """The rules of some cases; searched for once, whoever asks."""
    return shared(cases, ("anchor", wanted), lambda: rules_of(cases, wanted))


def rules_of(cases: Cases, wanted: Wanted) -> Program[list[Rule]]:
    """Searches for all cases side by side, each round asked together."""
    changes, rngs = changes_of(cases), cases.rng("anchor")
    free = [np.array(c.free or (0,), dtype=np.int64) for c in changes]
    searches = [
        search(
            len(own),
            precision=wanted.precision,
            delta=wanted.delta,
            beam=wanted.beam,
            batch=wanted.batch,
            most=wanted.samples * (1 if cases.table is None else OF_ROWS),
            reuse=cases.table is None,  # held numbers are drawn anew, apart from the rest of a row
            coverage_present=c.holding(rng, COVERAGE, ()).present[:, own],
        )
        for c, own, rng in zip(changes, free, rngs, strict=True)
    ]
    found: dict[int, Rule] = {}
    waiting: dict[int, Draw] = {}

    def advance(i: int, drawn: Drawn | None) -> None:
        try:
            waiting[i] = next(searches[i]) if drawn is None else searches[i].send(drawn)
        except StopIteration as stop:
            waiting.pop(i, None)
            found[i] = _named(stop.value, free[i])

    for i in range(len(cases)):
        advance(i, None)
    while waiting:
        asked = dict(waiting)
        drawn = {i: _draw(changes[i], draw, free[i], rngs[i]) for i, draw in asked.items()}
        nothing = cases.x[:0].cpu()
        rows = [
            together([held.inputs for held in drawn[i]]) if i in drawn else nothing
            for i in range(len(cases))
        ]
        (answers,) = yield [instead(cases, rows)]
        parts = (answers.margin > 0).numpy()
        ends = np.cumsum([len(r) for r in rows])
        for i, draw in asked.items():
            own = parts[ends[i] - len(rows[i]) : ends[i]]
            hits = tuple(np.split(own, np.cumsum(draw.counts)[:-1]))
            advance(i, Drawn(hits, tuple(held.present[:, free[i]] for held in drawn[i])))
    return [found[i] for i in range(len(cases))]


def _draw(changes: Changes, draw: Draw, free: np.ndarray, rng: np.random.Generator) -> list[Held]:
    """Samples under each of several rules."""
    return [
        changes.holding(rng, count, free[sorted(rule)].tolist())
        for rule, count in zip(draw.rules, draw.counts, strict=True)
    ]


def _named(rule: Rule, free: np.ndarray) -> Rule:
    """A rule in terms of the case's features, not of those that may change."""
    return rule._replace(conditions=tuple(int(free[j]) for j in rule.conditions))


def projected(cases: Cases, rules: Sequence[Rule]) -> Tensor:
    """The gain of precision by each condition."""
    found = torch.zeros(cases.shape, dtype=torch.float64)
    for i, rule in enumerate(rules):
        for feature, gain in zip(rule.conditions, rule.gains, strict=True):
            found[i, feature] = max(0.0, gain)
    return found


def told(cases: Cases, rules: Sequence[Rule], wanted: float) -> tuple[dict[str, Any], ...]:
    """Each rule as plain data; ``wanted`` is the precision that was asked for."""
    return tuple(
        {
            "rule": {
                "conditions": [
                    {"feature": own.condition(feature), "index": feature, "gain": gain}
                    for feature, gain in zip(rule.conditions, rule.gains, strict=True)
                ],
                "precision": rule.precision,
                "precision_low": rule.precision_low,
                "precision_high": rule.precision_high,
                "coverage": rule.coverage,
                "coverage_low": rule.coverage_low,
                "coverage_high": rule.coverage_high,
                "wanted": wanted,
                "reached": bool(rule.reached),
                "tests": rule.tests,
                "drawn": COVERAGE,
                "samples": rule.samples,
                "class": int(cases.target[i]),
            }
        }
        for i, (rule, own) in enumerate(zip(rules, changes_of(cases), strict=True))
    )
