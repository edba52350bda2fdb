"""Bounds of chances: closed forms, scipy, and how often they miss."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from humetric.stats.bernoulli_bounds import (
    anytime_interval,
    clopper_pearson,
    divergence,
    divergence_interval,
    evidence,
    exploration_rate,
)

TRIALS = np.array([1, 1, 7, 7, 7, 60, 60, 60, 1000, 1000])
HITS = np.array([0, 1, 0, 3, 7, 0, 57, 60, 500, 999])


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_clopper_pearson_is_scipys(confidence: float) -> None:
    found = clopper_pearson(HITS, TRIALS, confidence)
    for h, n, low, high in zip(HITS, TRIALS, *found, strict=True):
        expected = stats.binomtest(int(h), int(n)).proportion_ci(confidence, "exact")
        assert (low, high) == pytest.approx(expected, abs=1e-9)


def test_divergence() -> None:
    p, q = np.array([0.0, 0.3, 1.0, 0.5]), np.array([0.2, 0.6, 0.9, 0.5])
    expected = [stats.entropy([a, 1 - a], [b, 1 - b]) for a, b in zip(p, q, strict=True)]
    np.testing.assert_allclose(divergence(p, q), expected, atol=1e-15)
    assert divergence(0.5, 0) == math.inf


def test_divergence_bounds_lie_at_the_rate() -> None:
    low, high = divergence_interval(HITS, TRIALS, 2.5)
    mean = HITS / TRIALS
    inner = mean > 0
    np.testing.assert_allclose((TRIALS * divergence(mean, low))[inner], 2.5, rtol=1e-6)
    np.testing.assert_allclose((TRIALS * divergence(mean, high))[mean < 1], 2.5, rtol=1e-6)
    assert (low[~inner] == 0).all()
    assert (high[mean == 1] == 1).all()
    # All hits: log(1 / low) n = rate.
    assert divergence_interval(60, 60, 2.5).low == pytest.approx(math.exp(-2.5 / 60))


def test_nothing_is_known_without_trials() -> None:
    for found in (
        divergence_interval(0, 0, exploration_rate(0, 0.1)),
        divergence_interval(0, 0, 1.0),
        anytime_interval(0, 0, 0.1),
        clopper_pearson(0, 0),
    ):
        assert tuple(map(float, found)) == (0, 1)
    assert evidence(0, 0, 0.9) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("hits", "trials", "level"), [(9, 10, 0.5), (95, 100, 0.9), (3, 40, 0.4)])
def test_evidence_is_the_averaged_likelihood(hits: int, trials: int, level: float) -> None:
    def prior(p: float) -> float:
        return (p * (1 - p)) ** -0.5

    def likelihood(p: float) -> float:
        return p**hits * (1 - p) ** (trials - hits)

    top, _ = integrate.quad(lambda p: prior(p) * likelihood(p), level, 1)
    bottom, _ = integrate.quad(prior, level, 1)
    expected = math.log(top / bottom / likelihood(level))
    assert evidence(hits, trials, level) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("chance", [0.5, 0.85, 0.9])
def test_evidence_does_not_grow_on_average(chance: float) -> None:
    """Exactly: the mean over all outcomes of n trials is at most 1, and 1 at the level itself."""
    for n in (1, 10, 200):
        hits = np.arange(n + 1)
        mean = (stats.binom.pmf(hits, n, chance) * np.exp(evidence(hits, n, 0.9))).sum()
        assert mean <= 1 + 1e-9
        if chance == 0.9:
            assert mean == pytest.approx(1)


def test_trials_without_a_miss() -> None:
    """The numbers in the docstring."""
    n = np.arange(1, 200)
    exact = stats.beta.ppf(0.05, n, 1) >= 0.95
    rate = divergence_interval(n, n, exploration_rate(n, 0.05)).low >= 0.95
    anytime = anytime_interval(n, n, 0.05).low >= 0.95
    direct = evidence(n, n, 0.95) >= math.log(20)
    first = [int(n[passed][0]) for passed in (direct, anytime, exact, rate)]
    assert first == [74, 74, 59, 119]


def test_evidence_falls_with_the_level() -> None:
    """So that the levels which are not rejected are an interval."""
    for hits, trials in ((1, 1), (2, 30), (15, 30), (29, 30), (1990, 2000)):
        levels = np.linspace(1e-6, hits / trials - 1e-6, 400)
        values = evidence(hits, trials, levels)
        assert np.isfinite(values).all()
        assert (np.diff(values) < 0).all()


def test_anytime_bounds_lie_where_the_evidence_is_enough() -> None:
    low, high = anytime_interval(HITS, TRIALS, 0.03)
    some = HITS > 0
    np.testing.assert_allclose(evidence(HITS, TRIALS, low)[some], math.log(1 / 0.03), rtol=1e-6)
    mirrored = anytime_interval(TRIALS - HITS, TRIALS, 0.03)
    np.testing.assert_array_equal(high, 1 - mirrored.low)
    mean = HITS / TRIALS
    assert (low <= mean).all()
    assert (mean <= high).all()


@pytest.mark.parametrize("chance", [0.5, 0.95])
def test_looking_all_the_time(chance: float) -> None:
    """Over 1,000 looks anytime bounds miss seldom enough; a fixed bound misses far too often."""
    alpha = 0.1
    hits = (np.random.default_rng(0).random((400, 1000)) < chance).cumsum(1)
    n = np.arange(1, 1001)
    mean = hits / n
    kl = (n * divergence(mean, chance) > exploration_rate(n, alpha)).any(1).mean()
    one_sided = (evidence(hits, n, chance) >= math.log(1 / alpha)).any(1).mean()
    fixed = (stats.beta.ppf(alpha, hits, n - hits + 1) > chance).any(1).mean()
    assert kl <= alpha
    assert one_sided <= alpha
    assert fixed > 2 * alpha


def test_more_hits_than_trials() -> None:
    with pytest.raises(ValueError, match="as many hits as trials"):
        clopper_pearson(3, 2)
