"""Gradient methods: closed forms on a linear model, completeness, the studies' definitions."""

from __future__ import annotations

import pytest
import torch
from support import engine_for, ideal, linear_setting, net_setting, reordered
from torch import Tensor

from humetric.methods import METHODS
from humetric.tasks.cases import Cases


def explain(name: str, cases: Cases, **parameters: float) -> Tensor:
    found = METHODS.make(name, parameters).explain(cases)
    assert isinstance(found, Tensor)
    return found


def weight(cases: Cases) -> Tensor:
    found: Tensor = cases.model.module.weight[cases.target]  # type: ignore[index]
    return found.detach()


def test_on_a_linear_model_all_gradients_are_the_weights() -> None:
    cases = engine_for(linear_setting()).cases
    w = weight(cases)
    torch.testing.assert_close(explain("saliency", cases), w.norm(dim=1))
    torch.testing.assert_close(explain("gradient-input", cases), (cases.x * w.abs()).sum(1))
    signed = explain("gradient-input", cases, absolute=False)
    torch.testing.assert_close(signed, (cases.x * w).sum(1))
    torch.testing.assert_close(explain("smoothgrad", cases, samples=3), w.norm(dim=1))
    torch.testing.assert_close(explain("integrated-gradients", cases), ideal(cases))


@pytest.mark.parametrize("baseline", ["mean", "blur"])
def test_integrated_gradients_are_complete(baseline: str) -> None:
    """They sum to f(x) - f(baseline); exactly so on a linear model, nearly so on a network."""
    linear = engine_for(linear_setting(baseline=baseline)).cases
    net = engine_for(net_setting()).cases
    for cases, tolerance in ((linear, 1e-6), (net, 1e-2)):
        module, base = cases.module(), cases.baseline[:, 0].expand_as(cases.x)
        gain = (module(cases.x) - module(base)).gather(1, cases.target[:, None])[:, 0]
        total = explain("integrated-gradients", cases).sum((1, 2))
        torch.testing.assert_close(total, gain.detach(), rtol=tolerance, atol=0)


def test_grad_cam_by_hand() -> None:
    """Weights are the mean gradients of the last maps; ReLU; bilinear to the input's size."""
    cases = engine_for(net_setting()).cases
    net = cases.model.module
    maps = net.features(cases.x).detach().requires_grad_()  # type: ignore[operator]
    logits = net.head(net.pool(maps)).gather(1, cases.target[:, None])  # type: ignore[operator]
    (gradient,) = torch.autograd.grad(logits.sum(), maps)
    coarse = (gradient.mean((2, 3), keepdim=True) * maps).sum(1, keepdim=True).relu()
    size = (64, 64)
    expected = torch.nn.functional.interpolate(coarse, size, mode="bilinear")[:, 0].detach()
    found = explain("grad-cam", cases)
    torch.testing.assert_close(found, expected)
    assert found.min() >= 0
    assert found.max() > 0


def test_smoothgrad_noise_belongs_to_the_case() -> None:
    setting = net_setting()
    whole = explain("smoothgrad", engine_for(setting).cases, samples=5)
    part = explain("smoothgrad", engine_for(reordered(setting, [2, 0])).cases, samples=5)
    torch.testing.assert_close(part, whole[[2, 0]])
    none = explain("smoothgrad", engine_for(setting).cases, samples=2, sigma=0.0)
    torch.testing.assert_close(none, explain("saliency", engine_for(setting).cases))
    assert not torch.allclose(whole, none)


def test_smoothgrad_sigma_is_a_share_of_the_range_or_absolute() -> None:
    cases = engine_for(net_setting(cases=1)).cases
    span = float(cases.x.amax() - cases.x.amin())
    shared = explain("smoothgrad", cases, samples=3, sigma=0.2)
    absolute = explain("smoothgrad", cases, samples=3, sigma=0.2 * span, relative=False)
    torch.testing.assert_close(shared, absolute)
