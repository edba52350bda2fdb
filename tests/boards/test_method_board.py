"""The board shows means, intervals and places, marks controls and counts what is undefined."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from board_results import SETTING, Rows, drawn, result_of
from rich.console import Console

from humetric import METHODS, METRICS, load_setting, run_settings
from humetric.boards.method_board import MethodBoard, legend, method_boards
from humetric.boards.render import cell_text, number
from humetric.results.result import Failure

NAN = float("nan")
DASH = "\N{EN DASH}"

ROWS: Rows = [
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


def board(rows: Rows, failures: tuple[Failure, ...] = ()) -> MethodBoard:
    (found,) = method_boards(result_of(rows, failures))
    return found


def texts(found: MethodBoard) -> dict[str, list[str]]:
    return {row.method: [cell_text(cell) for cell in row.cells] for row in found.rows}


def printed(found: MethodBoard, width: int) -> list[str]:
    text = io.StringIO()
    Console(file=text, width=width).print(found.table(width))
    return text.getvalue().splitlines()


def test_means_undefined_missing_and_controls() -> None:
    found = board(ROWS)
    assert found.cases == 2
    assert [column.metric for column in found.columns] == ["deletion", "mu-fidelity"]
    assert texts(found) == {
        "random": [f"0.150 [0.100, 0.200] 1{DASH}3 a", "— (2?)"],
        "saliency": [f"0.400 [0.300, 0.500] 1{DASH}3 a", "0.250 1 a (1?)"],
        "lime": [f"0.650 [0.600, 0.700] 1{DASH}3 a", "missing"],
    }
    assert [row.method for row in found.rows] == ["random", "saliency", "lime"]
    assert [row.control for row in found.rows] == [True, False, False]


def test_a_mean_over_some_cases_is_not_shown_as_one_over_all() -> None:
    found = board([row for row in ROWS if row[:2] != ("c2", "lime")])
    assert texts(found)["lime"] == ["missing", "missing"]


def test_what_failed_says_so() -> None:
    failures = (
        Failure(SETTING, "rise", "", "no good"),
        Failure(SETTING, "lime", "mu-fidelity", "no good either"),
        Failure("image/other/b", "saliency", "", "elsewhere"),
    )
    found = texts(board(ROWS, failures))
    assert found["rise"] == ["failed", "failed"]
    assert found["lime"][1] == "failed"
    assert "failed" not in "".join(found["saliency"])


def test_places_follow_the_direction_of_the_metric() -> None:
    means = {"lime": 0.2, "saliency": 0.4, "edge": 0.6, "rise": 0.401}
    lower = texts(board(drawn(means)))
    higher = texts(board(drawn(means, metric="mu-fidelity")))
    assert lower["lime"][0].endswith(" 1 a")
    assert lower["edge"][0].endswith(" 4 c")  # a control, ranked with the rest
    assert lower["saliency"][0].endswith(f" 2{DASH}3 b")
    assert higher["lime"][0].endswith(" 4 c")
    assert higher["edge"][0].endswith(" 1 a")


def test_the_order_of_rows_does_not_matter() -> None:
    result = result_of(drawn({"lime": 0.2, "saliency": 0.21, "edge": 0.6}))
    shuffled = replace(result, scores=result.scores.sample(frac=1, random_state=3))
    assert method_boards(result) == method_boards(shuffled)


def test_an_interval_does_not_depend_on_the_other_methods_or_settings() -> None:
    rows = drawn({"lime": 0.2, "saliency": 0.21, "edge": 0.6})
    (whole,) = method_boards(result_of(rows))
    (alone,) = method_boards(result_of([row for row in rows if row[1] == "saliency"]))
    (cell,) = next(row.cells for row in whole.rows if row.method == "saliency")
    (same,) = alone.rows[0].cells
    assert (cell.mean, cell.low, cell.high) == (same.mean, same.low, same.high)
    (elsewhere,) = method_boards(result_of(rows, setting="image/other/b"))
    assert elsewhere.rows[0].cells[0].low != whole.rows[0].cells[0].low


def test_another_version_is_shown_as_superseded() -> None:
    result = result_of(ROWS)
    old = replace(result.metrics["deletion"], version=result.metrics["deletion"].version + 1)
    (found,) = method_boards(replace(result, metrics={**result.metrics, "deletion": old}))
    assert [column.superseded for column in found.columns] == [True, False]
    assert f"| deletion ↓, v{old.version} superseded | mu-fidelity ↑ |" in found.markdown()
    assert any(f"v{old.version} superseded" in line for line in printed(found, 100))


def test_a_metric_that_is_not_registered_stays_readable() -> None:
    result = result_of(ROWS, metrics=("deletion",))
    card = replace(result.metrics["deletion"], id="gone")
    scores = result.scores.replace({"metric": {"deletion": "gone"}})
    (found,) = method_boards(replace(result, metrics={"gone": card}, scores=scores))
    assert found.columns[0].metric == "gone"
    assert not found.columns[0].superseded


def test_markdown_is_a_table() -> None:
    lines = board(ROWS).markdown().splitlines()
    assert lines[0] == "### image/a/b (2 cases)"
    assert lines[2] == "| method | deletion ↓ | mu-fidelity ↑ |"
    assert lines[4].startswith("| random (control) | 0.150 [")
    assert {line.count("|") for line in lines[2:]} == {4}


@pytest.mark.parametrize("width", [60, 100, 240])
def test_a_terminal_table_fits_and_wraps_nothing(width: int) -> None:
    metrics = ("deletion", "insertion", "mu-fidelity", "complexity", "sparseness")
    rows = [row for m in metrics for row in drawn(dict.fromkeys(METHODS, 0.5), metric=m)]
    (found,) = method_boards(result_of(rows, metrics=metrics))
    lines = printed(found, width)
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)
    tables = sum("image/a/b (24 cases)" in line for line in lines)
    assert tables == (3 if width == 60 else 1)
    assert sum("integrated-gradients" in line for line in lines) == tables
    assert any("[" in line for line in lines) == (width == 240)


def test_no_minus_zero() -> None:
    assert number(-0.0002) == "0.000"


def test_the_legend_names_the_settings() -> None:
    text = legend(result_of(ROWS))
    for said in (
        "mean over cases", "95% percentile bootstrap over cases, B = 9,999", "sign-flip", "Holm",
        "seed: 0", "fp32", "device: cpu", "hand v3", "image/a/b (data 7)", "revision abc123",
    ):  # fmt: skip
        assert said in text
    assert "12.5" not in text
    assert "GiB" not in text


def test_the_legend_needs_no_provenance() -> None:
    assert "unknown" in legend(replace(result_of(ROWS), provenance={}))


def test_a_real_run() -> None:
    names = ("saliency", "occlusion", "constant")
    result = run_settings(
        [load_setting("image/leaf/cnn", 6)],
        [METHODS.make(name) for name in names],
        [METRICS.make(name) for name in ("complexity", "mu-fidelity")],
    )
    (found,) = method_boards(result)
    assert {row.method for row in found.rows} == set(names)
    assert texts(found)["constant"][1] == "— (6?)"
    assert found.rows[-1].method == "constant"  # the most complex map there is


def test_a_terminal_is_spared_the_versions_of_many_settings() -> None:
    versions = {f"image/a/{i}": f"data {i}" for i in range(15)}
    many = result_of(ROWS, about={"seed": 0, "settings": versions})
    assert "image/a/7 (data 7)" in legend(many)
    short = legend(many, in_full=False)
    assert "data: 15 settings, whose versions are in methods.md" in short
    assert "data 7" not in short
    assert "data 7" in legend(result_of(ROWS), in_full=False), "a single one is short enough"
