"""EfficientNet-Lite0 with a linear head of our own on its frozen features, or with grouped classes.

A file of trained weights holds the head alone, in half precision; the network comes from its own
source, whose checksum stands in the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

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
DECAY = 1e-2
"""L2 penalty of a head's weights, fixed beforehand."""
STEPS = 300
AT_ONCE = 8


class Grouped(nn.Module):
    """A classifier whose classes are grouped: a group's logit is the logsumexp of its classes'.

    So a softmax over groups is the model's own probability of the group, given that it is one of
    them; classes in no group count for nothing.
    """

    def __init__(self, network: EfficientNetLite0, groups: Sequence[Sequence[int]]) -> None:
        super().__init__()
        self.network = network
        self.groups = [list(group) for group in groups]

    @property
    def last_convolution(self) -> nn.Module:
        """The network's."""
        return self.network.last_convolution

    def forward(self, x: Tensor) -> Tensor:
        logits = self.network(x)
        wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return torch.stack([wide[:, group].logsumexp(1) for group in self.groups], 1)


def network_file() -> Path:
    """The network's weights."""
    return find(SOURCE).file("model.safetensors")


@cache
def _checksum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def network_checksum() -> str:
    """SHA-256 of the network's weights, which heads are trained on."""
    return _checksum(network_file())


def network(head: Mapping[str, Tensor] | None = None) -> EfficientNetLite0:
    """The pretrained network, ready for inference; with another head (weight, bias) if given."""
    tensors = load_file(network_file())
    if head is not None:
        tensors |= {f"_fc.{name}": value.float() for name, value in head.items()}
    with torch.random.fork_rng():
        made = EfficientNetLite0(len(tensors["_fc.bias"]))
    made.load_state_dict(tensors)
    made.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return made.requires_grad_(False).eval()


def inputs(images: Pictures) -> Tensor:
    """Pictures as the network takes them."""
    return normalise(images, MEAN, STD)


@torch.no_grad()
def features(model: EfficientNetLite0, x: Tensor) -> Tensor:
    """(n, 1280) of inputs, a few at a time."""
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


def write(head: Mapping[str, Tensor], file: Path, about: Mapping[str, object]) -> None:
    """A head, and how it came about."""
    facts = {"architecture": f"{SOURCE}/head", "base": network_checksum(), **about}
    text = {k: v if isinstance(v, str) else json.dumps(v, sort_keys=True) for k, v in facts.items()}
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".draft")
    draft.write_bytes(_settled(save(dict(head), text)))
    draft.replace(file)


def read(file: Path) -> EfficientNetLite0:
    """The network with the head of a file."""
    with safe_open(file, framework="pt") as held:
        about: Mapping[str, str] = held.metadata() or {}
        head = {name: held.get_tensor(name) for name in held.keys()}  # noqa: SIM118
    if about.get("architecture") != f"{SOURCE}/head":
        raise HumetricError(f"Expected a head that humetric train wrote but {file} holds another.")
    if about["base"] != network_checksum():
        raise HumetricError(
            f"Expected {SOURCE} with the checksum {about['base'][:12]}..., which {file.name} was "
            f"trained on, but it has {network_checksum()[:12]}...: get the declared one (humetric "
            f"sources)."
        )
    return network(head)
