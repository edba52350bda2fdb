"""Hase & Bansal (2020): does accuracy change once people have seen explanations?

Every user predicts the model's output for the same items before (``pre``) and after (``post``)
explanations. Ratings may stand in ``learn`` trials (forward test) or ``post`` trials.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from humetric.human.analysis import Estimate, Findings, Statistic
from humetric.human.exclusions import Screened
from humetric.human.protocols.protocol import (
    LEVEL,
    Randomness,
    numbers,
    protocol,
    texts,
    two_way_estimate,
)
from humetric.stats.logistic import logistic_change
from humetric.stats.mixed import pooled_means

UNIT = ["participant", "cell", "condition", "test", "item"]


@protocol(
    "hase2020",
    summary="change in accuracy from before to after explanations, within users and items",
    reference="Hase and Bansal, ACL 2020",
    primary="accuracy-change",
    required=("phase", "correct"),
    phases=("pre", "post", "learn"),
)
def analyse(screened: Screened, randomness: Randomness) -> Findings:
    """Change per method, accuracy before, and whether ratings predict success.

    - ``accuracy-change`` (percentage points): mean of post - pre correctness over the items that a
      user answered in both phases. Interval: value +- half the width between the 2.5% and 97.5%
      quantiles of a block bootstrap over users and items within the condition; p from its centred
      draws. With kinds of test given, ``accuracy-change-by-test`` regroups the same responses.
    - ``pre-accuracy`` (%), condition ``none``: overall mean of a model with random conditions and
      random users within them; the statistics hold each method's mean drawn towards it.
    - ``rating``: mean per method, the same bootstrap; by correctness of the model where known.
    - Ratings against correctness in the post phase (of the counterfactual test, where tests are
      named): logistic regression, change in the chance of a correct answer from a rating of 4 to
      5, and from a user's mean to one standard deviation above it.

    Coverage of a nominal 95% over 400 sets of simulated users at the study's size (6 users, 32
    items per method): change .996, since the bootstrap counts the noise of responses three times
    (p <= .05 in .005 of true nulls); rating slope .965; accuracy before .88 (83 sets), since it
    takes the items as they are.
    """
    pairs, notes = paired(screened.kept)
    estimates: list[Estimate] = []
    statistics: list[Statistic] = []
    for suffix, grouping in (("", "cell"), ("-by-test", "test")):
        if grouping == "test" and not (pairs["test"] != "").any():
            continue
        regrouped = pairs.assign(cell=pairs[grouping])
        found, tests = _changes(regrouped, f"accuracy-change{suffix}", randomness)
        estimates += found
        statistics += tests
        before, tests = _before(regrouped, f"pre-accuracy{suffix}")
        estimates += before
        statistics += tests
    for (cell, condition), rows in screened.kept.groupby(["cell", "condition"]):
        if not ((pairs["cell"] == cell) & (pairs["condition"] == condition)).any():
            notes.append(
                f"{cell}, {condition}: no item was answered in both phases, so there is no change."
            )
            estimates.append(
                Estimate(
                    str(cell),
                    str(condition),
                    "accuracy-change",
                    np.nan,
                    unit="percentage points",
                    note="no item answered in both phases",
                )
            )
        rated = rows[rows["rating"].notna()]
        if len(rated):
            mean, _ = two_way_estimate(rated, rated["rating"], "rating", randomness, unit="scale")
            estimates.append(mean)
    for cell, rows in screened.kept.groupby("cell"):
        statistics += _ratings(str(cell), rows, randomness)
    return Findings(tuple(estimates), tuple(statistics), tuple(notes))


def paired(kept: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """One row per user and item answered in both phases: columns pre, post, change."""
    answered = kept[kept["phase"].isin(["pre", "post"]) & kept["correct"].notna()]
    wide = answered.pivot_table(index=UNIT, columns="phase", values="correct", aggfunc="mean")
    wide = wide.reindex(columns=["pre", "post"])
    both = wide.dropna().reset_index()
    both["change"] = both["post"] - both["pre"]
    lone = len(wide) - len(both)
    said = f"{lone} items of a user were answered in one phase only and do not enter the change."
    return both, [said] if lone else []


def _changes(
    pairs: pd.DataFrame, measure: str, randomness: Randomness
) -> tuple[list[Estimate], list[Statistic]]:
    estimates, statistics = [], []
    for _, rows in pairs.groupby(["cell", "condition"]):
        found, p = two_way_estimate(
            rows, rows["change"], measure, randomness, 100.0, "percentage points"
        )
        estimates.append(found)
        statistics.append(
            Statistic(
                found.cell,
                found.condition,
                measure,
                "change",
                "block bootstrap",
                found.value,
                found.low,
                found.high,
                p,
                found.n,
                found.note,
            )
        )
    return estimates, statistics


def _before(pairs: pd.DataFrame, measure: str) -> tuple[list[Estimate], list[Statistic]]:
    """Accuracy before explanations, shared over conditions."""
    estimates, statistics = [], []
    for cell, rows in pairs.groupby("cell"):
        found = pooled_means(
            100 * numbers(rows["pre"]), texts(rows["condition"]), texts(rows["participant"]), LEVEL
        )
        people = rows["participant"].nunique()
        estimates.append(
            Estimate(
                str(cell),
                "none",
                measure,
                found.mean,
                found.low,
                found.high,
                (found.high - found.low) / (2 * 1.959964),
                len(rows),
                people,
                "%",
                note=found.note or "average over users of all methods",
            )
        )
        for condition, mean in found.of_group.items():
            n = int((rows["condition"] == condition).sum())
            statistics.append(
                Statistic(str(cell), condition, measure, "before", "random-effects mean", mean, n=n)
            )
    return estimates, statistics


def _ratings(cell: str, rows: pd.DataFrame, randomness: Randomness) -> list[Statistic]:
    """Ratings against correctness, and by correctness of the model."""
    rated = rows[rows["rating"].notna()]
    if rated.empty:
        return []
    found = []
    post = rated[(rated["phase"] == "post") & rated["correct"].notna()]
    if (post["test"] == "counterfactual").any():
        post = post[post["test"] == "counterfactual"]
    by_user = post.groupby("participant")["rating"]
    scaled = (post["rating"] - by_user.transform("mean")) / by_user.transform("std").replace(
        0, np.nan
    )
    terms = (
        ("rating 4 to 5", post["rating"], 4.0, 5.0),
        ("mean to +1 sd, normalised within users", scaled, 0.0, 1.0),
    )
    for term, x, start, stop in terms:
        change = logistic_change(
            numbers(post["correct"]), numbers(x), texts(post["participant"]), start, stop, LEVEL
        )
        values = (100 * change.change, 100 * change.low, 100 * change.high)
        name = "change in probability of a correct answer"
        found.append(
            Statistic(cell, "", "rating", term, name, *values, change.p, change.n, change.note)
        )
    for value, term in ((1.0, "model correct"), (0.0, "model incorrect")):
        some = rated[rated["model_correct"] == value]
        if len(some):
            mean, _ = two_way_estimate(some, some["rating"], "rating", randomness)
            found.append(
                Statistic(
                    cell, "", "rating", term, "mean", mean.value, mean.low, mean.high, n=mean.n
                )
            )
    return found
