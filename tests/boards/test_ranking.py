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
