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
    if cases.texts is not None:
        return _each(answers, cases, steps)
    start, inner, end = (a.probability.view(len(cases), -1) for a in answers)
    curve: Tensor = torch.cat((start, inner, end), 1)
    shares = torch.from_numpy(removed(cases.features, steps)).to(curve) / cases.features
    return Scores(torch.trapezoid(curve, shares, dim=1), curve)


def _each(answers: Sequence[Answers], cases: Cases, steps: int) -> Scores:
    """The same for cases that differ in their number of features, one by one."""
    counts = [removed(n, steps) for n in cases.lengths]
    start, inner, end = (a.probability for a in answers)
    parts = inner.split([len(c) - 2 for c in counts])
    curve = torch.full((len(cases), max(map(len, counts))), torch.nan, dtype=torch.float64)
    value = torch.empty(len(cases), dtype=torch.float64)
    for i, (count, part) in enumerate(zip(counts, parts, strict=True)):
        own = torch.cat((start[i : i + 1], part, end[i : i + 1]))
        curve[i, : len(own)] = own
        value[i] = torch.trapezoid(own, torch.from_numpy(count).to(own) / cases.lengths[i])
    return Scores(value, curve)
