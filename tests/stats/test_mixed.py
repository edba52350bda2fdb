"""Mixed effects against matrices written out, and what happens where there is nothing to fit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from humetric.stats.mixed import mixed, pooled_means, treatment_means


def data(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Unbalanced values of three treatments in six groups."""
    draw = np.random.default_rng(seed)
    group, treatment = draw.integers(0, 6, 200), draw.integers(0, 3, 200)
    y = draw.normal(0, 1, 6)[group] + 0.5 * treatment + draw.normal(0, 1, 200)
    x = np.column_stack([np.ones(200), treatment == 1, treatment == 2]).astype(float)
    return y, x, group.astype(object), treatment


def tables(
    y: np.ndarray, group: np.ndarray, treatment: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    counts, sums = np.zeros((6, 3)), np.zeros((6, 3))
    np.add.at(counts, (group.astype(int), treatment), 1)
    np.add.at(sums, (group.astype(int), treatment), y)
    return counts, sums


def test_treatment_means_are_generalised_least_squares() -> None:
    y, _, group, treatment = data()
    ratio = 0.7
    v = np.eye(200) + ratio * (group[:, None] == group[None, :])
    x = np.eye(3)[treatment]
    inverse = np.linalg.inv(v)
    expected = np.linalg.solve(x.T @ inverse @ x, x.T @ inverse @ y)
    assert treatment_means(*tables(y, group, treatment), ratio) == pytest.approx(expected)


def test_treatment_means_at_the_fitted_ratio_are_the_fit() -> None:
    y, x, group, treatment = data()
    fit = mixed(y, x, group)
    means = treatment_means(*tables(y, group, treatment), fit.ratio)
    assert means[1:] - means[0] == pytest.approx(fit.beta[1:], abs=1e-6)
    assert fit.note == ""
    assert fit.group_variance > 0.2
    assert fit.low[1] < fit.beta[1] < fit.high[1]


def test_balanced_groups_give_plain_differences_for_any_ratio() -> None:
    draw = np.random.default_rng(1)
    sums = draw.normal(size=(5, 3))
    counts = np.full((5, 3), 4.0)
    for ratio in (0.0, 0.3, 10.0):
        means = treatment_means(counts, sums, ratio)
        assert np.diff(means) == pytest.approx(np.diff(sums.sum(0) / 20))


def test_a_draw_without_a_treatment_is_undefined() -> None:
    counts = np.ones((2, 5, 3))
    counts[1, :, 2] = 0
    means = treatment_means(counts, counts.copy(), 0.5)
    assert means[0] == pytest.approx(np.ones(3))
    assert np.isnan(means[1]).all()


def test_one_group_is_ordinary_least_squares() -> None:
    y, x, group, _ = data()
    fit = mixed(y, x, np.full(len(group), "all", dtype=object))
    assert fit.beta == pytest.approx(np.linalg.lstsq(x, y, rcond=None)[0])
    assert "random intercept left out" in fit.note
    assert fit.ratio == 0


def test_nothing_to_fit() -> None:
    _, x, group, _ = data()
    flat = mixed(np.ones(200), x, group)
    assert flat.beta == pytest.approx([1, 0, 0], abs=1e-9)
    assert np.isnan(flat.p).all()
    assert flat.note == "no variance in the values"
    twice = mixed(np.arange(200.0), np.column_stack([x, x[:, 1]]), group)
    assert np.isnan(twice.beta).all()


def test_random_slopes_recover_a_known_slope() -> None:
    draw = np.random.default_rng(3)
    case = np.repeat(np.arange(80), 4)
    large = np.tile([0.0, 1.0, 0.0, 1.0], 80)
    own = draw.normal(0, 0.3, 80)
    y = draw.normal(0, 0.2, 80)[case] + (0.4 + own[case]) * large + draw.normal(0, 0.1, 320)
    x = np.column_stack([np.ones(320), large])
    fit = mixed(y, x, case.astype(object), slopes=large)
    assert fit.beta[1] == pytest.approx(0.4 + own.mean(), abs=0.02)
    # The spread of slopes between cases makes the standard error, not the residuals.
    assert fit.se[1] == pytest.approx(0.3 / math.sqrt(80), rel=0.25)


def test_pooled_means_lie_between_own_and_overall() -> None:
    draw = np.random.default_rng(0)
    group = np.repeat(np.arange(5), 60)
    unit = np.repeat(np.arange(30), 10)
    own = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    y = own[group] + draw.normal(0, 0.5, 30)[unit] + draw.normal(0, 1, 300)
    found = pooled_means(y, group.astype(object), unit.astype(object))
    assert found.low < y.mean() < found.high
    for name, mean in found.of_group.items():
        plain = y[group == int(name)].mean()
        assert min(plain, found.mean) - 1e-6 <= mean <= max(plain, found.mean) + 1e-6
        assert abs(mean - found.mean) < abs(plain - found.mean)


def test_nothing_to_pool() -> None:
    one = pooled_means(
        np.array([1.0, 0.0, 1.0]), np.array(["a"] * 3, object), np.array(list("xyz"), object)
    )
    assert one.of_group == {"a": pytest.approx(2 / 3)}
    assert math.isnan(one.low)
    assert "nothing to pool" in one.note


def restricted_ratio(y: np.ndarray, x: np.ndarray, group: np.ndarray) -> float:
    """Group over residual variance by a search of the restricted likelihood, written out."""
    from scipy.optimize import minimize_scalar

    n, k = x.shape

    def loss(log_ratio: float) -> float:
        v = np.eye(n) + math.exp(log_ratio) * (group[:, None] == group[None, :])
        inverse = np.linalg.inv(v)
        inner = x.T @ inverse @ x
        rest = y - x @ np.linalg.solve(inner, x.T @ inverse @ y)
        scale = rest @ inverse @ rest / (n - k)
        logs = np.linalg.slogdet(v)[1] + np.linalg.slogdet(inner)[1]
        return float((n - k) * math.log(scale) + logs)

    return math.exp(minimize_scalar(loss, bounds=(-12, 4), method="bounded").x)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_variances_are_those_of_the_highest_restricted_likelihood(seed: int) -> None:
    """At seed 0 statsmodels' lbfgs alone ends at a group variance of 0 and calls it converged."""
    y, x, group, _ = data(seed)
    assert mixed(y, x, group).ratio == pytest.approx(restricted_ratio(y, x, group), rel=1e-3)
