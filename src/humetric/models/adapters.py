"""Low-rank adapters (Hu et al. 2021, arXiv:2106.09685): a pretrained encoder trained by little.

Each linear layer of the encoder gets a product of two narrow matrices, W + (alpha / rank) B A;
these and the head are trained, everything else stays. After training the sum is a plain linear
layer again, so that explaining the model costs what the pretrained one costs. What was learned is
a hundredth of the model, small enough to ship; the rest comes from its own source.

`transformers` has this in a package of its own (peft); forty lines do here without another one.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from humetric.errors import HumetricError

ALPHA = 16.0
"""Scale of the addition, over the rank."""


class Adapter(nn.Module):
    """A frozen linear layer and a product of two narrow matrices; at first the layer alone."""

    def __init__(self, layer: nn.Linear, rank: int) -> None:
        super().__init__()
        self.layer, self.scale = layer, ALPHA / rank
        self.down = nn.Parameter(torch.empty(rank, layer.in_features))
        self.up = nn.Parameter(torch.zeros(layer.out_features, rank))
        nn.init.normal_(self.down, std=1 / rank)

    def forward(self, x: Tensor) -> Tensor:
        given: Tensor = self.layer(x)
        return given + self.scale * linear(linear(x, self.down), self.up)

    def merged(self) -> nn.Linear:
        """One linear layer that does the same."""
        with torch.no_grad():
            self.layer.weight += self.scale * (self.up @ self.down)
        return self.layer


def adapt(model: nn.Module, encoder: nn.Module, rank: int) -> nn.Module:
    """Freeze all but the model's head, and give the encoder's linear layers adapters.

    ``encoder`` is the part of the model that was pretrained, embeddings included; what is outside
    of it is trained in full.
    """
    encoder.requires_grad_(False)
    for part in list(encoder.modules()):
        for name, child in list(part.named_children()):
            if isinstance(child, nn.Linear) and not isinstance(part, Adapter):
                setattr(part, name, Adapter(child, rank))
    return model


def merge(model: nn.Module) -> nn.Module:
    """Adapters become part of the layers that they were given to."""
    for part in list(model.modules()):
        for name, child in list(part.named_children()):
            if isinstance(child, Adapter):
                setattr(part, name, child.merged())
    return model


def learned(model: nn.Module) -> dict[str, Tensor]:
    """What training changed: weights that ask for gradients, and buffers that are kept."""
    asked = {name for name, weights in model.named_parameters() if not weights.requires_grad}
    return {name: value for name, value in model.state_dict().items() if name not in asked}


def restore(model: nn.Module, tensors: Mapping[str, Tensor]) -> nn.Module:
    """The model with what training changed put back."""
    expected = set(learned(model))
    if set(tensors) != expected:
        raise HumetricError(
            f"Expected weights of {len(expected)} trained layers but got {len(tensors)} "
            f"({sorted(expected ^ set(tensors))[0]} is in one of them only): they are of another "
            "architecture. Train again."
        )
    model.load_state_dict(dict(tensors), strict=False)
    return model
