"""Methods of one name relabelled together."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from humetric.stats.calibration import overlap_size
from humetric.stats.concordance import concordance
from humetric.stats.joint import StudyData, joint_test
from humetric.stats.shared import overlap, shared_test

ABCD = ("a", "b", "c", "d")


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_p_is_that_of_enumeration() -> None:
    """Two studies of the same four methods in another order: all 24 relabellings by hand."""
    metric = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    people = ({"a": 1.0, "b": 3.0, "c": 2.0, "d": 4.0}, {"a": 2.0, "b": 1.0, "c": 3.0, "d": 4.0})
    names = {"one": ABCD, "two": ("d", "b", "a", "c")}
    studies = [
        StudyData(
            study,
            np.array([[metric[m] for m in names[study]]]),
            np.array([[human[m] for m in names[study]]]),
        )
        for study, human in zip(names, people, strict=True)
    ]
    totals = []
    for order in itertools.permutations(ABCD):
        given = {m: metric[o] for m, o in zip(ABCD, order, strict=True)}
        totals.append(
            sum(concordance([given[m] for m in ABCD], [h[m] for m in ABCD]).d for h in people)
        )
    expected = np.mean(np.abs(totals) >= abs(totals[0]) - 1e-9)
    found = shared_test(studies, names, draw(), 20_000)
    assert found.p == pytest.approx(expected, abs=0.012)
    assert found.relabellings == 24
    assert joint_test(studies, draw()).p < found.p  # takes the repetition for evidence


def test_without_common_methods_it_is_the_joint_test() -> None:
    rows = np.array([[1.0, 2.0, 3.0, 4.0]])
    studies = [StudyData(n, rows, rows[:, ::-1].copy()) for n in ("one", "two")]
    names = {"one": ABCD, "two": ("e", "f", "g", "h")}
    found = shared_test(studies, names, draw(), 20_000)
    assert found.p == pytest.approx(joint_test(studies, draw()).p, abs=0.003)
    assert found.relabellings == 24**2


def test_nothing_to_relabel_and_nothing_at_all() -> None:
    up = np.array([[1.0, 2.0]])
    names = {"one": ("a", "b"), "two": ("b", "c"), "three": ("a", "c")}
    assert shared_test([StudyData(n, up, up) for n in names], names, draw(), 99) == (1.0, 1)
    assert math.isnan(shared_test([StudyData("one", up * np.nan, up)], names, draw(), 99).p)


def test_overlap_counts_studies() -> None:
    assert overlap({"x": ("a", "b"), "y": ("b", "c"), "z": ("b", "c")}) == {"b": 3, "c": 2}


def test_shared_effects_of_people_mislead_the_joint_test_only() -> None:
    """Six studies of the same six methods, half of people's variance shared (2,000 sets: .245)."""
    joint, together = overlap_size(0, 6, 0.5, 6, 150, draw(3))
    assert joint > 0.12
    assert together <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 150)
