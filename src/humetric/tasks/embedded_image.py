"""Embedded image settings by name: drawn pictures, shipped weights."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humetric.data.embedded import dataset
from humetric.models import convnet
from humetric.tasks.image_setting import image_setting, name_of
from humetric.tasks.setting import REFERENCE, Setting


def load_image_setting(
    id: str, chosen: Mapping[str, Any], count: int, baseline: str = "mean"
) -> Setting:
    """An image setting from its cases.json (`chosen`) with its first ``count`` cases."""
    folder = convnet.WEIGHTS / id
    name = id.split("/")[1]
    data = dataset(name)
    rows = chosen["cases"][: max(count, REFERENCE)]
    samples = [data.draw(row["index"], "pool") for row in rows]
    _compare(id, [s.image for s in samples], [row["sha256"] for row in rows])
    module, _ = convnet.load(folder / "model.safetensors")
    setting = image_setting(
        id,
        module,
        np.stack([s.image for s in samples]),
        mean=chosen["mean"],
        std=chosen["std"],
        layer=name_of(module.last_convolution, module),
        label=[s.label for s in samples],
        target=[row["predicted"] for row in rows],
        region=np.stack([s.region for s in samples]),
        ids=[f"{name}-{row['index']:04d}" for row in rows],
        version=f"data {data.VERSION}, weights {_digest(folder / 'model.safetensors')}",
        classes=data.CLASSES,
        baseline=baseline,
    )
    return setting.first(count)


def _digest(path: Path) -> str:
    """The first digits of a file's SHA-256: enough to notice other weights."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _compare(id: str, images: list[NDArray[np.uint8]], recorded: list[str]) -> None:
    """Warn if this platform's arithmetic draws other images than those the cases were chosen by."""
    drawn = [hashlib.sha256(image.tobytes()).hexdigest() for image in images]
    other = sum(a != b for a, b in zip(drawn, recorded, strict=True))
    if other:
        warnings.warn(
            f"{other} of {len(images)} images of {id} differ from the recorded ones (by rounding, "
            f"if the package is intact): scores will differ slightly from published ones.",
            stacklevel=3,
        )
