"""Ceilings and intervals: closed forms, coverage, and what is unknown stays unknown."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from humetric.stats.concordance import concordance
from humetric.stats.noise import new_cases_interval, new_people_interval, noise_ceiling

NAN = math.nan


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_reliability() -> None:
    found = noise_ceiling([1.0, 2.0, 3.0, 4.0, 5.0], [0.5] * 5, draw())
    assert found.reliability == pytest.approx(1 - 0.25 / 2.5)
    assert found.pearson == pytest.approx(math.sqrt(0.9))
    assert found.concordance == pytest.approx(2 / math.pi * math.asin(math.sqrt(0.9)))


def test_interval_with_equal_errors_is_chi_squared() -> None:
    """(n - 1) var(h) / (v + se^2) is chi-squared, so 1 - R = se^2 / var(h) * chi2 / (n - 1)."""
    found = noise_ceiling([1.0, 2.0, 3.0, 4.0, 5.0], [0.5] * 5, draw(), draws=60_000)
    low, high = 1 - 0.1 * stats.chi2.ppf([0.975, 0.025], 4) / 4
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.004)


@pytest.mark.parametrize("errors", [[1.0] * 5, [0.3, 0.5, 1.0, 1.5, 2.0]])
def test_interval_covers(errors: list[float]) -> None:
    """True R of methods with variance 2 is 2 / (2 + mean(se^2))."""
    g, se = draw(1), np.array(errors)
    true = 2 / (2 + np.mean(se**2))
    covered = 0
    for _ in range(200):
        h = g.normal(0, math.sqrt(2), 5) + se * g.normal(size=5)
        found = noise_ceiling(h, se, g, draws=400)
        covered += found.low <= true <= found.high
    assert 0.90 <= covered / 200 <= 0.99


def test_ceiling_is_what_a_perfect_metric_reaches() -> None:
    """Metric = true value, R = .8: mean D and r over many methods meet the ceilings."""
    g = draw(2)
    true, noise = g.normal(size=1_500), g.normal(0, 0.5, 1_500)
    found = noise_ceiling(true + noise, np.full(1_500, 0.5), g, draws=50)
    assert found.reliability == pytest.approx(0.8, abs=0.03)
    assert np.corrcoef(true, true + noise)[0, 1] == pytest.approx(found.pearson, abs=0.03)
    assert concordance(true, true + noise).d == pytest.approx(found.concordance, abs=0.03)


def test_cut_at_zero_and_at_one() -> None:
    noisy = noise_ceiling([1.0, 1.2, 1.4], [1.0] * 3, draw())
    assert (noisy.reliability, noisy.pearson, noisy.concordance, noisy.low) == (0, 0, 0, 0)
    assert noise_ceiling([1.0, 2.0], [0.0, 0.0], draw())[:3] == (1, 1, 1)
    same = noise_ceiling([1.0, 1.0, 1.0], [0.1] * 3, draw())
    assert same[:3] == (0, 0, 0)


def test_unknown() -> None:
    for h, se in (([1.0, 2.0], [0.1, NAN]), ([1.0], [0.1]), ([1.0, 1.0], [0.0, 0.0])):
        assert all(map(math.isnan, noise_ceiling(h, se, draw())))
    known = noise_ceiling([1.0, 2.0, 4.0], [0.1] * 3, draw())
    assert noise_ceiling([1.0, NAN, 2.0, 4.0], [0.1, NAN, 0.1, 0.1], draw()) == known


def test_new_people() -> None:
    metric = human = np.arange(5.0)
    assert new_people_interval(metric, human, np.full(5, 0.01), "d", draw()) == (1, 1)
    low, high = new_people_interval(metric, human, np.full(5, 1.0), "d", draw())
    assert low < 0.7 < high == 1
    # Two methods, D = +-1: people swap them with probability Phi(-1 / (se sqrt(2))).
    swapped = stats.norm.cdf(-1 / math.sqrt(2))
    for tail, low in ((swapped - 0.02, -1), (swapped + 0.02, 1)):
        pair = [0.0, 1.0]
        found = new_people_interval(pair, pair, 1.0, "d", draw(), level=1 - 2 * tail)
        assert found == (low, 1)


def test_new_people_unknown() -> None:
    assert all(map(math.isnan, new_people_interval([1.0, 2.0], [1.0, 2.0], NAN, "d", draw())))
    partly = new_people_interval([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [0.1, NAN, 0.1], "d", draw())
    assert all(map(math.isnan, partly))
    # No standard error is needed of a method that the metric does not have.
    left = new_people_interval([1.0, NAN, 3.0], [1.0, 2.0, 3.0], [0.1, NAN, 0.1], "d", draw())
    assert left == (1, 1)


def test_new_cases() -> None:
    human = np.arange(4.0)
    clear = draw(1).normal(size=(30, 4)) * 0.01 + human
    assert new_cases_interval(clear, human, "d", draw()) == (1, 1)
    noisy = draw(1).normal(size=(30, 4)) + 0.3 * human
    low, high = new_cases_interval(noisy, human, "spearman", draw())
    assert -1 <= low < high <= 1


def test_new_cases_against_plain_resampling() -> None:
    scores, human = draw(2).normal(size=(12, 4)) + 0.3 * np.arange(4.0), np.arange(4.0)
    g = draw(3)
    means = [scores[g.integers(0, 12, 12)].mean(0) for _ in range(4_000)]
    expected = np.quantile([np.corrcoef(m, human)[0, 1] for m in means], [0.1, 0.9])
    found = new_cases_interval(scores, human, "pearson", draw(), level=0.8)
    assert found == pytest.approx(tuple(expected), abs=0.03)


def test_new_cases_with_gaps() -> None:
    scores = draw(1).normal(size=(20, 3)) * 0.01 + np.arange(3.0)
    scores[:15, 1] = NAN
    wider = np.hstack([scores, np.full((20, 1), NAN)])
    assert new_cases_interval(wider, [0.0, 1.0, 2.0, 9.0], "d", draw()) == (1, 1)
    assert all(map(math.isnan, new_cases_interval(scores[:1], np.arange(3.0), "d", draw())))
    with pytest.raises(ValueError, match="one column per"):
        new_cases_interval(scores, [1.0, 2.0], "d", draw())
