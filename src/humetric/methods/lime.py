"""LIME: a local linear model of the score over which groups of features are there."""

from __future__ import annotations

import torch
from torch import Tensor

from humetric.cards import EVERY
from humetric.engine.questions import Program, about, alike, chosen, intact, spread
from humetric.methods import Explainer, method
from humetric.tasks.cases import Cases


@method(
    "lime",
    version=1,
    reference="Ribeiro et al. 2016, arXiv:1602.04938",
    tasks=EVERY,
)
def lime(samples: int = 1000, cells: int = 8, width: float = 0.25, ridge: float = 1.0) -> Explainer:
    """Weights of a ridge regression of the probability on random subsets of grid cells or words.

    Each cell is kept with probability 1/2; a sample counts exp(-d^2 / (2 width^2)), d = cosine
    distance to the intact input, which is a sample too. Images are cut into a grid of ``cells`` x
    ``cells`` instead of superpixels: reproducible and the same for every model. (The grid differs
    from the 9 x 9 of mu-fidelity on purpose, lest the metric favour its own cells.) In a text each
    word takes the place of a cell.
    """

    def explain(cases: Cases) -> Program[Tensor]:
        partition = cases.task.groups(cells)
        sizes = cases.sizes(partition.groups)
        bits = [r.random((samples, n)) < 0.5 for r, n in zip(cases.rng("lime"), sizes, strict=True)]
        key = ("lime", samples, partition.name)
        sampled, whole = yield [about(cases, bits, partition, key), intact(cases)]

        def each(members: list[int], kept: Tensor) -> Tensor:
            design = kept.to(torch.float64)
            design = torch.cat((design, torch.ones_like(design[:, :1])), 1)
            score = chosen(sampled.probability, bits, members)
            score = torch.cat((score, whole.probability[members, None]), 1)
            distance = 1 - design.mean(2).sqrt()  # cosine of 0/1 vectors to the vector of ones
            weight = torch.exp(-((distance / width) ** 2) / 2)
            return weighted_ridge(design, score, weight, ridge)

        return spread(cases, partition, ((m, each(m, kept)) for m, kept in alike(bits)))

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
