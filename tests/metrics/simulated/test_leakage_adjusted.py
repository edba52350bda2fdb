"""Leakage-adjusted simulatability: the adjustment by hand."""

from __future__ import annotations

import numpy as np
import pytest

from humetric.metrics.simulated.leakage_adjusted import adjusted


def rows(*given: str) -> np.ndarray:
    """Right (1) or wrong (0), case by case."""
    return np.array([[c == "1" for c in row] for row in given])


def test_leaking_cases_and_others_weigh_alike() -> None:
    """Three leak and gain 1, 0, 0; one does not and gains -1: (1/3 - 1) / 2."""
    found = adjusted(rows("1110"), rows("0111"), rows("1110"))
    assert found == pytest.approx([(1 / 3 - 1) / 2])


def test_over_one_kind_where_the_other_is_empty() -> None:
    """Person by person."""
    found = adjusted(rows("11", "10"), rows("00", "00"), rows("11", "00"))
    assert found == pytest.approx([1.0, 0.5])


def test_an_explanation_that_only_gives_the_output_away_is_worth_half() -> None:
    """A raw gain of .5 in the leaking half and nothing in the other."""
    found = adjusted(rows("1100"), rows("0000"), rows("1100"))
    assert found == pytest.approx([0.5])
