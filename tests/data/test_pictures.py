"""Pictures are decoded, resized and cropped in one way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from humetric.data.pictures import SIDE, picture, pictures
from humetric.errors import HumetricError


def saved(path: Path, image: Image.Image) -> Path:
    image.save(path)
    return path


def test_the_middle_is_cut_out_and_nothing_resampled_where_the_size_is_right(
    tmp_path: Path,
) -> None:
    plain = np.random.default_rng(0).integers(0, 256, (8, 13, 3)).astype(np.uint8)
    file = saved(tmp_path / "wide.png", Image.fromarray(plain))
    found = picture(file, shorter=8, side=6)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, plain[1:7, 3:9])


@pytest.mark.parametrize("size", [(40, 20), (20, 40), (5, 9), (8, 8)])
def test_the_shorter_side_is_made_right_and_the_shape_is_kept(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    """A ramp from left to right, or from top to bottom, has its mean in the middle."""
    width, height = size
    along = np.linspace(0, 250, max(size))
    ramp = np.tile(along, (min(size), 1)) if width >= height else np.tile(along[:, None], width)
    image = np.repeat(ramp.round()[:, :, None], 3, 2).astype(np.uint8)
    found = picture(saved(tmp_path / "ramp.png", Image.fromarray(image)), shorter=8, side=8)
    assert found.shape == (8, 8, 3)
    assert found.mean() == pytest.approx(125, abs=2)
    steps = np.diff(found[:, :, 0].astype(float), axis=1 if width >= height else 0)
    inner = steps[2:-2, 2:-2]
    assert inner.mean() == pytest.approx(250 / (max(size) - 1) * min(size) / 8, rel=0.1)


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "1"])
def test_all_kinds_become_rgb(tmp_path: Path, mode: str) -> None:
    image = Image.new("RGB", (300, 260), (255, 255, 255)).convert(mode)
    found = picture(saved(tmp_path / "white.png", image))
    assert found.shape == (SIDE, SIDE, 3)
    assert (found == 255).all()


def test_several_and_none(tmp_path: Path) -> None:
    files = [saved(tmp_path / f"{v}.png", Image.new("RGB", (9, 8), (v, v, v))) for v in (3, 200)]
    assert pictures(files, 8, 4).mean((1, 2, 3)).tolist() == [3, 200]
    assert pictures([], 8, 4).shape == (0, 4, 4, 3)


def test_what_is_no_picture_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"no picture")
    with pytest.raises(HumetricError, match=r"Expected a picture but cannot read .*a\.jpg"):
        picture(tmp_path / "a.jpg")
    with pytest.raises(HumetricError, match="Expected a side from 1 to 8"):
        picture(tmp_path / "a.jpg", 8, 9)
