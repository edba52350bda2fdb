"""Every registered method and metric keeps the same promises."""

from __future__ import annotations

import copy
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from support import engine_for, net_setting, reordered
from torch import Tensor

from humetric.cards import MethodCard, MetricCard, Registry
from humetric.engine.engine import Engine
from humetric.methods import METHODS
from humetric.metrics import METRICS, Reference, Scores
from humetric.run.work import explain as run_methods
from humetric.tasks.setting import Setting

FEW = {"lime": 40, "kernel-shap": 40, "rise": 40, "smoothgrad": 4}
"""Samples, to keep this quick; the promises do not depend on them."""


ROOT = Path(__file__).resolve().parents[1]
MIRROR = Path(os.environ.get("HUMETRIC_MIRROR", ROOT.parent / "shared" / "mirror"))


def fitting(registry: Registry[Any]) -> list[str]:
    """What is for images and has a value per case.

    Texts have a contract of their own, and so have simulated users (metrics/simulated/test_users).
    """
    cards = {name: registry.make(name).card for name in registry}
    return [
        name
        for name, card in cards.items()
        if "image" in card.tasks and getattr(card, "scope", "case") == "case"
    ]


def explain(name: str, engine: Engine) -> Tensor:
    parameters = {"samples": FEW[name]} if name in FEW else {}
    found = run_methods([METHODS.make(name, parameters)], engine)[name]
    assert isinstance(found, Tensor), found
    return found


def reference_for(name: str, engine: Engine) -> Reference | None:
    """Other cases with maps of their own, for a metric that compares with some."""
    if not METRICS.make(name).card.compares:
        return None
    others = net_setting(cases=6, channels=engine.cases.x.shape[1])
    own = engine_for(others, precision="fp64" if engine.dtype == torch.float64 else "fp32").cases
    draw = torch.Generator().manual_seed(1)
    return Reference(
        replace(own, target=torch.arange(6) % 2), torch.randn(6, 64, 64, generator=draw)
    )


@pytest.fixture(autouse=True)
def weights(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that are not shipped come from the mirror; without one there is nothing to test."""
    name = getattr(request.node, "callspec", None) and request.node.callspec.params["name"]
    needed = METRICS.make(name).card.weights if name in set(METRICS) else ""
    if needed and not (MIRROR / "models" / needed).is_dir():
        pytest.skip(f"no weights in {MIRROR}; set HUMETRIC_MIRROR")
    monkeypatch.setenv("HUMETRIC_MIRROR", str(MIRROR))


def score(name: str, engine: Engine, attribution: Tensor) -> Tensor:
    metric, reference = METRICS.make(name), reference_for(name, engine)
    (found,) = engine.run([metric.program(attribution, engine.cases, reference)])
    assert isinstance(found, Scores), found
    return found.value


def maps(setting: Setting) -> Tensor:
    draw = torch.Generator().manual_seed(0)
    return torch.randn(len(setting), *setting.task.features, generator=draw)


@pytest.mark.parametrize("name", fitting(METHODS))
class TestMethods:
    def test_card(self, name: str) -> None:
        card = METHODS.make(name).card
        assert isinstance(card, MethodCard)
        assert card.id == name
        assert card.version >= 1
        assert len(card.summary) > 15
        assert card.summary.endswith(".")
        assert card.reference
        assert card.tasks

    @pytest.mark.parametrize("channels", [1, 3])
    def test_shape_and_finiteness(self, name: str, channels: int) -> None:
        engine = engine_for(net_setting(channels=channels), precision="fp32")
        found = explain(name, engine)  # checked on the way: shape, finite, detached
        assert found.dtype == torch.float32
        assert not found.requires_grad

    def test_same_again(self, name: str) -> None:
        first, second = (
            explain(name, engine_for(net_setting(), precision="fp32")) for _ in range(2)
        )
        assert torch.equal(first, second)

    def test_a_case_alone_is_as_in_company(self, name: str) -> None:
        setting = net_setting()
        whole = explain(name, engine_for(setting))
        order = [3, 1]
        part = explain(name, engine_for(reordered(setting, order)))
        torch.testing.assert_close(part, whole[order], rtol=1e-9, atol=1e-9)

    def test_leaves_model_inputs_and_global_generators_alone(self, name: str) -> None:
        engine = engine_for(net_setting(cases=2), precision="fp32")
        before = copy.deepcopy(engine.cases.model.module.state_dict())
        x, state = engine.cases.x.clone(), torch.get_rng_state()
        explain(name, engine)
        after = engine.cases.model.module.state_dict()
        assert all(torch.equal(before[k], after[k]) for k in before)
        assert all(p.grad is None for p in engine.cases.model.module.parameters())
        assert torch.equal(engine.cases.x, x)
        assert not engine.cases.x.requires_grad
        assert torch.equal(torch.get_rng_state(), state)

    def test_sign_is_as_declared(self, name: str) -> None:
        found = explain(name, engine_for(net_setting(), precision="fp32"))
        if not METHODS.make(name).card.signed:
            assert found.min() >= 0


@pytest.mark.parametrize("name", fitting(METRICS))
class TestMetrics:
    def test_card(self, name: str) -> None:
        card = METRICS.make(name).card
        assert isinstance(card, MetricCard)
        assert card.id == name
        assert card.direction in ("higher", "lower")
        assert card.range[0] < card.range[1]
        assert len(card.summary) > 15
        assert card.summary.endswith(".")
        assert card.reference

    @pytest.mark.parametrize("channels", [1, 3])
    def test_one_value_per_case_within_its_range(self, name: str, channels: int) -> None:
        setting = net_setting(channels=channels)
        value = score(name, engine_for(setting, precision="fp32"), maps(setting))
        low, high = METRICS.make(name).card.range
        assert value.shape == (len(setting),)
        assert value.dtype == torch.float64
        assert ((value >= low - 1e-9) & (value <= high + 1e-9)).all()

    def test_a_case_alone_is_as_in_company(self, name: str) -> None:
        setting, attribution, order = net_setting(), maps(net_setting()), [2, 0]
        whole = score(name, engine_for(setting), attribution)
        part = score(name, engine_for(reordered(setting, order)), attribution[order])
        torch.testing.assert_close(part, whole[order], rtol=0, atol=1e-9)

    def test_chunking_and_batch_size_do_not_matter(self, name: str) -> None:
        setting, attribution = net_setting(), maps(net_setting())
        whole = score(name, engine_for(setting), attribution)
        halves = [
            score(
                name, engine_for(setting, start=s, stop=s + 2, batch_size=5), attribution[s : s + 2]
            )
            for s in (0, 2)
        ]
        torch.testing.assert_close(torch.cat(halves), whole, rtol=0, atol=1e-9)

    def test_other_methods_in_the_run_do_not_matter(self, name: str) -> None:
        setting = net_setting()
        engine, metric = engine_for(setting), METRICS.make(name)
        several = [maps(setting), -maps(setting), maps(setting).abs()]
        reference = reference_for(name, engine)
        together = engine.run([metric.program(a, engine.cases, reference) for a in several])
        for attribution, found in zip(several, together, strict=True):
            assert isinstance(found, Scores)
            alone = score(name, engine_for(setting), attribution)
            torch.testing.assert_close(found.value, alone, rtol=0, atol=1e-9)

    def test_a_map_is_not_changed(self, name: str) -> None:
        setting, attribution = net_setting(), maps(net_setting())
        before = attribution.clone()
        score(name, engine_for(setting, precision="fp32"), attribution)
        assert torch.equal(attribution, before)

    def test_extreme_maps_are_defined_or_nan_never_an_error(self, name: str) -> None:
        setting = net_setting()
        shape = (len(setting), *setting.task.features)
        for extreme in (torch.zeros(shape), torch.full(shape, 1e30), torch.eye(64).expand(shape)):
            value = score(name, engine_for(setting, precision="fp32"), extreme)
            assert all(math.isnan(v) or math.isfinite(v) for v in value.tolist())
