"""LPIPS: the official package's distances, and where weights come from."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor

from humetric.errors import HumetricError
from humetric.models import lpips
from humetric.models.lpips import CONVOLUTIONS, Lpips, distances, load, long_vectors

ROOT = Path(__file__).resolve().parents[2]
MIRROR = Path(os.environ.get("HUMETRIC_MIRROR", ROOT.parent / "shared" / "mirror"))
WEIGHTS = MIRROR / "models" / lpips.NAME / lpips.FILE

needs_weights = pytest.mark.skipif(
    not WEIGHTS.is_file(), reason=f"no weights at {WEIGHTS}; set HUMETRIC_MIRROR"
)


def made_up() -> dict[str, Tensor]:
    """Tensors of the right names and shapes, of no meaning."""
    draw, found = torch.Generator().manual_seed(0), {}
    for i, (at, (inputs, outputs, kernel, *_)) in enumerate(CONVOLUTIONS.items()):
        scale = (2 / (inputs * kernel**2)) ** 0.5
        shape = (outputs, inputs, kernel, kernel)
        found[f"features.{at}.weight"] = torch.randn(shape, generator=draw) * scale
        found[f"features.{at}.bias"] = torch.randn(outputs, generator=draw) / 10
        found[f"lin{i}.weight"] = torch.rand(1, outputs, 1, 1, generator=draw)
    return found


@pytest.fixture(scope="module")
def made_up_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mirror") / "models" / lpips.NAME / lpips.FILE
    path.parent.mkdir(parents=True)
    save_file(made_up(), path)
    return path


def pictures(seed: int, count: int = 3, size: int = 64) -> Tensor:
    return torch.rand(count, 3, size, size, generator=torch.Generator().manual_seed(seed)) * 2 - 1


@needs_weights
def test_distances_are_those_of_the_official_package() -> None:
    reference = json.loads(WEIGHTS.with_name("reference.json").read_text())
    draw = np.random.default_rng(0)
    a, b = (torch.from_numpy(draw.uniform(-1, 1, (4, 3, 64, 64)).astype(np.float32)) for _ in "ab")
    c = 0.7 * a + 0.3 * b
    network = load(WEIGHTS)
    for other, name in ((b, "distance_a_b"), (c, "distance_a_c")):
        assert network(a, other).tolist() == pytest.approx(reference[name], abs=1e-5)
        pairs = distances(network.features(a), network.features(other))
        assert pairs.diagonal().tolist() == pytest.approx(reference[name], abs=1e-5)


@needs_weights
def test_linear_weights_of_the_mirror_are_never_negative() -> None:
    """Else their roots, which the long vectors are scaled by, would be no numbers."""
    found = load_file(WEIGHTS)
    assert all(v.min() >= 0 for name, v in found.items() if name.startswith("lin"))


def test_all_pairs_are_what_pairs_are_layer_by_layer(made_up_file: Path) -> None:
    """Against the formula written out: normalise, subtract, square, weigh, average, sum."""
    tensors, network = made_up(), load(made_up_file)
    a, b = pictures(1, 3), pictures(2, 2)

    def layers(x: Tensor) -> list[Tensor]:
        x = (x - torch.tensor([-0.030, -0.088, -0.188]).view(3, 1, 1)) / torch.tensor(
            [0.458, 0.448, 0.450]
        ).view(3, 1, 1)
        found = []
        for at, (_, _, _, stride, padding) in CONVOLUTIONS.items():
            if at in (3, 6):
                x = F.max_pool2d(x, kernel_size=3, stride=2)
            weight, bias = tensors[f"features.{at}.weight"], tensors[f"features.{at}.bias"]
            x = F.conv2d(x, weight, bias, stride, padding).clamp(min=0)
            found.append(x)
        return found

    expected = torch.zeros(3, 2)
    for i, (left, right) in enumerate(zip(layers(a), layers(b), strict=True)):
        left, right = F.normalize(left, dim=1)[:, None], F.normalize(right, dim=1)[None]
        weight = tensors[f"lin{i}.weight"].view(1, 1, -1, 1, 1)
        expected += ((left - right) ** 2 * weight).sum(2).mean((2, 3))
    found = distances(network.features(a), network.features(b))
    torch.testing.assert_close(found.float(), expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(network(a, a), torch.zeros(3), rtol=0, atol=0)


def test_distances_of_nearly_the_same_rows_keep_their_digits() -> None:
    a = torch.ones(1, 1000)
    assert distances(a, a + 1e-4).item() == pytest.approx(1e-5, rel=1e-2)
    assert distances(a, a).item() == 0


def test_uniform_weights_give_one_minus_the_cosine() -> None:
    left, right = torch.rand(1, 5, 2, 3), torch.rand(1, 5, 2, 3)
    found = distances(*(long_vectors([x], [torch.full((5,), 0.5)]) for x in (left, right)))
    cosine = F.cosine_similarity(left, right, dim=1).mean()
    torch.testing.assert_close(found.float().squeeze(), 1 - cosine)


def test_weights_come_from_the_mirror(made_up_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUMETRIC_MIRROR", str(made_up_file.parents[2]))
    a = pictures(1)
    assert torch.equal(load().features(a), load(made_up_file).features(a))


ALEXNET = """
from enum import Enum
from pathlib import Path
import torch

class AlexNet_Weights(Enum):
    IMAGENET1K_V1 = "alexnet"

    def get_state_dict(self, map_location, check_hash, weights_only):
        assert map_location == "cpu" and check_hash and weights_only
        return torch.load(Path(__file__).with_name("alexnet.pth"), weights_only=True)
"""
"""What torchvision offers, reading a file beside it."""


@pytest.fixture
def installed_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Packages lpips and torchvision that hold the made-up tensors by the official names."""
    found = made_up()
    alexnet = {name: value for name, value in found.items() if name.startswith("features")}
    alexnet["classifier.6.bias"] = torch.zeros(3)
    linear = {
        name.replace(".weight", ".model.1.weight"): value
        for name, value in found.items()
        if name.startswith("lin")
    }
    folder = tmp_path / "lpips" / "weights" / "v0.1"
    folder.mkdir(parents=True)
    torch.save(linear, folder / "alex.pth")
    (tmp_path / "lpips" / "__init__.py").write_text("raise ImportError('its code was run')")
    models = tmp_path / "torchvision" / "models"
    models.mkdir(parents=True)
    (tmp_path / "torchvision" / "__init__.py").touch()
    (models / "__init__.py").write_text(ALEXNET)
    torch.save(alexnet, models / "alexnet.pth")
    for name in [
        name for name in sys.modules if name.partition(".")[0] in ("lpips", "torchvision")
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("HUMETRIC_MIRROR", raising=False)
    yield tmp_path
    for name in ("torchvision", "torchvision.models"):
        sys.modules.pop(name, None)


def test_weights_come_from_the_installed_pair(made_up_file: Path, installed_pair: Path) -> None:
    """Their state dicts are read, without running any code of lpips."""
    a = pictures(1)
    assert torch.equal(load().features(a), load(made_up_file).features(a))


def test_a_pickle_that_is_more_than_tensors_is_refused(installed_pair: Path) -> None:
    torch.save({"lin0": Path("x")}, installed_pair / "lpips" / "weights" / "v0.1" / "alex.pth")
    with pytest.raises(HumetricError, match="give no AlexNet"):
        load()


def test_without_weights_the_error_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("humetric.data.sources.lookup.find_spec", lambda name: None)
    monkeypatch.delenv("HUMETRIC_MIRROR", raising=False)
    said = r"9\.9 MB.*HUMETRIC_MIRROR is not set.*not installed.*pip install.*feature-similarity"
    with pytest.raises(HumetricError, match=said):
        load()
    monkeypatch.setenv("HUMETRIC_MIRROR", str(tmp_path))
    with pytest.raises(HumetricError, match="it is not in"):
        load()
    with pytest.raises(HumetricError, match="there is nothing"):
        load(tmp_path / "none.safetensors")
    (tmp_path / "text.safetensors").write_text("no tensors")
    with pytest.raises(HumetricError, match="Cannot read weights of LPIPS"):
        load(tmp_path / "text.safetensors")


def test_other_weights_are_refused(tmp_path: Path) -> None:
    tensors = made_up()
    tensors["lin1.weight"] = tensors["lin1.weight"][:, :5]
    save_file({name: t.contiguous() for name, t in tensors.items()}, tmp_path / "other.safetensors")
    with pytest.raises(HumetricError, match=r"1 tensors differ \(expected lin1.weight of"):
        load(tmp_path / "other.safetensors")


def test_small_and_grey_pictures_are_refused() -> None:
    for shape in ((1, 1, 64, 64), (1, 3, 30, 64)):
        with pytest.raises(HumetricError, match=r"\(n, 3, height, width\), 31 pixels"):
            Lpips().features(torch.zeros(shape))
    assert torch.isfinite(Lpips().features(torch.zeros(1, 3, lpips.SMALLEST, 64))).all()
