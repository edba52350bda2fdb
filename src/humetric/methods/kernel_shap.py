"""Kernel SHAP: Shapley values of groups of features by weighted regression."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import torch
from torch import Tensor

from humetric.cards import EVERY
from humetric.engine.questions import Program, about, alike, chosen, empty, intact, spread
from humetric.methods import Explainer, method
from humetric.tasks.cases import Cases


@method(
    "kernel-shap",
    version=1,
    reference="Lundberg & Lee 2017, arXiv:1705.07874",
    tasks=EVERY,
)
def kernel_shap(samples: int = 2048, cells: int = 8) -> Explainer:
    """Shapley values of grid cells or words for the logit, by regression on sampled coalitions.

    Coalition sizes are drawn in proportion to the Shapley kernel, each coalition together with its
    complement, so all samples count alike; with no more cells than make all coalitions fit into
    ``samples``, all are asked and weighted by the kernel, and the values are exact. They sum to
    f(x) - f(baseline).
    """

    def explain(cases: Cases) -> Program[Tensor]:
        partition = cases.task.groups(cells)
        sizes = cases.sizes(partition.groups)
        bits = [
            _all_coalitions(n)[0] if _few(n, samples) else _coalitions(n, samples, rng)
            for n, rng in zip(sizes, cases.rng("kernel-shap"), strict=True)
        ]
        key = ("kernel-shap", samples, partition.name)
        sampled = [about(cases, bits, partition, key)] if max(sizes) > 1 else []
        *rest, whole, nothing = yield [*sampled, intact(cases), empty(cases)]

        def each(members: list[int], kept: Tensor) -> Tensor:
            total = (whole.logit - nothing.logit)[members]
            n = kept.shape[2]
            if n == 1:
                return total[:, None]
            gain = chosen(rest[0].logit, bits, members) - nothing.logit[members, None]
            weight = _all_coalitions(n)[1] if _few(n, samples) else np.ones(kept.shape[1])
            return shapley_regression(kept.to(torch.float64), gain, total, torch.from_numpy(weight))

        return spread(cases, partition, ((m, each(m, kept)) for m, kept in alike(bits)))

    return explain


def _few(groups: int, samples: int) -> bool:
    """Whether all coalitions can be asked."""
    return groups < 31 and 2**groups - 2 <= samples


def shapley_regression(design: Tensor, gain: Tensor, total: Tensor, weight: Tensor) -> Tensor:
    """Coefficients (cases, groups) that sum to ``total`` and fit the gains best.

    Each starts from its equal share of the total; what is fitted is the departure from it, which
    sums to zero. The pseudo-inverse gives the smallest such departure where the samples leave room.
    """
    groups = design.shape[2]
    share = total[:, None] / groups
    x = design - design.mean(2, keepdim=True)  # departures that sum to zero see only this
    y = gain - design.sum(2) * share
    weighted = (x * weight[:, None]).transpose(1, 2)
    inverse = torch.linalg.pinv(weighted @ x, hermitian=True, rtol=1e-10)
    departure = (inverse @ (weighted @ y[:, :, None]))[:, :, 0]
    values: Tensor = share + departure
    return values


def _coalitions(groups: int, samples: int, rng: np.random.Generator) -> np.ndarray:
    """Random coalitions and their complements, sizes drawn by the Shapley kernel."""
    sizes = np.arange(1, groups)
    kernel = 1 / (sizes * (groups - sizes))
    half = (samples + 1) // 2
    size = rng.choice(sizes, half, p=kernel / kernel.sum())
    order = rng.random((half, groups)).argsort(1).argsort(1)
    bits = order < size[:, None]
    return np.concatenate((bits, ~bits))[:samples]


def _all_coalitions(groups: int) -> tuple[np.ndarray, np.ndarray]:
    """All proper coalitions and their kernel weights."""
    bits = np.array(list(product((False, True), repeat=groups)))[1:-1]
    if groups == 1:
        return bits, np.empty(0)
    size = bits.sum(1)
    binomial = np.array([comb(groups, s) for s in range(groups + 1)], dtype=float)
    return bits, (groups - 1) / (binomial[size] * size * (groups - size))
