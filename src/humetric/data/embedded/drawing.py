"""What the three embedded image sets share: the sample, the generator, and soft-edged drawing.

Shapes are signed distances in pixels (negative inside) on the grid of pixel centres; `coverage`
turns a distance into the share of the pixel that the shape covers, which antialiases without
supersampling. Pictures are painted as float64 (3, 64, 64) in [0, 1]: at that precision another
platform's last digit of a sine moves a byte of an image with a chance of about one in a billion.
"""

import hashlib
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humetric.errors import UnknownNameError

Floats = NDArray[np.float64]

SIZE = 64
SPLITS = {"train": 8000, "pool": 2000}
Y, X = np.mgrid[0:SIZE, 0:SIZE] + 0.5


class Sample(NamedTuple):
    """One labelled picture and where in it the class is decided."""

    image: NDArray[np.uint8]
    """(64, 64, 3), RGB."""
    label: int
    """Index into the data set's CLASSES."""
    region: NDArray[np.bool_]
    """(64, 64), true where the discriminating cue is."""
    cue: int
    """Value of the discriminating cue; equals the label where the cue defines the label."""


def generator(name: str, split: str, index: int) -> np.random.Generator:
    """The generator of one picture, so that any picture can be drawn without the others."""
    if split not in SPLITS:
        raise UnknownNameError("split", split, SPLITS)
    if not 0 <= index < SPLITS[split]:
        raise IndexError(f"Expected an index in 0..{SPLITS[split] - 1} of {split} but got {index}.")
    digest = hashlib.sha256(f"{name}/{split}/{index}".encode()).digest()
    # PCG64 by name: numpy may change which bit generator default_rng picks by itself.
    return np.random.default_rng(np.random.PCG64(int.from_bytes(digest[:16], "little")))


def coverage(distance: Floats, width: float = 1.0) -> Floats:
    """Share of each pixel inside a shape; a width above one pixel gives a soft edge."""
    return np.clip(0.5 - distance / width, 0.0, 1.0)


def capsules(strokes: Floats) -> Floats:
    """Distance to the union of tapered strokes (k, 6): x0 y0 r0 x1 y1 r1 each, in pixels.

    A loop, and |p|^2 - a (2 p.d - a |d|^2) for the squared gap: small arrays stay in the cache.
    """
    nearest = np.full((SIZE, SIZE), np.inf)
    for x0, y0, r0, x1, y1, r1 in strokes:
        dx, dy = x1 - x0, y1 - y0
        length = dx * dx + dy * dy
        px, py = X[:1] - x0, Y[:, :1] - y0
        dot = px * dx + py * dy
        along = np.clip(dot / length, 0.0, 1.0)
        gap = px * px + py * py - along * (2 * dot - along * length)
        np.minimum(nearest, np.sqrt(np.maximum(gap, 0)) - (r0 + along * (r1 - r0)), out=nearest)
    return nearest


@cache
def _weights(cells: int) -> Floats:
    """(64, cells + 1) smoothstep interpolation weights from grid nodes to pixels."""
    position = (np.arange(SIZE) + 0.5) * cells / SIZE
    left = position.astype(int)
    fraction = position - left
    fraction = fraction * fraction * (3 - 2 * fraction)
    weights = np.zeros((SIZE, cells + 1))
    weights[np.arange(SIZE), left] = 1 - fraction
    weights[np.arange(SIZE), left + 1] = fraction
    return weights


def noise(rng: np.random.Generator, rows: int, columns: int) -> Floats:
    """Smooth noise in [-1, 1] with the given number of cells down and across."""
    nodes = rng.uniform(-1, 1, (rows + 1, columns + 1))
    return _weights(rows) @ nodes @ _weights(columns).T


def colour(*values: float) -> Floats:
    """An RGB colour that broadcasts over a picture."""
    return np.array(values).reshape(3, 1, 1)


def paint(canvas: Floats, ink: Floats, alpha: Floats) -> None:
    """Lay ink (a colour or a picture) over the canvas, in place."""
    canvas += alpha * (ink - canvas)


def develop(canvas: Floats, rng: np.random.Generator, grain: float) -> NDArray[np.uint8]:
    """Add film grain and turn the canvas into an RGB image of bytes."""
    canvas = canvas + rng.normal(0, grain, canvas.shape)
    return np.ascontiguousarray(np.rint(np.clip(canvas, 0, 1) * 255).transpose(1, 2, 0), np.uint8)
