"""Sufficiency: is the probability kept by the most important features alone?"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from humetric.cards import TEXT
from humetric.engine.questions import Answers, Questions, intact
from humetric.metrics import Scores, Work, metric
from humetric.metrics.ranking import top_questions
from humetric.metrics.shares import falls, tops
from humetric.tasks.cases import Cases


@metric(
    "sufficiency",
    version=1,
    direction="lower",
    range=(-1.0, 1.0),
    reference="DeYoung et al. 2020, arXiv:1911.03429",
    tasks=(*TEXT, "tabular"),
)
def sufficiency() -> Work:
    """Mean fall of the probability when only the top 1, 5, 10, 20 and 50 % of features are left.

    p(x) - p(the top k alone), k = max(1, round(share * n)) in descending signed attribution; every
    share counts, also where several give the same k. Lower is better, and negative values mean that
    the rest spoke against the output. In short texts k is 1 for several shares, so that it is
    mostly about a single word.
    """

    def plan(attribution: Tensor, cases: Cases) -> Sequence[Questions]:
        return intact(cases), top_questions(attribution, cases, tops(cases), keep_first=True)

    def reduce(answers: Sequence[Answers], attribution: Tensor, cases: Cases) -> Scores:
        return falls(answers, cases)

    return Work(reduce, plan)
