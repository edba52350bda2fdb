"""The linear student alone: values, optimum and exact recovery of a linear teacher."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from humetric.models.student import Student, Term, fit, terms_of


def texts(count: int = 400, vocabulary: int = 12, seed: int = 0) -> list[list[Term]]:
    rng = np.random.default_rng(seed)
    return [
        [Term(0, f"w{i}") for i in rng.integers(vocabulary, size=rng.integers(3, 9))]
        for _ in range(count)
    ]


def teacher(given: list[list[Term]], classes: int, seed: int = 1) -> Student:
    """A linear model over the TF-IDF values of the same terms, with random weights."""
    rng = np.random.default_rng(seed)
    blank = fit(given, np.full((len(given), classes), 1 / classes))
    weight = 4 * rng.standard_normal(blank.weight.shape)
    weight -= weight.mean(0)  # a shift of all classes changes no probability
    return Student(blank.terms, blank.place, blank.idf, weight, rng.standard_normal(classes))


def test_terms_are_bare_words_of_a_segment() -> None:
    found = terms_of(
        ["The", "film,", "(good)", "film", "don't", "...", "\N{GRINNING FACE}"], [0] * 7
    )
    words = ["the", "film", "good", "film", "don't", "...", "\N{GRINNING FACE}"]
    assert [t.word for t in found] == words
    assert terms_of(["a"], [0]) != terms_of(["A"], [1])


def test_values_by_hand() -> None:
    given = [[Term(0, "a"), Term(0, "a"), Term(0, "b")], [Term(0, "a")], [Term(0, "b")]]
    found = fit(given, np.eye(3)[:, :2] + 1e-3, least=1)
    idf = 1 + np.log(4 / 3)  # both are in two of three texts
    np.testing.assert_allclose(found.idf, idf)
    row = found.values([given[0]]).toarray()[0]
    np.testing.assert_allclose(row, np.array([2, 1]) / np.sqrt(5))
    assert found.values([[Term(0, "new")]]).toarray().sum() == 0
    assert fit(given, np.full((3, 2), 0.5), least=3).terms == ()


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_are_the_optimum(classes: int) -> None:
    """The gradient of summed cross-entropy and penalty is zero there, by an explicit formula."""
    given = texts()
    said = teacher(given, classes).logits(given).argmax(1)
    answers = np.eye(classes)[said]
    found = fit(given, answers, penalty=0.7)
    x = found.values(given).toarray()
    error = softmax(found.logits(given), axis=1) - answers
    np.testing.assert_allclose(error.T @ x + 0.7 * found.weight, 0, atol=1e-3)
    np.testing.assert_allclose(error.sum(0), 0, atol=1e-3)
    np.testing.assert_allclose(found.weight.sum(0), 0, atol=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_linear_teacher_is_recovered(classes: int) -> None:
    given = texts()
    true = teacher(given, classes)
    found = fit(given, softmax(true.logits(given), axis=1), penalty=1e-6)
    np.testing.assert_allclose(found.weight, true.weight, atol=0.01)
    new = texts(seed=5)
    assert (found.logits(new).argmax(1) == true.logits(new).argmax(1)).mean() > 0.99


def test_contributions_sum_to_the_logit() -> None:
    given = texts()
    found = teacher(given, 3)
    for text in [*given[:20], [Term(0, "new"), *given[0]]]:
        for c in range(3):
            parts = found.contributions(text, c)
            assert parts.sum() + found.bias[c] == pytest.approx(found.logits([text])[0, c])
    assert found.contributions([Term(0, "new")], 0).tolist() == [0]


def test_cues_are_the_largest_positive_weights() -> None:
    found = teacher(texts(), 3)
    for own, cues in zip(found.weight, found.cues(4), strict=True):
        best = sorted(zip(own.tolist(), found.terms, strict=True), reverse=True)[:4]
        assert cues == [(term, weight) for weight, term in best if weight > 0]
    one_sided = Student(found.terms, found.place, found.idf, -np.abs(found.weight), found.bias)
    assert one_sided.cues(4) == [[], [], []]
