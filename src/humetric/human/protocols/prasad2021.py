"""Prasad et al. (2021): importance alignment of models, against a random explanation."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from humetric.human.analysis import Estimate, Findings, Statistic
from humetric.human.exclusions import Screened
from humetric.human.protocols.protocol import LEVEL, Randomness, numbers, protocol, texts
from humetric.stats.mixed import MixedFit, mixed


@protocol(
    "prasad2021",
    summary="importance alignment above a random explanation, per model",
    reference="Prasad, Nie, Bansal, Jia, Kiela and Williams, BlackboxNLP 2021",
    primary="alignment",
    table="alignments",
)
def analyse(screened: Screened, randomness: Randomness) -> Findings:
    """Alignment per model and oracle, effects of size and type, correlation with accuracy.

    - ``alignment-{oracle}`` (correlation, -1 to 1): tanh of the mean over cases of c - c_random,
      the Fisher-transformed correlations with the right and with a random explanation (equation
      7). Interval: Student's t on the Fisher scale, transformed back; p of the paired t test,
      two-sided. Seeds of one case are averaged first: five seeds of a model are not five cases.
    - Mixed effects of c - c_random on size (large against base), type (against the first in the
      alphabet) and both, with random intercept and, if there are several types, random slope of
      size per case; and of models without sizes against the base model of that type, with a random
      intercept per case.
    - Pearson's r of alignment with accuracy over (model, seed, round). These points are not
      independent, and one odd model may carry all of it: r without each model is given too.

    A nominal 95% covered .959 (alignment) and .947 to .953 (coefficients) over 300 simulated sets.
    There is no randomness in it. The condition is the model: models are compared, not methods.
    """
    kept = screened.kept.assign(difference=screened.kept["c"] - screened.kept["c_random"])
    lost = int(kept["difference"].isna().sum())
    notes = [f"{lost} rows have no c or no c_random and are left out."] if lost else []
    kept = kept[kept["difference"].notna()]
    estimates: list[Estimate] = []
    statistics: list[Statistic] = []
    for (cell, oracle), rows in kept.groupby(["cell", "oracle"]):
        measure = "alignment" if oracle == "all" else f"alignment-{oracle}"
        keys = ["model", "type", "size", "case"]
        cases = rows.groupby(keys, as_index=False).agg(difference=("difference", "mean"))
        for model, some in cases.groupby("model"):
            n = int((rows["model"] == model).sum())
            found, test = alignment(str(cell), str(model), measure, numbers(some["difference"]), n)
            estimates.append(found)
            statistics.append(test)
        statistics += _size_and_type(str(cell), measure, cases)
        statistics += _without_size(str(cell), measure, cases)
        statistics += with_accuracy(str(cell), measure, rows)
    return Findings(tuple(estimates), tuple(statistics), tuple(notes))


def alignment(
    cell: str, model: str, measure: str, differences: NDArray[np.float64], n: int
) -> tuple[Estimate, Statistic]:
    """tanh of the mean difference with its interval, and the paired t test."""
    cases = len(differences)
    mean = float(differences.mean())
    estimate = Estimate(
        cell, model, measure, math.tanh(mean), n=n, participants=0, unit="correlation"
    )
    test = Statistic(cell, model, measure, "above the random explanation", "paired t test", n=cases)
    if cases < 2 or np.ptp(differences) == 0:
        why = "no interval: one case" if cases < 2 else "no interval: the cases do not vary"
        return estimate._replace(note=why), test._replace(note=why)
    se = float(differences.std(ddof=1)) / math.sqrt(cases)
    half = float(stats.t.ppf((1 + LEVEL) / 2, cases - 1)) * se
    low, high = math.tanh(mean - half), math.tanh(mean + half)
    p = float(2 * stats.t.sf(abs(mean) / se, cases - 1))
    # By the delta method, since tanh' = 1 - tanh^2.
    estimate = estimate._replace(low=low, high=high, se=se * (1 - math.tanh(mean) ** 2))
    return estimate, test._replace(value=mean / se, p=p)


def _rows(cell: str, measure: str, terms: list[str], fit: MixedFit, n: int) -> list[Statistic]:
    """Coefficients without the intercept."""
    return [
        Statistic(
            cell,
            "",
            measure,
            term,
            "mixed-effects coefficient",
            float(fit.beta[i]),
            float(fit.low[i]),
            float(fit.high[i]),
            float(fit.p[i]),
            n,
            fit.note,
        )
        for i, term in enumerate(terms, start=1)
    ]


def _size_and_type(cell: str, measure: str, cases: pd.DataFrame) -> list[Statistic]:
    """Size, type and their interaction, over models that have a size."""
    sized = cases[(cases["size"] != "") & (cases["type"] != "")]
    types = sorted(set(sized["type"]))
    if set(sized["size"]) != {"base", "large"}:
        return []
    large = numbers((sized["size"] == "large").astype(float))
    columns, terms = [np.ones(len(sized)), large], ["transformers: large vs base"]
    kinds = [numbers((sized["type"] == name).astype(float)) for name in types[1:]]
    columns += kinds + [kind * large for kind in kinds]
    terms += [f"transformers: {name} vs {types[0]}" for name in types[1:]]
    terms += [f"transformers: {name}:large" for name in types[1:]]
    x = np.column_stack(columns)
    y = numbers(sized["difference"])
    # With one family a case has one value of each size: its slope is part of the residual.
    slopes = large if len(types) > 1 else None
    fit = mixed(y, x, texts(sized["case"]), slopes=slopes, level=LEVEL)
    if slopes is None:
        why = "no random slope of size: one value per case and size"
        fit = fit._replace(note="; ".join(filter(None, (why, fit.note))))
    return _rows(cell, measure, terms, fit, len(y))


def _without_size(cell: str, measure: str, cases: pd.DataFrame) -> list[Statistic]:
    """Models without a size against the base model of the first type."""
    sizeless = sorted(set(cases.loc[cases["size"] == "", "model"]))
    base = cases[cases["size"] == "base"].sort_values(["type", "model"])
    if not sizeless or base.empty:
        return []
    reference = str(base["model"].iloc[0])
    some = cases[cases["model"].isin([reference, *sizeless])]
    x = np.column_stack(
        [np.ones(len(some)), *(numbers((some["model"] == name).astype(float)) for name in sizeless)]
    )
    y = numbers(some["difference"])
    fit = mixed(y, x, texts(some["case"]), level=LEVEL)
    terms = [f"smaller: {name} vs {reference}" for name in sizeless]
    return _rows(cell, measure, terms, fit, len(y))


def with_accuracy(
    cell: str, measure: str, rows: pd.DataFrame, what: str = "accuracy"
) -> list[Statistic]:
    """Pearson's r of alignment and accuracy over (model, seed, round), and without each model.

    ``rows`` have model, seed, round, accuracy and difference (c - c_random); ``what`` names the
    accuracy.
    """
    known = rows[rows["accuracy"].notna()]
    keys = ["model", "seed", "round"]
    points = known.groupby(keys, dropna=False, as_index=False).agg(
        difference=("difference", "mean"), accuracy=("accuracy", "first")
    )
    found = []
    for left_out in ["", *sorted(set(points["model"]))]:
        some = points[points["model"] != left_out]
        if len(some) < 3 or some["accuracy"].nunique() < 2:
            continue
        x, y = np.tanh(numbers(some["difference"])), numbers(some["accuracy"])
        if np.ptp(x) == 0:
            continue
        r, p = stats.pearsonr(x, y)
        term = what + (f" without {left_out}" if left_out else "")
        found.append(
            Statistic(cell, "", measure, term, "pearson", float(r), p=float(p), n=len(some))
        )
    return found
