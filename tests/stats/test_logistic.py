"""Logistic change against a saturated table, and where there is no slope."""

from __future__ import annotations

import math

import numpy as np
import pytest

from humetric.stats.logistic import logistic_change


def test_two_ratings_give_the_difference_of_shares() -> None:
    """With two values of x the model is saturated: 12 of 20 right at 4, 15 of 20 at 5."""
    x = np.repeat([4.0, 5.0], 20)
    y = np.r_[np.arange(20) < 12, np.arange(20) < 15].astype(float)
    people = np.arange(40).astype(object)
    found = logistic_change(y, x, people, 4, 5)
    assert found.change == pytest.approx(0.15)
    # Every person a block of one response: the robust variance of a share is p (1 - p) / n, times
    # the small-sample factor G / (G - 1) * (n - 1) / (n - 2).
    variance = (0.6 * 0.4 + 0.75 * 0.25) / 20 * (40 / 39) * (39 / 38)
    assert (found.high - found.low) / 2 == pytest.approx(1.959964 * math.sqrt(variance), rel=1e-5)
    assert found.n == 40


def test_blocks_widen_the_interval() -> None:
    """The same responses, ten of a kind from one person: the interval must be wider."""
    x = np.repeat([4.0, 5.0], 50)
    y = np.tile(np.repeat([1.0, 0.0, 1.0, 0.0, 1.0], 10), 2)
    alone = logistic_change(y, x, np.arange(100).astype(object), 4, 5)
    blocks = logistic_change(y, x, np.repeat(np.arange(10), 10).astype(object), 4, 5)
    assert blocks.change == pytest.approx(alone.change)
    assert blocks.high - blocks.low > 2 * (alone.high - alone.low)


@pytest.mark.parametrize(
    ("y", "x", "people", "why"),
    [
        ([1, 1, 1, 1], [1, 2, 3, 4], "abcd", "alike"),
        ([1, 0, 1, 0], [3, 3, 3, 3], "abcd", "does not vary"),
        ([0, 0, 1, 1], [1, 2, 3, 4], "abcd", "separates"),
        ([1, 0, 0, 1], [1, 2, 3, 4], "aaaa", "two people"),
        ([1, 0, 0, 1], [np.nan] * 4, "abcd", "alike"),
    ],
)
def test_undefined(y: list[float], x: list[float], people: str, why: str) -> None:
    found = logistic_change(
        np.array(y, float), np.array(x, float), np.array(list(people), object), 4, 5
    )
    assert math.isnan(found.change)
    assert why in found.note
