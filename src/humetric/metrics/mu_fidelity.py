"""Mu-fidelity: does the attribution of a subset predict what removing it does?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from humetric.blackbox import draw_subsets
from humetric.engine.questions import Answers, Questions, about, alike, chosen, intact, on_host
from humetric.metrics import Scores, Work, metric
from humetric.metrics.correlation import snap, spearman
from humetric.tasks.cases import Cases
from humetric.tasks.partition import Partition


@metric(
    "mu-fidelity",
    version=1,
    direction="higher",
    range=(-1.0, 1.0),
    reference="Bhatt et al. 2020, arXiv:2005.00631",
)
def mu_fidelity(subsets: int = 200, share: float = 0.2, cells: int = 9) -> Work:
    """Rank correlation of subsets' summed attribution with the drop of the logit without them.

    Spearman's, over ``subsets`` random subsets of exactly max(1, round(share * n)) of the n grid
    cells or words, or all of them when there are fewer. Subsets of one size are essential: with
    independent draws per cell a constant map scores high, since larger subsets have larger sums and
    larger drops. The subsets belong to the case, so all methods share the questions. Undefined for
    a constant map.
    """
    name = ("mu-fidelity", subsets, share, cells)

    def drawn(cases: Cases) -> tuple[Partition, list[NDArray[np.bool_]], Questions]:
        partition = cases.task.groups(cells)
        outside = [
            ~draw_subsets(n, max(1, round(share * n)), subsets, rng)
            for n, rng in zip(cases.sizes(partition.groups), cases.rng("mu-fidelity"), strict=True)
        ]
        return partition, outside, about(cases, outside, partition, name)

    def shared(cases: Cases) -> tuple[Partition, list[NDArray[np.bool_]], Questions]:
        return cases.once(name, lambda: drawn(cases))

    def plan(attribution: Tensor, cases: Cases) -> Sequence[Questions]:
        return shared(cases)[2], intact(cases)

    def reduce(answers: Sequence[Answers], attribution: Tensor, cases: Cases) -> Scores:
        partition, outside, _ = shared(cases)
        attribution = on_host(attribution)
        grouped = partition.sum(attribution)
        value = torch.full((len(cases),), torch.nan, dtype=torch.float64)
        for members, kept in alike(outside):
            inside = (~kept).to(torch.float64)
            sums = inside @ grouped[members, : kept.shape[2], None]
            drop = answers[1].logit[members, None] - chosen(answers[0].logit, outside, members)
            value[members] = spearman(snap(sums[:, :, 0]), drop)
        for i, n in enumerate(cases.lengths):
            if attribution[i, :n].max() == attribution[i, :n].min():
                value[i] = torch.nan
        return Scores(value)

    return Work(reduce, plan)
