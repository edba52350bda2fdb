"""Sparseness: how much of a map lies in few features. A baseline to beat, not a quality."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from humetric.engine.questions import Answers, on_host
from humetric.metrics import Scores, Work, metric
from humetric.tasks.cases import Cases


@metric(
    "sparseness",
    version=1,
    direction="higher",
    range=(0.0, 1.0),
    reference="Chalasani et al. 2020, arXiv:1810.06583; Hurley & Rickard 2009, arXiv:0811.4706",
)
def sparseness() -> Work:
    """Gini index of |a|: 0 for all alike, 1 - 1/n for a single feature.

    Reads the map alone and knows nothing of the model. Undefined for a map of zeros.
    """

    def reduce(answers: Sequence[Answers], attribution: Tensor, cases: Cases) -> Scores:
        size = on_host(attribution).abs().sort(1).values
        n = torch.tensor(cases.lengths, dtype=torch.float64)[:, None]
        place = torch.arange(1, cases.features + 1) - (cases.features - n)  # a case's own come last
        return Scores(((2 * place - n - 1) * size).sum(1) / (n[:, 0] * size.sum(1)))

    return Work(reduce)
