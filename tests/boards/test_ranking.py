"""Places and letters: closed forms, and what tests promise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from humetric.boards.ranking import Rank, flips_for, letters_of, pairs_of, rank_methods


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_clear_differences_give_one_place_each() -> None:
    values = np.array([0.3, 0.1, 0.2]) + draw(1).normal(0, 0.001, (24, 3))
    assert rank_methods(values, draw(), 9_999) == [
        Rank(1, 1, "a"),
        Rank(3, 3, "c"),
        Rank(2, 2, "b"),
    ]


def test_without_differences_all_share_all_places() -> None:
    values = np.repeat(draw(1).normal(size=(24, 1)), 4, axis=1)
    assert rank_methods(values, draw(), 9_999) == [Rank(1, 4, "a")] * 4


def test_rounding_is_no_difference() -> None:
    values = np.array([0.0, 5e-7]) + draw(1).normal(size=(24, 1))
    assert rank_methods(values, draw(), 9_999) == [Rank(1, 2, "a")] * 2


def test_too_few_cases_separate_nothing() -> None:
    values = np.array([0.9, 0.1, 0.5]) + np.zeros((5, 1))
    assert {rank.best for rank in rank_methods(values, draw(), 9_999) if rank} == {1}


def test_a_method_without_values_has_no_rank_and_counts_for_none() -> None:
    values = np.array([0.3, np.nan, 0.2]) + draw(1).normal(0, 0.001, (24, 3))
    assert rank_methods(values, draw(), 9_999) == [Rank(1, 1, "a"), None, Rank(2, 2, "b")]
    assert rank_methods(np.full((24, 2), np.nan), draw(), 9_999) == [None, None]


def test_the_overlap_of_groups() -> None:
    """First and third are told apart, the second from neither."""
    apart = np.zeros((3, 3), dtype=bool)
    apart[0, 2] = apart[2, 0] = True
    assert letters_of(apart) == ["a", "ab", "b"]


@pytest.mark.parametrize("seed", range(20))
def test_sharing_a_letter_is_not_being_told_apart(seed: int) -> None:
    count = 7
    apart = np.triu(draw(seed).random((count, count)) < 0.4, 1)
    apart |= apart.T
    letters = letters_of(apart)
    for i, j in itertools.combinations(range(count), 2):
        assert bool(set(letters[i]) & set(letters[j])) == (not apart[i, j])
    assert "a" in letters[0]


def test_letters_do_not_run_out() -> None:
    letters = letters_of(~np.eye(30, dtype=bool))
    assert letters[25:28] == ["z", "a2", "b2"]


def test_a_large_family_can_still_be_significant() -> None:
    assert flips_for(pairs_of(12)) == 9_999
    tests = pairs_of(60)
    assert tests / (flips_for(tests) + 1) <= 0.01


def test_false_separations_are_rare() -> None:
    """300 boards of six methods that do not differ: any separation in at most .05 of them."""
    wrong = 0
    for seed in range(300):
        ranks = rank_methods(draw(seed).normal(size=(16, 6)), draw(seed + 1_000), 999)
        wrong += any(rank != Rank(1, 6, "a") for rank in ranks)
    assert wrong / 300 <= 0.08


def test_a_setting_weighs_alike_however_many_cases_it_has() -> None:
    """Over cases the first method wins 40 to 10; over settings the second does by .4 to .1."""
    noise = draw(5).normal(0, 0.01, (50, 2, 2))
    cube = np.full((50, 2, 2), np.nan)
    cube[:40, 0] = noise[:40, 0] + np.array([0.1, 0.0])
    cube[40:, 1] = noise[40:, 1] + np.array([0.0, 0.4])
    assert rank_methods(cube, draw(), 9_999) == [Rank(2, 2, "b"), Rank(1, 1, "a")]


def test_settings_that_share_all_cases_are_no_more_evidence_than_one() -> None:
    """Four copies of five cases: sign flips of five cases cannot reach .05, those of twenty can."""
    one = np.stack([np.arange(5) + 1.0, np.zeros(5)], axis=1)
    together = np.repeat(one[:, None], 4, axis=1)
    assert rank_methods(together, draw(), 9_999) == [Rank(1, 2, "a")] * 2
    apart = np.full((20, 4, 2), np.nan)
    for i in range(4):
        apart[5 * i : 5 * i + 5, i] = one
    assert rank_methods(apart, draw(), 9_999) == [Rank(1, 1, "a"), Rank(2, 2, "b")]


def test_no_rank_without_a_value_in_every_setting() -> None:
    cube = np.random.default_rng(0).normal(0, 0.01, (24, 2, 3)) + np.array([0.0, 1.0, 2.0])
    cube[:, 1, 2] = np.nan
    assert rank_methods(cube, draw(), 9_999) == [Rank(2, 2, "b"), Rank(1, 1, "a"), None]


def test_no_pair_is_told_apart_without_a_common_case_in_every_setting() -> None:
    cube = np.random.default_rng(0).normal(0, 0.01, (24, 2, 2)) + np.array([0.0, 1.0])
    cube[:12, 1, 0] = np.nan
    cube[12:, 1, 1] = np.nan
    assert rank_methods(cube, draw(), 9_999) == [Rank(1, 2, "a")] * 2
