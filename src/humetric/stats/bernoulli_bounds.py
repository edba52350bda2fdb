"""Bounds for the chance of a hit, from hits among trials; they work on whole arrays at once.

Two kinds. Fixed: Clopper-Pearson holds for a number of trials that was set before. Anytime: the
other bounds hold at all numbers of trials at once, so one may look after every trial and stop when
the bounds please. The price is their width. A fixed bound that is looked at repeatedly until it
pleases holds nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]

HALVINGS = 44
"""Steps of a bisection: from a width of 1 to less than 1e-13."""


class Interval(NamedTuple):
    """Lower and upper ends."""

    low: Floats
    high: Floats


def divergence(p: ArrayLike, q: ArrayLike) -> Floats:
    """Kullback-Leibler divergence of two coins, p log(p/q) + (1-p) log((1-p)/(1-q)), in nats."""
    p, q = np.asarray(p, np.float64), np.asarray(q, np.float64)
    total: Floats = special.rel_entr(p, q) + special.rel_entr(1 - p, 1 - q)
    return total


def exploration_rate(trials: ArrayLike, alpha: ArrayLike) -> Floats:
    """beta(n, alpha) = log(2 sqrt(n) / alpha) (infinite for n = 0): the price of looking anytime.

    The chance that n divergence(hits / n, p) ever exceeds it, at any n, is at most alpha.
    Krichevsky and Trofimov's mixture of coins gives every sequence at least 1 / (2 sqrt(n)) of its
    greatest likelihood (Willems, Shtarkov & Tjalkens 1995); its ratio to the likelihood under p is
    a martingale from 1, which passes 1 / alpha with chance alpha at most (Ville).
    """
    n = np.asarray(trials, np.float64)
    rate: Floats = np.log(2 / np.asarray(alpha)) + 0.5 * np.log(np.maximum(n, 1))
    return np.where(n > 0, rate, np.inf)


def divergence_interval(hits: ArrayLike, trials: ArrayLike, rate: ArrayLike) -> Interval:
    """All q with trials * divergence(hits / trials, q) <= rate; [0, 1] without trials.

    With ``exploration_rate`` as the rate these are KL-LUCB's bounds (Kaufmann & Kalyanakrishnan
    2013), both ends at once. With a small constant rate they are a rule of thumb.
    """
    hits, trials, rate = np.broadcast_arrays(*_floats(hits, trials), np.asarray(rate, np.float64))
    mean = np.divide(hits, trials, out=np.full(hits.shape, 0.5), where=trials > 0)
    far = np.divide(rate, trials, out=np.full(hits.shape, np.inf), where=trials > 0)
    low = _last(lambda q: divergence(mean, q) > far, np.zeros_like(mean), mean)
    high = 1 - _last(lambda q: divergence(1 - mean, q) > far, np.zeros_like(mean), 1 - mean)
    return Interval(low, high)


def evidence(hits: ArrayLike, trials: ArrayLike, level: ArrayLike) -> Floats:
    """Log of an e-value against "the chance of a hit is at most ``level``"; 0 without trials.

    The likelihood averaged over chances above the level (Jeffreys's prior, cut off there) divided
    by that at the level. Under any chance up to the level it is a supermartingale, so whenever one
    looks: it ever reaches log(1/alpha) with chance alpha at most. Without a miss at level .95 and
    alpha .05 it takes 74 trials, a fixed exact bound 59, ``exploration_rate`` 119.
    """
    hits, trials = _floats(hits, trials)
    misses = trials - hits
    level = np.asarray(level, np.float64)
    with np.errstate(divide="ignore"):  # log 0 where the data lie far below the level
        above = special.betaln(hits + 0.5, misses + 0.5) + np.log(
            special.betainc(misses + 0.5, hits + 0.5, 1 - level)
        )
    prior = special.betaln(0.5, 0.5) + np.log(special.betainc(0.5, 0.5, 1 - level))
    at: Floats = special.xlogy(hits, level) + special.xlog1py(misses, -level)
    found: Floats = above - prior - at
    return found


def anytime_interval(hits: ArrayLike, trials: ArrayLike, alpha: ArrayLike) -> Interval:
    """Levels that ``evidence`` does not reject; each end misses, at any time, with chance alpha.

    Both hold together with chance 1 - 2 alpha at least.
    """
    hits, trials, alpha = np.broadcast_arrays(*_floats(hits, trials), np.asarray(alpha, np.float64))
    return Interval(
        _anytime_low(hits, trials, alpha), 1 - _anytime_low(trials - hits, trials, alpha)
    )


def clopper_pearson(hits: ArrayLike, trials: ArrayLike, confidence: float = 0.95) -> Interval:
    """The exact interval for a number of trials set before (two-sided, equal tails)."""
    hits, trials = _floats(hits, trials)
    tail = (1 - confidence) / 2
    with np.errstate(invalid="ignore"):  # no hits, or nothing but hits: replaced below
        low = special.betaincinv(hits, trials - hits + 1, tail)
        high = special.betaincinv(hits + 1, trials - hits, 1 - tail)
    return Interval(np.where(hits > 0, low, 0.0), np.where(hits < trials, high, 1.0))


def _anytime_low(hits: Floats, trials: Floats, alpha: Floats) -> Floats:
    mean = np.divide(hits, trials, out=np.zeros(hits.shape), where=trials > 0)
    limit = np.log(1 / alpha)
    # At 0 any hit is evidence without end, but logarithms are not; above the mean there is none.
    found = _last(
        lambda q: evidence(hits, trials, np.clip(q, 1e-300, 1 - 1e-16)) >= limit,
        np.zeros_like(mean),
        mean,
    )
    return np.where(hits > 0, found, 0.0)


def _last(rejected: Callable[[Floats], NDArray[np.bool_]], low: Floats, high: Floats) -> Floats:
    """Where, between low and high, rejection ends (it holds from below up to one point)."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        out = rejected(middle)
        low, high = np.where(out, middle, low), np.where(out, high, middle)
    return low


def _floats(hits: ArrayLike, trials: ArrayLike) -> tuple[Floats, Floats]:
    hits, trials = np.asarray(hits, np.float64), np.asarray(trials, np.float64)
    if np.any(hits < 0) or np.any(hits > trials):
        raise ValueError("Expected from 0 to as many hits as trials but got others: count again.")
    return hits, trials
