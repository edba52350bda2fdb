"""Utility simulation: does a simulated person learn what a vision model goes by?"""

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

NAME = "utility-simulation"
ROUNDS, LEARN, TEST = 3, 5, 7
"""As in the study: sessions, cases to learn from in each, cases to predict after each."""


@metric(
    NAME,
    version=1,
    direction="higher",
    range=(0.0, 10.0),
    reference="after the protocol of Colin et al. 2022, arXiv:2112.04417; simulated",
    tasks=("image", "sentiment", "nli", "tabular"),
)
def utility_simulation(draws: int = 20) -> Simulation:
    """A simulated person's accuracy at predicting the model, over that without explanations.

    Three rounds of five explained learning cases and seven test cases without an explanation, half
    of them cases in which the model is right; the mean accuracy of the rounds is divided by that of
    the same person with uniform maps. 1: explanations do not help. One value for each of ``draws``
    draws of cases from the panel, linearised so that their mean is the ratio of means.

    The reader (metrics/simulated/reader.py) sees the terms of a case (words, values of columns,
    kinds of patches), in learning cases also how much each is highlighted, and what the model said
    of these; it remembers all rounds so far. It cannot see how terms are arranged, so a method that
    points at a shape does not help it; and where it needs no explanation it has none to gain.
    """
    return Simulation(lambda panel, shown: _simulate(panel, shown, draws), 15, 21)


def _simulate(panel: Panel, shown: Shown, count: int) -> Program[Replicates]:
    yield from ()
    of = terms(panel.cases)
    people = draws(panel, NAME, count, ROUNDS * LEARN, ROUNDS * TEST)
    weights = highlights(shown.attribution, of, panel.learning)
    plain = panel.cases.once(
        (NAME, count), lambda: accuracy(panel, people, [uniform(of, panel.learning)] * count)
    )
    mixed = [shuffled(of, weights, rng) for rng in shuffles(panel, NAME, count)]
    own, other = (accuracy(panel, people, seen) for seen in ([weights] * count, mixed))
    none = torch.ones(count, dtype=torch.float64)
    controls = {"none": none, "shuffled": _ratio(other, plain)}
    return Replicates(names(count), _ratio(own, plain), controls)


def accuracy(panel: Panel, people: Sequence[Draw], seen: Sequence[Floats]) -> Floats:
    """(people,): mean accuracy over the rounds; ``seen`` are the highlights that each is shown."""
    of, said = terms(panel.cases), panel.target
    counts = summed(of, uniform(of))
    shown = [summed(of, weights) for weights in seen]
    rng = generator(panel.cases.seed, panel.setting.id, f"{NAME} coin")
    right = []
    for turn in range(ROUNDS):
        known = [p.learning[: (turn + 1) * LEARN] for p in people]
        asked = [p.test[turn * TEST : (turn + 1) * TEST] for p in people]
        matter = [mattering(counts[k], s[k]) for k, s in zip(known, shown, strict=True)]
        guessed = guesses(
            np.stack([counts[k] * m for k, m in zip(known, matter, strict=True)]),
            said[np.stack(known)],
            np.stack([counts[a] * m for a, m in zip(asked, matter, strict=True)]),
            int(said.max()) + 1,
            rng,
        )
        right.append(guessed == said[np.stack(asked)])
    found: Floats = np.concatenate(right, axis=1).mean(1)
    return found


def _ratio(found: Floats, plain: Floats) -> torch.Tensor:
    """Values whose mean is mean(found) / mean(plain), and whose spread is that of the ratio."""
    ratio = found.mean() / plain.mean()
    return torch.from_numpy(ratio + (found - ratio * plain) / plain.mean())
