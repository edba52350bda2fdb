"""Comprehensiveness: does the probability fall without the most important features?"""

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
    "comprehensiveness",
    version=1,
    direction="higher",
    range=(-1.0, 1.0),
    reference="DeYoung et al. 2020, arXiv:1911.03429",
    tasks=(*TEXT, "tabular"),
)
def comprehensiveness() -> Work:
    """Mean fall of the probability when the top 1, 5, 10, 20 and 50 % of features are removed.

    p(x) - p(x without the top k), k = max(1, round(share * n)) in descending signed attribution;
    every share counts, also where several give the same k. Higher is better. It misleads as
    deletion does, where removal itself confuses the model; and it looks at a few features only.
    """

    def plan(attribution: Tensor, cases: Cases) -> Sequence[Questions]:
        return intact(cases), top_questions(attribution, cases, tops(cases), keep_first=False)

    def reduce(answers: Sequence[Answers], attribution: Tensor, cases: Cases) -> Scores:
        return falls(answers, cases)

    return Work(reduce, plan)
