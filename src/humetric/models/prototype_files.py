"""Prototype models on disk: safetensors beside the weights of the task model that they belong to.

``prototypes.safetensors`` holds the own variant, extractor and prototypes; the other file,
``prototypes-fixed.safetensors``, holds prototypes alone. Metadata list the training cases that the
prototypes are, and the digest of the task model's weights, without which both mean nothing.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from humetric.errors import HumetricError
from humetric.models.prototypes import (
    PrototypeModel,
    PrototypeModels,
    Prototypes,
    Shown,
    around,
)
from humetric.models.training import _settled

OWN, FIXED = "prototypes.safetensors", "prototypes-fixed.safetensors"
WEIGHTS = "model.safetensors"
EXTRACTOR = "extractor."


def digest(file: Path) -> str:
    """The first digits of a file's SHA-256."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]


def save(model: PrototypeModel, folder: Path, fixed: bool, about: Mapping[str, str]) -> None:
    """Write one variant, weights in half precision, into the folder of its task model."""
    weights = {name for name, _ in model.named_parameters()}
    tensors = {
        name: (value.half() if name in weights else value).contiguous()
        for name, value in model.state_dict().items()
        if not (fixed and name.startswith(EXTRACTOR))
    }
    metadata = {
        **about,
        "task_weights": digest(folder / WEIGHTS),
        "shown": json.dumps([[list(s.content), s.label, s.index, s.split] for s in model.shown]),
    }
    file = folder / (FIXED if fixed else OWN)
    save_file(tensors, file, metadata)
    file.write_bytes(_settled(file.read_bytes()))


def load(file: Path, task: nn.Module) -> PrototypeModel:
    """The prototype model of a file; ``task`` is the model that it was made of."""
    with safe_open(file, framework="pt") as weights:
        about: dict[str, str] = weights.metadata() or {}
        tensors = {name: weights.get_tensor(name) for name in weights.keys()}  # noqa: SIM118
    if "shown" not in about or "layer.vectors" not in tensors:
        raise HumetricError(
            f"Expected a prototype model in {file.name} but there is none: write it with "
            f"humetric.models.prototype_files.save."
        )
    if about["task_weights"] != digest(file.parent / WEIGHTS):
        raise HumetricError(
            f"Expected {file} to belong to the weights beside it but it was made of others: train "
            f"it again with python -m humetric.models.train_prototypes --again."
        )
    listed = json.loads(about["shown"])
    shown = [Shown(tuple(content), label, index, split) for content, label, index, split in listed]
    layer = Prototypes(tensors["layer.owner"].tolist(), tensors["layer.vectors"].shape[1])
    made = around(copy.deepcopy(task), layer, shown)
    own = any(name.startswith(EXTRACTOR) for name in tensors)
    layers = {n.removeprefix("layer."): t for n, t in tensors.items() if n.startswith("layer.")}
    (made if own else layer).load_state_dict(tensors if own else layers)
    return made.eval()


def beside(folder: Path, task: nn.Module) -> PrototypeModels | None:
    """Both variants in a folder, to be read when they are asked for; None if they are not there."""
    own, fixed = folder / OWN, folder / FIXED
    if not (own.exists() and fixed.exists()):
        return None
    return PrototypeModels(
        partial(load, own, task), partial(load, fixed, task), f"{digest(own)}, {digest(fixed)}"
    )
