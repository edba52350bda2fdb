"""Mu-fidelity: exact on a linear model, undefined for constant maps, blind to chance."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support import engine_for, ideal, linear_setting, net_setting
from torch import Tensor

from humetric import blackbox
from humetric.blackbox import draw_subsets
from humetric.engine.engine import Engine
from humetric.metrics import METRICS, Scores
from humetric.metrics.correlation import midranks, snap


def score(engine: Engine, attribution: Tensor, **parameters: float) -> Tensor:
    (found,) = engine.run(
        [METRICS.make("mu-fidelity", parameters).program(attribution, engine.cases)]
    )
    assert isinstance(found, Scores)
    return found.value


def test_one_on_a_linear_model() -> None:
    engine = engine_for(linear_setting(height=30, width=20))
    torch.testing.assert_close(
        score(engine, ideal(engine.cases)), torch.ones(5, dtype=torch.float64)
    )
    torch.testing.assert_close(
        score(engine, -ideal(engine.cases)), -torch.ones(5, dtype=torch.float64)
    )


def test_constant_map_is_undefined_not_zero() -> None:
    """Also where grid cells differ in size, so that their sums differ."""
    for height in (9, 13):
        engine = engine_for(linear_setting(height=height, width=height))
        assert score(engine, torch.full(engine.cases.shape, 0.1)).isnan().all()


def test_score_that_never_moves_is_undefined() -> None:
    engine = engine_for(linear_setting())
    torch.nn.init.zeros_(engine.module.weight)
    assert score(engine, torch.randn(engine.cases.shape)).isnan().all()


def test_random_maps_are_near_chance() -> None:
    """Exact-size subsets: a random map is around 0 on average, within three standard errors."""
    setting = linear_setting(cases=60, height=18, width=18)
    engine = engine_for(setting)
    draw = torch.Generator().manual_seed(0)
    values = score(engine, torch.rand(engine.cases.shape, generator=draw))
    assert abs(float(values.mean())) < 3 * float(values.std()) / 60**0.5


@pytest.mark.parametrize(("precision", "tolerance"), [("fp64", 1e-6), ("fp32", 1e-3)])
@pytest.mark.parametrize("channels", [1, 3])
def test_engine_equals_numpy_reference(precision: str, tolerance: float, channels: int) -> None:
    setting = net_setting(cases=3, channels=channels)
    engine = engine_for(setting, precision=precision)
    cases = engine.cases
    draw = torch.Generator().manual_seed(1)
    attribution = torch.randn(cases.shape, generator=draw).to(cases.x.dtype)
    found = score(engine, attribution)
    for i, rng in enumerate(cases.rng("mu-fidelity")):

        def logit(rows: np.ndarray, target: int = int(cases.target[i])) -> np.ndarray:
            with torch.inference_mode():
                return engine.module(torch.from_numpy(rows))[:, target].numpy()

        reference = blackbox.mu_fidelity(
            logit,
            cases.x[i].contiguous().numpy(),
            attribution[i].numpy(),
            groups=cases.task.groups(9).group.numpy(),
            subsets=draw_subsets(81, 16, 200, rng),
        )
        assert float(found[i]) == pytest.approx(reference, abs=tolerance)


def test_all_subsets_where_there_are_few() -> None:
    engine = engine_for(linear_setting(cases=2, height=3, width=4))
    score(engine, torch.randn(engine.cases.shape))
    assert engine.rows == 2 * (66 + 1)  # 12 choose 2, and the intact input


def test_methods_share_the_questions() -> None:
    calls = []
    for methods in (1, 8):
        engine = engine_for(linear_setting())
        metric = METRICS.make("mu-fidelity")
        maps = [torch.randn(engine.cases.shape) for _ in range(methods)]
        engine.run([metric.program(a, engine.cases) for a in maps])
        calls.append(engine.rows)
    assert calls[0] == calls[1]


def test_midranks_share_ties() -> None:
    ranks = midranks(torch.tensor([[3.0, 1.0, 3.0, 2.0]]))
    assert ranks.tolist() == [[3.5, 1.0, 3.5, 2.0]]


def test_sums_that_differ_in_the_last_bits_are_ties() -> None:
    sums = torch.tensor([[0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1, 0.5]], dtype=torch.float64)
    assert sums[0, 0] != sums[0, 1]
    assert snap(sums)[0, 0] == snap(sums)[0, 1]
    assert snap(sums)[0, 0] > snap(sums)[0, 2]
