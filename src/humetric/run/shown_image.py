"""An image case as people see it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from humetric.errors import HumetricError
from humetric.run.look import Scene
from humetric.tasks.setting import Setting


@dataclass(frozen=True)
class ShownImage:
    """The image, and where its evidence is."""

    image: NDArray[np.uint8]
    """(height, width, channels)."""
    region: NDArray[np.bool_] | None
    """(height, width): where the evidence is, if the setting knows it."""


def shown_image(scene: Scene) -> ShownImage:
    """What is shown of an image case."""
    setting, row = scene.setting, scene.row
    if setting.task.id != "image":
        raise HumetricError(
            f"Expected an image setting but {setting.id} is of the task {setting.task.id}: "
            f"show it with shown_text."
        )
    region = None if setting.region is None else setting.region[row].numpy()
    return ShownImage(picture(setting, row), region)


def picture(setting: Setting, row: int) -> NDArray[np.uint8]:
    """A case's image to look at: its bytes, or else its input stretched to the range of bytes."""
    if setting.display is not None:
        return setting.display[row].numpy()
    x = setting.x[row].double().movedim(0, -1)
    low, high = x.min(), x.max()
    stretched = (x - low) / (high - low) * 255 if high > low else torch.full_like(x, 127)
    return stretched.round().to(torch.uint8).numpy()
