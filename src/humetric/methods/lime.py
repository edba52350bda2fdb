"""LIME: a local linear model of the score over which groups of features are there."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from humetric.engine.questions import GroupMasks, Program, about_each, intact
from humetric.methods import Explainer, method
from humetric.tasks.cases import Cases


@method("lime", version=1, reference="Ribeiro et al. 2016, arXiv:1602.04938")
def lime(samples: int = 1000, cells: int = 8, width: float = 0.25, ridge: float = 1.0) -> Explainer:
    """Weights of a ridge regression of the class probability on random subsets of grid cells.

    Each cell is kept with probability 1/2; a sample counts exp(-d^2 / (2 width^2)), d = cosine
    distance to the intact input, which is a sample too. Images are cut into a grid of ``cells`` x
    ``cells`` instead of superpixels: reproducible and the same for every model. (The grid differs
    from the 9 x 9 of mu-fidelity on purpose, lest the metric favour its own cells.)
    """

    def explain(cases: Cases) -> Program[Tensor]:
        partition = cases.task.groups(cells)
        draws = [r.random((samples, partition.groups)) < 0.5 for r in cases.rng("lime")]
        bits = torch.from_numpy(np.concatenate(draws))
        key = ("lime", samples, partition.name)
        sampled, whole = yield [
            about_each(cases, GroupMasks(bits, partition), key=key),
            intact(cases),
        ]
        design = bits.view(len(cases), samples, -1).to(torch.float64)
        design = torch.cat((design, torch.ones_like(design[:, :1])), 1)
        score = torch.cat((sampled.probability.view(len(cases), -1), whole.probability[:, None]), 1)
        distance = 1 - design.mean(2).sqrt()  # cosine of 0/1 vectors to the vector of ones
        weight = torch.exp(-((distance / width) ** 2) / 2)
        return partition.spread(weighted_ridge(design, score, weight, ridge)).view(cases.shape)

    return explain


def weighted_ridge(design: Tensor, score: Tensor, weight: Tensor, ridge: float) -> Tensor:
    """Coefficients (cases, groups) of weighted ridge regressions with a free intercept.

    Centring by the weighted means takes the intercept out, so it is not shrunk.
    """
    share = weight / weight.sum(1, keepdim=True)
    x = design - (share[:, :, None] * design).sum(1, keepdim=True)
    y = score - (share * score).sum(1, keepdim=True)
    weighted = x * weight[:, :, None]
    gram = weighted.transpose(1, 2) @ x + ridge * torch.eye(x.shape[2], dtype=x.dtype)
    solved: Tensor = torch.linalg.solve(gram, weighted.transpose(1, 2) @ y[:, :, None])
    return solved[:, :, 0]
