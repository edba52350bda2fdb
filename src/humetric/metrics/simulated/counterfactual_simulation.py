"""Counterfactual simulation: can a simulated person tell what a change of the input does?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from humetric.engine.questions import Program, instead
from humetric.methods import shared
from humetric.methods.changes import changes_of
from humetric.methods.explanation import More
from humetric.metrics import Simulation, metric
from humetric.metrics.panel import Panel, Replicates, Shown
from humetric.metrics.simulated.reader import evenly, names, shuffles, spread
from humetric.metrics.simulated.terms import Floats, summed, terms, uniform
from humetric.seeding import generator

NAME = "counterfactual-simulation"
CASES = 16
"""As in the study, where people with more time were asked about 32."""


@metric(
    NAME,
    version=1,
    direction="higher",
    range=(-1.0, 1.0),
    reference="after the counterfactual test of Hase & Bansal 2020, arXiv:2005.01831; simulated",
    tasks=("sentiment", "nli", "tabular"),
)
def counterfactual_simulation(draws: int = 20, samples: int = 100) -> Simulation:
    """A simulated person's gain in accuracy at telling whether a change flips the model's output.

    Sixteen explained cases, each with a change of a few features (as in decision-boundary), half of
    which flip the output: accuracy with the explanation of the original less accuracy without. 0:
    explanations do not help. There is nothing to learn from. One value for each of ``draws`` draws
    of cases and of their changes, out of ``samples`` changes of each case.

    The reader takes the explanation as additive: what is left of the evidence is the sum over the
    features that were not changed of what each is worth. That is between what the map says (as a
    share of the sum of its absolute values) and what it would believe without one, that all are
    worth the same: the nearer to the map, the more consistently the maps of these cases value the
    same terms (metrics/simulated/reader.py). It is told, as people were, that half of the changes
    flip the output, and says so of the half with least left: without an explanation it goes by how
    much was changed. Of a rule it asks only whether its conditions still hold; of paths and
    prototypes it sees the projection to a map. It sees the true label and the output, but not how
    sure the model is; it makes nothing of the label, nor of what features were changed to.
    """
    return Simulation(lambda panel, shown: _simulate(panel, shown, draws, samples), CASES)


class Changed(NamedTuple):
    """A change of a case."""

    features: NDArray[np.bool_]
    flips: bool


class Item(NamedTuple):
    """What is put before a person: a case and a change of it."""

    case: int
    change: Changed


def _simulate(panel: Panel, shown: Shown, count: int, samples: int) -> Program[Replicates]:
    changes = yield from shared(panel.cases, (NAME, samples), lambda: _changes(panel, samples))
    tests = panel.cases.once((NAME, count, samples), lambda: people(panel, changes, count))
    maps = [a[:n] for a, n in zip(shown.attribution.numpy(), panel.cases.lengths, strict=False)]
    more = shown.explanation.cases or ({},) * panel.learning
    nothing: More = {}
    trust = trusted(panel, maps)
    gains, control = [], []
    for i, (items, rng) in enumerate(zip(tests, shuffles(panel, NAME, count), strict=True)):
        mixed = [a[rng.permutation(len(a))] for a in maps]
        doubt = trusted(panel, mixed)
        coin = generator(panel.cases.seed, panel.setting.id, f"{NAME} coin {i}").random(len(items))
        plain = np.array([left(maps[k], c.features, 0.0) for k, c in items])
        told = np.array([evidence(maps[k], more[k], c.features, trust) for k, c in items])
        other = np.array([evidence(mixed[k], nothing, c.features, doubt) for k, c in items])
        flips = np.array([change.flips for _, change in items])
        before, after, astray = (
            np.mean(says_flipped(seen, plain, coin) == flips) if items else np.nan
            for seen in (plain, told, other)
        )
        gains.append(after - before)
        control.append(astray - before)
    value = torch.tensor(gains, dtype=torch.float64)
    controls = {"none": value * 0, "shuffled": torch.tensor(control, dtype=torch.float64)}
    return Replicates(names(count), value, controls)


def _changes(panel: Panel, samples: int) -> Program[list[list[Changed]]]:
    """Changes of each learning case, and whether they flip its output."""
    cases = panel.cases
    rngs = cases.rng(NAME)
    chosen = [
        own.nearby(rng, samples)
        for own, rng in zip(changes_of(cases)[: panel.learning], rngs, strict=False)
    ]
    inputs = [own.inputs(which) for own, which in zip(changes_of(cases), chosen, strict=False)] + [
        cases.x[:0].cpu()
    ] * panel.test
    (answers,) = yield [instead(cases, inputs)]
    flips = np.split(answers.margin.numpy() < 0, np.cumsum([len(c) for c in chosen])[:-1])
    return [
        [
            Changed(row >= 0, bool(flip))
            for row, flip in zip(which, own, strict=True)
            if row.max() >= 0
        ]
        for which, own in zip(chosen, flips, strict=True)
    ]


def people(panel: Panel, changes: list[list[Changed]], count: int) -> list[list[Item]]:
    """What each person is asked: as many changes that flip the output as changes that do not."""
    found = []
    for i in range(count):
        rng = generator(panel.cases.seed, panel.setting.id, f"{NAME} draw {i}")
        order = evenly(np.arange(panel.learning), panel, rng).tolist()
        found.append(balanced(order, changes, rng))
    return found


def balanced(
    order: list[int], changes: list[list[Changed]], rng: np.random.Generator
) -> list[Item]:
    """At most 16 cases in order, half of them with a flip; a case stands for what it can."""
    room = {True: CASES // 2, False: CASES // 2}
    chosen: dict[bool, list[Item]] = {True: [], False: []}
    can = {k: {flips: [c for c in changes[k] if c.flips == flips] for flips in room} for k in order}
    # Cases that can only stand for one kind go first, so that the other kind is left the others.
    single = [k for k in order if sum(map(bool, can[k].values())) == 1]
    for k in [*single, *(k for k in order if k not in single)]:
        open_ = [flips for flips in room if can[k][flips] and len(chosen[flips]) < room[flips]]
        if open_:
            fewest = min(len(chosen[flips]) for flips in open_)
            flips = rng.choice([f for f in open_ if len(chosen[f]) == fewest])
            own = can[k][bool(flips)]
            chosen[bool(flips)].append(Item(k, own[int(rng.integers(len(own)))]))
    even = min(map(len, chosen.values()))
    return [*chosen[True][:even], *chosen[False][:even]]


def trusted(panel: Panel, maps: Sequence[Floats]) -> float:
    """How far a reader trusts maps, each read as shares of the sum of its absolute values."""
    of = terms(panel.cases)
    rows = uniform(of, panel.learning)
    worth = np.zeros_like(rows)
    for row, own in zip(worth, maps, strict=True):
        row[: len(own)] = shares(own)
    return spread(summed(of, rows), summed(of, worth)).trust


def shares(attribution: Floats) -> Floats:
    """A map over the mean of its absolute values; one that is 0 everywhere values all alike."""
    size = np.abs(attribution).mean()
    return attribution / size if size > 0 else np.ones_like(attribution)


def left(attribution: Floats, changed: NDArray[np.bool_], trust: float) -> float:
    """The share of the evidence that is left without the features that were changed."""
    kept = ~changed[: len(attribution)]
    worth = trust * shares(attribution) + (1 - trust)
    return float((worth * kept).mean())


def evidence(attribution: Floats, more: More, changed: NDArray[np.bool_], trust: float) -> float:
    """The same, by the rule where that is all there is to see."""
    rule = more.get("rule")
    if rule is None or len(more) > 1:
        return left(attribution, changed, trust)
    return 0.0 if any(changed[c["index"]] for c in rule["conditions"]) else 1.0


def says_flipped(seen: Floats, plain: Floats, coin: Floats) -> NDArray[np.bool_]:
    """Of which changes a person says that they flip the output: the half with least left.

    Ties are decided by what it would have said without an explanation, then by a coin.
    """
    order = np.lexsort((coin, plain.round(9), seen.round(9)))
    found = np.zeros(len(seen), dtype=np.bool_)
    found[order[: len(seen) // 2]] = True
    return found
