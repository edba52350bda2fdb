"""Arora, Pruthi et al. (2022): people edit inputs to lower the model's confidence."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humetric.errors import HumetricError
from humetric.human.analysis import Estimate, Findings, Statistic
from humetric.human.exclusions import Screened
from humetric.human.protocols.protocol import (
    LEVEL,
    Randomness,
    numbers,
    people_estimate,
    per_person,
    protocol,
    texts,
)
from humetric.human.trials import NONE
from humetric.stats.block_bootstrap import centred_p, quantile_interval
from humetric.stats.mixed import mixed, treatment_means

AT_ONCE = 2_000
"""Bootstrap draws whose tables are held at a time."""


@protocol(
    "arora2022",
    summary="confidence reduced and predictions flipped by edits, against no explanation",
    reference="Arora, Pruthi, Sadeh, Cohen, Lipton and Neubig, AAAI 2022",
    primary="confidence-reduced-test",
    required=("phase",),
    phases=("train", "test"),
)
def analyse(screened: Screened, randomness: Randomness) -> Findings:
    """Means with bootstrap intervals, mixed effects against ``none``, and where the edits went.

    - ``simulation-accuracy`` (%) over both phases, since people guess before they see anything;
      ``flipped-train``, ``flipped-test`` (%) and ``confidence-reduced-train``, ``-test``
      (percentage points, confidence_before - confidence_after). Intervals: quantiles of a bootstrap
      of participants (the paper does not say what it draws; single responses would give intervals
      that are too short).
    - Mixed-effects coefficient of each condition against ``none``: y = b0 + b treatment + random
      intercept of the cohort, by restricted maximum likelihood. Given twice: with Wald's interval,
      which takes the responses of a participant for independent, and with a bootstrap of
      participants within conditions, the variance ratio held at its estimate.
    - ``highlighted-all-edit``, ``-deletion``, ``-substitution`` and ``highlighted-first-...`` (%):
      edits on the top 20% highlighted words; 20 is what chance gives.
      ``highlighted-reduction``: share of the confidence reduced that came from these edits. Not
      success, so without direction.

    Coverage of a nominal 95% over 400 sets of simulated participants at the study's size:
    coefficient .930 by bootstrap but .62 by Wald (.39 of true nulls rejected); means .83, since
    cohorts are taken as they are.
    """
    kept = screened.kept.copy()
    kept["reduced"] = kept["confidence_before"] - kept["confidence_after"]
    kept["answered"] = kept["correct"].notna().astype(float)
    if len(kept) and not kept[["correct", "reduced", "flipped"]].notna().any().any():
        raise HumetricError(
            "Expected 'correct', or 'confidence_before' and 'confidence_after', or 'flipped' for "
            "the protocol arora2022 but got none of them: add what was measured."
        )
    estimates: list[Estimate] = []
    statistics: list[Statistic] = []
    notes: list[str] = []
    for cell, rows in kept.groupby("cell"):
        if NONE not in set(rows["condition"]):
            notes.append(f"{cell}: no condition {NONE!r}, so there are no coefficients against it.")
        for measure, some, column, unit in _measures(rows):
            for _, group in some.groupby("condition"):
                one = group[column].notna().astype(float).where(group[column].notna())
                estimates.append(
                    people_estimate(group, group[column], one, measure, randomness, unit)
                )
            statistics += coefficients(str(cell), some, column, measure, randomness)
        for condition, group in rows.groupby("condition"):
            if condition != NONE:
                estimates += highlights(group, randomness)
    if not (kept["cohort"] != "").any() and len(kept):
        notes.append("No cohorts are named: the coefficients are without a random intercept.")
    return Findings(tuple(estimates), tuple(statistics), tuple(notes))


def _measures(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame, str, str]]:
    """Name, rows, column and unit of each measure that has values."""
    every = [("simulation-accuracy", rows, "correct", "%")]
    for phase in ("train", "test"):
        some = rows[rows["phase"] == phase]
        every.append((f"flipped-{phase}", some, "flipped", "%"))
        every.append((f"confidence-reduced-{phase}", some, "reduced", "percentage points"))
    known = [(name, some[some[c].notna()], c, unit) for name, some, c, unit in every]
    return [found for found in known if len(found[1])]


def coefficients(
    cell: str, rows: pd.DataFrame, column: str, measure: str, randomness: Randomness
) -> list[Statistic]:
    """Fixed effects of the conditions against ``none``, with both intervals."""
    names = sorted(set(rows["condition"]))
    if NONE not in names or len(names) < 2:
        return []
    names = [NONE, *(name for name in names if name != NONE)]
    y = 100 * numbers(rows[column])
    condition = texts(rows["condition"])
    x = np.column_stack(
        [np.ones(len(y)), *((condition == name).astype(float) for name in names[1:])]
    )
    fit = mixed(y, x, texts(rows["cohort"]), level=LEVEL)
    draws = _draws(rows, y, names, fit.ratio, randomness)
    found = []
    for i, name in enumerate(names[1:], start=1):
        beta = float(fit.beta[i])
        some = rows[rows["condition"].isin([NONE, name])]
        people = some.groupby("condition")["participant"].nunique()
        contrast = draws[:, i] - draws[:, 0]
        contrast = contrast[~np.isnan(contrast)]
        low, high, p, note = math.nan, math.nan, math.nan, fit.note
        if people.min() < 2:
            note = "no interval: one participant in a condition"
        elif len(contrast) and np.ptp(contrast) > 1e-9:
            low, high = quantile_interval(contrast, LEVEL)
            p = centred_p(contrast, beta)
        base = Statistic(
            cell, name, measure, "treatment against none", "mixed-effects coefficient", beta
        )
        found.append(base._replace(low=low, high=high, p=p, n=len(some), note=note))
        wald = (float(fit.low[i]), float(fit.high[i]), float(fit.p[i]))
        found.append(
            base._replace(
                statistic="mixed-effects coefficient, wald",
                low=wald[0],
                high=wald[1],
                p=wald[2],
                n=len(some),
                note=fit.note,
            )
        )
    return found


def _draws(
    rows: pd.DataFrame,
    y: NDArray[np.float64],
    names: list[str],
    ratio: float,
    randomness: Randomness,
) -> NDArray[np.float64]:
    """Means of conditions with participants drawn anew within each; (resamples, conditions)."""
    cohorts = sorted(set(rows["cohort"]))
    frame = rows.assign(y=y)
    tables = [
        per_person(frame[frame["condition"] == name], "cohort", cohorts, "y") for name in names
    ]
    out = []
    for start in range(0, randomness.resamples, AT_ONCE):
        size = min(AT_ONCE, randomness.resamples - start)
        counts = np.empty((size, len(cohorts), len(names)))
        sums = np.empty_like(counts)
        for i, (total, count) in enumerate(tables):
            people = len(count)
            weights = randomness.generator.multinomial(people, np.full(people, 1 / people), size)
            counts[..., i], sums[..., i] = weights @ count, weights @ total
        out.append(treatment_means(counts, sums, ratio if math.isfinite(ratio) else 0.0))
    return np.concatenate(out)


def highlights(rows: pd.DataFrame, randomness: Randomness) -> list[Estimate]:
    """Share of edits on the top 20% highlighted words, and of the reduction they brought."""
    found = []
    for kind in ("edit", "deletion", "substitution"):
        parts, wholes = rows[f"{kind}s_highlighted"], rows[f"{kind}s"]
        if parts.notna().any():
            measure = f"highlighted-all-{kind}"
            found.append(people_estimate(rows, parts, wholes, measure, randomness, "%", "none"))
        if kind != "edit" and rows[f"first_{kind}_highlighted"].notna().any():
            first = rows[f"first_{kind}_highlighted"]
            one = first.notna().astype(float).where(first.notna())
            measure = f"highlighted-first-{kind}"
            found.append(people_estimate(rows, first, one, measure, randomness, "%", "none"))
    part = rows["reduction_highlighted"]
    if (part.notna() & rows["reduced"].notna()).any():
        whole = rows["reduced"].where(part.notna())
        measure = "highlighted-reduction"
        found.append(people_estimate(rows, part, whole, measure, randomness, "%", "none"))
    return found
