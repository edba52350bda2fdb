"""Deletion and insertion: closed forms, the numpy reference, and what peers got wrong."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support import engine_for, ideal, linear_setting, net_setting, reordered
from torch import Tensor

from humetric import blackbox
from humetric.engine.engine import Engine
from humetric.metrics import METRICS, Scores
from humetric.metrics.ranking import ranks, removed
from humetric.tasks.setting import Setting

AREAS = ["deletion", "insertion"]


def score(name: str, engine: Engine, attribution: Tensor, **parameters: int) -> Scores:
    (found,) = engine.run([METRICS.make(name, parameters).program(attribution, engine.cases)])
    assert isinstance(found, Scores)
    return found


def noise(setting: Setting) -> Tensor:
    draw = torch.Generator().manual_seed(5)
    return torch.randn(len(setting), *setting.task.features, generator=draw, dtype=torch.float64)


@pytest.mark.parametrize("name", AREAS)
@pytest.mark.parametrize("channels", [1, 3])
def test_closed_form_on_a_linear_model(name: str, channels: int) -> None:
    """Each point is a softmax of f(b) plus the sum of the kept attributions."""
    engine = engine_for(linear_setting(channels=channels))
    cases = engine.cases
    attribution = ideal(cases)
    found = score(name, engine, attribution, steps=17)
    module = engine.module
    other = (module.weight[1 - cases.target] * (cases.x - cases.baseline[:, 0])).sum(1).flatten(1)
    base = module(cases.baseline[:, 0].expand_as(cases.x))
    own = attribution.flatten(1)
    counts = np.round(np.arange(18) * cases.features / 17).astype(int)
    for i in range(len(cases)):
        order = own[i].argsort(descending=True)
        curve = []
        for count in counts:
            kept = order[:count] if name == "insertion" else order[count:]
            target = int(cases.target[i])
            margin = (
                base[i, target] + own[i, kept].sum() - base[i, 1 - target] - other[i, kept].sum()
            )
            curve.append(float(torch.sigmoid(margin)))
        area = np.trapezoid(curve, counts / cases.features)
        assert float(found.value[i]) == pytest.approx(area, abs=1e-9)


@pytest.mark.parametrize("name", AREAS)
@pytest.mark.parametrize("precision", ["fp64", "fp32"])
@pytest.mark.parametrize("channels", [1, 3])
def test_engine_equals_numpy_reference(name: str, precision: str, channels: int) -> None:
    setting = net_setting(cases=3, channels=channels)
    engine = engine_for(setting, precision=precision)
    cases = engine.cases
    attribution = noise(setting).to(cases.x.dtype)
    found = score(name, engine, attribution)

    def f(target: int):  # type: ignore[no-untyped-def]
        def probability(rows: np.ndarray) -> np.ndarray:
            with torch.inference_mode():
                return engine.module(torch.from_numpy(rows)).softmax(1)[:, target].numpy()

        return probability

    for i, rng in enumerate(cases.rng("ties")):
        reference = getattr(blackbox, name)(
            f(int(cases.target[i])),
            cases.x[i].contiguous().numpy(),
            attribution[i].numpy(),
            ties=rng.permutation(cases.features),
        )
        tolerance = 1e-9 if precision == "fp64" else 1e-5
        assert float(found.value[i]) == pytest.approx(reference.area, abs=tolerance)
        assert found.curve is not None
        np.testing.assert_allclose(found.curve[i].numpy(), reference.scores, atol=10 * tolerance)


@pytest.mark.parametrize("name", AREAS)
def test_ties_are_ordered_by_the_case_not_by_position(name: str) -> None:
    """A constant map is scored in a random order that is the case's own."""
    engine = engine_for(linear_setting())
    cases = engine.cases
    constant = torch.ones(cases.shape, dtype=torch.float64)
    order = ranks(constant.flatten(1), cases)
    assert not torch.equal(order[0], torch.arange(cases.features, dtype=order.dtype))
    assert not torch.equal(order[0], order[1])
    assert torch.equal(order[0].sort().values, torch.arange(cases.features, dtype=order.dtype))
    again = score(name, engine_for(linear_setting()), 7 * constant)
    torch.testing.assert_close(score(name, engine, constant).value, again.value, rtol=0, atol=0)
    assert again.value.isfinite().all()


@pytest.mark.parametrize("name", AREAS)
def test_monotone_transforms_change_nothing(name: str) -> None:
    setting = linear_setting()
    attribution = noise(setting)
    first = score(name, engine_for(setting), attribution).value
    for transformed in (attribution.exp(), attribution * 3 - 8, attribution**3):
        torch.testing.assert_close(
            score(name, engine_for(setting), transformed).value, first, rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("name", [*AREAS, "mu-fidelity", "complexity", "sparseness"])
def test_order_and_neighbours_of_a_case_do_not_matter(name: str) -> None:
    setting = linear_setting()
    attribution = noise(setting)
    whole = score(name, engine_for(setting), attribution).value
    order = [3, 0, 4]
    part = score(name, engine_for(reordered(setting, order)), attribution[order]).value
    torch.testing.assert_close(part, whole[order], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", AREAS)
def test_fewer_features_than_steps(name: str) -> None:
    setting = linear_setting(height=2, width=3)
    found = score(name, engine_for(setting), noise(setting))
    assert found.curve is not None
    assert found.curve.shape == (5, 7)  # 0, 1/6 ... 1


@pytest.mark.parametrize("name", AREAS)
def test_a_single_feature(name: str) -> None:
    engine = engine_for(linear_setting(height=1, width=1))
    found = score(name, engine, torch.ones(engine.cases.shape))
    assert found.curve is not None
    torch.testing.assert_close(found.value, found.curve.mean(1))


def test_both_ends_and_true_shares() -> None:
    """What six implementations got wrong on one curve: ends, unequal steps, sums for areas."""
    assert removed(10, 4).tolist() == [0, 2, 5, 8, 10]
    engine = engine_for(linear_setting(height=2, width=5))
    found = score("deletion", engine, noise(linear_setting(height=2, width=5)), steps=4)
    assert found.curve is not None
    with torch.no_grad():
        probability = engine.module(engine.cases.x).softmax(1)
        ends = probability.gather(1, engine.cases.target[:, None])[:, 0]
    torch.testing.assert_close(found.curve[:, 0], ends, rtol=0, atol=1e-12)
    y = found.curve
    by_hand = (
        0.2 * (y[:, 0] + y[:, 1]) + 0.3 * (y[:, 1] + y[:, 2] + y[:, 2] + y[:, 3])
        + 0.2 * (y[:, 3] + y[:, 4])
    ) / 2  # fmt: skip
    torch.testing.assert_close(found.value, by_hand, rtol=0, atol=1e-12)


def test_ends_are_shared_by_methods_and_metrics() -> None:
    setting = linear_setting()
    engine = engine_for(setting)
    programs = [
        METRICS.make(name).program(attribution, engine.cases)
        for name in AREAS
        for attribution in (noise(setting), -noise(setting))
    ]
    engine.run(programs)
    assert engine.rows == len(setting) * (2 + 4 * 31)
