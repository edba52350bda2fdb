"""The interval of a mean covers, is reproducible, and is undefined where it should be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from humetric.stats.bootstrap import mean_interval


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_agrees_with_scipy() -> None:
    values = draw(1).gamma(2.0, size=40)
    found = mean_interval(values, draw())
    other = stats.bootstrap((values,), np.mean, method="percentile", rng=draw(7))
    assert found.mean == pytest.approx(values.mean())
    assert found.low == pytest.approx(other.confidence_interval.low, abs=0.02)
    assert found.high == pytest.approx(other.confidence_interval.high, abs=0.02)
    assert found.n == 40


def test_coverage_at_the_size_of_the_embedded_suite() -> None:
    """A nominal 95% covers .931 at n = 24 (2,000 simulations of 999 resamples, seed 0)."""
    data = draw(3)
    covered = 0
    for _ in range(600):
        found = mean_interval(data.normal(0.4, 0.2, 24), data, resamples=499)
        covered += found.low <= 0.4 <= found.high
    assert 0.90 <= covered / 600 <= 0.97


def test_same_seed_same_interval() -> None:
    values = draw(1).normal(size=24)
    assert mean_interval(values, draw(5)) == mean_interval(values, draw(5))
    assert mean_interval(values, draw(5)) != mean_interval(values, draw(6))


def test_undefined_values_are_left_out() -> None:
    values = np.array([0.1, np.nan, 0.5, np.nan, 0.3])
    assert mean_interval(values, draw()) == mean_interval(np.array([0.1, 0.5, 0.3]), draw())


def test_one_value_has_no_interval_and_none_has_no_mean() -> None:
    one = mean_interval(np.array([0.25, np.nan]), draw())
    assert (one.mean, one.n) == (0.25, 1)
    assert math.isnan(one.low)
    assert math.isnan(one.high)
    none = mean_interval(np.array([np.nan]), draw())
    assert math.isnan(none.mean)
    assert none.n == 0


def test_equal_values_have_an_interval_without_width() -> None:
    found = mean_interval(np.full(9, 0.3), draw())
    assert (found.low, found.high) == (pytest.approx(0.3), pytest.approx(0.3))


def test_many_cases_are_drawn_in_parts() -> None:
    found = mean_interval(draw(1).normal(size=5_000), draw(), resamples=999)
    assert found.high - found.low == pytest.approx(2 * 1.96 / math.sqrt(5_000), rel=0.15)


def test_more_than_one_dimension_is_refused() -> None:
    with pytest.raises(ValueError, match="one value per case"):
        mean_interval(np.zeros((2, 2)), draw())
