"""Complexity: how evenly a map is spread. A baseline to beat, not a quality."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from humetric.engine.questions import Answers, on_host
from humetric.metrics import Scores, Work, metric
from humetric.tasks.cases import Cases


@metric(
    "complexity",
    version=1,
    direction="lower",
    range=(0.0, 1.0),
    reference="Bhatt et al. 2020, arXiv:2005.00631",
)
def complexity() -> Work:
    """Entropy of |a| / sum |a|, divided by log n: 0 for one feature, 1 for all alike.

    Reads the map alone and knows nothing of the model. Undefined for a map of zeros and for a
    single feature.
    """

    def reduce(answers: Sequence[Answers], attribution: Tensor, cases: Cases) -> Scores:
        size = on_host(attribution).abs()
        share = size / size.sum(1, keepdim=True)
        entropy = torch.special.entr(share).sum(1)
        most = [math.log(n) if n > 1 else math.nan for n in cases.lengths]
        return Scores(entropy / torch.tensor(most, dtype=torch.float64))

    return Work(reduce)
