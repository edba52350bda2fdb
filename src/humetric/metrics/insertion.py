"""Insertion: how fast the probability rises when the most important features come first."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from humetric.engine.questions import Answers, Questions, empty, intact
from humetric.metrics import Scores, Work, metric
from humetric.metrics.area import area
from humetric.metrics.ranking import curve_questions
from humetric.tasks.cases import Cases


@metric(
    "insertion",
    version=1,
    direction="higher",
    range=(0.0, 1.0),
    reference="Petsiuk et al. 2018, arXiv:1806.07421",
)
def insertion(steps: int = 32) -> Work:
    """Area under the probability while features are put back in descending signed attribution.

    The mirror of deletion: from the baseline up to the intact input, at the same shares, by the
    same rule. (Some implementations start from a blurred input; that is the setting's baseline
    here, the same for both metrics.)
    """

    def plan(attribution: Tensor, cases: Cases) -> Sequence[Questions]:
        inner = curve_questions(attribution, cases, steps, keep_first=True)
        return empty(cases), inner, intact(cases)

    def reduce(answers: Sequence[Answers], attribution: Tensor, cases: Cases) -> Scores:
        return area(answers, cases, steps)

    return Work(reduce, plan)
