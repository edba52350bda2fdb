"""Image classification: a feature is a pixel, removed in all channels at once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from humetric.tasks.partition import Partition, cuts, grid
from humetric.tasks.task import class_answer


@dataclass(frozen=True)
class ImageTask:
    """Images of one size; the model takes (rows, channels, height, width) and gives logits."""

    channels: int
    height: int
    width: int

    @property
    def id(self) -> str:
        """Name of the task."""
        return "image"

    @property
    def features(self) -> tuple[int, ...]:
        """An attribution has one number per pixel."""
        return (self.height, self.width)

    @property
    def exact(self) -> bool:
        """Colours may be rounded."""
        return False

    @property
    def numbers(self) -> int:
        """A pixel has a number in each channel."""
        return self.channels

    def groups(self, cells: int) -> Partition:
        """Pixels in a square grid of ``cells`` x ``cells``."""
        return grid(self.height, self.width, cells)

    def windows(self, size: int, stride: int) -> tuple[Partition, Tensor]:
        """Sliding windows as unions of the groups that their edges cut; 0 means a tenth."""
        size = size or max(1, round(min(self.features) / 10))
        stride = stride or size
        return cuts(self.height, self.width, size, stride)

    def store(self, x: Tensor) -> Tensor:
        """Channels last, the format that convolutions run fastest in, and flat."""
        return x.movedim(-3, -1).flatten(-3)

    def mix(self, keep: Tensor, x: Tensor, fill: Tensor) -> None:
        """Blend both by keep; exact where it is 0 or 1."""
        torch.lerp(fill.expand_as(keep), x.expand_as(keep), keep, out=keep)

    def model_inputs(self, x: Tensor) -> Tensor:
        """The same memory, seen as (rows, channels, height, width)."""
        return x.view(-1, self.height, self.width, self.channels).movedim(-1, 1)

    def answer(self, output: Tensor, target: Tensor) -> Tensor:
        """Logit, softmax probability and margin of the explained class."""
        return class_answer(output, target)


def mean_colour(x: Tensor) -> Tensor:
    """(1, 1, *input): zero in normalised space."""
    return torch.zeros_like(x[:1])[:, None]


def blur(x: Tensor) -> Tensor:
    """(cases, 1, *input): each image blurred by a Gaussian of a twentieth of its size."""
    sigma = max(x.shape[-2:]) / 20
    reach = torch.arange(-round(3 * sigma), round(3 * sigma) + 1, dtype=x.dtype)
    kernel = torch.exp(-((reach / sigma) ** 2) / 2)
    kernel = kernel / kernel.sum()
    channels, margin = x.shape[1], len(reach) // 2
    padded = F.pad(x, (margin,) * 4, mode="replicate")
    rows = F.conv2d(padded, kernel.view(1, 1, -1, 1).repeat(channels, 1, 1, 1), groups=channels)
    both = F.conv2d(rows, kernel.view(1, 1, 1, -1).repeat(channels, 1, 1, 1), groups=channels)
    return both[:, None]


BASELINES = {"mean": mean_colour, "blur": blur}
