"""ResNet-50 as the base of image settings; its network is imported when one is made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from humetric.data.sources import find
from humetric.models.lite_head import Base
from humetric.models.transformer import VOLATILE

if TYPE_CHECKING:
    from humetric.models.resnet_network import ResNet

SOURCE = "resnet-50"


def made(classes: int) -> ResNet:
    """One with random weights, of the shape that the source's config.json says."""
    from transformers import ResNetConfig

    from humetric.models.resnet_network import shaped

    plain = json.loads(find(SOURCE).file("config.json").read_text())
    kept = {k: v for k, v in plain.items() if k not in VOLATILE and not k.endswith("2label")}
    return shaped(ResNetConfig(**{k: v for k, v in kept.items() if k != "label2id"}), classes)


RESNET = Base(SOURCE, made, "classifier.1", (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
"""Trained on ImageNet-1k; the usual mean and deviation of its colours."""
