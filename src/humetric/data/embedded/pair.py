"""Two fish that swim the same way or opposite ways: no patch of the picture shows the class.

The class, and the cue, is the relation of two distant fish: the same heading (0) or opposite ones
(1). One fish keeps to the left half, the other to the right; each heads left or right equally
often, and in every four pictures each heading of the left fish meets each class once, so a fish
alone says nothing. Place, size, tilt, kind, colours, water and weeds are drawn alike for both;
murky water, steep headings and spots near the tail that look like eyes make some pictures hard.

The region is the two fish.

Mirrors the use case of Colin et al. (2022) where no explanation helped, ImageNet: what is
highlighted looks the same for both classes.
"""

import numpy as np

from humetric.data.embedded.drawing import (
    SIZE,
    Floats,
    Sample,
    X,
    Y,
    colour,
    coverage,
    develop,
    generator,
    noise,
    paint,
)

CLASSES = ("same", "opposite")
VERSION = 1

_COATS = (
    colour(0.95, 0.55, 0.15),
    colour(0.90, 0.80, 0.25),
    colour(0.85, 0.30, 0.25),
    colour(0.75, 0.80, 0.85),
    colour(0.80, 0.50, 0.75),
)


def draw(index: int, split: str) -> Sample:
    """The picture at `index` of `split`; every four pictures hold each pair of headings once."""
    left, right = headings(index)
    return render(generator("pair", split, index), left=left, right=right)


def headings(index: int) -> tuple[int, int]:
    """Where the left and the right fish of a picture head: left (0) or right (1)."""
    label, left = index % 2, (index // 2) % 2
    return left, left ^ label


def render(rng: np.random.Generator, *, left: int, right: int) -> Sample:
    """Draw the left and the right fish heading left (0) or right (1); the rest is `rng`'s."""
    canvas, water = _water(rng)
    murk = rng.uniform(0.0, 0.9)
    _weeds(rng, canvas)
    fish = _fish(rng, canvas, SIZE * 0.25, left) + _fish(rng, canvas, SIZE * 0.75, right)
    haze = np.clip(murk + 0.25 * noise(rng, 3, 3), 0, 0.9)
    paint(canvas, water, haze)
    _bubbles(rng, canvas)
    label = left ^ right
    return Sample(develop(canvas, rng, 0.02), label, fish > 0.2, label)


def _water(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The water with light from above and a sandy floor, and the colour of the water alone."""
    tone = colour(*rng.uniform(-0.05, 0.05, 3))
    water = colour(0.30, 0.62, 0.72) + tone - colour(0.16, 0.26, 0.22) * (Y / SIZE)
    canvas = water + 0.05 * noise(rng, 4, 2) + 0.03 * noise(rng, 10, 5)
    ray = np.clip(noise(rng, 1, 12)[0] - 0.2, 0, 1) * np.clip(1 - Y / 45, 0, 1)
    paint(canvas, colour(0.85, 0.95, 0.95), 0.4 * ray)
    floor = rng.uniform(57, 60) + 1.5 * noise(rng, 1, 5)[0]
    sand = colour(0.70, 0.62, 0.45) + 0.06 * noise(rng, 32, 32)
    paint(canvas, sand, coverage(floor - Y, 1.5))
    return canvas, water


def _weeds(rng: np.random.Generator, canvas: Floats) -> None:
    """A few swaying blades that grow from the floor."""
    for _ in range(5):
        root, height, sway = rng.uniform(2, 62), rng.uniform(8, 26), rng.uniform(1, 3)
        phase, shade = rng.uniform(0, 6.3), rng.uniform(0.7, 1.3)
        rise = np.clip((62 - Y[:, :1]) / height, 0, 1)
        stem = root + sway * rise * np.sin(5 * rise + phase)
        gap = np.abs(X[:1] - stem) - 1.3 * (1 - rise) + 3 * (rise >= 1)
        paint(canvas, colour(0.12, 0.38, 0.22) * shade, 0.85 * coverage(gap))


def _fish(rng: np.random.Generator, canvas: Floats, middle: float, heading: int) -> Floats:
    """Paint one fish; returns the share of each pixel it covers."""
    x0, y0 = middle + rng.uniform(-3.5, 3.5), rng.uniform(12, 48)
    scale, tall, flare = rng.uniform((7.0, 0.42, 0.4), (10.5, 0.62, 0.85))
    tilt = rng.uniform(-1.0, 1.0)
    coat, trim = rng.permutation(len(_COATS))[:2]
    stripes, rate, phase = rng.integers(3), rng.uniform(5, 8), rng.uniform(0, 6.3)
    spotted = rng.random() < 0.5
    side = 1.0 if heading else -1.0
    cos, sin = np.cos(tilt), np.sin(tilt)
    # Fish coordinates in body lengths: u towards the snout, v downwards.
    u = side * ((X - x0) * cos + (Y - y0) * sin) / scale
    v = ((Y - y0) * cos - (X - x0) * sin) / scale

    body = (np.hypot((u - 0.2) / 0.75, v / tall) - 1) * tall * scale
    fan = np.maximum(np.abs(v) - (-u - 0.42) * flare, np.maximum(-u - 1.0, u + 0.4)) * scale * 0.75
    back = np.maximum(np.hypot(u - 0.05, v + tall * 0.8) - 0.32, v + 0.1) * scale
    fins = coverage(np.minimum(fan, back))
    trunk = coverage(body)

    ink = _COATS[coat] * (1.05 - 0.35 * v / tall)
    if stripes:
        wave = np.sin((u if stripes == 1 else v * 1.5) * rate + phase)
        ink = ink + (_COATS[trim] - ink) * np.clip(wave * 3, 0, 1) * 0.7
    paint(canvas, _COATS[trim] * 0.85, fins)
    paint(canvas, ink, trunk)
    if spotted:
        spot = np.hypot(u + 0.25, v + 0.05) * scale
        paint(canvas, colour(0.05, 0.05, 0.08), coverage(spot - 1.3))
    eye = np.hypot(u - 0.58, v + 0.12) * scale
    paint(canvas, colour(0.97, 0.97, 0.95), coverage(eye - 1.5))
    paint(canvas, colour(0.05, 0.05, 0.08), coverage(eye - 0.8))
    return np.maximum(trunk, fins)


def _bubbles(rng: np.random.Generator, canvas: Floats) -> None:
    """A few rising bubbles."""
    for x, y, r in rng.uniform((4, 4, 0.8), (60, 50, 1.8), (4, 3)):
        rim = np.abs(np.hypot(X - x, Y - y) - r) - 0.4
        paint(canvas, colour(0.85, 0.95, 0.97), 0.6 * coverage(rim))
