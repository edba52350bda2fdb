"""Complexity and sparseness read the map alone."""

from __future__ import annotations

import math

import pytest
import torch
from support import engine_for, linear_setting
from torch import Tensor

from humetric.metrics import METRICS, Scores


def value(name: str, attribution: Tensor) -> float:
    height, width = attribution.shape
    engine = engine_for(linear_setting(cases=1, height=height, width=width))
    (found,) = engine.run([METRICS.make(name).program(attribution[None], engine.cases)])
    assert isinstance(found, Scores)
    assert engine.rows == 0
    return float(found.value[0])


def test_extremes() -> None:
    one = torch.zeros(4, 5)
    one[2, 3] = -2.0
    assert value("complexity", one) == 0
    assert value("sparseness", one) == pytest.approx(1 - 1 / 20)
    assert value("complexity", torch.full((4, 5), 3.0)) == pytest.approx(1)
    assert value("sparseness", torch.full((4, 5), 3.0)) == pytest.approx(0)


def test_by_hand() -> None:
    """|a| = 1, 1, 2: entropy 1.5 log 2; Gini = (0*1 - 2*1 + 2*2) / (3*4)."""
    attribution = torch.tensor([[1.0, -2.0, 1.0]])
    assert value("complexity", attribution) == pytest.approx(1.5 * math.log(2) / math.log(3))
    assert value("sparseness", attribution) == pytest.approx(2 / 12)


@pytest.mark.parametrize("name", ["complexity", "sparseness"])
def test_a_map_of_zeros_is_undefined(name: str) -> None:
    assert math.isnan(value(name, torch.zeros(3, 3)))


def test_complexity_of_a_single_feature_is_undefined() -> None:
    assert math.isnan(value("complexity", torch.ones(1, 1)))


@pytest.mark.parametrize("name", ["complexity", "sparseness"])
def test_scale_does_not_matter(name: str) -> None:
    attribution = torch.randn(6, 7, generator=torch.Generator().manual_seed(0))
    assert value(name, attribution) == pytest.approx(value(name, 1e-3 * attribution), rel=1e-5)
