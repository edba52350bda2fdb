"""Two-model choice: can a simulated person tell the better of two models by explanations?"""

from __future__ import annotations

import numpy as np
import torch

from humetric.engine.questions import Program
from humetric.metrics import Simulation, metric
from humetric.metrics.panel import Panel, Replicates, Shown
from humetric.metrics.simulated.lexical import Floats, Reading, readings, shades
from humetric.seeding import generator

NAME = "two-model-choice"
SHUFFLES = 20
"""Over which the control of a question is averaged."""


@metric(
    NAME,
    version=1,
    direction="higher",
    range=(0.0, 1.0),
    reference="after experiment 2 of Gonzalez et al. 2021, Findings of ACL; simulated",
    tasks=("qa",),
    rivals=True,
)
def two_model_choice() -> Simulation:
    """How often a simulated person takes the better of two models for the better one.

    The reader sees a question, its passage, and for each of two models the ten words of highest
    attribution. One value per worse model and explained question: 1 if it chooses the better one, 0
    if the other, .5 if it sees no difference. .5 on average: explanations do not help; where
    nothing is highlighted (``none``), or the same for both, it is .5 always.

    The reader (metrics/simulated/lexical.py) believes in the sentence that has most of the
    question's words. It chooses the model of whose highlighted words more are content words of that
    sentence or of the question; how dark they are is nothing to it, nor which is shown first. It
    never sees what either model answers, its weights, or the true answer. So it takes a model that
    reads like itself for the better one: a good model that looks at an answer in a sentence which
    repeats little of the question loses, and a bad one that looks at the question's words wins.
    People had two maps of each model, for the start and for the end of its answer; here there is
    one, of both.

    With ``shuffled`` highlights both models are chosen equally often if as many words are
    highlighted for one as for the other: maps with fewer than ten positive words give it away.
    """
    return Simulation(_simulate, 1)


def _simulate(panel: Panel, shown: Shown) -> Program[Replicates]:
    yield from ()
    seen = shades(shown.attribution, panel)
    names: list[str] = []
    values: list[float] = []
    mixed: list[float] = []
    for rival, attribution in sorted(shown.rivals.items()):
        other = shades(attribution, panel)
        for i, own in enumerate(readings(panel)):
            case = panel.cases.ids[i]
            names.append(f"{rival}: {case}")
            values.append(choice(own, seen[i], other[i]))
            rng = generator(panel.cases.seed, case, f"{NAME} {rival}")
            pairs = [(rng.permutation(seen[i]), rng.permutation(other[i])) for _ in range(SHUFFLES)]
            mixed.append(float(np.mean([choice(own, *pair) for pair in pairs])))
    value, shuffled = (torch.tensor(each, dtype=torch.float64) for each in (values, mixed))
    return Replicates(names, value, {"none": torch.full_like(value, 0.5), "shuffled": shuffled})


def choice(own: Reading, one: Floats, other: Floats) -> float:
    """1 if the reader takes the first model for the better one, 0 if the other, .5 if neither."""
    first, second = (int((own.relevant & (shade > 0)).sum()) for shade in (one, other))
    return (1 + float(np.sign(first - second))) / 2
