"""Features of a setting's own network, where a picture's likeness to another is wanted."""

from __future__ import annotations

from contextlib import suppress

import torch
from torch import Tensor, nn

from humetric.models.lpips import long_vectors
from humetric.models.model import Model


class Reached(Exception):  # noqa: N818 (it is no error)
    """The last layer that is looked at has been reached; what follows need not suit the size."""


def own_features(model: Model, pictures: Tensor) -> Tensor:
    """(n, long) of pictures as the model takes them.

    The squared Euclidean distance of two rows is the mean over layers and positions of 1 - cosine
    of the channels: LPIPS' formula with all layers and channels alike. The layers are the model's
    named one and, where that is part of a sequence, those before it in the sequence.
    """
    layers = activations(model.module, model.layer, pictures)
    weight = [layer.new_full((layer.shape[1],), 0.5 / len(layers)) for layer in layers]
    return long_vectors(layers, weight)


def activations(module: nn.Module, layer: str, x: Tensor) -> list[Tensor]:
    """Outputs of a layer and of those before it in its sequence, first to last."""
    found: list[Tensor] = []
    last = module.get_submodule(layer)
    parent = module.get_submodule(layer.rpartition(".")[0])
    wanted = [last]
    if isinstance(parent, nn.Sequential):
        inside = list(parent)
        wanted = inside[: inside.index(last) + 1]

    def keep(_: nn.Module, inputs: object, output: Tensor) -> None:
        found.append(output)
        if len(found) == len(wanted):
            raise Reached

    handles = [each.register_forward_hook(keep) for each in wanted]
    try:
        # Reached is how a hook ends the pass: what comes after the layer need not be computed.
        with torch.inference_mode(), suppress(Reached):
            module(x)
    finally:
        for handle in handles:
            handle.remove()
    return found
