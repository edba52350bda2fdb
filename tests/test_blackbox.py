"""The numpy implementation: known values, any function, helpful errors, no torch."""

from __future__ import annotations

import doctest
import subprocess
import sys

import numpy as np
import pytest

from humetric import blackbox

WEIGHTS = np.array([3.0, 2.0, 1.0, 0.0])


def linear(rows: np.ndarray) -> np.ndarray:
    return rows.reshape(len(rows), -1) @ WEIGHTS / 6


def test_docstring_example() -> None:
    assert doctest.testmod(blackbox).failed == 0


def test_known_areas() -> None:
    """Removing 3, 2, 1, 0 of 6: 1, 1/2, 1/6, 0, 0; area (1/2 + 1/2 + 1/6) / 4 = 7/24."""
    x = np.ones(4)
    assert blackbox.deletion(linear, x, WEIGHTS).area == pytest.approx(7 / 24)
    assert blackbox.insertion(linear, x, WEIGHTS).area == pytest.approx(17 / 24)
    assert blackbox.mu_fidelity(linear, x, WEIGHTS) == pytest.approx(1)
    assert blackbox.mu_fidelity(linear, x, -WEIGHTS) == pytest.approx(-1)


def test_known_falls() -> None:
    """Of four features the shares are 1, 1, 1, 1, 2: without them 1/2 (four times) and 1/6."""
    x = np.ones(4)
    assert blackbox.top_counts(4).tolist() == [1, 1, 1, 1, 2]
    assert blackbox.top_counts(200).tolist() == [2, 10, 20, 40, 100]
    assert blackbox.comprehensiveness(linear, x, WEIGHTS) == pytest.approx((4 / 2 + 5 / 6) / 5)
    assert blackbox.sufficiency(linear, x, WEIGHTS) == pytest.approx((4 / 2 + 1 / 6) / 5)


def test_baseline_and_batches() -> None:
    x, baseline = np.ones(4), np.array([1.0, 0.5, 0.0, 9.0])
    whole = blackbox.deletion(linear, x, WEIGHTS, baseline=baseline)
    assert whole.scores.tolist() == pytest.approx([1, 1, 5 / 6, 4 / 6, 4 / 6])
    for batch_size in (1, 3):
        again = blackbox.deletion(linear, x, WEIGHTS, baseline=baseline, batch_size=batch_size)
        assert again.area == pytest.approx(whole.area)


def test_whole_numbers_may_have_a_fractional_baseline() -> None:
    weights = np.full(4, 0.25)
    curve = blackbox.deletion(lambda r: r @ weights, [1, 2, 3, 4], [4, 3, 2, 1], baseline=0.5)
    assert curve.scores.tolist() == pytest.approx([2.5, 2.375, 2.0, 1.375, 0.5])


def test_subsets_of_the_wrong_kind_are_explained() -> None:
    with pytest.raises(ValueError, match=r"bool array of shape \(subsets, 4\) but got int64"):
        blackbox.mu_fidelity(linear, np.ones(4), WEIGHTS, subsets=np.eye(4, dtype=np.int64))


def test_images_channels_first_and_last() -> None:
    rng = np.random.default_rng(0)
    weight, image = rng.normal(size=(2, 5, 3, 6, 4))[:, 0]
    first = blackbox.deletion(lambda r: (r * weight).sum((1, 2, 3)), image, rng.normal(size=(6, 4)))
    rng = np.random.default_rng(0)
    rng.normal(size=(2, 5, 3, 6, 4))
    weight, image = np.moveaxis(weight, 0, 2), np.moveaxis(image, 0, 2)
    last = blackbox.deletion(lambda r: (r * weight).sum((1, 2, 3)), image, rng.normal(size=(6, 4)))
    assert first.area == pytest.approx(last.area)
    assert len(first.scores) == 25


def test_undefined() -> None:
    x = np.ones(6)
    assert np.isnan(blackbox.mu_fidelity(lambda r: r.sum(1), x, np.full(6, 0.1)))
    assert np.isnan(blackbox.mu_fidelity(lambda r: np.ones(len(r)), x, np.arange(6)))


def test_subsets_have_one_size_and_do_not_repeat_where_few_exist() -> None:
    rng = np.random.default_rng(0)
    for groups, size, count, rows in [(81, 16, 200, 200), (6, 2, 200, 15), (10, 3, 100, 100)]:
        subsets = blackbox.draw_subsets(groups, size, count, rng)
        assert subsets.shape == (rows, groups)
        assert (subsets.sum(1) == size).all()
        assert len(np.unique(subsets, axis=0)) == rows


@pytest.mark.parametrize(
    ("attribution", "message"),
    [
        (np.ones(3), r"shape of x, \(4,\).*got \(3,\)"),
        (np.array([1, np.nan, 0, 0]), "finite"),
        (np.ones((2, 2)), "got \\(2, 2\\)"),
    ],
)
def test_bad_attributions_are_explained(attribution: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        blackbox.deletion(linear, np.ones(4), attribution)


def test_a_function_of_the_wrong_shape_is_explained() -> None:
    with pytest.raises(ValueError, match="one per row, but got shape"):
        blackbox.deletion(lambda rows: rows, np.ones(4), WEIGHTS)
    with pytest.raises(ValueError, match="at least one step"):
        blackbox.deletion(linear, np.ones(4), WEIGHTS, steps=0)


def test_does_not_import_torch() -> None:
    code = "import sys, humetric.blackbox; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
