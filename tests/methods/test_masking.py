"""Occlusion, LIME, kernel SHAP and RISE on models whose answers are known."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import pytest
import torch
from support import engine_for, ideal, linear_setting, net_setting
from torch import Tensor, nn

from humetric.engine.engine import Engine
from humetric.methods import METHODS
from humetric.methods.lime import weighted_ridge
from humetric.run.work import explain as run_methods
from humetric.tasks.partition import cuts


def explain(name: str, engine: Engine, **parameters: float) -> Tensor:
    found = run_methods([METHODS.make(name, parameters)], engine)[name]
    assert isinstance(found, Tensor), found
    return found


def cell_sums(engine: Engine, cells: int) -> Tensor:
    """True effect of each grid cell on a linear model."""
    return engine.cases.task.groups(cells).sum(ideal(engine.cases).flatten(1))


def test_occlusion_on_a_linear_model_is_the_sum_over_the_window() -> None:
    engine = engine_for(linear_setting(height=12, width=12))
    found = explain("occlusion", engine, size=3, stride=3)
    windows = ideal(engine.cases).view(-1, 4, 3, 4, 3).sum((2, 4))
    expected = windows.repeat_interleave(3, 1).repeat_interleave(3, 2)
    torch.testing.assert_close(found, expected)


def test_occlusion_with_overlapping_windows_by_brute_force() -> None:
    engine = engine_for(linear_setting(height=7, width=8))
    found = explain("occlusion", engine, size=3, stride=2)
    a = ideal(engine.cases)
    total, count = torch.zeros_like(a), torch.zeros_like(a)
    for top in range(0, 7 - 1, 2):
        for left in range(0, 8 - 1, 2):
            window = (slice(None), slice(top, top + 3), slice(left, left + 3))
            total[window] += a[window].sum((1, 2), keepdim=True)
            count[window] += 1
    torch.testing.assert_close(found, total / count)


def test_occlusion_windows_are_a_tenth_and_clipped() -> None:
    engine = engine_for(net_setting(cases=2))
    explain("occlusion", engine)
    assert engine.rows == 2 * (11 * 11 + 1)  # 64 = 10 windows of 6 and one of 4


@pytest.mark.parametrize(
    ("length", "size", "stride"), [(10, 3, 3), (10, 4, 2), (5, 9, 9), (9, 2, 3)]
)
def test_windows_cover_what_they_should(length: int, size: int, stride: int) -> None:
    partition, covers = cuts(1, length, size, stride)
    seen = covers.any(0)[partition.group]
    expected = [any(s <= i < s + size for s in range(0, length, stride)) for i in range(length)]
    assert seen.tolist() == expected


def test_lime_recovers_a_linear_function() -> None:
    draw = torch.Generator().manual_seed(0)
    design = (torch.rand(3, 300, 9, generator=draw) < 0.5).double()
    true = torch.randn(3, 9, generator=draw).double()
    score = (design @ true[:, :, None])[:, :, 0] + 0.7
    weight = torch.rand(3, 300, generator=draw).double()
    found, _ = weighted_ridge(design, score, weight, ridge=1e-9)
    torch.testing.assert_close(found, true, rtol=1e-6, atol=1e-6)


def test_lime_finds_the_cells_of_a_linear_model() -> None:
    """The probability follows the margin of the logits, but for the bend of the softmax."""
    engine = engine_for(linear_setting(height=16, width=16))
    cases, weight = engine.cases, engine.module.weight.data
    weight /= 20  # keep the softmax near its straight part
    margin = weight[cases.target] - weight[1 - cases.target]
    true = cases.task.groups(4).sum((margin * cases.x).sum(1).flatten(1))
    found = explain("lime", engine, samples=600, cells=4, ridge=1e-6)[:, ::4, ::4].flatten(1)
    own, other = found - found.mean(1, keepdim=True), true - true.mean(1, keepdim=True)
    correlation = (own * other).sum(1) / (own.norm(dim=1) * other.norm(dim=1))
    assert correlation.min() > 0.98


def test_kernel_shap_is_exact_on_a_linear_model() -> None:
    """For a linear model Shapley values are the effects themselves, sampled or enumerated."""
    for cells, samples in ((3, 2000), (6, 600)):
        engine = engine_for(linear_setting(height=12, width=12))
        found = explain("kernel-shap", engine, samples=samples, cells=cells)
        side = 12 // cells
        torch.testing.assert_close(
            found[:, ::side, ::side].flatten(1), cell_sums(engine, cells), rtol=1e-6, atol=1e-6
        )


class Product(nn.Module):
    """Logits with interactions between the four quarters of a 4x4 image."""

    def forward(self, x: Tensor) -> Tensor:
        q = x[:, 0].unflatten(1, (2, 2)).unflatten(3, (2, 2)).mean((2, 4)).flatten(1)
        logit = q[:, 0] * q[:, 1] - 2 * q[:, 2] * q[:, 3] * q[:, 0] + q[:, 1]
        return torch.stack((logit, -logit), 1)


def test_kernel_shap_with_all_coalitions_is_the_shapley_value() -> None:
    setting = linear_setting(cases=3, channels=1, height=4, width=4)
    engine = engine_for(setting)
    engine.module = Product()
    found = explain("kernel-shap", engine, samples=14, cells=2)[:, ::2, ::2].flatten(1)
    for i in range(3):
        x, sign = engine.cases.x[i : i + 1], 1 - 2 * int(engine.cases.target[i])

        def value(members: tuple[int, ...], x: Tensor = x, sign: int = sign) -> float:
            keep = torch.zeros(2, 2, dtype=x.dtype)
            for m in members:
                keep[m // 2, m % 2] = 1
            return sign * float(
                Product()(x * keep.repeat_interleave(2, 0).repeat_interleave(2, 1))[0, 0]
            )

        for player in range(4):
            others = [p for p in range(4) if p != player]
            shapley = sum(
                factorial(size) * factorial(3 - size) / 24
                * (value((*members, player)) - value(members))
                for size in range(4)
                for members in combinations(others, size)
            )  # fmt: skip
            assert float(found[i, player]) == pytest.approx(shapley, abs=1e-9)


def test_kernel_shap_with_few_samples_shares_the_rest_evenly() -> None:
    """No cell is singled out to take what the samples do not explain."""
    engine = engine_for(linear_setting(cases=3, height=16, width=16))
    found = explain("kernel-shap", engine, samples=40, cells=8)[:, ::2, ::2].flatten(1)
    total = ideal(engine.cases).sum((1, 2))
    torch.testing.assert_close(found.sum(1), total, rtol=1e-6, atol=1e-6)
    assert (found[:, -1].abs() < found.abs().amax(1)).all()


class Corner(nn.Module):
    """Sees one corner only."""

    def forward(self, x: Tensor) -> Tensor:
        seen = x[:, :, :16, :16].abs().mean((1, 2, 3))
        return torch.stack((4 * seen, torch.zeros_like(seen)), 1)


def test_rise_shows_where_a_model_looks() -> None:
    engine = engine_for(net_setting(cases=2))
    engine.module = Corner()
    engine.cases.target.zero_()
    found = explain("rise", engine, samples=3000)
    inside, outside = found[:, :12, :12].mean((1, 2)), found[:, 28:, 28:]
    assert (inside > outside.mean((1, 2)) + 2 * outside.std((1, 2))).all()


def test_rise_is_the_weighted_mean_of_its_masks() -> None:
    """Its mean over pixels is near the mean score: masks have mean ``share``, which divides out."""
    engine = engine_for(net_setting(cases=2))
    found = explain("rise", engine, samples=400)
    (score,) = [a.probability for _, a in engine.shared.values() if len(a.logit) == 800]
    torch.testing.assert_close(found.mean((1, 2)), score.view(2, -1).mean(1), rtol=0.05, atol=0)
