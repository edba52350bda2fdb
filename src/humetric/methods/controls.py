"""Controls: maps that know nothing of the model. A metric that ranks them high is no good."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from humetric.methods import Explainer, method
from humetric.tasks.cases import Cases


@method("random", version=1, reference="control", signed=False, control=True)
def random() -> Explainer:
    """Uniform noise, one draw per feature."""

    def explain(cases: Cases) -> Tensor:
        shape = cases.task.features
        maps = [rng.random(shape, dtype=np.float32) for rng in cases.rng("random")]
        return torch.from_numpy(np.stack(maps)).to(cases.device)

    return explain


@method("constant", version=1, reference="control", signed=False, control=True)
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
