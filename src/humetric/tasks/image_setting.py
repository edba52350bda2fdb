"""Image settings from a module and images of your own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from humetric.errors import HumetricError, UnknownNameError
from humetric.models import convnet
from humetric.models.model import Model
from humetric.tasks.image import BASELINES, ImageTask
from humetric.tasks.setting import REFERENCE, Setting, outputs, same


def image_setting(
    id: str,
    module: nn.Module,
    images: NDArray[np.uint8],
    *,
    mean: Sequence[float],
    std: Sequence[float],
    layer: str = "",
    label: Sequence[int] | None = None,
    target: Sequence[int] | None = None,
    region: NDArray[np.bool_] | None = None,
    ids: Sequence[str] | None = None,
    version: str = "own",
    classes: Sequence[str] = (),
    baseline: str = "mean",
) -> Setting:
    """A setting from a module of your own and images (cases, height, width, channels) of bytes.

    The module takes ``(image / 255 - mean) / std`` with channels first and gives logits. Without
    ``target`` its own predictions are explained. ``baseline`` is ``mean`` (zero in normalised
    space, the mean colour) or ``blur``. The first 24 are what metrics compare with.
    """
    images = np.asarray(images)
    if images.ndim != 4 or images.dtype != np.uint8:
        raise HumetricError(
            f"Expected images of shape (cases, height, width, channels) and dtype uint8 but got "
            f"{images.shape} and {images.dtype}."
        )
    if baseline not in BASELINES:
        raise UnknownNameError("baseline", baseline, BASELINES)
    count, height, width, channels = images.shape
    names = tuple(ids) if ids is not None else tuple(f"case-{i:04d}" for i in range(count))
    for what, length, expected in (
        ("ids", len(set(names)), count),
        ("targets", count if target is None else len(target), count),
        ("labels", count if label is None else len(label), count),
        ("numbers in mean", len(mean), channels),
        ("numbers in std", len(std), channels),
    ):
        if length != expected or count == 0:
            raise HumetricError(f"Expected {expected or 'some'} different {what} but got {length}.")
    task = ImageTask(channels, height, width)
    x = convnet.normalise(images, mean, std)
    logits = outputs(module, x if target is None else x[:1])
    if logits.ndim != 2:
        raise HumetricError(
            f"Expected the module to give logits of shape (cases, classes) but got "
            f"{tuple(logits.shape)}: wrap it so that it classifies."
        )
    target = logits.argmax(1).tolist() if target is None else list(target)
    if not 0 <= min(target) <= max(target) < logits.shape[1]:
        raise HumetricError(f"Expected targets from 0 to {logits.shape[1] - 1} but got {target}.")
    setting = Setting(
        id=id,
        version=f"{version}, {baseline} baseline",
        task=task,
        model=Model(id, module, layer=layer),
        ids=names,
        x=x,
        baseline=BASELINES[baseline](x),
        target=torch.tensor(target),
        label=torch.tensor(label if label is not None else target),
        region=None if region is None else torch.from_numpy(region),
        classes=tuple(classes),
        display=torch.tensor(images),
    )
    return replace(setting, reference=setting.first(REFERENCE), panel=partial(same, setting))


def name_of(layer: nn.Module, module: nn.Module) -> str:
    """The name of a layer within its module."""
    names: dict[nn.Module, str] = {found: name for name, found in module.named_modules()}
    return names[layer]
