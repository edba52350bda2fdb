"""Two runs side by side: what moved between them, and whether it matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humetric.boards.differences import only_in, version_differences
from humetric.boards.ranking import ALPHA, ROUNDING, flips_for, order_of
from humetric.results.result import Result
from humetric.seeding import generator
from humetric.stats.bootstrap import mean_interval
from humetric.stats.holm import holm
from humetric.stats.paired import sign_flip

Status = Literal["unchanged", "rounding", "moved"]
KEYS = ["setting", "case", "method", "metric"]
GROUP = ["setting", "metric", "method"]


@dataclass(frozen=True)
class Change:
    """What became of a metric of a method on a setting, over the cases of both runs."""

    setting: str
    method: str
    metric: str
    status: Status
    """``rounding``: no case moved by as much as 1e-6; ``moved``: one did, or became (un)defined."""
    cases: int
    redefined: int
    """Cases that are undefined in one of the runs only."""
    largest: float
    """Largest difference of a case."""
    difference: float
    """Mean of second minus first, over the cases that are defined in both."""
    low: float
    high: float
    p: float
    """Sign flips, Holm-corrected over everything that moved; NaN for what did not."""
    significant: bool
    reordered: bool
    """Other methods are above or below it than were: by more than rounding, by the mean."""

    @property
    def matters(self) -> bool:
        """Significant, or the order of methods changed."""
        return self.significant or self.reordered


@dataclass(frozen=True)
class Comparison:
    """All changes, what only one of the runs has, and which versions differ."""

    changes: tuple[Change, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    versions: tuple[str, ...]

    def of(self, status: Status) -> list[Change]:
        """The changes of a kind; those that matter first, then the largest."""
        found = [change for change in self.changes if change.status == status]
        return sorted(found, key=lambda c: (not c.matters, -np.nan_to_num(abs(c.difference))))


class Joined(NamedTuple):
    """Values of the same cases in two runs."""

    key: tuple[str, str, str]
    """(setting, metric, method)."""
    first: NDArray[np.float64]
    second: NDArray[np.float64]

    @property
    def difference(self) -> NDArray[np.float64]:
        """Second minus first; NaN where either is undefined."""
        return self.second - self.first

    @property
    def redefined(self) -> int:
        """Cases that are undefined in one of the runs only."""
        return int((np.isnan(self.first) != np.isnan(self.second)).sum())

    @property
    def largest(self) -> float:
        """Largest difference of a case; 0 if none is defined in both."""
        return float(np.nan_to_num(np.abs(self.difference)).max(initial=0.0))

    @property
    def status(self) -> Status:
        """Whether it moved, and by more than rounding."""
        if self.redefined or self.largest >= ROUNDING:
            return "moved"
        return "rounding" if self.largest else "unchanged"


def compare(first: Result, second: Result) -> Comparison:
    """Join two runs on (setting, case, method, metric) and test what moved."""
    joined = _join(first, second)
    moved = [pair for pair in joined if pair.status == "moved"]
    seed = int(first.provenance.get("seed", 0))
    p = dict(zip([pair.key for pair in moved], _tests(moved, seed), strict=True))
    places = _reordered(joined)
    changes = [_change(pair, p.get(pair.key, np.nan), pair.key in places, seed) for pair in joined]
    return Comparison(
        tuple(changes),
        only_in(first, second),
        only_in(second, first),
        version_differences(first, second),
    )


def _join(first: Result, second: Result) -> list[Joined]:
    both = first.scores.merge(second.scores, on=KEYS, suffixes=("_first", "_second"))
    both = both.sort_values([*GROUP, "case"])
    return [
        Joined(
            (str(key[0]), str(key[1]), str(key[2])),
            group["value_first"].to_numpy(np.float64),
            group["value_second"].to_numpy(np.float64),
        )
        for key, group in both.groupby(GROUP, sort=True)
    ]


def _tests(moved: list[Joined], seed: int) -> NDArray[np.float64]:
    """Adjusted p values. What did not move cannot be significant, so it is not in the family."""
    longest = max((len(pair.first) for pair in moved), default=0)
    padded = np.full((longest, len(moved)), np.nan)
    for i, pair in enumerate(moved):
        padded[: len(pair.first), i] = pair.difference
    padded[np.abs(padded) < ROUNDING] = 0.0
    draw = generator(seed, "", "sign flips of a comparison")
    return holm(sign_flip(padded, draw, flips_for(len(moved))).p)


def _reordered(joined: list[Joined]) -> set[tuple[str, str, str]]:
    """Moved methods that other methods lie above or below than did, on the cases of both runs."""
    frame = pd.DataFrame(
        [(*pair.key, _mean(pair.first), _mean(pair.second)) for pair in joined],
        columns=[*GROUP, "first", "second"],
    )
    found: set[tuple[str, str, str]] = set()
    moved = {pair.key for pair in joined if pair.status == "moved"}
    for (setting, metric), board in frame.groupby(["setting", "metric"]):
        swapped = order_of(board["first"].tolist()) != order_of(board["second"].tolist())
        touched = (swapped | swapped.T).any(0)
        names = board["method"].to_numpy()[touched]
        found |= {(str(setting), str(metric), str(name)) for name in names}
    return found & moved


def _change(pair: Joined, p: float, reordered: bool, seed: int) -> Change:
    setting, metric, method = pair.key
    draw = generator(seed, setting, f"bootstrap of the change of {metric} of {method}")
    mean, low, high, _ = mean_interval(pair.difference, draw)
    return Change(
        setting=setting,
        method=method,
        metric=metric,
        status=pair.status,
        cases=len(pair.first),
        redefined=pair.redefined,
        largest=pair.largest,
        difference=mean,
        low=low,
        high=high,
        p=float(p),
        significant=bool(p <= ALPHA),
        reordered=reordered,
    )


def _mean(values: NDArray[np.float64]) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


def as_data(change: Change) -> dict[str, Any]:
    """A change as plain data for JSON, None where undefined."""
    plain = vars(change) | {"matters": change.matters}
    return {k: None if isinstance(v, float) and np.isnan(v) else v for k, v in plain.items()}
