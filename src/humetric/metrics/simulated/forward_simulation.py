"""Forward simulation: does a simulated person predict the model better for having seen why?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from humetric.engine.questions import Program
from humetric.metrics import Simulation, metric
from humetric.metrics.panel import Panel, Replicates, Shown
from humetric.metrics.simulated.reader import Draw, draws, guesses, mattering, names, shuffles
from humetric.metrics.simulated.terms import Floats, highlights, shuffled, summed, terms, uniform
from humetric.seeding import generator

NAME = "forward-simulation"
LEARN, TEST = 16, 32
"""As in the study, where people with less time were asked about 16."""


@metric(
    NAME,
    version=1,
    direction="higher",
    range=(-1.0, 1.0),
    reference="after the forward test of Hase & Bansal 2020, arXiv:2005.01831; simulated",
    tasks=("image", "sentiment", "nli", "tabular"),
)
def forward_simulation(draws: int = 20) -> Simulation:
    """A simulated person's gain in accuracy at predicting the model, for seeing explanations.

    Sixteen learning cases, first without explanations and then with them; after each round the same
    thirty-two test cases, never explained: accuracy after less accuracy before, by the same person.
    Half of all cases are such that the model is wrong. 0: explanations do not help. One value for
    each of ``draws`` draws of cases from the panel.

    The reader (metrics/simulated/reader.py) sees the terms of a case (words, values of columns,
    kinds of patches), what the model said of learning cases and, after the second round, how much
    their terms are highlighted. It forgets nothing between rounds, which the study's people did. It
    takes no notice of how terms are arranged, nor of rules, paths and prototypes but by their
    projection to highlights.
    """
    return Simulation(lambda panel, shown: _simulate(panel, shown, draws), LEARN, TEST)


def _simulate(panel: Panel, shown: Shown, count: int) -> Program[Replicates]:
    yield from ()
    of = terms(panel.cases)
    people = draws(panel, NAME, count, LEARN, TEST)
    weights = highlights(shown.attribution, of, panel.learning)
    before = panel.cases.once(
        (NAME, count), lambda: accuracy(panel, people, [uniform(of, panel.learning)] * count)
    )
    mixed = [shuffled(of, weights, rng) for rng in shuffles(panel, NAME, count)]
    after, other = (accuracy(panel, people, seen) for seen in ([weights] * count, mixed))
    none = torch.zeros(count, dtype=torch.float64)
    controls = {"none": none, "shuffled": torch.from_numpy(other - before)}
    return Replicates(names(count), torch.from_numpy(after - before), controls)


def accuracy(panel: Panel, people: Sequence[Draw], seen: Sequence[Floats]) -> Floats:
    """(people,): accuracy in the test cases; ``seen`` are the highlights that each is shown."""
    of, said = terms(panel.cases), panel.target
    counts = summed(of, uniform(of))
    matter = [
        mattering(counts[p.learning], summed(of, weights)[p.learning])
        for p, weights in zip(people, seen, strict=True)
    ]
    asked = np.stack([p.test for p in people])
    guessed = guesses(
        np.stack([counts[p.learning] * m for p, m in zip(people, matter, strict=True)]),
        said[np.stack([p.learning for p in people])],
        np.stack([counts[p.test] * m for p, m in zip(people, matter, strict=True)]),
        int(said.max()) + 1,
        generator(panel.cases.seed, panel.setting.id, f"{NAME} coin"),
    )
    found: Floats = (guessed == said[asked]).mean(1)
    return found
