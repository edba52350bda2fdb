"""EfficientNet-Lite0 with random weights in the place of the pretrained ones."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from humetric.models import lite_head
from humetric.models.efficientnet_lite import EfficientNetLite0


def random_network(folder: Path, monkeypatch: pytest.MonkeyPatch, seed: int = 0) -> Path:
    """Writes weights of 8 classes, which humetric then takes for the pretrained ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = EfficientNetLite0(classes=8)
        norms = [part for part in made.modules() if isinstance(part, nn.BatchNorm2d)]
        for norm in norms:
            norm.momentum = 1.0
        shade = torch.linspace(-1, 1, 16)[:, None, None, None]
        made.train()(shade + torch.randn(16, 3, 64, 64) / 4)  # so that features tell shades apart
    file = folder / f"network-{seed}.safetensors"
    save_file(made.state_dict(), file)
    monkeypatch.setattr(lite_head, "network_file", lambda *_: file)
    return file
