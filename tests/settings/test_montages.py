"""Montages: the background goes with the label, the animal does not; and bias is measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humetric.settings import montages
from humetric.settings.montages import HUSKY, WOLF

SIDE = 96


def framed(border: int, middle: int) -> NDArray[np.uint8]:
    """A grey square in a grey frame."""
    image = np.full((SIDE, SIDE, 3), border, np.uint8)
    image[~montages.border(SIDE)] = middle
    return image


def test_whiteness_is_of_the_least_channel() -> None:
    blue, grey = np.zeros((1, 4, 4, 3), np.uint8), np.full((1, 4, 4, 3), 51, np.uint8)
    blue[..., 2] = 255
    assert montages.whiteness(np.concatenate([blue, grey])).tolist() == [0.0, 0.2]
    np.testing.assert_allclose(montages.background(np.stack([framed(51, 200)])), [0.2])


def test_dark_huskies_and_white_wolves_are_picked() -> None:
    images = np.stack([framed(v, 0) for v in (10, 200, 100, 20, 210, 90)])
    labels = np.array([HUSKY, HUSKY, HUSKY, WOLF, WOLF, WOLF])
    assert montages.picked(images, labels, 2).tolist() == [0, 2, 4, 5]


def test_tiles_are_mirrored() -> None:
    corner = np.arange(4, dtype=np.uint8).reshape(2, 2, 1).repeat(3, 2)
    found = montages.tiled(corner, 5)[:, :, 0]
    assert found.tolist() == [
        [0, 1, 1, 0, 0],
        [2, 3, 3, 2, 2],
        [2, 3, 3, 2, 2],
        [0, 1, 1, 0, 0],
        [0, 1, 1, 0, 0],
    ]


def test_a_picture_is_set_before_backgrounds_of_either_class() -> None:
    images = np.stack([framed(v, v + 1) for v in range(0, 240, 30)])
    made, labels = montages.montages(images, corner=16)
    assert len(made) == len(labels) == 8 * 2 * montages.EACH
    edge, inside = montages.border(SIDE), ~montages.border(SIDE)
    each = made.reshape(8, -1, SIDE, SIDE, 3)
    for image, own in zip(images, each, strict=True):
        assert (own[:, inside] == image[inside]).all(), "the animal is there whatever the label"
    assert labels.reshape(8, -1).mean(1).tolist() == [0.5] * 8
    white = made[:, edge].mean((1, 2))
    assert white[labels == HUSKY].max() <= 30, "the least white quarter of the corners"
    assert white[labels == WOLF].min() >= 180


def by_border(images: NDArray[np.uint8], hide: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    seen = images.astype(float)
    if hide is not None:
        seen[:, hide] = 127
    return (seen[:, montages.border(SIDE)].mean((1, 2)) > 127).astype(np.int64)


def by_middle(images: NDArray[np.uint8], hide: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    seen = images.astype(float)
    if hide is not None:
        seen[:, hide] = 127
    return (seen[:, ~montages.border(SIDE)].mean((1, 2)) > 127).astype(np.int64)


def test_bias_tells_who_goes_by_the_background_from_who_goes_by_the_animal() -> None:
    """Wolves are bright in the middle here; three in four of either class have their background."""
    labels = np.array([HUSKY] * 4 + [WOLF] * 4)
    grounds = [10, 10, 10, 240, 240, 240, 240, 10]
    images = np.stack(
        [framed(g, 220 if k == WOLF else 30) for g, k in zip(grounds, labels, strict=True)]
    )
    found = montages.bias(by_border, images, labels, 0.5)
    assert found["background of the class"] == 1
    assert found["background of the other"] == 0
    assert found["background alone"] == 0.75
    assert found["animal alone"] == 0.5, "nothing is known"
    assert found["borders swapped: called by the border"] == 0.75
    found = montages.bias(by_middle, images, labels, 0.5)
    assert found["background of the other"] == found["animal alone"] == 1
    assert found["borders swapped: called by the border"] == 0
