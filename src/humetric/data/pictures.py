"""Picture files as the arrays that image models take: decoded, resized, cropped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from humetric.errors import HumetricError

Pictures = NDArray[np.uint8]
"""(pictures, height, width, 3)."""

SHORTER, SIDE = 256, 224
"""As EfficientNet-Lite0 is evaluated: the shorter side before the crop, and the crop's side."""


def picture(path: Path, shorter: int = SHORTER, side: int = SIDE) -> NDArray[np.uint8]:
    """(side, side, 3): the middle of a picture whose shorter side was made ``shorter`` pixels.

    Bicubic, with Pillow's filter that widens when it shrinks; grey pictures and those with a
    palette become RGB, transparency is dropped. A picture whose shorter side is right is not
    resampled. Another decoder of JPEG than the recorded one may differ by a unit in some pixels.
    """
    if not 1 <= side <= shorter:
        raise HumetricError(f"Expected a side from 1 to {shorter} pixels but got {side}.")
    try:
        with Image.open(path) as opened:
            found = opened.convert("RGB")
    except (UnidentifiedImageError, OSError) as error:
        raise HumetricError(
            f"Expected a picture but cannot read {path}: {error}. Get it anew."
        ) from None
    width, height = found.size
    least = min(width, height)
    if least != shorter:
        width, height = (max(shorter, round(n * shorter / least)) for n in (width, height))
        found = found.resize((width, height), Image.Resampling.BICUBIC)
    left, top = (width - side) // 2, (height - side) // 2
    return np.asarray(found.crop((left, top, left + side, top + side)))


def pictures(paths: Sequence[Path], shorter: int = SHORTER, side: int = SIDE) -> Pictures:
    """All of them, in order."""
    if not paths:
        return np.empty((0, side, side, 3), np.uint8)
    return np.stack([picture(path, shorter, side) for path in paths])
