"""Leaves with a smooth or a serrated margin: the class lies in a band of a few pixels.

The class, and the cue, is the margin: smooth (0) or serrated (1). Teeth are drawn about the smooth
outline with zero mean, so that neither area nor silhouette at a distance tells the classes apart;
place, size, rotation, shape, bend, hue, veins, light and paper are drawn alike for both. Teeth
range from plain to hardly there, and both margins are rippled and worn, so that some leaves are
hard.

The region is the band along the outline that teeth can reach.

Mirrors the use case of Colin et al. (2022) where people learn an expert's strategy, Leaves, whose
model looks at margins and veins.
"""

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

CLASSES = ("smooth", "serrated")
VERSION = 1

_HUES = (
    colour(0.30, 0.50, 0.18),  # green
    colour(0.45, 0.55, 0.16),  # yellow-green
    colour(0.72, 0.56, 0.14),  # yellow
    colour(0.66, 0.32, 0.12),  # orange
    colour(0.55, 0.18, 0.16),  # red
)
_BAND = 2.0
"""Half width of the region in pixels; no tooth is higher."""


def draw(index: int, split: str) -> Sample:
    """The leaf at `index` of `split`; every other leaf is serrated."""
    return render(generator("leaf", split, index), label=index % 2)


def render(rng: np.random.Generator, *, label: int) -> Sample:
    """Draw a leaf with the margin of `label`; everything else comes from `rng`."""
    canvas = _paper(rng)
    length = rng.uniform(43, 53)
    turn = rng.uniform(0, 2 * np.pi)
    middle_x, middle_y = SIZE / 2 + rng.uniform(-4, 4, 2)
    bend = rng.uniform(-0.12, 0.12)
    # Leaf coordinates in pixels: u from base (0) to tip (length), v across, bent along the midrib.
    cos, sin = np.cos(turn), np.sin(turn)
    u = (X - middle_x) * cos + (Y - middle_y) * sin + length / 2
    v = (Y - middle_y) * cos - (X - middle_x) * sin
    t = np.clip(u / length, 0, 1)
    v = v - bend * length * 4 * t * (1 - t) + bend * length * 0.5

    breadth = rng.uniform(0.36, 0.5) * length / 2
    widest = rng.uniform(0.7, 0.95)
    half = breadth * np.sin(np.pi * t**widest) ** 0.8
    ripple = rng.uniform(0.2, 0.7) * np.sin(u * rng.uniform(0.25, 0.5) + rng.uniform(0, 6.3))
    wear = rng.uniform(0.3, 1.4) * noise(rng, 22, 22)
    outline = np.abs(v) - half - (ripple + wear) * np.minimum(half / 4, 1)
    slope = np.gradient(half, axis=1) ** 2 + np.gradient(half, axis=0) ** 2
    outline = outline / np.sqrt(1 + slope)
    outline = np.maximum(outline, np.maximum(-u, u - length))

    teeth = _teeth(rng, u, v, half)
    edge = outline - teeth if label else outline
    blade = coverage(edge)

    # Cast by the smooth outline, so that teeth change nothing outside the region.
    shadow = np.roll(coverage(outline, 5.0), (2, 1), axis=(0, 1))
    paint(canvas, canvas * 0.72, shadow * 0.8)
    _stalk(rng, canvas, turn, length, (middle_x, middle_y), bend)
    paint(canvas, _tissue(rng, u, v, t, half), blade)
    canvas *= rng.uniform(0.9, 1.08)
    region = np.abs(outline) <= _BAND
    return Sample(develop(canvas, rng, 0.02), label, region, label)


def _teeth(rng: np.random.Generator, u: Floats, v: Floats, half: Floats) -> Floats:
    """Height of the serration in pixels: slanted teeth towards the tip, none at base and tip."""
    period = rng.uniform(3.6, 5.4)
    height = rng.uniform(0.1, 1.6)
    phase = rng.uniform(0, 1, 2)
    place = u / period + np.where(v > 0, phase[0], phase[1])
    rise = place - np.floor(place)
    tooth = np.where(rise < 0.7, rise / 0.7, (1 - rise) / 0.3) * 2 - 1
    teeth: Floats = height * tooth * np.minimum(half / 5, 1)
    return teeth


def _paper(rng: np.random.Generator) -> Floats:
    """A warm or cool sheet with mottling and light from one side."""
    tint = colour(0.86, 0.83, 0.76) + colour(*rng.uniform(-0.06, 0.06, 3))
    light = 0.06 * noise(rng, 1, 1) + 0.03 * noise(rng, 6, 6) + 0.025 * noise(rng, 40, 40)
    return tint + light


def _tissue(rng: np.random.Generator, u: Floats, v: Floats, t: Floats, half: Floats) -> Floats:
    """The blade's colour: two mixed hues, mottling, a midrib and side veins."""
    first, second = rng.integers(len(_HUES), size=2)
    mix = 0.5 + 0.5 * noise(rng, 2, 2)
    tissue = _HUES[first] + 0.45 * mix * (_HUES[second] - _HUES[first])
    tissue = tissue * (1 + 0.10 * noise(rng, 16, 16)) + colour(*rng.uniform(-0.04, 0.04, 3))
    tissue = tissue * (1.08 - 0.16 * np.clip(np.abs(v) / (half + 1), 0, 1))
    spacing, lean = rng.uniform(5.5, 8.0), rng.uniform(0.6, 1.1)
    side = (u - lean * np.abs(v)) / spacing + rng.uniform(0, 1)
    gap = np.abs(side - np.rint(side)) * spacing / np.sqrt(1 + lean * lean)
    veins = coverage(gap - 0.35) * 0.45 * (np.abs(v) < 0.8 * half)
    veins = np.maximum(veins, 0.8 * coverage(np.abs(v) - 0.8 * (1.1 - t)))
    paint(tissue, tissue * 0.5 + colour(0.45, 0.45, 0.32), veins)
    return tissue


def _stalk(
    rng: np.random.Generator,
    canvas: Floats,
    turn: float,
    length: float,
    middle: tuple[float, float],
    bend: float,
) -> None:
    """A short stalk from the base of the blade outwards."""
    reach = rng.uniform(4, 8)
    cos, sin = np.cos(turn), np.sin(turn)

    def point(u: float, v: float) -> tuple[float, float]:
        return middle[0] + u * cos - v * sin, middle[1] + u * sin + v * cos

    drop = -bend * length * 0.5
    start, end = point(-length / 2 + 2, drop), point(-length / 2 - reach, drop * 1.3)
    stroke = np.array([[*start, 0.9, *end, 0.7]])
    paint(canvas, colour(0.42, 0.36, 0.18), coverage(capsules(stroke)))
