"""ResNet-50 (He et al. 2016) of ``transformers``, as the settings of pictures take a network."""

from __future__ import annotations

import json
from typing import Any

import torch
from torch import Tensor, nn
from transformers import ResNetConfig, ResNetForImageClassification

from humetric.data.sources import find
from humetric.models.lite_head import Base
from humetric.models.transformer import VOLATILE

SOURCE = "resnet-50"


class ResNet(ResNetForImageClassification):
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

    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        logits: Tensor = self.classifier(self.features(x))
        return logits


def made(classes: int) -> ResNet:
    """One with random weights, of the shape that the source's config.json says."""
    plain = json.loads(find(SOURCE).file("config.json").read_text())
    kept = {k: v for k, v in plain.items() if k not in VOLATILE and not k.endswith("2label")}
    config = ResNetConfig(**{k: v for k, v in kept.items() if k != "label2id"})
    config.num_labels = classes
    return ResNet(config)


RESNET = Base(SOURCE, made, "classifier.1", (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
"""Trained on ImageNet-1k; the usual mean and deviation of its colours."""
