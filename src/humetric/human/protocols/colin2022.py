"""Colin, Fel, Cadene & Serre (2022): Utility, the accuracy with explanations over that without."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humetric.human.analysis import Estimate, Findings, Statistic
from humetric.human.exclusions import Exclusions, Screened
from humetric.human.protocols.protocol import (
    LEVEL,
    Randomness,
    people_estimate,
    per_person,
    protocol,
    why_no_interval,
)
from humetric.human.trials import NONE
from humetric.stats.block_bootstrap import (
    centred_p,
    cluster_draws,
    quantile_interval,
)
from humetric.stats.bootstrap import mean_interval


class Sessions(NamedTuple):
    """Right answers and answers of each participant in each session."""

    right: NDArray[np.float64]
    answers: NDArray[np.float64]

    @property
    def accuracy(self) -> float:
        """Mean over sessions of the session's accuracy; NaN if a session has no answer."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return float((self.right.sum(0) / self.answers.sum(0)).mean())

    def draws(self, randomness: Randomness) -> NDArray[np.float64]:
        """The same for participants drawn anew."""
        drawn = cluster_draws(self.right, self.answers, randomness.generator, randomness.resamples)
        out: NDArray[np.float64] = drawn.mean(1)
        return out


@protocol(
    "colin2022",
    summary="Utility: accuracy with explanations over accuracy without, mean of three sessions",
    reference="Colin, Fel, Cadene and Serre, NeurIPS 2022",
    primary="utility",
    required=("session", "correct"),
    phases=("test",),
    rules=Exclusions(practice_failures=1, quiz_failures=1, catch_failures=1, one_condition=True),
)
def analyse(screened: Screened, randomness: Randomness) -> Findings:
    """Accuracy per session and Utility, screened by practice, quiz and catch trials.

    - ``accuracy-1``, ``accuracy-2``, ... (%): right answers over answers in a session's test.
    - ``utility`` (ratio, 1 = explanations change nothing): mean over sessions of the accuracy
      with explanations, over the same of the condition ``none``. Interval: quantiles of the ratio
      with participants of both conditions drawn anew, each within its own; p against 1 from
      centred draws. All methods of a cell share one baseline, so their utilities err together: the
      interval has the noise of both, the standard error that of the method's people alone (the
      baseline held fixed), since noise ceilings take methods for independent.
    - ``total-time`` (s): mean over participants of the sum of response times in test trials.

    Items are taken as they are: the interval speaks of new people, not of new images. A nominal 95%
    of utility covered .943 over 400 sets of simulated participants, 40 per condition.
    """
    estimates: list[Estimate] = []
    statistics: list[Statistic] = []
    notes: list[str] = []
    for cell, rows in screened.kept.groupby("cell"):
        sessions = sorted(rows["session"].dropna().unique())
        tables = {
            str(condition): sessions_of(some, sessions)
            for condition, some in rows.groupby("condition")
        }
        for _, some in rows.groupby("condition"):
            for session in sessions:
                here = some[some["session"] == session]
                if len(here):
                    answered = here["correct"].notna().astype(float)
                    measure = f"accuracy-{session:g}"
                    estimates.append(
                        people_estimate(here, here["correct"], answered, measure, randomness)
                    )
            estimates += _time(some, randomness)
        if NONE not in tables:
            notes.append(f"{cell}: no condition {NONE!r}, so utility is undefined.")
            continue
        for condition in sorted(set(tables) - {NONE}):
            found, p = utility(str(cell), condition, tables[condition], tables[NONE], randomness)
            estimates.append(found)
            statistics.append(
                Statistic(
                    found.cell,
                    condition,
                    "utility",
                    "above none",
                    "bootstrap of participants",
                    found.value - 1,
                    found.low - 1,
                    found.high - 1,
                    p,
                    found.n,
                    found.note,
                )
            )
    return Findings(tuple(estimates), tuple(statistics), tuple(notes))


def sessions_of(rows: pd.DataFrame, sessions: list[float]) -> Sessions:
    """Count right answers and answers per participant and session."""
    return Sessions(*per_person(rows, "session", sessions, "correct"))


def utility(
    cell: str, condition: str, method: Sessions, baseline: Sessions, randomness: Randomness
) -> tuple[Estimate, float]:
    """Ratio of mean accuracies with its interval, and p against 1."""
    people = len(method.right)
    base = baseline.accuracy
    value = method.accuracy / base if base > 0 else math.nan
    estimate = Estimate(
        cell,
        condition,
        "utility",
        value,
        n=int(method.answers.sum()),
        participants=people,
        unit="ratio",
    )
    if math.isnan(value):
        why = "undefined: a session without answers, or nobody right without explanations"
        return estimate._replace(note=why), math.nan
    if people < 2 or len(baseline.right) < 2:
        return estimate._replace(note="no interval: one participant"), math.nan
    above, below = method.draws(randomness), baseline.draws(randomness)
    draws = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
    draws = draws[~np.isnan(draws)]
    if len(draws) == 0 or np.ptp(draws) < 1e-12:
        return estimate._replace(note=why_no_interval(people)), math.nan
    low, high = quantile_interval(draws, LEVEL)
    # What methods share does not change their order: the baseline is held fixed here.
    spread = float((above / base).std(ddof=1))
    return estimate._replace(low=low, high=high, se=spread), centred_p(draws, value, 1.0)


def _time(rows: pd.DataFrame, randomness: Randomness) -> list[Estimate]:
    """Total seconds per participant."""
    timed = rows[rows["response_time"].notna()]
    if timed.empty:
        return []
    total = timed.groupby("participant")["response_time"].sum().to_numpy(dtype=np.float64)
    found = mean_interval(total, randomness.generator, randomness.resamples, LEVEL)
    return [
        Estimate(
            str(rows["cell"].iloc[0]),
            str(rows["condition"].iloc[0]),
            "total-time",
            found.mean,
            found.low,
            found.high,
            float(total.std(ddof=1) / math.sqrt(len(total))) if len(total) > 1 else math.nan,
            len(timed),
            found.n,
            "s",
            "lower",
            "sum of response times in test trials" if found.n > 1 else why_no_interval(1),
        )
    ]
