"""A small convolutional classifier for 64x64 pictures, and how its shipped weights are read.

One architecture serves the three embedded image sets. Four 3x3 convolutions, three of them strided,
lead to 8x8 maps; their global average goes through one hidden layer, because a relation of two
objects (pair) is not a linear function of how much of each the picture holds. About 4 million
multiply-adds a picture keep thousands of masked pictures a second within reach of a CPU.

Every ReLU is a module of its own, used once and not in place, so that attribution methods that hook
modules see what they expect.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import safe_open
from torch import Tensor, nn

from humetric.errors import HumetricError

ARCHITECTURE = "convnet-1"
"""Written into the weights; a changed architecture gets another number."""

WEIGHTS = Path(__file__).parent / "weights"


def _block(inputs: int, outputs: int, stride: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


class ConvNet(nn.Module):
    """Logits (n, classes) of normalised pictures (n, channels, 64, 64)."""

    FEATURES = 48

    def __init__(self, classes: int = 2, channels: int = 3) -> None:
        super().__init__()
        self.features = nn.Sequential(
            _block(channels, 16, 2),
            _block(16, 32, 2),
            _block(32, self.FEATURES, 2),
            _block(self.FEATURES, self.FEATURES, 1),
        )
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Sequential(nn.Linear(self.FEATURES, 32), nn.ReLU(), nn.Linear(32, classes))

    @property
    def last_convolution(self) -> nn.Module:
        """The last block; its output is the non-negative 8x8 maps that Grad-CAM weighs."""
        return self.features[-1]

    def forward(self, pictures: Tensor) -> Tensor:
        logits: Tensor = self.head(self.pool(self.features(pictures)))
        return logits


def normalise(images: NDArray[np.uint8], mean: Sequence[float], std: Sequence[float]) -> Tensor:
    """Pictures (n, 64, 64, 3) of bytes as the model's input (n, 3, 64, 64): zero is mean colour.

    The result is channels-last in memory, which convolutions on a CPU like best.
    """
    values = torch.from_numpy(images).to(torch.float32) / 255
    return ((values - torch.tensor(mean)) / torch.tensor(std)).permute(0, 3, 1, 2)


def load(file: Path) -> tuple[ConvNet, dict[str, str]]:
    """The model in a safetensors file, ready for inference, and the file's metadata."""
    with safe_open(file, framework="pt") as weights:
        metadata: dict[str, str] = weights.metadata() or {}
        tensors = {name: weights.get_tensor(name) for name in weights.keys()}  # noqa: SIM118
    if metadata.get("architecture") != ARCHITECTURE:
        raise HumetricError(
            f"Expected weights of {ARCHITECTURE} but got {metadata.get('architecture')!r} "
            f"in {file.name}: train again with python -m humetric.models.training."
        )
    classes, channels = tensors["head.2.bias"].shape[0], tensors["features.0.0.weight"].shape[1]
    model = ConvNet(classes, channels)
    model.load_state_dict(tensors)
    return model.eval(), metadata
