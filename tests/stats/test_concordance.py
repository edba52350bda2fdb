"""Concordance: ties by precision, gaps, and agreement with scipy where definitions meet."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from humetric.stats.concordance import Concordance, concordance, pearson, signs, spearman, tau_b
from humetric.stats.statistic import NAMES, rowwise

NAN = math.nan


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def by_hand(metric: NDArray[np.float64], human: NDArray[np.float64]) -> tuple[int, int, int]:
    """Concordant, discordant, tied by the metric, pair by pair."""
    found = [0, 0, 0]
    for i, j in itertools.combinations(range(len(human)), 2):
        if human[i] != human[j] and not math.isnan(metric[i] + metric[j] + human[i] + human[j]):
            product = (metric[i] - metric[j]) * (human[i] - human[j])
            found[0 if product > 0 else 1 if product < 0 else 2] += 1
    return found[0], found[1], found[2]


def test_signs() -> None:
    assert signs([1.0, 3.0, NAN, 1.0]).tolist() == [
        [0, -1, 0, 0],
        [1, 0, 0, 1],
        [0, 0, 0, 0],
        [0, -1, 0, 0],
    ]


def test_one_printed_digit_is_no_tie_whatever_a_machine_makes_of_it() -> None:
    for digits in range(100, 200):
        low, high = digits / 100, (digits + 1) / 100
        assert signs([low, high], 0.01)[1, 0] == 1, (low, high)
    assert signs([1.065, 1.066], 0.01)[1, 0] == 0
    assert signs([1.065, 1.066], 0.001)[1, 0] == 1


def test_the_coarser_of_two_precisions_counts() -> None:
    found = signs([1.0, 1.05, 1.2], np.array([0.1, 0.0, 0.0]))
    assert found[1, 0] == 0
    assert found[2, 0] == 1
    assert found[2, 1] == 1
    assert signs([1.0, 1.05], np.array([NAN, NAN]))[1, 0] == 1


def test_equal_infinities_are_tied() -> None:
    assert signs([math.inf, math.inf, 1.0])[:, 0].tolist() == [0, 0, -1]


def test_counts() -> None:
    # Pairs: people tie (0, 1); the metric ties (0, 2); the rest is (0, 3)+ (1, 2)- (1, 3)+ (2, 3)+.
    found = concordance([1.0, 2.0, 1.0, 3.0], [1.0, 1.0, 2.0, 3.0])
    assert found == Concordance(2 / 5, 3, 1, 1, 5)


@pytest.mark.parametrize("seed", range(20))
def test_against_pair_by_pair(seed: int) -> None:
    values = draw(seed).integers(0, 4, (2, 7)).astype(float)
    values[draw(seed).random((2, 7)) < 0.15] = NAN
    found = concordance(*values)
    assert (found.concordant, found.discordant, found.metric_ties) == by_hand(*values)
    assert found.pairs == sum(by_hand(*values))


def test_is_somers_d_of_the_metric_given_people() -> None:
    metric, human = draw(4).integers(0, 5, (2, 30)).astype(float)
    assert concordance(metric, human).d == pytest.approx(stats.somersd(human, metric).statistic)


def test_without_ties_it_is_kendalls_tau() -> None:
    metric, human = draw(5).normal(size=(2, 9))
    assert concordance(metric, human).d == pytest.approx(tau_b(metric, human))
    assert concordance(metric, human).d == -concordance(-metric, human).d


def test_undefined() -> None:
    for metric, human in (
        ([], []),
        ([1.0], [1.0]),
        ([1.0, 2.0], [3.0, 3.0]),
        ([NAN, 2.0], [1.0, 2.0]),
        ([1.0, 2.0], [NAN, 2.0]),
    ):
        found = concordance(metric, human)
        assert math.isnan(found.d)
        assert found[1:] == (0, 0, 0, 0)
    assert concordance([5.0, 5.0], [1.0, 2.0]) == Concordance(0.0, 0, 0, 1, 1)


def test_coefficients_drop_undefined_pairs() -> None:
    x, y = draw(6).normal(size=(2, 8))
    gaps_x, gaps_y = np.insert(x, 3, NAN), np.insert(y, 3, 7.0)
    assert tau_b(gaps_x, gaps_y) == pytest.approx(stats.kendalltau(x, y).statistic)
    assert spearman(gaps_x, gaps_y) == pytest.approx(stats.spearmanr(x, y).statistic)
    assert pearson(gaps_x, gaps_y) == pytest.approx(stats.pearsonr(x, y).statistic)


def test_coefficients_are_nan_where_they_say_nothing() -> None:
    for coefficient in (tau_b, spearman, pearson):
        assert math.isnan(coefficient([1.0], [1.0]))
        assert math.isnan(coefficient([1.0, 2.0, 3.0], [4.0, 4.0, 4.0]))
        assert math.isnan(coefficient([0.1 + 0.2, 0.3, 0.3], [1.0, 2.0, 3.0])) or (
            coefficient is not pearson
        )
    assert tau_b([1.0, 2.0], [1.0, 2.0]) == 1
    assert math.isnan(spearman([1.0, 2.0], [1.0, 2.0]))
    assert math.isnan(pearson([1.0, 2.0], [1.0, 2.0]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [2, 3, 6])
def test_many_rows_give_what_one_gives(name: str, n: int) -> None:
    single = {
        "d": lambda a, b: concordance(a, b).d,
        "tau-b": tau_b,
        "spearman": spearman,
        "pearson": pearson,
    }[name]
    x, y = draw(n).integers(0, 4, (2, 60, n)).astype(float)
    found = rowwise(name, x, y)  # type: ignore[arg-type]
    expected = [single(a, b) for a, b in zip(x, y, strict=True)]
    assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)
    if n == 6:
        assert np.isfinite(found).sum() > 40


def test_rowwise_knows_precision() -> None:
    x, y = draw(8).normal(size=(2, 40, 5))
    found = rowwise("d", x, y, 0.3, np.array([0.5, 0.0, 0.1, 1.0, 0.2]))
    expected = [
        concordance(a, b, 0.3, np.array([0.5, 0.0, 0.1, 1.0, 0.2])).d
        for a, b in zip(x, y, strict=True)
    ]
    assert found == pytest.approx(expected, nan_ok=True)
    with pytest.raises(ValueError, match="spearman"):
        rowwise("rho", x, y)  # type: ignore[arg-type]


def test_shapes() -> None:
    with pytest.raises(ValueError, match="one value per method"):
        signs(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="put NaN"):
        concordance([1.0, 2.0], [1.0])
