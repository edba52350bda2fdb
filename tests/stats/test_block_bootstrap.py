"""Block bootstraps against enumeration, closed forms, and where they are undefined."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from humetric.stats.block_bootstrap import (
    centred_p,
    cluster_draws,
    quantile_interval,
    two_way_mean,
)


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def labels(values: list[str]) -> np.ndarray:
    return np.array(values, dtype=object)


def test_two_way_against_all_resamples_of_a_small_table() -> None:
    """Three users, two items: 27 x 4 equally likely resamples, one response missing."""
    table = np.array([[1.0, 0.0], [0.0, np.nan], [1.0, 1.0]])
    means = []
    for users in product(range(3), repeat=3):
        for items in product(range(2), repeat=2):
            cells = table[np.ix_(users, items)]
            if not np.isnan(cells).all():
                means.append(np.nanmean(cells))
    user, item = np.indices(table.shape)
    found = two_way_mean(
        table.ravel(), labels([*map(str, user.ravel())]), labels([*map(str, item.ravel())]), draw(),
        resamples=60_000,
    )  # fmt: skip
    assert found.mean == pytest.approx(3 / 5)
    assert found.se == pytest.approx(np.std(means), abs=0.005)
    low, high = np.quantile(means, [0.025, 0.975])
    assert found.half_width == pytest.approx((high - low) / 2, abs=0.01)
    # P(|draw - mean| >= mean): the share of resamples at least as far off.
    far = np.mean(np.abs(np.array(means) - 0.6) >= 0.6 - 1e-12)
    assert found.p == pytest.approx(far, abs=0.01)
    assert (found.n, found.users, found.items) == (5, 3, 2)


def test_two_way_spread_of_pure_noise_is_owens_formula() -> None:
    """Owen 2007: with noise alone the expected variance is about three times that of the mean."""
    ratios = []
    data = draw(1)
    for _ in range(60):
        values = data.normal(size=(30, 30))
        user, item = np.indices(values.shape)
        found = two_way_mean(
            values.ravel(), user.ravel().astype(object), item.ravel().astype(object), data, 400
        )
        ratios.append(found.se**2 * values.size)
    assert np.mean(ratios) == pytest.approx(3.0, rel=0.12)


def test_one_user_one_item_and_equal_values_have_no_interval() -> None:
    some = np.array([0.0, 1.0, 1.0])
    one_user = two_way_mean(some, labels(["a"] * 3), labels(["x", "y", "z"]), draw())
    assert one_user.mean == pytest.approx(2 / 3)
    assert math.isnan(one_user.half_width)
    one_item = two_way_mean(some, labels(["a", "b", "c"]), labels(["x"] * 3), draw())
    assert math.isnan(one_item.p)
    alike = two_way_mean(np.ones(3), labels(["a", "b", "c"]), labels(["x", "y", "z"]), draw())
    assert alike.mean == 1
    assert math.isnan(alike.half_width)
    none = two_way_mean(np.array([np.nan]), labels(["a"]), labels(["x"]), draw())
    assert math.isnan(none.mean)
    assert none.n == 0


def test_same_seed_same_interval() -> None:
    values = draw(3).normal(size=12)
    users, items = labels(list("aabbccddeeff")), labels(list("xyxyxyxyxyxy"))
    assert two_way_mean(values, users, items, draw(5)) == two_way_mean(
        values, users, items, draw(5)
    )
    assert two_way_mean(values, users, items, draw(5)) != two_way_mean(
        values, users, items, draw(6)
    )


def test_clusters_against_all_resamples() -> None:
    totals, counts = np.array([[2.0], [0.0], [3.0]]), np.array([[4.0], [1.0], [3.0]])
    every = [
        totals[list(who)].sum() / counts[list(who)].sum() for who in product(range(3), repeat=3)
    ]
    draws = cluster_draws(totals, counts, draw(), 40_000)[:, 0]
    assert draws.mean() == pytest.approx(np.mean(every), abs=0.005)
    assert draws.std() == pytest.approx(np.std(every), abs=0.005)
    assert set(np.round(draws, 9)) == set(np.round(every, 9))


def test_a_column_without_counts_is_undefined() -> None:
    draws = cluster_draws(np.zeros((3, 2)), np.array([[1.0, 0.0]] * 3), draw(), 50)
    assert (draws[:, 0] == 0).all()
    assert np.isnan(draws[:, 1]).all()
    assert math.isnan(quantile_interval(draws[:, 1])[0])
    with pytest.raises(ValueError, match="one shape"):
        cluster_draws(np.zeros((3, 2)), np.zeros((3, 1)), draw(), 50)


def test_centred_p() -> None:
    draws = np.array([-1.0, 1.0, 2.0, 3.0, 5.0])
    assert centred_p(draws, 2.0) == pytest.approx((2 + 1) / 6)
    assert centred_p(draws, 2.0, null=2.0) == 1.0
