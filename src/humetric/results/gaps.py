"""What a run set out to score and has not: it was interrupted, or its records were taken away."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from humetric.errors import HumetricError
from humetric.results.result import Result

AT_MOST = 6
"""Parts that a sentence names."""


class Gap(NamedTuple):
    """Cases that a metric of a method has no value of, undefined ones not counted."""

    setting: str
    method: str
    metric: str
    missing: int
    cases: int


def expected(result: Result) -> dict[str, tuple[list[str], list[str]]]:
    """Methods and metrics that a setting should have scores of, by setting.

    By what the runs planned; of results without a plan, by what there are scores of.
    """
    found: dict[str, tuple[list[str], list[str]]] = {}
    for setting, method, metric in _pairs(result):
        methods, metrics = found.setdefault(setting, ([], []))
        methods += [method] * (method not in methods)
        metrics += [metric] * (metric not in metrics)
    return found


def gaps(result: Result) -> list[Gap]:
    """What is missing, by setting, method and metric. What failed is not missing: it was tried.

    A result made by hand, without a count of cases, has no gaps.
    """
    cases: dict[str, int] = result.provenance.get("cases", {})
    keys = ["setting", "method", "metric"]
    there = result.scores.groupby(keys)["case"].nunique().to_dict()
    tried = {(f.setting, f.method, f.metric) for f in result.failures}
    found = []
    for key in dict.fromkeys(_pairs(result)):
        setting, method, _ = key
        count, has = cases.get(setting, 0), int(there.get(key, 0))
        if key[2] in result.metrics and result.metrics[key[2]].scope != "case":
            count, has = 1, min(has, 1)  # a simulated user's replicates are there, or none is
        if has < count and key not in tried and (setting, method, "") not in tried:
            found.append(Gap(*key, count - has, count))
    return found


def _pairs(result: Result) -> Iterator[tuple[str, str, str]]:
    planned = result.provenance.get("planned")
    if planned:
        for item in planned:
            for method in item["methods"]:
                yield from ((item["setting"], method, metric) for metric in item["metrics"])
        return
    skipped = {(s.setting, s.method) for s in result.skips}
    for setting in result.provenance.get("cases", {}):
        some = result.scores[result.scores["setting"] == setting]
        mapped = {method for where, method in result.calls if where == setting}
        methods = set(some["method"]) | mapped if len(some) else set(result.methods)
        metrics = set(some["metric"]) if len(some) else set(result.metrics)
        for method in sorted(methods):
            if (setting, method) not in skipped:
                yield from ((setting, method, metric) for metric in sorted(metrics))


def unfinished(result: Result, folder: object, published: bool = False) -> str:
    """What a run lacks and the command that finishes it, in sentences; empty if nothing."""
    found = gaps(result)
    if not found:
        return ""
    where = _named(dict.fromkeys(f"{g.setting} ({_cells(found, g.setting)})" for g in found))
    if published:
        return (
            f"What is published in {folder} is unfinished, and its boards say so. Missing, in "
            f"whole or in part: {where}. Run the rest, then: humetric publish RUN {folder}"
        )
    has = "has no scores at all" if result.scores.empty else "is unfinished"
    return (
        f"The run in {folder} {has}: it was interrupted, or records were deleted. Missing, in "
        f"whole or in part: {where}. Finish it with: {command(result, found, folder)}"
    )


def _cells(found: list[Gap], setting: str) -> str:
    """Of one setting: the methods, and how many of their metrics."""
    here = [g for g in found if g.setting == setting]
    methods = dict.fromkeys(g.method for g in here)
    metrics = len({g.metric for g in here})
    of = f"{metrics} {'metric' if metrics == 1 else 'metrics'}"
    return f"{of} of {_named(methods, 3)}"


def _named(names: Iterable[str], most: int = AT_MOST) -> str:
    listed = list(names)
    more = [f"{len(listed) - most} more"] if len(listed) > most else []
    return ", ".join([*listed[:most], *more])


def command(result: Result, found: list[Gap], folder: object) -> str:
    """The ``humetric run`` that computes what is missing, and little else."""
    from humetric.suites import load_suite

    about = result.provenance
    words = ["humetric", "run"]
    suite = None
    try:
        suite = load_suite(str(about.get("suite", "")))
        words += ["--suite", suite.id]
    except HumetricError:
        words += ["--suite", f"{about.get('suite', 'SUITE')}.toml"]
    known = {
        "setting": [] if suite is None else [s.id for s in suite.settings],
        "method": [] if suite is None else list(suite.methods),
        "metric": [] if suite is None else suite.current_metrics(),
    }
    whole = all(
        set(known[part]) <= set(getattr(result, f"{part}s", about.get(f"{part}s", {})))
        for part in known
    )
    for part, names in known.items():
        wanted = list(dict.fromkeys(str(getattr(gap, part)) for gap in found))
        if not (suite is not None and whole and set(wanted) <= set(names)):
            words += [word for name in wanted for word in (f"--{part}", name)]
    count = max(gap.cases for gap in found)
    if suite is None or count != suite.cases:
        words += ["--cases", str(count)]
    if about.get("precision", "fp32") != "fp32":
        words += ["--precision", str(about["precision"])]
    return shlex.join([*words, "--out", str(folder)])
