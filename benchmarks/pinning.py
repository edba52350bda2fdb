"""Pinned scores: how they are found, kept in files, and compared with what is found now.

There is one file per setting of the embedded suite. It holds the versions and parameters of all
that took part, and for every registered method and metric the values of all cases in their order:
null where a metric is undefined, and a sentence in place of values where the planner skips a pair.
Simulated users, whose values are of settings, have files of their own: a setting of each task, a
few methods, and the values of all replicates.
"""

from __future__ import annotations

import json
import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import humetric
from humetric.suites import Suite

FOLDER = Path(__file__).parent / "pins"
ACCEPT = "accept it with: pytest benchmarks --update"
LINES = 20
"""Differences that are shown; the rest is counted."""


class Tolerance(NamedTuple):
    """How far scores may be from their pins, times the pin where that is above 1."""

    most: float
    """For most cases of a method and metric: the median of their distances."""
    single: float
    """For a single case."""


TOLERANCES = {"complexity": Tolerance(1e-4, 1e-4), "sparseness": Tolerance(1e-4, 1e-4)}
OTHERWISE = Tolerance(2e-4, 1e-2)
PEOPLE = Tolerance(1e-2, 0.5)
"""Rounding differs between processors and batch sizes. Numbers read off a map hardly notice. Those
that depend on the order of features jump in single cases, where two features of nearly the same
attribution change places. Found with batches of 1 and 7, one thread and two, and the instructions
of an older processor (ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41), on all cases: at most
5e-6 for map-only metrics; for the others 7e-5 for most cases and 4e-3 for a single one. What a
simulated person answers changes as a whole or not at all."""

SIMULATED = "simulated"
PANELS = (
    "image/leaf/cnn",
    "sentiment/reviews/bilstm",
    "nli/inference/bow",
    "qa/adversarial/high",
    "tabular/census/mlp",
)
"""Settings whose simulated users are pinned."""
SHOWN = ("gradient-input", "omission", "random")
"""What they are shown."""

Pins = dict[str, Any]


def find(suite: Suite, name: str, cases: int) -> Pins:
    """Run every registered method and metric on a setting's first cases, as the suite would.

    Metrics that need weights which are not shipped are left out: they could not be run everywhere.
    """
    setting = humetric.load_setting(name, cases)
    every = [suite.metric(m) for m in humetric.METRICS]
    metrics = [m for m in every if m.card.scope == "case" and not m.card.weights]
    return _found(suite, setting, list(humetric.METHODS), metrics, setting.ids)


def find_simulated(suite: Suite, name: str) -> Pins:
    """Let every simulated user see what a few methods show of a setting's panel."""
    every = [suite.metric(m) for m in humetric.METRICS]
    users = [metric for metric in every if metric.card.scope != "case"]
    own = humetric.load_setting(name, 1)
    return _found(suite, own, SHOWN, users) | {"setting": f"{SIMULATED}/{name}"}


def _found(
    suite: Suite,
    setting: humetric.Setting,
    shown: Sequence[str],
    metrics: Sequence[humetric.Metric],
    cases: Sequence[str] = (),
) -> Pins:
    """Pins of methods and metrics; without ``cases``, of all replicates in their order."""
    methods = [suite.method(m) for m in shown]
    result = humetric.run_settings(
        [setting], methods, metrics, "cpu", seed=suite.seed, chunk=suite.chunk
    )
    values: dict[tuple[str, str], dict[str, float]] = {}
    for _, case, method, metric, value in result.scores.itertuples(index=False):
        values.setdefault((method, metric), {})[case] = value
    failed = {(f.method, f.metric): f.message for f in result.failures}
    skipped = {s.method: s.reason for s in result.skips}

    def entry(method: humetric.Method, metric: humetric.Metric) -> list[float | None] | str:
        pair = method.card.id, metric.card.id
        for key in ((pair[0], ""), pair):
            if key in failed:
                return f"failed: {failed[key]}"
        if pair[0] in skipped:
            return f"skipped: the method {skipped[pair[0]]}"
        if setting.task.id not in metric.card.tasks:
            fits = ", ".join(metric.card.tasks)
            return f"skipped: the metric is for {fits}, not for {setting.task.id}"
        return [rounded(values[pair][case]) for case in cases or values[pair]]

    return {
        "setting": setting.id,
        "version": setting.version,
        "seed": suite.seed,
        "cases": list(cases)
        or [str(i + 1) for i in range(max(map(len, values.values()), default=0))],
        "methods": {m.card.id: declared(m) for m in methods},
        "metrics": {m.card.id: declared(m) for m in metrics},
        "scores": {m.card.id: {n.card.id: entry(m, n) for n in metrics} for m in methods},
    }


def declared(what: humetric.Method | humetric.Metric) -> Pins:
    """What must be the same for two values to be comparable."""
    parameters = json.loads(json.dumps(dict(what.card.parameters)))  # as they are read back
    return {"version": what.card.version, "parameters": parameters}


def rounded(value: float) -> float | None:
    """Seven significant digits, far below any tolerance; None for an undefined value."""
    return None if math.isnan(value) else float(f"{value:.7g}")


def path_of(setting: str) -> Path:
    """Where a setting's pins lie."""
    return FOLDER / f"{setting.replace('/', '-')}.json"


def read(setting: str) -> Pins:
    """A setting's pins; without a file, pins of nothing."""
    path = path_of(setting)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write(pins: Pins) -> None:
    """Keep a setting's pins: names in order, the values of a pair on one line."""
    text = json.dumps(pins, indent=1, sort_keys=True, ensure_ascii=False)
    text = re.sub(r"\[[^\[\]{}]*\]", lambda m: json.dumps(json.loads(m[0])), text)
    FOLDER.mkdir(exist_ok=True)
    path_of(pins["setting"]).write_text(text + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Move:
    """A value that is not where it was pinned."""

    method: str
    metric: str
    case: str
    pinned: float | None
    found: float | None
    tolerance: float = OTHERWISE.single

    @property
    def difference(self) -> float:
        """How far it moved; infinitely far from or to undefined."""
        if self.pinned is None or self.found is None:
            return 0.0 if self.pinned is self.found else math.inf
        return self.found - self.pinned

    @property
    def allowed(self) -> float:
        """How far it may be."""
        return self.tolerance * max(1.0, abs(self.pinned or 0.0))

    @property
    def excess(self) -> float:
        """How many tolerances it moved."""
        return abs(self.difference) / self.allowed

    def __str__(self) -> str:
        pinned, found = (
            f"{'undefined' if v is None else f'{v:.6f}':>10}" for v in (self.pinned, self.found)
        )
        what = f"{self.method:20} {self.metric:12} {self.case:14}"
        return f"{what} {pinned} {found} {self.difference:>+10.6f} {self.allowed:>9.0e}"


HEAD = (
    f"{'method':20} {'metric':12} {'case':14} "
    f"{'pinned':>10} {'found':>10} {'difference':>10} {'tolerance':>9}"
)


def declarations(pinned: Pins, found: Pins) -> Iterator[str]:
    """Settings, methods and metrics that are new, gone, or declared otherwise than pinned."""
    if not pinned:
        yield f"setting {found['setting']}: has no pins"
        return
    for key in ("version", "seed"):
        if pinned[key] != found[key]:
            yield f"setting {found['setting']}: {key} {pinned[key]} pinned, {found[key]} found"
    kept = pinned["cases"][: len(found["cases"])]
    if kept != found["cases"]:
        yield f"setting {found['setting']}: cases {kept} pinned, {found['cases']} found"
    for kind in ("method", "metric"):
        was, now = pinned[f"{kind}s"], found[f"{kind}s"]
        for name in sorted(was.keys() | now.keys()):
            if name not in was:
                yield f"{kind} {name}: registered, but has no pins"
            elif name not in now:
                yield f"{kind} {name}: pinned, but no longer registered"
            else:
                for key in ("version", "parameters"):
                    old, new = was[name][key], now[name][key]
                    if old != new:
                        yield f"{kind} {name}: {key} {old} pinned, {new} found"


def entries(pinned: Pins, found: Pins) -> Iterator[tuple[str, str, Any, Any]]:
    """(method, metric, pinned, found) of the pairs that both know."""
    for method, row in pinned.get("scores", {}).items():
        for metric, was in row.items():
            now = found["scores"].get(method, {}).get(metric)
            if now is not None:
                yield method, metric, was, now


def failures(found: Pins) -> list[str]:
    """Pairs that did not finish: never pinned."""
    return [
        f"{metric} of {method}: {entry}"
        for method, row in found["scores"].items()
        for metric, entry in row.items()
        if isinstance(entry, str) and entry.startswith("failed")
    ]


def other_kind(pinned: Pins, found: Pins) -> list[str]:
    """Pairs that are skipped or fail and were not, the other way round, or for another reason."""
    return [
        f"{metric} of {method}: {_short(was)} pinned, {_short(now)} found"
        for method, metric, was, now in entries(pinned, found)
        if (isinstance(was, str) or isinstance(now, str)) and was != now
    ]


def moves(pinned: Pins, found: Pins) -> list[Move]:
    """Values beyond their tolerance, the worst first; only cases that were run are compared."""
    beyond = [
        move
        for method, metric, was, now in entries(pinned, found)
        if not isinstance(was, str) and not isinstance(now, str)
        for move in pair_moves(method, metric, zip(found["cases"], was, now, strict=False))
    ]
    return sorted(beyond, key=lambda move: -move.excess)


def pair_moves(
    method: str, metric: str, cases: Iterable[tuple[str, float | None, float | None]]
) -> list[Move]:
    """The moves of a method and metric; if most cases moved, that is no accident of rounding."""
    allowed = tolerance_of(metric)
    strict = [Move(method, metric, *case, allowed.most) for case in cases]
    if strict and statistics.median_low([move.excess for move in strict]) > 1:
        return [move for move in strict if move.excess > 1]
    loose = [replace(move, tolerance=allowed.single) for move in strict]
    return [move for move in loose if move.excess > 1]


def tolerance_of(metric: str) -> Tolerance:
    """How far values of a metric may move."""
    known = metric in set(humetric.METRICS)
    user = known and humetric.METRICS.make(metric).card.scope != "case"
    return TOLERANCES.get(metric, PEOPLE if user else OTHERWISE)


def compare(pinned: Pins, found: Pins) -> str:
    """What moved and what to do about it, for a person to read; empty if nothing did."""
    lines = differences(pinned, found)
    if not lines:
        return ""
    what = (
        "a definition changed on purpose, raise its version and"
        if HEAD in lines
        else "this is meant,"
    )
    return "\n".join([f"{found['setting']} is not as pinned.", *lines, f"If {what} {ACCEPT}"])


def differences(pinned: Pins, found: Pins) -> list[str]:
    """What moved, line by line: declarations, pairs that are skipped or fail, scores."""
    lines = _first([*declarations(pinned, found)])
    lines += _first(other_kind(pinned, found) or failures(found))
    moved = moves(pinned, found)
    if moved:
        lines += [
            f"Scores that moved: {len(moved)}",
            f"  by metric: {_counted(m.metric for m in moved)}",
            f"  by method: {_counted(m.method for m in moved)}",
            HEAD,
            *_first([str(m) for m in moved]),
        ]
    return lines


def _first(lines: list[str]) -> list[str]:
    """The first lines, and how many more there are."""
    more = [f"... and {len(lines) - LINES} more"] if len(lines) > LINES else []
    return lines[:LINES] + more


def _counted(names: Iterable[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in Counter(names).most_common())


def _short(entry: Any) -> str:
    return entry if isinstance(entry, str) else "values"
