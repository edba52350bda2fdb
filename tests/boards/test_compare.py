"""Comparing runs: what moved, whether it matters, and what cannot be compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from board_results import ABOUT, SETTING, drawn, result_of

from humetric.boards.compare import Change, as_data, compare
from humetric.results.result import Result

MEANS = {"lime": 0.2, "saliency": 0.4, "edge": 0.6}


def base() -> Result:
    return result_of(drawn(MEANS), metrics=("deletion",))


def moved(method: str, change: Callable[[int, float], float]) -> Result:
    """The base with the values of one method changed, case by case."""
    result = base()
    scores = result.scores.copy()
    rows = scores.index[scores["method"] == method]
    for i, row in enumerate(rows):
        scores.loc[row, "value"] = change(i, float(scores.loc[row, "value"]))
    return replace(result, scores=scores)


def change_of(second: Result, method: str) -> Change:
    return next(c for c in compare(base(), second).changes if c.method == method)


def test_a_run_and_itself() -> None:
    found = compare(base(), base())
    assert [change.status for change in found.changes] == ["unchanged"] * 3
    assert not any(change.matters for change in found.changes)
    assert (found.only_first, found.only_second, found.versions) == ((), (), ())


def test_rounding() -> None:
    change = change_of(moved("lime", lambda i, v: v + 9e-7), "lime")
    assert change.status == "rounding"
    assert not change.matters
    assert math.isnan(change.p)


def test_a_consistent_shift_is_significant_without_a_change_of_order() -> None:
    change = change_of(moved("lime", lambda i, v: v - 0.001), "lime")
    assert change.status == "moved"
    assert change.significant
    assert not change.reordered
    assert change.matters
    assert change.p == 1e-4
    assert change.low <= change.difference <= change.high
    assert abs(change.difference + 0.001) < 1e-12


def test_noise_does_not_matter() -> None:
    change = change_of(moved("lime", lambda i, v: v + (-1) ** i * 0.01), "lime")
    assert change.status == "moved"
    assert not change.matters


def test_a_change_of_order_matters_though_it_is_not_significant() -> None:
    second = moved("saliency", lambda i, v: v + (8.0 if i == 0 else 0.0))
    change = change_of(second, "saliency")
    assert not change.significant
    assert change.reordered
    assert change.matters
    assert not change_of(second, "edge").matters  # passed by another, but it did not move


def test_the_correction_is_over_what_moved() -> None:
    first = base()
    scores = first.scores.copy()
    scores["value"] += 0.001
    found = compare(first, replace(first, scores=scores))
    assert [round(change.p, 6) for change in found.changes] == [3e-4] * 3


def test_a_case_that_became_undefined_has_moved() -> None:
    change = change_of(moved("lime", lambda i, v: math.nan if i == 3 else v), "lime")
    assert change.status == "moved"
    assert change.redefined == 1
    assert change.p == 1.0
    assert as_data(change)["largest"] == 0.0


def test_undefined_in_both_is_unchanged() -> None:
    first = moved("lime", lambda i, v: math.nan)
    (change,) = [c for c in compare(first, first).changes if c.method == "lime"]
    assert change.status == "unchanged"
    assert as_data(change)["difference"] is None


def test_what_only_one_of_them_has() -> None:
    rows = drawn(MEANS | {"rise": 0.5}) + drawn({"lime": 0.1}, metric="mu-fidelity")
    second = result_of(rows)
    fewer = [row for row in drawn(MEANS) if row[0] != "c05" or row[1] == "none"]
    found = compare(result_of(fewer, metrics=("deletion",)), second)
    assert found.only_first == ()
    assert found.only_second == ("method rise", "metric mu-fidelity", f"1 case of {SETTING}")
    assert {change.cases for change in found.changes} == {23}


def test_a_part_that_is_missing_is_named() -> None:
    both = [*drawn(MEANS), *drawn(MEANS, metric="mu-fidelity")]
    less = [row for row in both if row[1:3] != ("edge", "mu-fidelity")]
    found = compare(result_of(both), result_of(less))
    assert found.only_first == (f"mu-fidelity of edge on {SETTING}",)


def test_nothing_in_common() -> None:
    found = compare(base(), result_of(drawn(MEANS), setting="image/x/y"))
    assert found.changes == ()
    assert found.only_first == (f"setting {SETTING}",)


def test_versions_that_differ_are_named() -> None:
    first = base()
    about = {
        **ABOUT,
        "seed": 1,
        "settings": {SETTING: "data 8"},
        "environment": {"humetric": "0.1.0", "revision": "def", "memory": "9 GiB available"},
    }
    card = replace(first.metrics["deletion"], version=9)
    second = replace(first, provenance=about, metrics={"deletion": card})
    version = first.metrics["deletion"].version
    assert compare(first, second).versions == (
        "seed: 0 -> 1",
        f"data and model of {SETTING}: data 7 -> data 8",
        "revision: abc123 -> def",
        f"metric deletion version: {version} -> 9",
    )
