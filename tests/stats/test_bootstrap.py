"""The interval of a mean covers, is reproducible, and is undefined where it should be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from humetric.stats.bootstrap import grouped_interval, mean_interval


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


def apart(*groups: list[float]) -> np.ndarray:
    """(cases, groups) of groups that share no case."""
    values = np.full((sum(map(len, groups)), len(groups)), np.nan)
    start = 0
    for i, group in enumerate(groups):
        values[start : start + len(group), i] = group
        start += len(group)
    return values


def test_groups_weigh_alike_however_many_cases_they_have() -> None:
    found = grouped_interval(apart([0.0, 2.0], [4.0] * 10), draw())
    assert (found.mean, found.n) == (2.5, 12)
    # Only the first group varies: 0, 1 or 2, the ends with a chance of a quarter each.
    assert (found.low, found.high) == (2.0, 3.0)


def test_one_group_is_a_mean_of_cases() -> None:
    values = draw(1).gamma(2.0, size=30)
    values[3] = np.nan
    assert grouped_interval(values[:, None], draw()) == mean_interval(values, draw())
    nothing = np.full((30, 1), np.nan)
    both = np.concatenate([nothing, values[:, None]], axis=1)
    assert grouped_interval(both, draw()) == mean_interval(values, draw())


def test_shared_cases_are_drawn_together() -> None:
    """Groups of the same values say no more than one; opposite ones cancel in every draw."""
    values = draw(1).normal(size=24)
    one = mean_interval(values, draw())
    same = grouped_interval(np.stack([values, values], axis=1), draw())
    assert same[:3] == pytest.approx(one[:3])
    cancelled = grouped_interval(np.stack([values, -values], axis=1), draw())
    assert cancelled[:3] == pytest.approx((0, 0, 0), abs=1e-12)
    other = grouped_interval(apart(values.tolist(), values.tolist()), draw())
    ratio = (other.high - other.low) / (one.high - one.low)
    assert ratio == pytest.approx(np.sqrt(0.5), abs=0.05), "independent groups do say more"


def test_coverage_with_shared_cases_and_a_case_effect() -> None:
    """Three groups of the same 24 cases: a nominal 95% covers about .93, as a single group does."""
    data = draw(3)
    hits = 0
    for i in range(400):
        values = data.normal(size=(24, 1)) + 0.5 * data.normal(size=(24, 3))
        values[data.random((24, 3)) < 0.1] = np.nan
        found = grouped_interval(values, draw(i), resamples=599)
        hits += found.low <= 0 <= found.high
    assert hits / 400 == pytest.approx(0.93, abs=0.035)


def test_a_group_of_one_value_has_a_mean_and_no_interval() -> None:
    found = grouped_interval(apart([1.0], [2.0, 3.0]), draw())
    assert (found.mean, found.n) == (1.75, 3)
    assert math.isnan(found.low)
    assert math.isnan(grouped_interval(np.full((3, 2), np.nan), draw()).mean)


def test_groups_are_columns() -> None:
    with pytest.raises(ValueError, match=r"Expected \(cases, groups\) but got an array of shape"):
        grouped_interval(np.zeros(3), draw())
