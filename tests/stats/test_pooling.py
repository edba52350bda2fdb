"""Pooling: Hartung-Knapp as statsmodels has it, never shorter than the plain interval."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy import optimize, stats

from humetric.stats.pooling import random_effects, tau_null_variance


def spread_out(seed: int, k: int = 7) -> tuple[np.ndarray, np.ndarray]:
    g = np.random.default_rng(seed)
    variance = g.uniform(0.02, 0.1, k)
    return g.normal(0.3, 0.6, k) + g.normal(0, np.sqrt(variance)), variance


@pytest.mark.filterwarnings("ignore:.use_t=True")
@pytest.mark.parametrize("seed", range(5))
def test_is_hartung_knapp_where_studies_differ(seed: int) -> None:
    from statsmodels.stats.meta_analysis import combine_effects

    effect, variance = spread_out(seed)
    found = random_effects(effect, variance)
    frame = combine_effects(effect, variance, method_re="iterated", use_t=True).summary_frame()
    row = frame.loc["random effect wls"]
    # Paule and Mandel's tau2 makes q = 1 unless it is cut at 0.
    assert found.tau2 > 0
    assert (found.mean, found.low, found.high) == pytest.approx(
        (row["eff"], row["ci_low"], row["ci_upp"]), rel=1e-4
    )


def test_tau2_solves_paule_and_mandels_equation() -> None:
    effect, variance = spread_out(9)

    def excess(tau2: float) -> float:
        w = 1 / (variance + tau2)
        return float(w @ (effect - w @ effect / w.sum()) ** 2 - (len(effect) - 1))

    root = optimize.brentq(excess, 0, 10)
    assert random_effects(effect, variance).tau2 == pytest.approx(root, rel=1e-4)


def test_studies_that_agree_do_not_shorten_the_interval() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = random_effects([0.5] * 6, [0.1] * 6)
    half = stats.t.ppf(0.975, 5) * math.sqrt(0.1 / 6)
    assert (found.mean, found.low, found.high) == pytest.approx((0.5, 0.5 - half, 0.5 + half))
    ahead = stats.t.ppf(0.975, 4) * math.sqrt(0.1 / 6)
    assert (found.predict_low, found.predict_high) == pytest.approx((0.5 - ahead, 0.5 + ahead))
    assert (found.tau2, found.k) == (0.0, 6)


def test_prediction_is_wider() -> None:
    found = random_effects(*spread_out(1))
    assert found.predict_low < found.low < found.mean < found.high < found.predict_high


def test_too_few_or_wrong() -> None:
    with pytest.raises(ValueError, match="at least 5"):
        random_effects([0.1] * 4, [0.1] * 4)
    with pytest.raises(ValueError, match="above 0"):
        random_effects([1.0] * 5, [0.0] * 5)
    with pytest.raises(ValueError, match="one variance"):
        random_effects([1.0] * 5, [0.1] * 4)


def test_null_variance() -> None:
    """Two methods: D is -1 or 1. Five: enumerated in test_joint."""
    assert tau_null_variance(2) == 1
    assert tau_null_variance(5) == pytest.approx(1 / 6)
    assert math.isnan(tau_null_variance(1))
