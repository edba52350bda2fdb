"""Mu-fidelity: does the attribution of a subset predict what removing it does?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from humetric.blackbox import draw_subsets
from humetric.engine.questions import Answers, GroupMasks, Questions, about_each, intact, on_host
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
    cells, or all of them when there are fewer. Subsets of one size are essential: with independent
    draws per cell a constant map scores high, since larger subsets have larger sums and larger
    drops. The subsets belong to the case, so all methods share the questions. Undefined for a
    constant map.
    """

    def questions(cases: Cases) -> tuple[Partition, Questions]:
        partition = cases.task.groups(cells)
        size = max(1, round(share * partition.groups))
        drawn = [
            draw_subsets(partition.groups, size, subsets, rng) for rng in cases.rng("mu-fidelity")
        ]
        masks = GroupMasks(torch.from_numpy(~np.concatenate(drawn)), partition)
        return partition, about_each(cases, masks, key=("mu-fidelity", subsets, share, cells))

    def shared(cases: Cases) -> tuple[Partition, Questions]:
        return cases.once(("mu-fidelity", subsets, share, cells), lambda: questions(cases))

    def plan(attribution: Tensor, cases: Cases) -> Sequence[Questions]:
        return shared(cases)[1], intact(cases)

    def reduce(answers: Sequence[Answers], attribution: Tensor, cases: Cases) -> Scores:
        partition, asked = shared(cases)
        assert isinstance(asked.masks, GroupMasks)
        inside = ~asked.masks.bits.view(len(cases), -1, partition.groups)
        attribution = on_host(attribution)
        sums = inside.to(torch.float64) @ partition.sum(attribution)[:, :, None]
        drop = answers[1].logit[:, None] - answers[0].logit.view(len(cases), -1)
        value = spearman(snap(sums[:, :, 0]), drop)
        constant = attribution.amax(1) == attribution.amin(1)
        return Scores(value.masked_fill(constant, torch.nan))

    return Work(reduce, plan)
