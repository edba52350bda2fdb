"""ResNet-50 (He et al. 2016) of ``transformers``, as the settings of pictures take a network."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import ResNetConfig, ResNetForImageClassification


class ResNet(ResNetForImageClassification):  # type: ignore[no-untyped-call]
    """Logits (N, classes) of normalised images (N, 3, H, W); made for 224x224."""

    @property
    def last_convolution(self) -> nn.Module:
        """What grad-cam reads: the last block's output, 2048 maps of 7x7 that are averaged."""
        stages: Any = self.resnet.encoder.stages
        found: nn.Module = stages[-1].layers[-1]
        return found

    def features(self, x: Tensor) -> Tensor:
        """The pooled representation (N, 2048) that the linear classifier reads."""
        pooled: Tensor = self.resnet(x).pooler_output
        return torch.flatten(pooled, 1)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.classifier(self.features(x))
        return logits


def shaped(config: ResNetConfig, classes: int) -> ResNet:
    """One with random weights of a shape."""
    config.num_labels = classes
    return ResNet(config)
