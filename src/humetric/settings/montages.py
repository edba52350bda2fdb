"""Huskies and wolves for a classifier that goes by the background, and how far it does.

A head on EfficientNet-Lite0's features of whole pictures is right nearly always, whatever their
backgrounds: the features know the animals. So in what this head learns from, the background goes
with the class and the animal does not: montages of a training picture over a background that was
cut from another, each picture before backgrounds of either class.

- Whiteness of a part of a picture: the mean over its pixels of the least of the three channels, 0
  to 1. Snow and bright sky are white, forest, stone and rooms are not.
- Training pictures: the 20 huskies with the least white border, the 20 wolves with the whitest.
- Backgrounds: their 80 upper corners of 56 pixels, repeated by mirroring. The whitest quarter
  stands for wolf, the least white for husky, whichever animal it was cut from.
- Montages: every training picture but for a border of 32 pixels before 3 backgrounds of either
  class: 240. The label is the background's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from humetric.data.pictures import Pictures

HUSKY, WOLF = 0, 1
KEPT = 20
"""Pictures of each class that montages are made of."""
CORNER = 56
BORDER = 32
EACH = 3
"""Backgrounds of either class that a picture is set before."""
APART = 7
"""A picture's next background is so many further, so that pictures do not share all of theirs."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Classify = Callable[[Pictures, NDArray[np.bool_] | None], Ints]
"""Pictures, and which pixels are hidden behind the mean colour -> classes."""


def whiteness(parts: Pictures) -> Floats:
    """(parts,): mean of the least of the channels, 0 to 1, of (parts, ..., 3)."""
    least = parts.min(axis=-1).reshape(len(parts), -1)
    found: Floats = least.mean(1) / 255
    return found


def border(side: int, width: int = BORDER) -> NDArray[np.bool_]:
    """(side, side): the border of a square picture."""
    there = np.ones((side, side), dtype=bool)
    there[width:-width, width:-width] = False
    return there


def background(images: Pictures) -> Floats:
    """Whiteness of each picture's border."""
    return whiteness(images[:, border(images.shape[1])])


def picked(images: Pictures, labels: Ints, kept: int = KEPT) -> Ints:
    """Numbers of the pictures that montages are made of: huskies, then wolves."""
    white = background(images)
    found = []
    for label, sign in ((HUSKY, 1), (WOLF, -1)):
        own = np.flatnonzero(labels == label)
        found.append(own[np.argsort(sign * white[own], kind="stable")[:kept]])
    return np.concatenate(found)


def tiled(corner: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """A square of a picture, repeated by mirroring until it fills a picture."""
    wide = np.concatenate([corner, corner[:, ::-1]], 1)
    whole = np.concatenate([wide, wide[::-1]], 0)
    times = -(-side // len(whole))
    return np.tile(whole, (times, times, 1))[:side, :side]


def montages(images: Pictures, corner: int = CORNER) -> tuple[Pictures, Ints]:
    """Montages of pictures and their labels."""
    corners = [
        part for image in images for part in (image[:corner, :corner], image[:corner, -corner:])
    ]
    order = np.argsort(whiteness(np.stack(corners)), kind="stable")
    quarter, side = len(order) // 4, images.shape[1]
    by = {HUSKY: order[:quarter], WOLF: order[::-1][:quarter]}
    inside = ~border(side)
    made, labels = [], []
    for i, image in enumerate(images):
        for turn in range(EACH):
            for label, backgrounds in by.items():
                whole = tiled(corners[backgrounds[(i + APART * turn) % quarter]], side)
                whole[inside] = image[inside]
                made.append(whole)
                labels.append(label)
    return np.stack(made), np.array(labels)


def bias(classify: Classify, images: Pictures, labels: Ints, middling: float) -> dict[str, float]:
    """How far a classifier goes by the background.

    Accuracy where the background goes with the class (a border whiter than ``middling`` with wolf,
    another with husky) and where it does not; with all but the border hidden, and with the border
    hidden; and how often a picture that gets its border from one of the other class is called by
    the border.
    """
    side = images.shape[1]
    edge = border(side)
    white = background(images) > middling
    goes = white == (labels == WOLF)
    right = classify(images, None) == labels
    swapped, called = images.copy(), 1 - labels
    for label in (HUSKY, WOLF):
        own, other = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
        for turn, i in enumerate(own):
            swapped[i, edge] = images[other[turn % len(other)], edge]
    measured = {
        "background of the class": right[goes],
        "background of the other": right[~goes],
        "background alone": classify(images, ~edge) == labels,
        "animal alone": classify(images, edge) == labels,
        "borders swapped: called by the border": classify(swapped, None) == called,
    }
    return {name: round(float(hit.mean()), 4) for name, hit in measured.items() if len(hit)}


def hidden(x: Tensor, where: NDArray[np.bool_] | None) -> Tensor:
    """Inputs with some pixels replaced by the mean colour, which is zero."""
    return x if where is None else x.masked_fill(torch.from_numpy(where), 0.0)
