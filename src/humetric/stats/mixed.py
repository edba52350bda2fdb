"""Linear mixed effects: fixed effects beside groups whose level is random."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

OPTIMISERS = ("bfgs", "powell")
BOUNDARY = 1e-4
"""Variances below this share of the residual one may be an optimiser's dead end."""


class MixedFit(NamedTuple):
    """Fixed effects with Wald intervals, and the random effects' spread."""

    beta: NDArray[np.float64]
    se: NDArray[np.float64]
    p: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    group_variance: float
    """Of the random intercept."""
    residual_variance: float
    note: str
    """What the fit had to do without; empty if nothing."""

    @property
    def ratio(self) -> float:
        """Group variance over residual variance."""
        if not self.residual_variance > 0:
            return 0.0
        return self.group_variance / self.residual_variance


def mixed(
    y: NDArray[np.float64],
    x: NDArray[np.float64],
    groups: NDArray[np.object_],
    slopes: NDArray[np.float64] | None = None,
    level: float = 0.95,
) -> MixedFit:
    """y = x beta + intercept of the group (+ slopes times the group's own slopes) + residual.

    Fitted by restricted maximum likelihood (statsmodels MixedLM); intervals beta +- z se, which are
    too short with few groups when x varies between groups. With one group, or where the fit fails
    (a variance of zero makes it singular), random slopes go first, then the random intercept
    (ordinary least squares); ``note`` says so. Undefined (NaN) where x has not full rank or y does
    not vary.
    """
    n, k = x.shape
    if n <= k or np.linalg.matrix_rank(x) < k or np.ptp(y) == 0:
        nan = np.full(k, np.nan)
        beta = np.full(k, np.nan)
        if n and np.linalg.matrix_rank(x) == k:
            beta = np.linalg.lstsq(x, y, rcond=None)[0]
        why = "no variance in the values" if n and np.ptp(y) == 0 else "too few rows for the terms"
        return MixedFit(beta, nan, nan, nan, nan, math.nan, math.nan, why)
    note = ""
    if len(set(groups)) > 1:
        if slopes is not None:
            found = _fit(y, x, groups, np.column_stack([np.ones(n), slopes]), level)
            if found is not None:
                return found
            note = "random slopes left out: the fit with them failed; "
        found = _fit(y, x, groups, np.ones((n, 1)), level)
        if found is not None:
            return found._replace(note=note.removesuffix("; "))
    note += "random intercept left out: its variance is zero or there is one group"
    return _least_squares(y, x, level)._replace(note=note)


def treatment_means(
    counts: NDArray[np.float64], sums: NDArray[np.float64], ratio: float
) -> NDArray[np.float64]:
    """Means of treatments in a model with random group intercepts, for a known variance ratio.

    ``counts`` and ``sums`` of the values have shape (..., groups, treatments); generalised least
    squares with V = I + ratio 11' within groups, in closed form, so that a bootstrap of thousands
    of draws costs little. A draw in which a treatment has no value is NaN.
    """
    of_group = counts.sum(-1)
    shrink = ratio / (1 + ratio * of_group)
    left = -np.einsum("...g,...gi,...gj->...ij", shrink, counts, counts)
    per_treatment = counts.sum(-2)
    k = counts.shape[-1]
    left[..., np.arange(k), np.arange(k)] += per_treatment
    right = (sums - (shrink * sums.sum(-1))[..., None] * counts).sum(-2)
    empty = (per_treatment == 0).any(-1)
    left[empty] = np.eye(k)
    out: NDArray[np.float64] = np.linalg.solve(left, right[..., None])[..., 0]
    out[empty] = np.nan
    return out


class PooledMeans(NamedTuple):
    """The overall mean with its interval, and each group's mean drawn towards it."""

    mean: float
    low: float
    high: float
    of_group: dict[str, float]
    note: str


def pooled_means(
    y: NDArray[np.float64],
    groups: NDArray[np.object_],
    units: NDArray[np.object_],
    level: float = 0.95,
) -> PooledMeans:
    """Group means that share information: y = mean + group + unit within group + residual.

    Groups (conditions) and units (people) are random; a group's mean is the overall mean plus the
    prediction of its effect, which lies between its own mean and the overall one, the nearer to
    the latter the fewer its data. With no variance between groups all are the overall mean.
    """
    frame = pd.DataFrame({"y": y, "group": groups.astype(str), "unit": units.astype(str)})
    names = sorted(frame["group"].unique())
    mean = float(np.mean(y)) if len(y) else math.nan
    if len(y) < 3 or np.ptp(y) == 0 or len(names) < 2:
        own = frame.groupby("group")["y"].mean()
        why = "plain means: there is nothing to pool"
        return PooledMeans(mean, math.nan, math.nan, {n: float(own[n]) for n in names}, why)
    from statsmodels.regression.mixed_linear_model import MixedLM

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MixedLM.from_formula(
            "y ~ 1",
            frame,
            groups="group",
            re_formula="1",
            vc_formula={"unit": "0 + C(unit)"},
        )
        fit = _best(model)
        effects = {} if fit is None else fit.random_effects
    if fit is None:
        plain = _least_squares(y, np.ones((len(y), 1)), level)
        low, high = float(plain.low[0]), float(plain.high[0])
        why = "no variance between groups: all share the overall mean"
        return PooledMeans(mean, low, high, dict.fromkeys(names, mean), why)
    centre, se = float(fit.fe_params.iloc[0]), float(fit.bse_fe.iloc[0])
    of_group = {n: centre + float(effects[n].iloc[0]) for n in names}
    z = float(stats.norm.ppf((1 + level) / 2))
    return PooledMeans(centre, centre - z * se, centre + z * se, of_group, "")


def _fit(
    y: NDArray[np.float64],
    x: NDArray[np.float64],
    groups: NDArray[np.object_],
    random: NDArray[np.float64],
    level: float,
) -> MixedFit | None:
    """The fit, or None where statsmodels finds none with finite standard errors."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = _best(MixedLM(y, x, groups=groups.astype(str), exog_re=random))
    if fit is None:
        return None
    beta = np.asarray(fit.fe_params, dtype=float)
    se = np.asarray(fit.bse_fe, dtype=float)
    variance, residual = float(np.asarray(fit.cov_re)[0, 0]), float(fit.scale)
    z = float(stats.norm.ppf((1 + level) / 2))
    p = 2 * stats.norm.sf(np.abs(beta / se))
    return MixedFit(beta, se, p, beta - z * se, beta + z * se, variance, residual, "")


def _best(model: Any) -> Any:
    """The fit of highest restricted likelihood over some optimisers; None without a usable one.

    An optimiser may end at a variance of zero, call it converged, and be wrong; so the next one is
    asked whenever that happens.
    """
    best = None
    for method in OPTIMISERS:
        try:
            fit = model.fit(reml=True, method=[method])
            beta = np.asarray(fit.fe_params, dtype=float)
            se = np.asarray(fit.bse_fe, dtype=float)
            likelihood = float(fit.llf)
        except (np.linalg.LinAlgError, ValueError):
            continue
        usable = np.isfinite(beta).all() and np.isfinite(se).all() and (se > 0).all()
        if usable and math.isfinite(likelihood) and (best is None or likelihood > best[0]):
            best = (likelihood, fit)
            variances = [*np.diag(np.asarray(fit.cov_re)), *np.asarray(fit.vcomp)]
            if fit.converged and min(variances) > BOUNDARY * float(fit.scale):
                break
    return None if best is None else best[1]


def _least_squares(y: NDArray[np.float64], x: NDArray[np.float64], level: float) -> MixedFit:
    """Without random effects."""
    n, k = x.shape
    beta: NDArray[np.float64] = np.linalg.lstsq(x, y, rcond=None)[0].astype(np.float64)
    residual = float(((y - x @ beta) ** 2).sum() / (n - k))
    se = np.sqrt(residual * np.diag(np.linalg.inv(x.T @ x)))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stats.t.sf(np.abs(beta / se), n - k)
    t = float(stats.t.ppf((1 + level) / 2, n - k))
    return MixedFit(beta, se, p, beta - t * se, beta + t * se, 0.0, residual, "")
