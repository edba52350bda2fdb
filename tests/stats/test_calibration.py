"""What the documentation promises of the tests, simulated. Most of it takes minutes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from humetric.seeding import generator
from humetric.stats.calibration import (
    BOUND,
    COVERED,
    PEOPLE_SHARED,
    SEED,
    TODAY,
    cellwise_size,
    exact_size,
    found_rate,
    joint_size,
    perm_systems_size,
    pooled_coverage,
    sentinel_rate,
)
from humetric.stats.power import Design, power, simulate


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_random_metric_is_significant_as_often_as_it_should_be() -> None:
    """200 seeds at .05: ten, give or take 3.1; beyond .10 or below .01 something is wrong."""
    studies = simulate(TODAY, 0.0, draw(11), 1.0, PEOPLE_SHARED)
    assert 0.01 <= sentinel_rate(studies, 200) <= 0.10


def test_cells_relabelled_one_by_one_take_repetition_for_evidence() -> None:
    """The control of the simulation itself: it must be able to show a test that is wrong."""
    design = Design(5, 4)
    assert cellwise_size(design, 3, 100, draw(1)) > 0.10
    assert joint_size(design, 3, 100, draw(1)) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 100)


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "studies"), [(4, 3), (2, 6), (1, 12)])
@pytest.mark.parametrize("methods", [2, 3, 5, 7])
def test_joint_level(methods: int, cells: int, studies: int) -> None:
    """4,000 draws: .06 is 2.9 standard errors above a true .05. The page has all sizes."""
    assert joint_size(Design(methods, cells), studies, 4_000, draw(methods)) <= BOUND


@pytest.mark.slow
@pytest.mark.parametrize("methods", range(2, 8))
def test_other_levels(methods: int) -> None:
    assert exact_size(methods, "d", 1_500, draw(methods)) <= BOUND
    assert perm_systems_size(Design(methods, 2), 3, 0.6, 1_500, draw(methods)) <= BOUND


@pytest.mark.slow
@pytest.mark.parametrize("studies", [5, 8, 12])
@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_pooled_intervals_cover(studies: int, spread: float) -> None:
    methods = [[6, 5, 3, 2][i % 4] for i in range(studies)]
    covered, _ = pooled_coverage(methods, 0.4, spread, 1_000, draw(studies))
    assert covered >= COVERED


@pytest.mark.slow
@pytest.mark.parametrize(("methods", "cells", "r"), [(6, 1, 0.5), (5, 2, 0.5), (4, 1, 0.8)])
def test_a_planted_metric_is_found_as_often_as_promised(methods: int, cells: int, r: float) -> None:
    promised = power(methods, 8, r, draw(1), cells=cells, draws=1_000)
    found = found_rate(Design(methods, cells), 8, r, 1_000, seed=1)
    assert found == pytest.approx(promised, abs=3 * math.sqrt(2 * 0.25 / 1_000))


def test_the_page_holds_what_the_script_prints() -> None:
    """One row made again: a change of what is simulated must come with a new page."""
    rates = [
        exact_size(5, name, 2_000, generator(SEED, f"exact 5 {name}", "calibration"))
        for name in ("d", "spearman")
    ]
    page = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text()
    assert f"\n| 5 | {rates[0]:.3f} | {rates[1]:.3f} | " in page
