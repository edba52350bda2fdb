"""Power: the fast way and the joint test itself agree; the null has its level."""

from __future__ import annotations

import math

import numpy as np
import pytest

from humetric.stats.enumeration import tally
from humetric.stats.joint import StudyData, joint_test, study_t
from humetric.stats.power import (
    Design,
    _untied,
    bivariate,
    power,
    power_of,
    power_table,
    simulate,
)


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_simulated_correlation_is_the_one_asked_for() -> None:
    for shared in (0.0, 0.5, 1.0):
        metric, human = bivariate(Design(6, 3), 0.6, shared, shared, 4_000, draw())
        for cell in range(3):
            found = np.corrcoef(metric[:, cell].ravel(), human[:, cell].ravel())[0, 1]
            assert found == pytest.approx(0.6, abs=0.02)
        between = np.corrcoef(metric[:, 0].ravel(), metric[:, 1].ravel())[0, 1]
        assert between == pytest.approx(shared, abs=0.02)


@pytest.mark.parametrize("designs", [[Design(5)] * 3, [Design(6), Design(4), Design(2)]])
def test_the_fast_way_is_the_joint_test(designs: list[Design]) -> None:
    """Without ties p depends on T only, so both ways decide the same data alike."""
    fast = power_of(designs, 0.7, draw(1), draws=4_000)
    g = draw(2)
    slow = np.mean([joint_test(simulate(designs, 0.7, g, 1.0), g).p <= 0.05 for _ in range(300)])
    assert slow == pytest.approx(fast, abs=3.5 * math.sqrt(0.25 / 300))


def test_closed_forms() -> None:
    """Five methods in one study: only the two perfect orders are significant (2 / 120), and with
    r = 0 they come up at that rate; four can never be; nor can four two-method studies."""
    assert power(5, 1, 0.0, draw(), draws=40_000) == pytest.approx(2 / 120, abs=0.003)
    assert power(4, 1, 0.99, draw(), draws=100) == 0
    assert power(2, 5, 0.999, draw(), draws=100) == 0
    assert power(2, 6, 1.0, draw(), draws=100) == 1
    # Six two-method studies need all alike: q^6 + (1 - q)^6 with q = 1/2 + asin(r) / pi.
    q = 0.5 + math.asin(0.8) / math.pi
    expected = q**6 + (1 - q) ** 6
    assert power(2, 6, 0.8, draw(), draws=40_000) == pytest.approx(expected, abs=0.01)


def test_level_and_order() -> None:
    assert power(6, 6, 0.0, draw(), draws=10_000) <= 0.057
    one, family = (power(6, 6, 0.5, draw(), family=size, draws=4_000) for size in (1, 12))
    assert 0.05 < family < one < 1
    assert (
        power(5, 3, 0.6, draw(), cells=3, draws=150) > power(5, 3, 0.6, draw(), draws=4_000) - 0.1
    )


def test_more_than_eight_methods() -> None:
    """Nine methods at r = .98 are found nearly always; twenty at r = 0 at the test's own level."""
    assert power_of([Design(9)], 0.98, draw(), draws=400) >= 0.95
    assert power_of([Design(20)], 0.0, draw(), draws=20_000) == pytest.approx(0.05, abs=0.008)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
def test_orders_are_counted_as_they_are_enumerated(n: int) -> None:
    order = np.arange(n, dtype=np.float64)[None]
    counted = _untied(n)
    if n == 1:
        assert counted.counts.tolist() == [1]
        return
    listed = tally(study_t(StudyData("", order, order)))
    assert counted.values == pytest.approx(listed.values)
    assert counted.counts.tolist() == listed.counts.tolist()


def test_table() -> None:
    rows = power_table([3, 5], [4, 8], [0.5], draw(), draws=500)
    assert [(row.methods, row.studies) for row in rows] == [(3, 4), (3, 8), (5, 4), (5, 8)]
    assert all(0 <= row.family <= row.single <= 1 for row in rows)
