"""ANOVA, Tukey and t against each other, closed forms and a published example."""

from __future__ import annotations

import math

import numpy as np
import pytest

from humetric.stats.anova import one_way, t_test, tukey


def test_f_by_hand() -> None:
    """Means 2, 4, 6 of three values each, variance 1 within: F = 3 * 4 / 1 = 12."""
    groups = [np.array([1.0, 2.0, 3.0]) + shift for shift in (0, 2, 4)]
    found = one_way(groups)
    assert (found.f, found.between, found.within) == (pytest.approx(12.0), 2, 6)
    # p of F(2, m) = (1 + 2 F / m) ** (-m / 2)
    assert found.p == pytest.approx((1 + 2 * 12 / 6) ** -3)


def test_two_groups_agree_in_all_three_tests() -> None:
    draw = np.random.default_rng(0)
    first, second = draw.normal(0.3, 1, 20), draw.normal(0, 1, 15)
    t, f, pair = t_test(first, second), one_way([first, second]), tukey([first, second])[0]
    assert t.t**2 == pytest.approx(f.f)
    assert t.p == pytest.approx(f.p)
    assert pair.p == pytest.approx(t.p, abs=1e-6)
    assert (pair.difference, t.df) == (pytest.approx(t.difference), 33)
    assert (pair.low, pair.high) == (
        pytest.approx(t.low, abs=1e-6),
        pytest.approx(t.high, abs=1e-6),
    )


def test_tukey_bound_by_the_studentized_range() -> None:
    """q(.95; 3, 12) = 3.773 (tables): half width q * sqrt(variance within / n)."""
    base = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    pairs = tukey([base, base + 1, base + 2])
    half = 3.773 * math.sqrt(base.var(ddof=1) / 5)
    assert [(p.first, p.second) for p in pairs] == [(0, 1), (0, 2), (1, 2)]
    assert pairs[1].high - pairs[1].difference == pytest.approx(half, abs=2e-3)
    assert pairs[1].difference == -2


def test_without_variance_or_values_nothing_is_claimed() -> None:
    flat = [np.ones(4), np.zeros(4)]
    assert math.isnan(one_way(flat).p)
    assert tukey(flat)[0].difference == 1
    assert math.isnan(tukey(flat)[0].p)
    assert math.isnan(t_test(*flat).p)
    assert math.isnan(one_way([np.arange(3.0)]).f)
    assert math.isnan(t_test(np.array([1.0]), np.arange(3.0)).p)
    assert math.isnan(tukey([np.array([]), np.arange(3.0)])[0].difference)
