"""Controls: maps that know nothing of the model. A metric that ranks them high is no good."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from humetric.cards import EVERY, TEXT
from humetric.methods import Explainer, method
from humetric.tasks.cases import Cases


@method(
    "random",
    version=1,
    reference="control",
    tasks=EVERY,
    signed=False,
    control=True,
)
def random() -> Explainer:
    """Uniform noise, one draw per feature."""

    def explain(cases: Cases) -> Tensor:
        maps = np.zeros((len(cases), cases.features), dtype=np.float32)
        for own, n, rng in zip(maps, cases.lengths, cases.rng("random"), strict=True):
            own[:n] = rng.random(n, dtype=np.float32)
        return torch.from_numpy(maps).view(cases.shape).to(cases.device)

    return explain


@method(
    "constant",
    version=1,
    reference="control",
    tasks=EVERY,
    signed=False,
    control=True,
)
def constant() -> Explainer:
    """The same number everywhere."""

    def explain(cases: Cases) -> Tensor:
        return torch.ones(cases.shape, device=cases.device)

    return explain


@method(
    "edge",
    version=1,
    reference="control; Adebayo et al. 2018, arXiv:1810.03292",
    signed=False,
    control=True,
)
def edge() -> Explainer:
    """Sobel edge strength of the mean over channels: what is in the image, not in the model."""

    def explain(cases: Cases) -> Tensor:
        sobel = cases.x.new_tensor([[1, 0, -1], [2, 0, -2], [1, 0, -1]])
        kernels = torch.stack((sobel, sobel.T))[:, None]
        grey = F.pad(cases.x.mean(1, keepdim=True), (1, 1, 1, 1), mode="replicate")
        return F.conv2d(grey, kernels).square().sum(1).sqrt()

    return explain


@method(
    "position",
    version=1,
    reference="control",
    tasks=TEXT,
    signed=False,
    control=True,
)
def position() -> Explainer:
    """Earlier words count more: (n - i) / n for word i of n, counted from 0.

    It knows where a word stands and nothing else. Where people, or models, read from the start, it
    is harder to beat than noise.
    """

    def explain(cases: Cases) -> Tensor:
        own = torch.tensor(cases.lengths, device=cases.device)[:, None]
        place = torch.arange(cases.features, device=cases.device)
        return ((own - place) / own).clamp(min=0)

    return explain


@method(
    "magnitude",
    version=1,
    reference="control",
    tasks=("tabular",),
    signed=False,
    control=True,
)
def magnitude() -> Explainer:
    """How unusual each value is: distance from the mean in deviations, or rarity of a category.

    A number counts |value - mean| / standard deviation of the background; a category (1 - share) /
    sqrt(share * (1 - share)) of the background rows that have it: the same for a 0/1 number.
    """

    def explain(cases: Cases) -> Tensor:
        table, rows = cases.rows(), cases.x.cpu().double().numpy()
        found = np.empty(rows.shape)
        for j, column in enumerate(table.columns):
            known, own = table.background[:, j], rows[:, j]
            if column.number:
                found[:, j] = np.abs(own - known.mean()) / max(float(known.std()), 1e-6)
            else:  # a category that no other row has counts as if half a row had it
                share = (known == own[:, None]).mean(1).clip(0.5 / len(known), 1 - 1e-6)
                found[:, j] = np.sqrt((1 - share) / share)
        return torch.from_numpy(found).to(cases.dtype).to(cases.device)

    return explain
