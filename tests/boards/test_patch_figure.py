"""The figure of patches: what is outlined and cut out, and that no words lie on others."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType

import numpy as np
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from humetric import METHODS, METRICS
from humetric.boards.patch_figure import draw, png, region, title
from humetric.metrics.patches import Patches
from humetric.results.result import Failure, Skip
from humetric.run.shown_patches import Highlighted, PatchLook, Shown

DRAW = np.random.default_rng(3)


def looked(
    classes: int = 2, count: int = 1, size: tuple[int, int] = (24, 20), per: int = 3,
    channels: int = 3, word: str = "class", names: tuple[str, ...] = ("edge", "constant"),
) -> PatchLook:  # fmt: skip
    """Made by hand: patches 5 pixels wide, none in the last case."""
    total, side = classes * per, 5
    images = DRAW.integers(0, 256, (total, *size, channels)).astype(np.uint8)
    there = torch.ones(total, count, dtype=torch.bool)
    there[-1] = False
    corner = torch.tensor(DRAW.integers(0, min(size) - side, (total, count, 2)))
    parts = DRAW.integers(0, 256, (total, count, 8, 8, channels)).astype(np.uint8)
    values = DRAW.random(total)
    values[-1] = np.nan
    metric = METRICS.make("feature-similarity", {"patches": count}).card
    return PatchLook(
        setting="image/own/net",
        metric=metric,
        reference=total,
        size=size,
        classes={
            f"{word}-{c}": tuple(
                Shown(f"{word}-{i:04d}", i, images[i], i > 0) for i in range(c, total, classes)
            )
            for c in range(classes)
        },
        methods={name: replace(METHODS.make("edge").card, id=name) for name in names},
        highlighted={
            name: Highlighted(Patches(corner, there, side), parts, values) for name in names
        },
        failures=(),
        skips=(),
    )


def words_of(figure: Figure) -> list[Text]:
    FigureCanvasAgg(figure).draw()
    return [t for t in figure.findobj(Text) if isinstance(t, Text) and t.get_text().strip()]


def cells(figure: Figure) -> list[Axes]:
    """From left to right, row by row."""
    return sorted(figure.axes, key=lambda a: (-round(a.get_position().y1, 4), a.get_position().x0))


def test_each_image_has_its_patch_outlined_and_beside_it_the_patch_cut_out() -> None:
    look = looked(names=("edge",))
    axes = cells(draw(look))
    assert len(axes) == 2 * 2 * 3, "two classes, three images, three patches"
    of = look.highlighted["edge"]
    for c, cases in enumerate(look.classes.values()):
        row = axes[c * 6 : c * 6 + 6]
        for case, image, part in zip(cases, row[:3], row[3:], strict=True):
            np.testing.assert_array_equal(image.images[0].get_array(), case.image)
            if not of.found.there[case.row, 0]:
                assert not image.collections
                assert [t.get_text() for t in part.texts] == ["no patch"]
                continue
            ends = np.concatenate([p.vertices for p in image.collections[0].get_paths()])
            y, x = of.found.corner[case.row, 0].tolist()
            np.testing.assert_array_equal(ends.min(0), [x - 0.5, y - 0.5])
            np.testing.assert_array_equal(ends.max(0), [x + 4.5, y + 4.5])
            np.testing.assert_array_equal(part.images[0].get_array(), of.parts[case.row, 0])


def test_several_patches_share_a_cell() -> None:
    look = looked(count=3, names=("edge",))
    axes = draw(look).axes
    cut_out = [a for a in axes if a.images and a.images[0].get_array().shape[0] == 8]
    assert len(cut_out) == 3 * 5, "all but the case without a patch"
    boxes = [a.get_position() for a in axes]
    for one, two in combinations(boxes, 2):
        across = min(one.x1, two.x1) - max(one.x0, two.x0)
        assert min(across, min(one.y1, two.y1) - max(one.y0, two.y0)) < 1e-9
    image = next(a for a in axes if len(a.collections))
    assert len(image.collections) == 3 * 2, "each outlined, in black and white"


@pytest.mark.parametrize(
    ("classes", "size", "per", "word"),
    [
        (2, (24, 20), 5, "leaf"),
        (2, (10, 40), 5, "w" * 40),
        (3, (60, 20), 2, "w" * 40),
        (1, (24, 20), 1, "leaf"),
        (1, (24, 20), 1, "w" * 40),
    ],
)
def test_words_neither_overlap_nor_leave_the_figure(
    classes: int, size: tuple[int, int], per: int, word: str
) -> None:
    look = looked(classes, 1, size, per, word=word, names=(word, "edge"))
    figure = draw(look)
    shown = [(t.get_text(), t.get_window_extent()) for t in words_of(figure)]
    for words, box in shown:
        assert figure.bbox.x0 <= box.x0, words
        assert box.x1 <= figure.bbox.x1, words
        assert figure.bbox.y0 <= box.y0, words
        assert box.y1 <= figure.bbox.y1, words
    for (one, first), (two, second) in combinations(shown, 2):
        across = min(first.x1, second.x1) - max(first.x0, second.x0)
        down = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert min(across, down) < 6, f"{one!r} lies on {two!r}"  # boxes have margins


def test_values_and_what_is_wrong_or_missing_are_said() -> None:
    look = looked(names=("edge", "broken", "left-out", "unread"))
    known = dict(look.highlighted)
    of, nothing = known["edge"], np.full(6, np.nan)
    look = replace(
        look,
        highlighted=MappingProxyType(
            {
                "edge": of,
                "constant": replace(of, values=nothing),
                "unread": replace(of, values=None),
            }
        ),
        methods={**look.methods, "constant": METHODS.make("constant").card},
        failures=(Failure("image/own/net", "broken", "", "no"),),
        skips=(Skip("image/own/net", "left-out", "is for text"),),
    )
    words = [t.get_text() for t in words_of(draw(look))]
    assert of.values is not None
    assert all(f"{value:.3f}" in words for value in of.values[:-1])
    assert f"feature-similarity {of.mean:.3f}, mean of 5 cases" in words
    for line in ("failed", "skipped", "feature-similarity failed", "feature-similarity undefined"):
        assert words.count(line) == 1, line
    assert "class-0000 *" in words
    assert "class-0001" in words
    assert any("(*: wrongly)" in line for line in words)


def test_grey_images_and_a_png_that_is_the_same_every_time() -> None:
    look = looked(channels=1)
    file = Image.open(io.BytesIO(png(look)))
    assert file.info["Title"] == title(look) == "Highlighted patches of image/own/net"
    assert png(look) == png(look)


def test_the_region_of_a_patch() -> None:
    found = region((6, 7), 1, 2, 3)
    assert found.shape == (6, 7)
    assert found.sum() == 9
    assert found[1:4, 2:5].all()
