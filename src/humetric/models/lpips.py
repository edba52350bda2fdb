"""LPIPS: how alike two pictures look, from AlexNet features and published linear weights.

Zhang et al. 2018 ("The Unreasonable Effectiveness of Deep Features as a Perceptual Metric", CVPR,
arXiv:1801.03924), version 0.1 with AlexNet. After each of five convolutions the channels of every
position are divided by their norm; the squared differences of two pictures are weighted by channel,
averaged over positions and summed over layers. 0 is alike; there is no upper bound short of 8, but
distances above 1 are rare.

In plain torch: the official package needs torchvision. The squared differences are written as one
squared Euclidean distance of long vectors (:meth:`Lpips.features`), so that a picture goes through
the network once, however many it is compared with.

Weights are not shipped; see :func:`load`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from humetric.data.sources import Found, find
from humetric.errors import HumetricError

SHIFT, SCALE = (-0.030, -0.088, -0.188), (0.458, 0.448, 0.450)
"""ImageNet's mean and deviation by channel, for pictures from -1 to 1."""

CONVOLUTIONS = {0: (3, 64, 11, 4, 2), 3: (64, 192, 5, 1, 2), 6: (192, 384, 3, 1, 1),
                8: (384, 256, 3, 1, 1), 10: (256, 256, 3, 1, 1)}  # fmt: skip
"""AlexNet's, by their place in torchvision's network: inputs, outputs, kernel, stride, padding."""
POOLED = (3, 6)
"""Convolutions that a maximum over 3x3 at stride 2 goes before."""

SMALLEST = 31
"""Pixels along a side below which nothing is left for the third convolution."""

NAME, FILE = "lpips_alex", "model.safetensors"
"""The weights among :mod:`humetric.data.sources`, and their file."""


class Lpips(nn.Module):
    """Distances (n,) of pictures (n, 3, height, width) from -1 to 1, pair by pair."""

    shift: Tensor
    scale: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.features_at = nn.ModuleDict(
            {str(at): nn.Conv2d(*shape[:3], stride=shape[3], padding=shape[4])
             for at, shape in CONVOLUTIONS.items()}
        )  # fmt: skip
        self.weights = nn.ParameterList(
            nn.Parameter(torch.zeros(shape[1])) for shape in CONVOLUTIONS.values()
        )
        self.register_buffer("shift", torch.tensor(SHIFT)[:, None, None], persistent=False)
        self.register_buffer("scale", torch.tensor(SCALE)[:, None, None], persistent=False)

    def features(self, pictures: Tensor) -> Tensor:
        """(n, long): the squared Euclidean distance of two rows is their pictures' LPIPS."""
        if pictures.ndim != 4 or pictures.shape[1] != 3 or min(pictures.shape[2:]) < SMALLEST:
            raise HumetricError(
                f"Expected pictures of shape (n, 3, height, width), {SMALLEST} pixels a side or "
                f"more, but got {tuple(pictures.shape)}: repeat the channel of grey pictures, "
                f"resize small ones."
            )
        x, layers = (pictures - self.shift) / self.scale, []
        for at, convolution in self.features_at.items():
            if int(at) in POOLED:
                x = F.max_pool2d(x, 3, 2)
            x = F.relu(convolution(x))
            layers.append(x)
        return long_vectors(layers, list(self.weights))

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return (self.features(a) - self.features(b)).square().sum(1)


def long_vectors(layers: list[Tensor], weights: list[Tensor]) -> Tensor:
    """Layers (n, channels, height, width), each with a weight per channel, as one row per picture.

    The squared Euclidean distance of two rows is the sum over layers of the mean over positions of
    the weighted squared differences of channels, these divided by their norm.
    """
    rows = []
    for layer, weight in zip(layers, weights, strict=True):
        length = layer.square().sum(1, keepdim=True).sqrt()
        unit = layer / (length + 1e-10)
        positions = layer.shape[2] * layer.shape[3]
        rows.append((unit * (weight / positions).sqrt()[:, None, None]).flatten(1))
    return torch.cat(rows, 1)


def distances(a: Tensor, b: Tensor) -> Tensor:
    """Squared Euclidean distances (n, m) of rows (n, long) and (m, long), in float64."""
    a, b = a.double(), b.double()  # alike rows would lose most digits to the subtraction
    squares = a.square().sum(1)[:, None] + b.square().sum(1) - 2 * a @ b.T
    return squares.clamp(min=0)


def load(path: Path | None = None) -> Lpips:
    """LPIPS with its weights, for inference.

    They are the source lpips_alex (docs/sources.md): from ``path``, else from the mirror that
    ``HUMETRIC_MIRROR`` names, else from the installed packages lpips and torchvision. The latter
    fetches AlexNet by itself where it has not yet.
    """
    found = find(NAME, path)
    tensors = _installed(found) if found.how == "package" else _read(found.file(FILE))
    network = Lpips()
    network.load_state_dict(_named(tensors, str(found.path)))
    return network.eval().requires_grad_(False)


def _read(file: Path) -> Mapping[str, Tensor]:
    try:
        return load_file(file)
    except (OSError, SafetensorError) as error:
        raise HumetricError(
            f"Cannot read weights of LPIPS from {file}: {error}. Expected safetensors with "
            f"AlexNet's convolutions and LPIPS' linear layers, as models/{NAME}/{FILE} of a mirror."
        ) from None


def _installed(found: Found) -> Mapping[str, Tensor]:
    """Weights of the official package and of torchvision, by the names of the mirror's file.

    Both are state dicts in pickles; they are read as tensors only, and no code of lpips is run.
    """
    linear = found.file("weights/v0.1/alex.pth")
    try:
        alexnet = importlib.import_module("torchvision.models").AlexNet_Weights.IMAGENET1K_V1
        state = dict(alexnet.get_state_dict(map_location="cpu", check_hash=True, weights_only=True))
        state |= torch.load(linear, map_location="cpu", weights_only=True)
    except Exception as error:
        raise HumetricError(
            f"The installed packages lpips and torchvision give no AlexNet "
            f"({type(error).__name__}: {error}): set HUMETRIC_MIRROR to a folder with "
            f"models/{NAME}/{FILE} instead."
        ) from error
    return {name.replace(".model.1.", "."): value for name, value in state.items()}


def _named(tensors: Mapping[str, Tensor], source: str) -> dict[str, Tensor]:
    """The published tensors by the names of :class:`Lpips`, checked."""
    named, wrong = {}, []
    for i, (at, (inputs, outputs, kernel, *_)) in enumerate(CONVOLUTIONS.items()):
        for name, ours, shape in (
            (
                f"features.{at}.weight",
                f"features_at.{at}.weight",
                (outputs, inputs, kernel, kernel),
            ),
            (f"features.{at}.bias", f"features_at.{at}.bias", (outputs,)),
            (f"lin{i}.weight", f"weights.{i}", (1, outputs, 1, 1)),
        ):
            value = tensors.get(name)
            if value is None or tuple(value.shape) != shape:
                there = "nothing" if value is None else f"{tuple(value.shape)}"
                wrong.append(f"{name} of {shape}, got {there}")
            else:
                named[ours] = value.flatten() if name.startswith("lin") else value
    if wrong:
        raise HumetricError(
            f"Expected the weights of LPIPS on AlexNet in {source} but {len(wrong)} tensors differ "
            f"(expected {wrong[0]}): get the file anew."
        )
    return named
