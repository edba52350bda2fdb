"""A pretrained network with a linear head of our own on its frozen features, or grouped classes.

The network is EfficientNet-Lite0 unless another is named. A file of trained weights holds the head
alone, in half precision; the network comes from its own source, whose checksum stands in the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.torch import load_file, save
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from humetric.data.pictures import Pictures
from humetric.data.sources import find
from humetric.errors import HumetricError
from humetric.models.convnet import normalise
from humetric.models.efficientnet_lite import MEAN, STD, EfficientNetLite0
from humetric.models.training import _settled

SOURCE = "efficientnet_lite0"


class Network(Protocol):
    """A classifier of pictures that ends in a linear layer."""

    @property
    def last_convolution(self) -> nn.Module:
        """What grad-cam reads."""
        ...

    def features(self, x: Tensor) -> Tensor:
        """What the last layer sees, a row per picture."""
        ...


@dataclass(frozen=True)
class Base:
    """A pretrained network: where its weights are, how it is made and what it takes."""

    source: str
    make: Callable[[int], nn.Module]
    """An untrained one with so many classes, whose weights have the names of the source's."""
    last: str
    """Name of its last layer."""
    mean: tuple[float, ...]
    std: tuple[float, ...]


LITE = Base(SOURCE, EfficientNetLite0, "_fc", tuple(MEAN), tuple(STD))
DECAY = 1e-2
"""L2 penalty of a head's weights, fixed beforehand."""
STEPS = 300
AT_ONCE = 8


class Grouped(nn.Module):
    """A classifier whose classes are grouped: a group's logit is the logsumexp of its classes'.

    So a softmax over groups is the model's own probability of the group, given that it is one of
    them; classes in no group count for nothing.
    """

    def __init__(self, network: Any, groups: Sequence[Sequence[int]]) -> None:
        super().__init__()
        self.network = network
        self.groups = [list(group) for group in groups]

    @property
    def last_convolution(self) -> nn.Module:
        """The network's."""
        found: nn.Module = self.network.last_convolution
        return found

    def forward(self, x: Tensor) -> Tensor:
        logits = self.network(x)
        wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return torch.stack([wide[:, group].logsumexp(1) for group in self.groups], 1)


def network_file(base: Base = LITE) -> Path:
    """The network's weights."""
    return find(base.source).file("model.safetensors")


@cache
def _checksum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def network_checksum(base: Base = LITE) -> str:
    """SHA-256 of the network's weights, which heads are trained on."""
    return _checksum(network_file(base))


def network(head: Mapping[str, Tensor] | None = None, base: Base = LITE) -> Any:
    """The pretrained network, ready for inference; with another head (weight, bias) if given."""
    tensors = load_file(network_file(base))
    if head is not None:
        tensors |= {f"{base.last}.{name}": value.float() for name, value in head.items()}
    with torch.random.fork_rng():
        made: Any = base.make(len(tensors[f"{base.last}.bias"]))
    made.load_state_dict(tensors)
    made.to(memory_format=torch.channels_last)
    return made.requires_grad_(False).eval()


def inputs(images: Pictures, base: Base = LITE) -> Tensor:
    """Pictures as the network takes them."""
    return normalise(images, base.mean, base.std)


@torch.no_grad()
def features(model: Network, x: Tensor) -> Tensor:
    """(n, width) of inputs, a few at a time."""
    return torch.cat([model.features(part) for part in torch.split(x, AT_ONCE)])


def fit(
    values: Tensor, labels: NDArray[np.int64] | Sequence[int], decay: float = DECAY
) -> dict[str, Tensor]:
    """A head by softmax regression with an L2 penalty of its weights, rounded as it is stored.

    Mean cross-entropy + decay * sum of squared weights, the bias free; L-BFGS in double precision.
    """
    aim = torch.as_tensor(labels).long()
    rows, classes = values.double(), int(aim.max()) + 1
    weight = torch.zeros(classes, rows.shape[1], dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(classes, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [weight, bias], max_iter=STEPS, tolerance_grad=1e-9, line_search_fn="strong_wolfe"
    )

    def loss() -> Tensor:
        optimiser.zero_grad()
        total = cross_entropy(rows @ weight.T + bias, aim) + decay * weight.square().sum()
        total.backward()
        return total

    optimiser.step(loss)
    return {"weight": weight.detach().half(), "bias": bias.detach().half()}


def write(
    head: Mapping[str, Tensor], file: Path, about: Mapping[str, object], base: Base = LITE
) -> None:
    """A head, and how it came about."""
    facts = {"architecture": f"{base.source}/head", "base": network_checksum(base), **about}
    text = {k: v if isinstance(v, str) else json.dumps(v, sort_keys=True) for k, v in facts.items()}
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".draft")
    draft.write_bytes(_settled(save(dict(head), text)))
    draft.replace(file)


def read(file: Path, base: Base = LITE) -> Any:
    """The network with the head of a file."""
    with safe_open(file, framework="pt") as held:
        about: Mapping[str, str] = held.metadata() or {}
        head = {name: held.get_tensor(name) for name in held.keys()}  # noqa: SIM118
    if about.get("architecture") != f"{base.source}/head":
        raise HumetricError(f"Expected a head that humetric train wrote but {file} holds another.")
    if about["base"] != network_checksum(base):
        raise HumetricError(
            f"Expected {base.source} with the checksum {about['base'][:12]}..., which {file.name} "
            f"was trained on, but it has {network_checksum(base)[:12]}...: get the declared one "
            f"(humetric sources)."
        )
    return network(head, base)
