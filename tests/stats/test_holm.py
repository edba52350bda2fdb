"""Holm's correction against values computed by hand, and its promise in a simulation."""

from __future__ import annotations

import numpy as np
import pytest

from humetric.stats.holm import holm


def test_by_hand() -> None:
    """Sorted .005 .01 .03 .04 times 4 3 2 1 is .02 .03 .06 .04; the last may not fall below."""
    p = np.array([0.01, 0.04, 0.03, 0.005])
    assert holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_at_most_one_and_ties() -> None:
    assert holm(np.array([0.6, 0.7, 0.02, 0.02])) == pytest.approx([1.0, 1.0, 0.08, 0.08])
    assert holm(np.array([])).shape == (0,)
    assert holm(np.array([0.03])).tolist() == [0.03]


def test_undefined_ones_are_not_counted() -> None:
    found = holm(np.array([[0.01, np.nan], [0.04, 0.03]]))
    assert found.shape == (2, 2)
    assert np.isnan(found[0, 1])
    assert found[~np.isnan(found)] == pytest.approx([0.03, 0.06, 0.06])


def test_agrees_with_statsmodels() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = np.random.default_rng(0).uniform(size=40) ** 2
    assert holm(p) == pytest.approx(multitest.multipletests(p, method="holm")[1])


def test_any_false_positive_is_rare() -> None:
    """1,500 families of 66 true nulls: one or more false positives in at most .05 of them."""
    p = np.random.default_rng(1).uniform(size=(1_500, 66))
    wrong = np.array([(holm(family) <= 0.05).any() for family in p]).mean()
    assert 0.03 <= wrong <= 0.065
