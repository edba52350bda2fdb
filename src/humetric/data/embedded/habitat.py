"""Huskies and wolves on snow or on grass: a model that learns the ground, not the animal.

The class is the animal: a husky carries its tail in a curl, a wolf lets it hang, and a husky's coat
tends to be dark above and white below, where a wolf's is even, though coats overlap. The cue is the
ground the animal stands on: snow (0) or grass (1). In training, huskies stand on snow and wolves on
grass in all but one picture in 32; in the pool the ground says nothing about the animal, so a model
that goes by the ground is wrong on half of it. Sky, ridge and trees are drawn alike for both.

The region is the ground without the animal: coarse, connected, two fifths of the picture.

Mirrors the bias-detection use case of Colin et al. (2022), Husky vs. Wolf.
"""

from collections.abc import Sequence

import numpy as np

from humetric.data.embedded.drawing import (
    SIZE,
    Floats,
    Sample,
    X,
    Y,
    capsules,
    colour,
    coverage,
    develop,
    generator,
    noise,
    paint,
)

CLASSES = ("husky", "wolf")
VERSION = 1

_SKIES = (
    (colour(0.45, 0.63, 0.85), colour(0.80, 0.88, 0.94)),  # clear
    (colour(0.62, 0.66, 0.72), colour(0.80, 0.82, 0.84)),  # overcast
    (colour(0.45, 0.45, 0.66), colour(0.95, 0.76, 0.60)),  # dusk
)


def draw(index: int, split: str) -> Sample:
    """The picture at `index`; every four pool pictures hold each animal on each ground."""
    rng = generator("habitat", split, index)
    label = index % 2
    conflicts = (index // 2) % 2 == 1 if split == "pool" else (index // 2) % 32 == 31
    return render(rng, label=label, cue=1 - label if conflicts else label)


def render(rng: np.random.Generator, *, label: int, cue: int) -> Sample:
    """Draw an animal on a ground; everything else comes from `rng` and is alike for all four."""
    canvas = _backdrop(rng)
    relief = 1.5 * noise(rng, 1, 4)[0]
    horizon = rng.uniform(31, 37) + relief
    ground = coverage(horizon - Y)
    snow, grass = _snow(rng), _grass(rng)
    paint(canvas, (snow, grass)[cue], ground)
    animal = _animal(rng, canvas, label)
    canvas *= colour(*rng.uniform(0.93, 1.05, 3))
    region = (ground > 0.5) & (animal < 0.5)
    return Sample(develop(canvas, rng, 0.012), label, region, cue)


def _backdrop(rng: np.random.Generator) -> Floats:
    """Sky, a ridge and a row of conifers."""
    top, low = _SKIES[rng.integers(len(_SKIES))]
    canvas: Floats = top + (low - top) * np.clip(Y / 36, 0, 1)
    paint(canvas, colour(1, 1, 1), np.clip(noise(rng, 8, 3) - 0.1, 0, 1) * 0.5)
    ridge = rng.uniform(20, 27) + 5 * noise(rng, 1, 6)[0]
    paint(canvas, (low + colour(0.28, 0.36, 0.50)) * 0.5, coverage(ridge - Y))
    count = 9
    middle = (np.arange(count) + rng.uniform(-0.4, 1.4, count)) * SIZE / count
    crown = rng.uniform(8, 26, count)
    spread = rng.uniform(0.16, 0.26, count)
    depth = Y[:, :1] - crown[:, None, None]
    # Boughs: the crown widens downwards and is pulled in again every few pixels.
    width = spread[:, None, None] * (depth - 0.45 * (depth % 5.0))
    trees = (np.abs(X[:1] - middle[:, None, None]) - width + 8 * (depth < 0)).min(axis=0)
    shade = colour(0.15, 0.25, 0.24) * rng.uniform(0.8, 1.5) + 0.05 * noise(rng, 16, 16)
    paint(canvas, shade, coverage(trees))
    return canvas


def _snow(rng: np.random.Generator) -> Floats:
    drifts = 0.6 * noise(rng, 10, 3) + 0.4 * noise(rng, 20, 8)
    return colour(0.88, 0.91, 0.96) + colour(0.09, 0.075, 0.04) * drifts


def _grass(rng: np.random.Generator) -> Floats:
    tufts = 0.45 * noise(rng, 6, 4) + 0.55 * noise(rng, 16, 48)
    tone = rng.uniform(-0.05, 0.05)
    return colour(0.36 + tone, 0.50, 0.20) + colour(0.16, 0.15, 0.10) * tufts


def _animal(rng: np.random.Generator, canvas: Floats, label: int) -> Floats:
    """Paint the animal and its shadow; returns the share of each pixel the animal covers."""
    scale = rng.uniform(7.0, 9.5)
    facing = rng.choice((-1.0, 1.0))
    centre_x, feet = SIZE / 2 + rng.uniform(-9, 9), rng.uniform(50, 58)
    centre_y = feet - 1.75 * scale
    stride = rng.uniform(-0.2, 0.2, 4)
    nod, wag = rng.uniform(-0.15, 0.15, 2)
    tone = rng.uniform(-0.06, 0.06)

    def place(strokes: Sequence[tuple[float, ...]]) -> Floats:
        """Distance to strokes given as x0 y0 r0 x1 y1 r1 in body units, the head at +x."""
        table = np.array(strokes) * (scale * np.array([facing, 1, 1, facing, 1, 1]))
        table[:, [0, 3]] += centre_x
        table[:, [1, 4]] += centre_y
        return capsules(table)

    head_x, head_y = 1.30, -0.85 + nod
    legs = [
        (x, 0.2, 0.24, x + step, 1.68, 0.10)
        for x, step in zip((-0.95, -0.60, 0.50, 0.85), stride, strict=True)
    ]
    trunk = [(-0.80, 0.0, 0.42, 0.75, -0.02, 0.50), (0.75, -0.15, 0.42, head_x, head_y, 0.30)]
    head = [
        (head_x, head_y, 0.36, head_x + 0.22, head_y + 0.05, 0.30),
        (head_x + 0.20, head_y + 0.10, 0.22, head_x + 0.68, head_y + 0.20, 0.12),
        (head_x - 0.20, head_y - 0.20, 0.16, head_x - 0.24, head_y - 0.62, 0.03),
        (head_x + 0.12, head_y - 0.22, 0.16, head_x + 0.14, head_y - 0.64, 0.03),
    ]
    curled = [
        (-1.05, -0.10, 0.20, -1.40, -0.55 + wag, 0.22),
        (-1.40, -0.55 + wag, 0.22, -1.15, -0.95 + wag, 0.22),
        (-1.15, -0.95 + wag, 0.22, -0.75, -0.80 + wag, 0.16),
    ]
    hanging = [
        (-1.05, -0.10, 0.18, -1.45 + wag, 0.40, 0.22),
        (-1.45 + wag, 0.40, 0.22, -1.55 + wag, 1.05, 0.10),
    ]
    shape = np.minimum(place(legs + trunk + head), place(hanging if label else curled))
    body = coverage(shape)

    shadow_gap = np.hypot((X - centre_x) / 1.5, (Y - feet) * 4) - 0.9 * scale
    paint(canvas, canvas * 0.62, coverage(shadow_gap, 6.0))

    # From an even coat to a dark back over a white belly; the classes overlap in the middle.
    contrast = rng.uniform(0.0, 0.7) + (0.0 if label else 0.3)
    even, warm = colour(0.50, 0.47, 0.43), rng.uniform(-0.05, 0.05)
    dark = even - 0.26 * contrast + colour(warm, 0, -warm)
    light = even + 0.42 * contrast + colour(warm, 0, -warm)
    # Light below the middle of the trunk and on the muzzle, dark above.
    low = np.clip((Y - centre_y) / scale * 1.6 + 0.15, 0, 1)
    muzzle = place([(head_x + 0.15, head_y + 0.22, 0.10, head_x + 0.55, head_y + 0.22, 0.12)])
    pale = np.maximum(low, coverage(muzzle, 2.0))
    fur = dark + (light - dark) * pale + tone + 0.05 * noise(rng, 24, 24)
    paint(canvas, fur, body)
    eye = place([(head_x + 0.16, head_y - 0.06, 0.05, head_x + 0.20, head_y - 0.06, 0.05)])
    paint(canvas, colour(0.05, 0.05, 0.06), coverage(eye))
    nose = place([(head_x + 0.66, head_y + 0.16, 0.06, head_x + 0.70, head_y + 0.16, 0.06)])
    paint(canvas, colour(0.05, 0.05, 0.06), coverage(nose))
    return body
