"""The shares of features that comprehensiveness and sufficiency look at, and their mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humetric.blackbox import SHARES, top_counts
from humetric.engine.questions import Answers
from humetric.metrics import Scores
from humetric.tasks.cases import Cases


def tops(cases: Cases) -> list[np.ndarray]:
    """How many features of each case its top shares are."""
    return [top_counts(n) for n in cases.lengths]


def falls(answers: Sequence[Answers], cases: Cases) -> Scores:
    """Mean over shares of p(x) - p(x changed), and the falls themselves as curves.

    Answers are (intact, one for each share).
    """
    whole, changed = (a.probability.view(len(cases), -1) for a in answers)
    fall = whole - changed.view(len(cases), len(SHARES))
    return Scores(fall.mean(1), fall)
