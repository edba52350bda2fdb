"""Sign flips: exact where they can be, right in size, and indifferent to what is undefined."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from humetric.stats.paired import sign_flip


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def scipy_p(differences: NDArray[np.float64], resamples: float = np.inf) -> float:
    found = stats.permutation_test(
        (differences, np.zeros_like(differences)),
        lambda a, b, axis: (a - b).mean(axis),
        permutation_type="samples",
        n_resamples=resamples,
        vectorized=True,
        rng=draw(3),
    )
    return float(found.pvalue)


@pytest.mark.parametrize("n", [2, 5, 8, 12])
def test_agrees_with_scipy_where_exact(n: int) -> None:
    differences = draw(n).normal(0.4, 1.0, (n, 6))
    found = sign_flip(differences, draw())
    assert found.p == pytest.approx([scipy_p(column) for column in differences.T], abs=1e-12)
    assert found.difference == pytest.approx(differences.mean(0))


def test_agrees_with_scipy_where_sampled() -> None:
    differences = draw(1).normal(0.3, 1.0, (30, 5))
    found = sign_flip(differences, draw())
    other = [scipy_p(column, 9_999) for column in differences.T]
    assert found.p == pytest.approx(other, abs=0.02)


def test_smallest_p() -> None:
    assert sign_flip(np.ones((1, 1)), draw()).p[0] == 1
    assert sign_flip(np.ones((5, 1)), draw()).p[0] == 2 / 2**5
    assert sign_flip(np.ones((12, 1)), draw()).p[0] == 2 / 2**12
    assert sign_flip(np.ones((60, 1)), draw()).p[0] == 1 / 10_000
    assert sign_flip(np.ones((60, 1)), draw(), flips=99).p[0] == 1 / 100


def test_ties_count_in_whatever_order_they_are_added() -> None:
    """0.1 + 0.2 - 0.3 is not zero in floating point, but it is a tie."""
    values = np.array([0.1, 0.2, -0.3, 0.4, -0.4])
    for seed in range(5):
        shuffled = draw(seed).permutation(values)[:, None]
        assert sign_flip(shuffled, draw()).p[0] == 1.0


def test_no_difference_gives_one() -> None:
    for n in (1, 8, 30):
        found = sign_flip(np.zeros((n, 2)), draw())
        assert found.p.tolist() == [1.0, 1.0]
        assert found.difference.tolist() == [0.0, 0.0]


def test_undefined_cases_are_dropped_from_their_pair_only() -> None:
    differences = draw(1).normal(0.5, 1.0, (10, 2))
    with_gaps = np.insert(differences, [2, 5, 5], np.nan, axis=0)
    with_gaps[2, 1] = 3.0
    found, plain = sign_flip(with_gaps, draw()), sign_flip(differences, draw())
    assert found.p[0] == plain.p[0]
    assert found.difference[0] == pytest.approx(plain.difference[0])
    assert found.n.tolist() == [10, 11]


def test_a_pair_without_a_common_case_is_undefined() -> None:
    found = sign_flip(np.array([[np.nan, 1.0], [np.nan, 1.0]]), draw())
    assert np.isnan(found.p[0])
    assert np.isnan(found.difference[0])
    assert found.p[1] == 0.5


def test_a_pair_has_the_same_p_in_any_company() -> None:
    differences = draw(2).normal(0.2, 1.0, (20, 7))
    whole = sign_flip(differences, draw(4)).p
    assert sign_flip(differences[:, [5]], draw(4)).p[0] == whole[5]


def test_nothing_to_test() -> None:
    assert sign_flip(np.zeros((0, 0)), draw()).p.shape == (0,)
    assert sign_flip(np.zeros((3, 0)), draw()).p.shape == (0,)
    assert np.isnan(sign_flip(np.zeros((0, 2)), draw()).p).all()


@pytest.mark.parametrize("n", [8, 24])
def test_false_positives_are_as_rare_as_promised(n: int) -> None:
    """2,000 true nulls with heavy tails: .05 are rejected, give or take the simulation's error."""
    differences = draw(n).laplace(0.0, 1.0, (n, 2_000))
    rejected = (sign_flip(differences, draw(), flips=999).p <= 0.05).mean()
    assert 0.03 <= rejected <= 0.062


def test_power() -> None:
    """A mean of one standard deviation at n = 24 is found nearly always (t test: .997)."""
    differences = draw(1).normal(1.0, 1.0, (24, 300))
    assert (sign_flip(differences, draw(), flips=999).p <= 0.05).mean() > 0.97


def test_only_cases_by_pairs() -> None:
    with pytest.raises(ValueError, match="cases, pairs"):
        sign_flip(np.zeros(3), draw())
