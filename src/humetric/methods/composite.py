"""Composite: a linear model, a rule, a step across the boundary and a prototype, shown together."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from scipy.stats import rankdata
from torch import Tensor

from humetric.engine.questions import Program
from humetric.methods import Explainer, anchor, decision_boundary, lime, method, prototype
from humetric.methods.explanation import Explanation
from humetric.tasks.cases import Cases

LAST = 1
"""Steps of the path that are shown: the one that crosses the boundary."""


@method(
    "composite",
    version=1,
    reference="Hase & Bansal 2020, arXiv:2005.01831, section 3.5",
    tasks=("sentiment", "nli", "tabular"),
    signed=False,
    uses=("neighbours", "prototypes"),
)
def composite(
    samples: int = 1000, rule_samples: int = 3000, path_samples: int = 10000
) -> Explainer:
    """Mean rank of each feature in the maps of lime, anchor, decision-boundary and prototype.

    As the study combined them: the four explanations side by side, of the path only the last step,
    and a prototype model that shares the task model's extractor. ``samples`` are lime's,
    ``rule_samples`` anchor's, ``path_samples`` decision-boundary's. The study shows four things and
    weighs none of them. As a map, a feature's rank in each (1 for the highest value, 1 / n for the
    lowest, ties at their mean) is averaged: ours, since some number had to be. Ranks of anchor and
    of decision-boundary are ties but for a few features, so lime and prototype decide the rest.
    """

    def explain(cases: Cases) -> Program[Explanation]:
        weights, lines = yield from lime.fitted(cases, samples)
        wanted = anchor.Wanted(samples=rule_samples)
        rules = yield from anchor.shared_rules(cases, wanted)
        paths = yield from decision_boundary.shared_paths(cases, path_samples)
        like = yield from prototype.compared(cases, fixed=True)
        maps = (
            weights,
            anchor.projected(cases, rules),
            decision_boundary.projected(cases, paths),
            like.importance,
        )
        shown = [
            {"lime": line}
            | rule
            | path
            | prototype.told_of(cases, like, i, prototype.SHOWN, prototype.THRESHOLD, fixed=True)
            for i, (line, rule, path) in enumerate(
                zip(
                    lines,
                    anchor.told(cases, rules, wanted.precision),
                    decision_boundary.told(cases, paths, path_samples, LAST),
                    strict=True,
                )
            )
        ]
        return Explanation(mean_rank(maps, cases.lengths), tuple(shown))

    return explain


def mean_rank(maps: Sequence[Tensor], lengths: Sequence[int]) -> Tensor:
    """(cases, features) in (0, 1]: mean over maps of each feature's rank among the case's own."""
    found = torch.zeros(maps[0].shape, dtype=torch.float64)
    for i, n in enumerate(lengths):
        ranks = [rankdata(each[i, :n].double().cpu().numpy()) / n for each in maps]
        found[i, :n] = torch.from_numpy(sum(ranks) / len(ranks))
    return found
