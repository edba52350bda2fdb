"""Deletion: how fast the probability falls when the most important features go first."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from humetric.engine.questions import Answers, Questions, empty, intact
from humetric.metrics import Scores, Work, metric
from humetric.metrics.area import area
from humetric.metrics.ranking import curve_questions
from humetric.tasks.cases import Cases


@metric(
    "deletion",
    version=1,
    direction="lower",
    range=(0.0, 1.0),
    reference="Petsiuk et al. 2018, arXiv:1806.07421; Samek et al. 2016, arXiv:1509.06321",
)
def deletion(steps: int = 32) -> Work:
    """Area under the probability while features are removed in descending signed attribution.

    Points at the shares 0, 1/K ... 1 of features, K = min(features, steps), both ends included;
    trapezoid rule on the true shares. Removed features become the setting's baseline. It misleads
    where the model reacts to the edges that removal draws rather than to what is gone.
    """

    def plan(attribution: Tensor, cases: Cases) -> Sequence[Questions]:
        inner = curve_questions(attribution, cases, steps, keep_first=False)
        return intact(cases), inner, empty(cases)

    def reduce(answers: Sequence[Answers], attribution: Tensor, cases: Cases) -> Scores:
        return area(answers, cases, steps)

    return Work(reduce, plan)
