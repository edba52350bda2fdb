"""Prototype models on disk: safetensors beside the weights of the task model that they belong to.

``prototypes.safetensors`` holds the own variant, extractor and prototypes; the other file,
``prototypes-fixed.safetensors``, holds prototypes alone. Metadata list the training cases that the
prototypes are, and the digest of the task model's weights, without which both mean nothing.

Of training cases that may not be passed on, metadata hold what they are known by, and whoever loads
the model looks them up. Where most of the extractor is the task model's (pretrained and frozen),
only what differs is kept.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
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


def save(
    model: PrototypeModel,
    folder: Path,
    fixed: bool,
    about: Mapping[str, str],
    *,
    weights: str = WEIGHTS,
    task: nn.Module | None = None,
    known: Sequence[Mapping[str, Any]] | None = None,
) -> None:
    """Write one variant, weights in half precision, into the folder of its task model.

    ``weights`` is the task model's file there. Of tensors that are as in ``task`` nothing is
    written; nor is, with ``known``, what the training cases say: only what they are known by.
    """
    learned = {name for name, _ in model.named_parameters()}
    given = {} if task is None else task.state_dict()
    same = {EXTRACTOR + name: value for name, value in given.items()}
    tensors = {
        name: (value.half() if name in learned else value).contiguous()
        for name, value in model.state_dict().items()
        if not (fixed and name.startswith(EXTRACTOR))
        and not (name in same and torch.equal(value, same[name]))
    }
    shown = (
        [[list(s.content), s.label, s.index, s.split] for s in model.shown]
        if known is None
        else [dict(case) for case in known]
    )
    metadata = {
        **about,
        "task_weights": digest(folder / weights),
        "shown": json.dumps(shown, sort_keys=True),
    }
    file = folder / (FIXED if fixed else OWN)
    save_file(tensors, file, metadata)
    file.write_bytes(_settled(file.read_bytes()))


def load(
    file: Path,
    task: nn.Module,
    weights: Path | None = None,
    look_up: Callable[[Sequence[Mapping[str, Any]]], list[Shown]] | None = None,
) -> PrototypeModel:
    """The prototype model of a file; ``task`` is the model that it was made of.

    ``weights`` is that model's file, by default beside this one; ``look_up`` finds training cases
    by what they are known by.
    """
    with safe_open(file, framework="pt") as stored:
        about: dict[str, str] = stored.metadata() or {}
        tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
    if "shown" not in about or "layer.vectors" not in tensors:
        raise HumetricError(
            f"Expected a prototype model in {file.name} but there is none: write it with "
            f"humetric.models.prototype_files.save."
        )
    if about["task_weights"] != digest(weights or file.parent / WEIGHTS):
        again = (
            "with python -m humetric.models.train_prototypes --again"
            if weights is None
            else f"with humetric train {about.get('setting', 'SETTING')} --again"
        )
        raise HumetricError(
            f"Expected {file} to belong to the weights beside it but it was made of others: train "
            f"it again {again}."
        )
    listed = json.loads(about["shown"])
    shown = (
        [Shown(tuple(content), label, index, split) for content, label, index, split in listed]
        if look_up is None
        else look_up(listed)
    )
    layer = Prototypes(tensors["layer.owner"].tolist(), tensors["layer.vectors"].shape[1])
    made = around(copy.deepcopy(task), layer, shown)
    missing, unknown = made.load_state_dict(tensors, strict=False)
    if unknown or any(not name.startswith(EXTRACTOR) for name in missing):
        raise HumetricError(
            f"Expected {file.name} to fit its task model but {[*unknown, *missing][0]} is in one "
            f"of them only: it is of another architecture. Train it again."
        )
    return made.eval()


def beside(folder: Path, task: nn.Module) -> PrototypeModels | None:
    """Both variants in a folder, to be read when they are asked for; None if they are not there."""
    own, fixed = folder / OWN, folder / FIXED
    if not (own.exists() and fixed.exists()):
        return None
    return PrototypeModels(
        partial(load, own, task), partial(load, fixed, task), f"{digest(own)}, {digest(fixed)}"
    )
