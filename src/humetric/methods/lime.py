"""LIME: a local linear model of the score over which groups of features are there."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from humetric.cards import EVERY
from humetric.engine.questions import Program, about, alike, chosen, intact, spread
from humetric.methods import Explainer, method
from humetric.methods.explanation import Explanation
from humetric.tasks.cases import Cases

SHOWN = 5
"""Features that people see (Hase & Bansal 2020)."""


@method(
    "lime",
    version=2,
    reference="Ribeiro et al. 2016, arXiv:1602.04938",
    tasks=EVERY,
)
def lime(samples: int = 1000, cells: int = 8, width: float = 0.25, ridge: float = 1.0) -> Explainer:
    """Weights of a ridge regression of the probability on random subsets of cells, words, columns.

    Each cell is kept with probability 1/2; a sample counts exp(-d^2 / (2 width^2)), d = cosine
    distance to the intact input, which is a sample too. Images are cut into a grid of ``cells`` x
    ``cells`` instead of superpixels: reproducible and the same for every model. (The grid differs
    from the 9 x 9 of mu-fidelity on purpose, lest the metric favour its own cells.) In a text each
    word takes the place of a cell, in a row of a table each column.

    The map has all weights. Of a text or a row people see the five of largest magnitude, fitted
    anew without the others: weights, intercept, sum, and the probability that they add up to.
    """

    def explain(cases: Cases) -> Program[Explanation]:
        maps, lines = yield from fitted(cases, samples, cells, width, ridge)
        return Explanation(maps, tuple({"lime": line} for line in lines))

    return explain


def fitted(
    cases: Cases, samples: int, cells: int = 8, width: float = 0.25, ridge: float = 1.0
) -> Program[tuple[Tensor, list[dict[str, Any]]]]:
    """The maps of some cases, and of texts and rows what people see of them."""
    partition = cases.task.groups(cells)
    sizes = cases.sizes(partition.groups)
    bits = [r.random((samples, n)) < 0.5 for r, n in zip(cases.rng("lime"), sizes, strict=True)]
    key = ("lime", samples, partition.name)
    sampled, whole = yield [about(cases, bits, partition, key), intact(cases)]
    shown: dict[int, dict[str, Any]] = {}

    def each(members: list[int], kept: Tensor) -> Tensor:
        design = kept.to(torch.float64)
        design = torch.cat((design, torch.ones_like(design[:, :1])), 1)
        score = chosen(sampled.probability, bits, members)
        score = torch.cat((score, whole.probability[members, None]), 1)
        distance = 1 - design.mean(2).sqrt()  # cosine of 0/1 vectors to the vector of ones
        weight = torch.exp(-((distance / width) ** 2) / 2)
        found, _ = weighted_ridge(design, score, weight, ridge)
        top = found.abs().argsort(dim=1, descending=True, stable=True)[:, :SHOWN]
        few = design.gather(2, top[:, None].expand(-1, design.shape[1], -1))
        weights, intercept = weighted_ridge(few, score, weight, ridge)
        for i, indices, own, start in zip(members, top.tolist(), weights, intercept, strict=True):
            shown[i] = _line(cases, i, indices, own, float(start), samples)
        return found

    maps = spread(cases, partition, ((m, each(m, kept)) for m, kept in alike(bits)))
    return maps, [shown[i] for i in range(len(cases))] if cases.named(0) else []


def _line(
    cases: Cases, case: int, indices: list[int], weights: Tensor, intercept: float, samples: int
) -> dict[str, Any]:
    names, total = cases.named(case), float(weights.sum())
    return {
        "features": [
            {"feature": names[index] if names else str(index), "index": index, "weight": weight}
            for index, weight in zip(indices, weights.tolist(), strict=True)
        ],
        "intercept": intercept,
        "sum": total,
        "probability": intercept + total,
        "class": int(cases.target[case].flatten()[0]),
        "samples": samples,
    }


def weighted_ridge(
    design: Tensor, score: Tensor, weight: Tensor, ridge: float
) -> tuple[Tensor, Tensor]:
    """Coefficients (cases, groups) and intercepts (cases,) of weighted ridge regressions.

    Centring by the weighted means takes the intercept out, so it is not shrunk.
    """
    share = weight / weight.sum(1, keepdim=True)
    centre, level = (share[:, :, None] * design).sum(1), (share * score).sum(1)
    x, y = design - centre[:, None], score - level[:, None]
    weighted = x * weight[:, :, None]
    gram = weighted.transpose(1, 2) @ x + ridge * torch.eye(x.shape[2], dtype=x.dtype)
    solved: Tensor = torch.linalg.solve(gram, weighted.transpose(1, 2) @ y[:, :, None])
    found = solved[:, :, 0]
    return found, level - (centre * found).sum(1)
