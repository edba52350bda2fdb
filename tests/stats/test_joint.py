"""The joint test: against enumeration by hand, and in every corner of missing data."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from humetric.stats import enumeration, joint
from humetric.stats.concordance import concordance
from humetric.stats.joint import StudyData, joint_test, max_t, study_t
from humetric.stats.permutation import exact_test
from humetric.stats.pooling import permutation_variance, tau_null_variance
from humetric.stats.power import Design, simulate

NAN = math.nan


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def study(name: str, n: int, cells: int, seed: int) -> StudyData:
    metric, human = draw(seed).normal(size=(2, cells, n))
    return StudyData(name, metric, human)


def t_by_hand(data: StudyData, order: tuple[int, ...]) -> float:
    cells = [
        concordance(
            data.metric[c][list(order)],
            data.human[c],
            np.broadcast_to(data.metric_precision, data.human.shape)[c][list(order)],
            np.broadcast_to(data.human_precision, data.human.shape)[c],
        ).d
        for c in range(len(data.human))
    ]
    known = [d for d in cells if not math.isnan(d)]
    return float(np.mean(known)) if known else NAN


def by_hand(studies: list[StudyData]) -> tuple[float, float, float]:
    """T, p and the smallest p by going through every joint relabelling."""
    per_study: list[list[float]] = []
    for data in studies:
        orders = itertools.permutations(range(data.human.shape[1]))
        values = [t_by_hand(data, order) for order in orders]
        per_study.append([v for v in values if not math.isnan(v)])
    every = np.abs([np.mean(values) for values in itertools.product(*per_study)])
    t = float(np.mean([values[0] for values in per_study]))
    return t, float((every >= abs(t) - 1e-9).mean()), float((every >= every.max() - 1e-9).mean())


CASES: dict[str, list[StudyData]] = {
    "plain": [study("a", 4, 2, 0), study("b", 3, 1, 1), study("c", 2, 3, 2)],
    "equal sizes": [study("a", 4, 1, 3), study("b", 4, 1, 4), study("c", 3, 1, 14)],
    "coarse": [
        study("a", 4, 2, 5)._replace(metric_precision=0.5, human_precision=0.7),
        study("b", 4, 1, 6)._replace(metric_precision=np.array([[0.0, 2.0, 0.0, 0.1]])),
    ],
    "gaps": [
        StudyData(
            "a",
            np.array([[1.0, NAN, 2.0, 4.0], [2.0, 1.0, NAN, NAN]]),
            np.array([[1.0, 2.0, 3.0, 3.0], [2.0, 1.0, NAN, 4.0]]),
        ),
        study("b", 3, 2, 7),
    ],
    "undefined under some relabellings": [
        StudyData(
            "a",
            np.array([[1.0, NAN, 2.0, NAN], [NAN, 4.0, NAN, 3.0]]),
            np.array([[1.0, 1.0, 2.0, 2.0]] * 2),
        ),
        study("b", 3, 1, 8),
    ],
}


@pytest.mark.parametrize("case", CASES)
def test_against_enumeration_by_hand(case: str) -> None:
    found = joint_test(CASES[case], draw())
    assert found.exact
    assert (found.t, found.p, found.smallest) == pytest.approx(by_hand(CASES[case]), abs=1e-12)


def test_the_case_above_has_undefined_relabellings() -> None:
    values = study_t(CASES["undefined under some relabellings"][0])
    assert 0 < np.isnan(values).sum() < len(values)


@pytest.mark.parametrize("case", CASES)
def test_with_and_without_a_lattice(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = joint_test(CASES[case], draw())
    monkeypatch.setattr(enumeration, "_step", lambda parts: None)
    assert joint_test(CASES[case], draw()).p == pytest.approx(found.p, abs=1e-12)


@pytest.mark.parametrize(("n", "cells", "k"), [(6, 3, 10), (4, 4, 12), (5, 1, 24)])
def test_many_studies_on_a_lattice(
    n: int, cells: int, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ties at the observed T are common here; losing them to rounding would show."""
    studies = [study(str(i), n, cells, 50 + i) for i in range(k)]
    parts = [enumeration.tally(study_t(s)) for s in studies]
    assert enumeration._step(parts) is not None
    found = joint_test(studies, draw())
    monkeypatch.setattr(enumeration, "_step", lambda parts: None)
    other = joint_test(studies, draw())
    assert found.exact
    assert other.exact
    assert found.p == pytest.approx(other.p, rel=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_drawn_where_too_many(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = joint_test(CASES[case], draw())
    monkeypatch.setattr(joint, "convolve", lambda parts: None)
    found = joint_test(CASES[case], draw(), b=9_999)
    assert not found.exact
    assert found.permutations == 9_999
    assert found.p == pytest.approx(exact.p, abs=0.02)
    assert found.smallest == pytest.approx(max(exact.smallest, 1e-4))


def test_one_study_with_one_cell_is_the_exact_test() -> None:
    data = study("a", 6, 1, 9)
    single, found = exact_test(data.metric[0], data.human[0]), joint_test([data], draw())
    assert (found.t, found.p, found.smallest) == pytest.approx(single[:3])
    assert found.permutations == 720
    assert math.isnan(found.leave_one_out["a"])


def test_exact_level_is_not_lost_to_rounding() -> None:
    """6 of 120 is .05 and must be called so."""
    assert joint_test([ordered("a", 5, 1)], draw()).p == 2 / 120
    five = np.arange(5.0)[None]
    swapped = five.copy()
    swapped[0, [0, 1]] = swapped[0, [1, 0]]
    assert joint_test([StudyData("a", swapped, five)], draw()).p == 10 / 120


def ordered(name: str, n: int, cells: int) -> StudyData:
    values = np.tile(np.arange(float(n)), (cells, 1))
    return StudyData(name, values, values)


def test_smallest_p_of_todays_studies() -> None:
    today = [ordered("a", 6, 3), ordered("b", 5, 2), ordered("c", 3, 1), ordered("d", 2, 4)]
    found = joint_test(today, draw())
    assert found.t == 1
    assert found.permutations == 720 * 120 * 6 * 2
    assert found.p == found.smallest == pytest.approx(2 / found.permutations)


def test_studies_weigh_the_same_and_can_be_left_out() -> None:
    studies = CASES["plain"]
    found = joint_test(studies, draw())
    values = [t_by_hand(s, tuple(range(s.human.shape[1]))) for s in studies]
    assert list(found.studies.values()) == pytest.approx(values)
    assert found.t == pytest.approx(np.mean(values))
    assert found.leave_one_out["b"] == pytest.approx((values[0] + values[2]) / 2)


def test_two_methods_only() -> None:
    studies = [ordered(str(i), 2, 1) for i in range(5)]
    assert joint_test(studies[:1], draw()).p == 1
    assert joint_test(studies, draw()).p == 2 / 2**5


def test_nothing_to_compare() -> None:
    one = StudyData("one", np.ones((2, 1)), np.ones((2, 1)))
    tied = StudyData("tied", np.arange(3.0)[None], np.ones((1, 3)))
    missing = StudyData("missing", np.full((1, 3), NAN), np.arange(3.0)[None])
    empty = StudyData("empty", np.zeros((0, 3)), np.zeros((0, 3)))
    none = joint_test([one, tied, missing, empty], draw())
    assert math.isnan(none.t)
    assert math.isnan(none.p)
    assert (none.studies, none.permutations) == ({}, 0)
    alone = joint_test([study("a", 4, 1, 1)], draw())
    assert joint_test([one, study("a", 4, 1, 1), tied, missing, empty], draw())[:5] == alone[:5]


def test_a_metric_that_ties_all_says_nothing_but_counts() -> None:
    tied = StudyData("tied", np.ones((1, 3)), np.arange(3.0)[None])
    found = joint_test([tied, ordered("a", 3, 1)], draw())
    assert found.t == 0.5
    assert found.studies["tied"] == 0
    assert joint_test([tied], draw()).p == 1


def test_a_method_without_values_is_dropped() -> None:
    data = study("a", 4, 2, 3)
    gap = np.full((2, 1), NAN)
    wider = StudyData("a", np.hstack([data.metric, gap]), np.hstack([data.human, gap + 1]))
    wider.human[:, 4] = 0.3
    assert joint_test([wider], draw())[:-1] == joint_test([data], draw())[:-1]


def test_more_than_eight_methods_are_sampled() -> None:
    data = study("a", 9, 1, 5)
    found = joint_test([data, study("b", 3, 1, 1)], draw(), b=4_999)
    assert (found.exact, found.permutations) == (False, 4_999)
    alone = joint_test([data], draw(1), b=19_999)
    exact = stats.kendalltau(data.metric[0], data.human[0], method="exact").pvalue
    assert alone.p == pytest.approx(exact, abs=0.02)


def test_variance_over_relabellings() -> None:
    for n in range(2, 8):
        assert permutation_variance(study("a", n, 1, n)) == pytest.approx(tau_null_variance(n))
    assert permutation_variance(ordered("a", 5, 3)) == pytest.approx(tau_null_variance(5))
    assert permutation_variance(study("a", 5, 3, 3)) < tau_null_variance(5)


def test_wrong_shapes_and_names() -> None:
    with pytest.raises(ValueError, match="cells, methods"):
        joint_test([StudyData("a", np.zeros((1, 3)), np.zeros((1, 2)))], draw())
    with pytest.raises(ValueError, match="each study once"):
        joint_test([study("a", 3, 1, 0), study("a", 3, 1, 1)], draw())


def family(metrics: int, seed: int, r: float = 0.0) -> dict[str, list[StudyData]]:
    """Metrics on the same human values; the first correlates by r."""
    g = draw(seed)
    people = simulate([Design(5, 2), Design(4, 1), Design(3, 2)], 0.0, g)
    found = {}
    for number in range(metrics):
        share = r if number == 0 else 0.0
        found[str(number)] = [
            s._replace(metric=share * s.human + (1 - share) * g.normal(size=s.human.shape))
            for s in people
        ]
    return found


def test_max_t_of_one_metric_is_its_own_p() -> None:
    data = family(1, 0, 0.5)
    exact = joint_test(data["0"], draw()).p
    assert max_t(data, draw(), b=19_999)["0"] == pytest.approx(exact, abs=0.01)


def test_max_t_lies_between_plain_and_bonferroni() -> None:
    data = family(6, 1, 0.7)
    adjusted = max_t(data, draw(), b=19_999)
    plain = {name: joint_test(studies, draw()).p for name, studies in data.items()}
    for name, p in adjusted.items():
        assert plain[name] - 0.01 <= p <= min(1.0, 6 * plain[name]) + 0.01
    order = sorted(plain, key=lambda name: plain[name])
    assert [adjusted[name] for name in order] == sorted(adjusted.values())


def test_max_t_of_the_same_metric_twice_costs_nothing() -> None:
    """Where Holm would double p."""
    (studies,) = family(1, 2, 0.6).values()
    adjusted = max_t({"a": studies, "b": studies}, draw(), b=9_999)
    assert adjusted["a"] == adjusted["b"]
    assert adjusted["a"] == max_t({"a": studies}, draw(), b=9_999)["a"]


def test_max_t_keeps_the_family_level() -> None:
    rejected = [
        min(max_t(family(5, seed), draw(seed), b=199).values()) <= 0.05 for seed in range(150)
    ]
    assert np.mean(rejected) <= 0.11  # .05 and three standard errors


def test_max_t_with_missing_studies_and_other_people() -> None:
    data = family(2, 3)
    data["1"] = data["1"][:2]
    data["none"] = [s._replace(metric=np.full(s.human.shape, NAN)) for s in data["0"]]
    found = max_t(data, draw(), b=999)
    assert math.isnan(found["none"])
    assert 0 < found["1"] <= 1
    other: NDArray[np.float64] = data["1"][0].human + 1
    data["1"][0] = data["1"][0]._replace(human=other)
    with pytest.raises(ValueError, match="same human values"):
        max_t(data, draw(), b=99)


def test_max_t_with_many_methods() -> None:
    data = {"a": [study("a", 9, 1, 0)], "b": [study("a", 9, 1, 0)]}
    found = max_t(data, draw(), b=1_999)
    assert found["a"] == pytest.approx(joint_test(data["a"], draw(), b=1_999).p, abs=0.05)


def test_rows_of_a_cell_are_averaged_before_cells_are() -> None:
    """By hand: D = 1 and -1 in a cell of two rows, 1 in another of one: T = (0 + 1) / 2."""
    up = np.array([1.0, 2.0, 3.0])
    human = np.stack([up, up, up])
    metric = np.stack([up, up[::-1], up])
    assert study_t(StudyData("s", metric, human))[0] == pytest.approx(1 / 3)
    assert study_t(StudyData("s", metric, human, cell=(0, 0, 1)))[0] == pytest.approx(1 / 2)
    with pytest.raises(ValueError, match="cell of each of 3 rows"):
        joint_test([StudyData("s", metric, human, cell=(0, 1))], np.random.default_rng(0))


@pytest.mark.parametrize("cells", [1, 3])
def test_chance_is_the_largest_t_that_is_not_significant(cells: int) -> None:
    """By hand: the largest |T| of all relabellings that .05 of them or more reach."""
    data = [study("a", 4, cells, 1), study("b", 3, cells, 2)]
    per_study = [
        [t_by_hand(one, order) for order in itertools.permutations(range(one.human.shape[1]))]
        for one in data
    ]
    every = np.abs([np.mean(values) for values in itertools.product(*per_study)])
    inside = [t for t in every if (every >= t - 1e-9).mean() > 0.05]
    assert joint_test(data, draw()).chance == pytest.approx(max(inside))


def test_chance_is_exceeded_exactly_where_p_is_small() -> None:
    g, small = draw(3), 0
    for _ in range(60):
        found = joint_test(simulate([Design(5, 2), Design(4)], 0.8, g), g)
        assert (abs(found.t) > found.chance + 1e-9) == (found.p <= 0.05)
        small += found.p <= 0.05
    assert 5 < small < 55


def test_data_that_cannot_be_significant_exclude_nothing() -> None:
    assert joint_test([study("a", 4, 1, 1)], draw()).chance == math.inf
    assert math.isnan(joint_test([], draw()).chance)


def test_chance_of_many_methods_is_sampled() -> None:
    """Twelve methods without ties: the normal approximation of Kendall's null, roughly."""
    found = joint_test([study("a", 12, 1, 4)], draw(), b=9_999)
    assert not found.exact
    assert found.chance == pytest.approx(1.96 * math.sqrt(2 * 29 / (9 * 12 * 11)), abs=0.05)


@pytest.mark.parametrize("r", [0.0, 0.8])
def test_the_interval_covers_the_true_d(r: float) -> None:
    """E D = (2 / pi) asin r for normal values: within T -+ chance in 95% of sets or more."""
    g, true = draw(5), 2 / math.pi * math.asin(r)
    tests = [joint_test(simulate([Design(6)], r, g), g) for _ in range(200)]
    assert np.mean([abs(t.t - true) <= t.chance + 1e-9 for t in tests]) >= 0.91
