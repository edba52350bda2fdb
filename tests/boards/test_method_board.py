"""The board shows means, marks controls and counts what is undefined."""

from __future__ import annotations

import pandas as pd

from humetric import METHODS, METRICS
from humetric.boards.method_board import MethodBoard, method_boards
from humetric.results.result import COLUMNS, Failure, Result

NAN = float("nan")


def board(
    rows: list[tuple[str, str, str, float]], failures: tuple[Failure, ...] = ()
) -> MethodBoard:
    table = pd.DataFrame([("image/a/b", *row) for row in rows], columns=COLUMNS)
    result = Result(
        scores=table,
        curves={},
        failures=failures,
        skips=(),
        methods={name: METHODS.make(name).card for name in METHODS},
        metrics={name: METRICS.make(name).card for name in ("deletion", "mu-fidelity")},
        provenance={},
    )
    (found,) = method_boards(result)
    return found


ROWS = [
    ("c1", "random", "deletion", 0.1),
    ("c2", "random", "deletion", 0.2),
    ("c1", "lime", "deletion", 0.6),
    ("c2", "lime", "deletion", 0.7),
    ("c1", "saliency", "deletion", 0.3),
    ("c2", "saliency", "deletion", 0.5),
    ("c1", "saliency", "mu-fidelity", 0.25),
    ("c2", "saliency", "mu-fidelity", NAN),
    ("c1", "random", "mu-fidelity", NAN),
    ("c2", "random", "mu-fidelity", NAN),
]


def test_means_undefined_failed_and_controls() -> None:
    found = board(ROWS)
    assert found.cases == 2
    assert found.columns == ("deletion ↓", "mu-fidelity ↑")
    assert found.rows == (
        ("saliency", ("0.400", "0.250 (1?)")),
        ("lime", ("0.650", "failed")),
        ("random (control)", ("0.150", "— (2?)")),
    )


def test_markdown_is_a_table() -> None:
    lines = board(ROWS).markdown().splitlines()
    assert lines[2] == "| method | deletion ↓ | mu-fidelity ↑ |"
    assert {line.count("|") for line in lines[2:]} == {4}


def test_a_mean_over_some_cases_is_not_shown_as_one_over_all() -> None:
    found = board([row for row in ROWS if row[:2] != ("c2", "lime")])
    assert dict(found.rows)["lime"] == ("failed", "failed")


def test_a_method_that_failed_everywhere_is_on_the_board() -> None:
    found = board(ROWS, (Failure("image/a/b", "rise", "", "no good"),))
    assert dict(found.rows)["rise"] == ("failed", "failed")
