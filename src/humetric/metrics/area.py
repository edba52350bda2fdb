"""The area under a curve of probabilities, as deletion and insertion need it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from humetric.engine.questions import Answers
from humetric.metrics import Scores
from humetric.metrics.ranking import removed
from humetric.tasks.cases import Cases


def area(answers: Sequence[Answers], cases: Cases, steps: int) -> Scores:
    """Trapezoid rule on the true shares; answers are (start, inner points, end)."""
    start, inner, end = (a.probability.view(len(cases), -1) for a in answers)
    curve: Tensor = torch.cat((start, inner, end), 1)
    shares = torch.from_numpy(removed(cases.features, steps)).to(curve) / cases.features
    return Scores(torch.trapezoid(curve, shares, dim=1), curve)
