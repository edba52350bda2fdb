"""The reader: its fit against scikit-learn's, its draws, and what it takes to matter."""

from __future__ import annotations

import numpy as np
import pytest
from simulated_support import world
from sklearn.linear_model import LogisticRegression

from humetric.metrics.panel import LEARNING
from humetric.metrics.simulated.reader import draws, evenly, fit, guesses, mattering, spread

RNG = np.random.default_rng


def test_the_fit_is_that_of_logistic_regression() -> None:
    """Dual weights give the same logits as scikit-learn with C = 1, no bias and even weights."""
    rng = RNG(0)
    x = rng.normal(size=(12, 30))
    yes = rng.random(12) < 0.4
    own = x @ x.T @ fit((x @ x.T)[None], yes[None])[0]
    model = LogisticRegression(
        C=1.0, fit_intercept=False, class_weight="balanced", tol=1e-12, max_iter=10000
    ).fit(x, yes)
    assert own == pytest.approx(model.decision_function(x), abs=1e-5)


def test_people_are_fitted_apart() -> None:
    """What one reads does not change what another learns."""
    rng = RNG(1)
    x = rng.normal(size=(3, 10, 20))
    yes = rng.random((3, 10)) < 0.5
    inner = x @ x.transpose(0, 2, 1)
    together = fit(inner, yes)
    for i in range(3):
        assert together[i] == pytest.approx(fit(inner[i : i + 1], yes[i : i + 1])[0], abs=1e-12)


def test_who_sees_one_output_only_learns_nothing() -> None:
    """There is nothing to tell apart: coins decide."""
    rng = RNG(2)
    x, asked = rng.normal(size=(1, 6, 8)), rng.normal(size=(1, 400, 8))
    found = guesses(x, np.zeros((1, 6), dtype=np.int64), asked, 2, RNG(0))
    assert 120 < found.sum() < 280


def test_three_outputs() -> None:
    """One term speaks for each output."""
    learn = np.tile(np.eye(3), (2, 1))[None]
    said = np.tile(np.arange(3), 2)[None]
    assert guesses(learn, said, np.eye(3)[None], 3, RNG(0)).tolist() == [[0, 1, 2]]


def test_highlights_are_believed_as_far_as_they_are_consistent() -> None:
    """Random effects by moments, worked by hand: three terms, two cases with all of them."""
    counts = np.ones((2, 3))
    shown = np.array([[2.0, 1.0, 0.0], [2.5, 0.5, 0.0]])
    known = spread(counts, shown)
    within = (4 * 0.25**2) / 3
    across = 2 * (1.25**2 + 0.25**2 + 1.0**2) / 2
    assert known.mean == pytest.approx(1)
    assert known.within == pytest.approx(within)
    assert known.between == pytest.approx((across - within) / 2)
    share = known.between / (known.between + within / 2)
    assert mattering(counts, shown) == pytest.approx([1 + share * off for off in (1.25, -0.25, -1)])
    assert known.trust == pytest.approx(known.between / (known.between + within))


def test_inconsistent_highlights_are_not_believed() -> None:
    """What is high in one case is low in the next: all terms matter alike; so do unseen ones."""
    counts = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    shown = np.array([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    assert spread(counts, shown).trust == 0
    assert mattering(counts, shown).tolist() == [1, 1, 1]
    once = np.eye(3)
    assert mattering(once, 3 * once).tolist() == [1, 1, 1]


def test_random_effects_are_found_again() -> None:
    """Over many terms the moments are those that made the numbers."""
    rng = np.random.default_rng(0)
    counts = (rng.random((12, 4000)) < 0.5) * rng.integers(1, 4, (12, 4000))
    own = 1 + 0.5 * rng.standard_normal(4000)
    shown = counts * (own + 0.8 * rng.standard_normal((12, 4000)))
    known = spread(counts.astype(float), shown)
    assert known.mean == pytest.approx(1, abs=0.03)
    assert known.between == pytest.approx(0.25, abs=0.03)
    assert known.within == pytest.approx(0.64, abs=0.03)


def test_learning_and_test_cases_are_disjoint() -> None:
    """The first of a panel to learn from, the others to be tested on; nobody sees a case twice."""
    panel = world(0).panel
    for draw in draws(panel, "some protocol", 10, 16, 32):
        assert draw.learning.max() < LEARNING <= draw.test.min()
        assert len(set(draw.learning.tolist())) == 16
        assert len(set(draw.test.tolist())) == 32


def test_cases_are_even_over_outputs_and_over_truth() -> None:
    """Every run of four holds each combination once, so knowing the truth is of no help."""
    panel = world(0).panel
    order = evenly(np.arange(LEARNING), panel, RNG(0))
    kinds = panel.target[order] * 2 + panel.right[order]
    for start in range(0, LEARNING, 4):
        assert sorted(kinds[start : start + 4].tolist()) == [0, 1, 2, 3]


def test_draws_differ_by_person_protocol_and_seed() -> None:
    """And are the same for all methods."""
    panel = world(0).panel
    first, second = draws(panel, "one", 2, 16, 32)
    assert first.test.tolist() != second.test.tolist()
    assert draws(panel, "one", 2, 16, 32)[0].test.tolist() == first.test.tolist()
    assert draws(panel, "other", 2, 16, 32)[0].test.tolist() != first.test.tolist()
    assert draws(world(1).panel, "one", 2, 16, 32)[0].test.tolist() != first.test.tolist()
