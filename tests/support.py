"""Small settings whose answers are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from humetric.engine.engine import Engine
from humetric.engine.placement import place
from humetric.models.convnet import ConvNet
from humetric.tasks.cases import Cases
from humetric.tasks.image_setting import image_setting, name_of
from humetric.tasks.setting import Setting


class Linear(nn.Module):
    """Two classes; the logits are linear in the input, so everything has a closed form."""

    def __init__(self, channels: int, height: int, width: int, seed: int = 0) -> None:
        super().__init__()
        draw = torch.Generator().manual_seed(seed)
        self.weight = nn.Parameter(torch.randn(2, channels, height, width, generator=draw) / 4)
        self.bias = nn.Parameter(torch.tensor([0.1, -0.2]))

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("nchw,kchw->nk", x, self.weight) + self.bias


def linear_setting(
    cases: int = 5, channels: int = 3, height: int = 12, width: int = 10, baseline: str = "mean"
) -> Setting:
    """Random byte images and a linear model."""
    images = np.random.default_rng(1).integers(0, 256, (cases, height, width, channels))
    return image_setting(
        "image/linear/test",
        Linear(channels, height, width),
        images.astype(np.uint8),
        mean=[0.5] * channels,
        std=[0.25] * channels,
        baseline=baseline,
    )


def net_setting(cases: int = 4, channels: int = 3) -> Setting:
    """Random byte images and an untrained convolutional network."""
    images = np.random.default_rng(2).integers(0, 256, (cases, 64, 64, channels))
    torch.manual_seed(0)
    net = ConvNet(channels=channels).eval()
    for parameter in net.head.parameters():
        parameter.data *= 6  # so that its logits move by about one when an image is masked
    return image_setting(
        "image/noise/cnn",
        net,
        images.astype(np.uint8),
        mean=[0.5] * channels,
        std=[0.25] * channels,
        layer=name_of(net.last_convolution, net),
    )


def engine_for(
    setting: Setting,
    *,
    precision: str = "fp64",
    batch_size: int = 64,
    start: int = 0,
    stop: int | None = None,
    engine: type[Engine] = Engine,
) -> Engine:
    """An engine over some cases of a setting."""
    placed = setting.place(place("cpu", precision))
    cases = placed.cases(start, len(setting) if stop is None else stop)
    return engine(cases, placed.fast_module, placed.placement.dtype, batch_size)


def ideal(cases: Cases) -> Tensor:
    """w * (x - b), summed over channels: the exact attribution of a linear model."""
    module = cases.model.module
    weight = module.weight[cases.target]  # type: ignore[index]
    return (weight * (cases.x - cases.baseline[:, 0])).sum(1).detach()


def reordered(setting: Setting, order: list[int]) -> Setting:
    """The same cases in another order, or fewer of them."""
    own = setting.baseline.shape[0] > 1
    return replace(
        setting,
        ids=tuple(setting.ids[i] for i in order),
        x=setting.x[order],
        baseline=setting.baseline[order] if own else setting.baseline,
        target=setting.target[order],
        label=setting.label[order],
        region=None if setting.region is None else setting.region[order],
        display=None if setting.display is None else setting.display[order],
    )
