"""Leakage-adjusted simulatability: do explanations help beyond giving the output away?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from humetric.engine.questions import Program
from humetric.metrics import Simulation, metric
from humetric.metrics.panel import Panel, Replicates, Shown
from humetric.metrics.simulated.reader import evenly, guesses, names, shuffles, spread
from humetric.metrics.simulated.terms import Floats, highlights, shuffled, summed, terms, uniform
from humetric.seeding import generator

NAME = "leakage-adjusted-simulatability"
FOLDS = 6
"""The reader is asked about a sixth of the explained cases after having learned from the others."""

Bools = NDArray[np.bool_]


@metric(
    NAME,
    version=1,
    direction="higher",
    range=(-1.0, 1.0),
    reference="after Hase et al. 2020, arXiv:2010.04119; simulated",
    tasks=("image", "sentiment", "nli", "tabular"),
)
def leakage_adjusted_simulatability(draws: int = 20) -> Simulation:
    """What explanations of the very cases add to a simulated person's accuracy, leaks aside.

    Three readers learn what the model says: from cases alone, from cases with their explanations,
    and from explanations alone. Accuracy with explanations less accuracy from cases alone, averaged
    over the cases in which the third is right (the explanation gives the output away) and over
    those in which it is not, and then over the two; over one of them where the other is empty. One
    value for each of ``draws`` partitions of the explained cases into six parts, each of which is
    predicted after the others. 0: explanations do not help, and uniform ones give exactly 0.

    The readers see terms (metrics/simulated/reader.py): those of the case, in the case with its
    explanation each worth its highlight as far as the reader trusts highlights and any other's
    beyond that, in the explanation alone as much as it is highlighted. All other simulated users
    have no explanation of what they are asked about; here there is one, as in the paper. It wrote
    of explanations in words: that a map is read as the terms that it highlights is ours.
    """
    return Simulation(lambda panel, shown: _simulate(panel, shown, draws), FOLDS * 2)


def _simulate(panel: Panel, shown: Shown, count: int) -> Program[Replicates]:
    yield from ()
    of = terms(panel.cases)
    folds = [_fold(panel, i) for i in range(count)]
    counts = summed(of, uniform(of, panel.learning))
    weights = highlights(shown.attribution, of, panel.learning)

    def right(seen: Sequence[Floats]) -> Bools:
        return _right(panel, folds, seen)

    plain = panel.cases.once((NAME, count), lambda: right([counts] * count))

    def value(each: Sequence[Floats]) -> torch.Tensor:
        told = [summed(of, own) for own in each]
        both = right([counts + spread(counts, own).trust * (own - counts) for own in told])
        return torch.from_numpy(adjusted(both, plain, right(told)))

    mixed = [shuffled(of, weights, rng) for rng in shuffles(panel, NAME, count)]
    none = torch.zeros(count, dtype=torch.float64)
    controls = {"none": none, "shuffled": value(mixed)}
    return Replicates(names(count), value([weights] * count), controls)


def adjusted(both: Bools, plain: Bools, leaks: Bools) -> Floats:
    """(people,): the gain of accuracy, leaking cases and others weighing alike; all (people, n)."""
    gain = both.astype(np.float64) - plain
    parts = []
    for part in (leaks, ~leaks):
        size = part.sum(1)
        parts.append(np.where(size > 0, (gain * part).sum(1) / np.maximum(size, 1), np.nan))
    found: Floats = np.nanmean(parts, axis=0)
    return found


def _fold(panel: Panel, i: int) -> NDArray[np.int64]:
    """(parts, cases): learning cases in equal parts, each as even as can be."""
    rng = generator(panel.cases.seed, panel.setting.id, f"{NAME} draw {i}")
    order = evenly(np.arange(panel.learning), panel, rng)
    size = panel.learning // FOLDS
    return order[: size * FOLDS].reshape(FOLDS, size)


def _right(panel: Panel, folds: Sequence[NDArray[np.int64]], seen: Sequence[Floats]) -> Bools:
    """(people, cases): where a reader of rows (cases, terms) is right, part by part."""
    said, outputs = panel.target, int(panel.target.max()) + 1
    rng = generator(panel.cases.seed, panel.setting.id, f"{NAME} coin")
    found = []
    for part in range(FOLDS):
        asked = [fold[part] for fold in folds]
        known = [np.delete(fold, part, axis=0).ravel() for fold in folds]
        guessed = guesses(
            np.stack([rows[k] for rows, k in zip(seen, known, strict=True)]),
            said[np.stack(known)],
            np.stack([rows[a] for rows, a in zip(seen, asked, strict=True)]),
            outputs,
            rng,
        )
        found.append(guessed == said[np.stack(asked)])
    return np.concatenate(found, axis=1)
