"""Perceptual similarity: patches, features and the mean over others, against plain loops."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from support import engine_for, net_setting
from torch import Tensor, nn

from humetric import METRICS
from humetric.engine.engine import Engine
from humetric.errors import AccessError, HumetricError, UnknownNameError
from humetric.metrics import Reference, Scores
from humetric.metrics.patches import cut, patches
from humetric.metrics.perceptual_similarity import shown, similarity
from humetric.models import lpips
from humetric.models.model import Model
from humetric.models.own_features import activations, own_features
from humetric.tasks.cases import Cases

ROOT = Path(__file__).resolve().parents[2]
MIRROR = Path(os.environ.get("HUMETRIC_MIRROR", ROOT.parent / "shared" / "mirror"))
needs_weights = pytest.mark.skipif(
    not (MIRROR / "models" / lpips.NAME).is_dir(),
    reason=f"no weights of LPIPS in {MIRROR}; set HUMETRIC_MIRROR",
)


def cases(count: int = 4, precision: str = "fp64", channels: int = 3) -> Cases:
    return engine_for(net_setting(count, channels), precision=precision).cases


def two_classes(some: Cases) -> Cases:
    return replace(some, target=torch.arange(len(some)) % 2)


def noise(some: Cases, seed: int = 0) -> Tensor:
    return torch.randn(some.shape, generator=torch.Generator().manual_seed(seed)).double()


def score(name: str, some: Cases, maps: Tensor, parameters: dict[str, object] | None = None,
          reference: Reference | None = None) -> Tensor:  # fmt: skip
    engine = Engine(some, some.model.module, some.dtype)
    metric = METRICS.make(name, parameters)
    found = engine.run([metric.program(maps, some, reference or Reference(some, maps))])[0]
    if isinstance(found, Exception):
        raise found
    assert isinstance(found, Scores)
    return found.value


class TestPatches:
    def test_the_best_window_of_all_is_found(self) -> None:
        some = cases()
        maps = noise(some)
        found = patches(maps, some, 0.25, 1)
        assert found.side == 16
        for each, (corner,) in zip(maps.numpy(), found.corner.tolist(), strict=True):
            means = {
                (y, x): each[y : y + 16, x : x + 16].mean() for y in range(49) for x in range(49)
            }
            assert tuple(corner) == max(means, key=means.__getitem__)

    @pytest.mark.parametrize(("at", "corner"), [((0, 63), (0, 48)), ((63, 0), (48, 0))])
    def test_a_patch_at_the_border_is_moved_inside(
        self, at: tuple[int, int], corner: tuple[int, int]
    ) -> None:
        some = cases(1)
        maps = -torch.cdist(torch.cartesian_prod(*[torch.arange(64.0)] * 2),
                            torch.tensor([at], dtype=torch.float32)).view(1, 64, 64)  # fmt: skip
        assert patches(maps, some, 0.25, 1).corner.tolist() == [[list(corner)]]

    def test_several_do_not_overlap_and_come_best_first(self) -> None:
        some = cases()
        maps = noise(some)
        found = patches(maps, some, 1 / 6, 3)
        assert found.side == 11
        assert found.there.all()
        for each, corners in zip(maps, found.corner.tolist(), strict=True):
            means = [each[y : y + 11, x : x + 11].mean().item() for y, x in corners]
            assert means == sorted(means, reverse=True)
            for i, (y, x) in enumerate(corners):
                assert all(abs(y - v) >= 11 or abs(x - u) >= 11 for v, u in corners[:i])

    def test_where_there_is_no_room_there_are_fewer(self) -> None:
        some = cases(2)
        assert patches(noise(some), some, 1.0, 3).there.tolist() == [[True, False, False]] * 2

    def test_a_constant_map_has_none(self) -> None:
        some = cases(2)
        maps = torch.stack((torch.full((64, 64), 0.3), noise(some)[0].float()))
        assert patches(maps, some, 0.25, 2).there.tolist() == [[False] * 2, [True] * 2]

    def test_ties_are_broken_by_the_case_not_by_position(self) -> None:
        """A single pixel is in 256 windows of the same mean, up to rounding."""
        some = cases(4, "fp32")
        maps = torch.zeros(some.shape)
        maps[:, 30, 30] = 1
        corner = patches(maps, some, 0.25, 1).corner[:, 0]
        assert ((corner <= 30) & (corner > 14)).all()
        assert len(set(map(tuple, corner.tolist()))) > 1
        rounded = maps + torch.rand(maps.shape) * 1e-10
        assert torch.equal(patches(rounded, some, 0.25, 1).corner[:, 0], corner)

    def test_no_other_case_moves_a_patch(self) -> None:
        some = cases(4)
        maps = noise(some).round(decimals=0)
        alone = engine_for(net_setting(4), start=2, stop=3).cases
        whole = patches(maps, some, 0.25, 3)
        assert torch.equal(patches(maps[2:3], alone, 0.25, 3).corner[0], whole.corner[2])

    def test_cutting(self) -> None:
        some = cases(2)
        found = patches(noise(some), some, 0.25, 2)
        exact = cut(some.x, found, 16)
        assert exact.shape == (4, 3, 16, 16)
        y, x = found.corner[1, 0].tolist()
        assert torch.equal(exact[2], some.x[1, :, y : y + 16, x : x + 16])
        assert cut(some.x, found, 64).shape == (4, 3, 64, 64)
        steady = torch.full_like(some.x, 0.25)
        torch.testing.assert_close(
            cut(steady, found, 64), torch.full((4, 3, 64, 64), 0.25).double()
        )


class TestOwnFeatures:
    def test_the_distance_is_one_minus_the_mean_cosine(self) -> None:
        module = cases(1).model.module
        some = cases(4).x
        model = Model("net", module, layer="features.3")
        layers, x = [], some
        for block in module.features:  # type: ignore[union-attr]
            x = block(x)
            layers.append(x)
        expected = torch.stack([
            1 - F.cosine_similarity(layer[:, None], layer[None], dim=2).mean((2, 3))
            for layer in layers
        ]).mean(0)  # fmt: skip
        rows = own_features(model, some)
        # Where all channels are 0 a position is like itself, which the cosine of torch denies.
        blank = torch.stack([
            ((layer == 0).all(1)[:, None] & (layer == 0).all(1)[None]).double().mean((2, 3))
            for layer in layers
        ]).mean(0)  # fmt: skip
        half = torch.stack([
            ((layer == 0).all(1)[:, None] ^ (layer == 0).all(1)[None]).double().mean((2, 3))
            for layer in layers
        ]).mean(0)  # fmt: skip
        found = lpips.distances(rows, rows)
        torch.testing.assert_close(found, expected - blank - half / 2, rtol=0, atol=1e-9)

    def test_what_follows_the_layer_is_not_run(self) -> None:
        head = nn.Linear(7, 2)  # of no size that fits
        module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), head)
        found = activations(module, "1", torch.rand(2, 3, 9, 9))
        assert [tuple(layer.shape) for layer in found] == [(2, 4, 7, 7)] * 2
        assert not any(each._forward_hooks for each in module.modules())

    def test_a_layer_outside_a_sequence_stands_alone(self) -> None:
        class Net(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.one, self.two = nn.Conv2d(3, 4, 3), nn.Conv2d(4, 5, 3)

            def forward(self, x: Tensor) -> Tensor:
                return self.two(self.one(x)).flatten(1)  # type: ignore[no-any-return]

        (found,) = activations(Net(), "two", torch.rand(1, 3, 9, 9))
        assert found.shape == (1, 5, 5, 5)

    def test_a_closed_model_is_refused(self) -> None:
        some = two_classes(cases(2))
        closed = replace(some, model=Model("box", some.model.module, frozenset({"predict"})))
        with pytest.raises(AccessError, match="needs internals access"):
            score("feature-similarity", closed, noise(some))


def test_similarity_is_the_mean_over_pairs_that_count() -> None:
    """Against loops, with patches missing here and there and a case of no other's class."""
    draw = torch.Generator().manual_seed(0)
    own, other = torch.rand(4, 2, 7, generator=draw), torch.rand(5, 2, 7, generator=draw)
    own_there = torch.rand(4, 2, generator=draw) > 0.3
    other_there = torch.rand(5, 2, generator=draw) > 0.3
    own_there[1] = False
    target, other_target = torch.tensor([0, 1, 1, 2]), torch.tensor([0, 1, 1, 0, 0])
    found = similarity(own, own_there, other, other_there, target, other_target)
    for i in range(4):
        pairs = [
            1 - (own[i, k] - other[j, m]).square().sum().item()
            for k in range(2)
            for j in range(5)
            for m in range(2)
            if own_there[i, k] and other_there[j, m] and target[i] != other_target[j]
        ]
        expected = np.mean(pairs) if pairs else np.nan
        assert found[i].item() == pytest.approx(expected, abs=1e-6, nan_ok=True)
    assert found.isnan().tolist() == [False, True, False, False]
    same = similarity(own, own_there, own, own_there, *(torch.zeros(4),) * 2)
    assert same.isnan().all(), "no other class to compare with"


def test_patches_that_are_alike_in_both_classes_are_alike() -> None:
    """Each image has the same part, and a part that its class alone has."""
    draw = torch.Generator().manual_seed(3)
    some = two_classes(cases(6))
    common, apart = (torch.randn(2, 3, 16, 16, generator=draw).double() for _ in "ab")
    x = torch.zeros_like(some.x)
    x[:, :, 0:16, 0:16] = common[0]
    x[:, :, 40:56, 40:56] = apart[some.target]
    some = replace(some, x=x)
    at_common, at_apart = torch.zeros(2, *some.shape)
    at_common[:, 0:16, 0:16] = at_apart[:, 40:56, 40:56] = 1
    alike = score("feature-similarity", some, at_common)
    torch.testing.assert_close(alike, torch.ones(6).double(), rtol=0, atol=1e-9)
    assert (score("feature-similarity", some, at_apart) < 0.9).all()


def test_a_constant_map_is_undefined_and_a_constant_reference_counts_for_nothing() -> None:
    some = two_classes(cases(4))
    maps = noise(some)
    maps[1] = 0.5
    found = score("feature-similarity", some, maps)
    assert found.isnan().tolist() == [False, True, False, False]
    fewer = engine_for(net_setting(4), stop=4).cases
    kept = [0, 2, 3]
    others = replace(fewer, ids=tuple(fewer.ids[i] for i in kept), x=fewer.x[kept],
                     target=two_classes(fewer).target[kept])  # fmt: skip
    without = score("feature-similarity", some, maps, None, Reference(others, maps[kept]))
    torch.testing.assert_close(found, without, equal_nan=True)


def test_more_patches_are_pairs_of_patches() -> None:
    some = two_classes(cases(4))
    maps = noise(some)
    one, three = (score("feature-similarity", some, maps, {"patches": count}) for count in (1, 3))
    assert not torch.allclose(one, three)
    assert not three.isnan().any()


@needs_weights
def test_lpips_of_patches_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUMETRIC_MIRROR", str(MIRROR))
    some = two_classes(cases(4, "fp32"))
    maps = noise(some)
    corners = patches(maps, some, 0.25, 1).corner[:, 0].tolist()
    network = lpips.load()
    assert some.display is not None
    parts = [
        F.interpolate(
            (image[y : y + 16, x : x + 16].permute(2, 0, 1).float()[None] / 255 - 0.5) * 2,
            (64, 64),
            mode="bilinear",
        )
        for image, (y, x) in zip(some.display, corners, strict=True)
    ]
    expected = [
        np.mean([1 - network(parts[i], parts[j]).item() for j in range(4) if (i + j) % 2])
        for i in range(4)
    ]
    assert score("perceptual-similarity", some, maps).tolist() == pytest.approx(expected, abs=1e-5)


def test_grey_images_are_shown_in_three_channels() -> None:
    found = shown(cases(2, channels=1))
    assert found.shape == (2, 3, 64, 64)
    assert found.min() >= -1
    assert found.max() <= 1
    with pytest.raises(HumetricError, match="1 or 3 channels to be compared but got 2"):
        shown(cases(2, channels=2))


def test_reference_features_are_made_once_per_method(monkeypatch: pytest.MonkeyPatch) -> None:
    from humetric.metrics import perceptual_similarity as module

    rows: list[int] = []

    def counted(model: Model, pictures: Tensor) -> Tensor:
        rows.append(len(pictures))
        return own_features(model, pictures)

    monkeypatch.setattr(module, "own_features", counted)
    some = two_classes(cases(4))
    maps = noise(some)
    reference = Reference(some, maps)
    for _ in range(2):
        score("feature-similarity", some, -maps, None, reference)
    assert rows == [4, 4, 4], "the reference once, the cases twice"
    again = score("feature-similarity", some, maps, None, reference)
    assert rows == [4, 4, 4], "the reference's own patches are known"
    torch.testing.assert_close(again, score("feature-similarity", some, maps))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"share": 0.0}, "share of the side above 0"),
        ({"share": 1.5}, "share of the side above 0"),
        ({"patches": 0}, "at least 1 patch"),
        ({"size": 30}, "1 patch of 31 pixels or more but got 1 of 30"),
    ],
)
def test_wrong_parameters(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(HumetricError, match=message):
        METRICS.make("perceptual-similarity", parameters)


def test_another_network_is_not_known() -> None:
    with pytest.raises(UnknownNameError, match="vgg"):
        METRICS.make("perceptual-similarity", {"network": "vgg"})


def test_without_a_reference_it_says_so() -> None:
    some = cases(2)
    engine = Engine(some, some.model.module, some.dtype)
    (found,) = engine.run([METRICS.make("feature-similarity").program(noise(some), some)])
    assert "reference cases, which are not at hand" in str(found)
