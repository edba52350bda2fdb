"""Exact tests: the share of all relabellings, as scipy enumerates it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from humetric.stats.concordance import concordance, pearson, spearman, tau_b
from humetric.stats.permutation import exact_test, leave_one_out
from humetric.stats.statistic import Name

SINGLE = {
    "d": lambda a, b: concordance(a, b).d,
    "tau-b": tau_b,
    "spearman": spearman,
    "pearson": pearson,
}


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_five_methods_at_rho_point_nine() -> None:
    x, y = [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 5.0, 4.0]
    found = exact_test(x, y, "spearman")
    assert found.statistic == pytest.approx(0.9)
    assert found.p == pytest.approx(10 / 120)
    assert found.smallest == pytest.approx(2 / 120)
    assert (found.permutations, found.exact) == (120, True)
    assert stats.spearmanr(x, y).pvalue == pytest.approx(0.037, abs=0.001)  # what not to print


@pytest.mark.parametrize("name", ["d", "spearman", "pearson", "tau-b"])
@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_scipy(name: Name, seed: int) -> None:
    x, y = draw(seed).normal(size=(2, 5)).round(1 if name == "pearson" else 0)
    single = SINGLE[name]
    expected = stats.permutation_test(
        (x,),
        lambda a: abs(single(a, y)),
        permutation_type="pairings",
        n_resamples=np.inf,
        alternative="greater",
    )
    assert exact_test(x, y, name).p == pytest.approx(expected.pvalue, abs=1e-12)


def test_any_function() -> None:
    x, y = draw(2).normal(size=(2, 5))
    named, given = exact_test(x, y, "pearson"), exact_test(x, y, pearson)
    assert given == pytest.approx(named)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 8])
def test_smallest_p(n: int) -> None:
    found = exact_test(np.arange(n), np.arange(n))
    assert found.p == found.smallest == pytest.approx(2 / math.factorial(n))


def test_smallest_with_ties_is_the_best_that_these_values_allow() -> None:
    """People tie two of four: twice as many relabellings reach the best order."""
    human = [1.0, 1.0, 2.0, 3.0]
    best = [abs(concordance(order, human).d) for order in itertools.permutations(range(4))]
    found = exact_test([1.0, 3.0, 2.0, 4.0], human)
    assert found.smallest == pytest.approx(np.mean(np.array(best) == max(best)))
    assert found.smallest == pytest.approx(4 / 24)


def test_metric_precision_travels_with_the_value() -> None:
    """Only the value .5 is coarse, so its ties move with it; enumerated independently."""
    metric, human = np.array([0.0, 0.5, 0.8, 2.0]), np.array([1.0, 2.0, 4.0, 3.0])
    coarse = np.array([0.0, 1.0, 0.0, 0.0])
    ds = [
        concordance(metric[list(o)], human, coarse[list(o)]).d
        for o in itertools.permutations(range(4))
    ]
    found = exact_test(metric, human, "d", coarse)
    assert found.statistic == ds[0]
    assert found.p == pytest.approx(np.mean(np.abs(ds) >= abs(ds[0]) - 1e-9))


def test_beyond_eight_it_is_sampled() -> None:
    x = np.arange(9.0)
    y = np.array([1.0, 0.0, 3.0, 2.0, 8.0, 4.0, 5.0, 7.0, 6.0])
    found = exact_test(x, y, "d", generator=draw(), sampled=19_999)
    assert not found.exact
    assert found.smallest == 1 / 20_000
    # Without ties D is tau, and scipy's exact method is the two-sided permutation p.
    exact = stats.kendalltau(x, y, method="exact").pvalue
    assert found.p == pytest.approx(exact, abs=4 * math.sqrt(exact / 20_000))
    assert exact_test(x, y, generator=draw(), sampled=19_999) == found
    with pytest.raises(ValueError, match="generator"):
        exact_test(x, y)


def test_undefined_methods_are_left_out() -> None:
    x, y = draw(3).normal(size=(2, 6))
    gaps = exact_test([math.nan, *x, 1.0], [2.0, *y, math.nan])
    assert gaps == exact_test(x, y)


@pytest.mark.parametrize("name", ["d", "spearman", "pearson", "tau-b"])
def test_nothing_to_test(name: Name) -> None:
    for x, y in (([], []), ([1.0], [1.0]), ([1.0, 2.0, 3.0], [5.0, 5.0, 5.0])):
        found = exact_test(x, y, name)
        assert math.isnan(found.statistic)
        assert math.isnan(found.p)
        assert math.isnan(found.smallest)
    with pytest.raises(ValueError, match="put NaN"):
        exact_test([1.0], [1.0, 2.0], name)


def test_a_metric_that_ties_all_has_p_one() -> None:
    found = exact_test([2.0, 2.0, 2.0], [1.0, 2.0, 3.0])
    assert (found.statistic, found.p, found.smallest) == (0.0, 1.0, 1.0)


def test_leave_one_out() -> None:
    x, y = np.array([1.0, 2.0, 3.0, 0.0]), np.array([1.0, 2.0, 3.0, 4.0])
    # Without the last method the order is perfect; with it, D = 1/3 of three is the worst.
    assert leave_one_out(x, y) == pytest.approx((-1 / 3, 1.0))
    assert all(map(math.isnan, leave_one_out([1.0, 2.0], [1.0, 2.0])))
    assert all(map(math.isnan, leave_one_out([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], "pearson")))
    rest = [spearman(np.delete(x, i), np.delete(y, i)) for i in range(4)]
    assert leave_one_out(x, y, "spearman") == pytest.approx((min(rest), max(rest)))


@pytest.mark.parametrize(("n", "name"), [(5, "d"), (6, "spearman")])
def test_false_positives(n: int, name: Name) -> None:
    rejected = [
        exact_test(*values, statistic=name).p <= 0.05 for values in draw(n).normal(size=(400, 2, n))
    ]
    assert np.mean(rejected) <= 0.083  # .05 and three standard errors


def test_chance() -> None:
    """Five methods without ties: only a perfect order is significant, so .8 is still chance; four
    never are; nine are sampled."""
    assert exact_test(np.arange(5.0), np.arange(5.0)).chance == pytest.approx(0.8)
    assert exact_test(np.arange(4.0), np.arange(4.0)).chance == math.inf
    sampled = exact_test(np.arange(9.0), np.arange(9.0), generator=draw(), sampled=4_999)
    assert 0.4 < sampled.chance < 0.6
    g = draw(1)
    for _ in range(40):
        found = exact_test(*g.normal(size=(2, 6)))
        assert (abs(found.statistic) > found.chance + 1e-9) == (found.p <= 0.05)
