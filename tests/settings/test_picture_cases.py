"""Cases are even over outputs, and over right and wrong as far as a model errs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humetric.models.training import choose
from humetric.settings.picture_cases import choose_even


def pool(right: tuple[int, int], wrong: tuple[int, int]) -> tuple[NDArray[np.int64], ...]:
    """Labels and probabilities of class 1; counts are by output."""
    rows = [(o, o) for o in (0, 1) for _ in range(right[o])]
    rows += [(1 - o, o) for o in (0, 1) for _ in range(wrong[o])]
    order = np.random.default_rng(0).permutation(len(rows))
    labels, outputs = np.array(rows).T
    return labels[order], np.where(outputs == 1, 0.9, 0.1)[order]


def test_a_model_that_errs_often_enough_has_the_cases_of_the_embedded_suite() -> None:
    labels, scores = pool((30, 30), (12, 12))
    assert choose_even(labels, scores, 40) == choose(labels, scores, 40)


def test_errors_come_first_and_outputs_stay_even() -> None:
    labels, scores = pool((30, 30), (5, 2))
    taken = choose_even(labels, scores, 48)
    assert len(set(taken)) == 48
    said, wrong = scores[taken] > 0.5, (scores[taken] > 0.5) != labels[taken]
    for stop in range(4, 49, 4):
        assert said[:stop].sum() * 2 == stop
    assert wrong[:8].sum() == 4
    assert wrong[:20].sum() == wrong.sum() == 7


def test_the_other_output_fills_up() -> None:
    labels, scores = pool((3, 30), (1, 1))
    said = scores[choose_even(labels, scores, 20)] > 0.5
    assert (~said).sum() == 4, "all there are"
    assert len(said) == 20
    assert said[8:].all()


def test_none_is_on_the_verge_and_a_small_pool_gives_what_it_has() -> None:
    labels = np.array([0, 1, 0, 1])
    scores = np.array([0.1, 0.9, 0.4999, 0.5002])
    assert sorted(choose_even(labels, scores, 10)) == [0, 1]
