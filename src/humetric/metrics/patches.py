"""Patches: the parts of an image that a map points at."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from humetric.tasks.cases import Cases

TIED = 1e-6
"""Windows whose means are within so much of the best, as a share of the spread of all, are tied:
maps in fp32 are no more exact."""


class Patches(NamedTuple):
    """Where the highest windows of each map are."""

    corner: Tensor
    """(cases, patches, 2) int64: top and left."""
    there: Tensor
    """(cases, patches) bool: a constant map has no highest window, and there may be no room for as
    many as were asked for."""
    side: int


def patches(attribution: Tensor, cases: Cases, share: float, count: int) -> Patches:
    """The square windows with the highest mean of each map (cases, height, width), best first.

    A window's side is ``share`` of the image's shorter side, and it lies within the image: the
    patch is centred on the maximum of the map averaged over the patch's size, moved inside where it
    would stick out. No two overlap. Ties are broken at random, seeded by the case.
    """
    maps = attribution.detach().double().cpu()
    side = max(1, round(share * min(maps.shape[1:])))
    means = F.avg_pool2d(maps[:, None], (side, 1), stride=1)
    means = F.avg_pool2d(means, (1, side), stride=1)[:, 0]
    corner = torch.zeros(len(maps), count, 2, dtype=torch.int64)
    there = torch.zeros(len(maps), count, dtype=torch.bool)
    for i, rng in enumerate(cases.rng("patches")):
        if maps[i].min() == maps[i].max():
            continue
        left, order = means[i].numpy(), rng.random(means[i].shape)
        near = TIED * (left.max() - left.min())
        for k in range(count):
            best = left.max()
            if best == -np.inf:
                break
            tied = np.where(left >= best - near, order, -1.0)
            y, x = np.unravel_index(tied.argmax(), tied.shape)
            corner[i, k], there[i, k] = torch.tensor((int(y), int(x))), True
            left = left.copy()
            left[max(0, y - side + 1) : y + side, max(0, x - side + 1) : x + side] = -np.inf
    return Patches(corner, there, side)


def cut(images: Tensor, found: Patches, size: int) -> Tensor:
    """Patches of images (cases, channels, height, width), resized: (cases * patches, ...)."""
    side = found.side
    parts = [
        image[:, y : y + side, x : x + side]
        for image, corners in zip(images, found.corner.tolist(), strict=True)
        for y, x in corners
    ]
    return F.interpolate(torch.stack(parts), (size, size), mode="bilinear", align_corners=False)
