"""The board of a task: settings weigh alike, and what ran on a part of them is not ranked."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from board_results import ABOUT, Rows, drawn, result_of
from rich.console import Console

from humetric.boards.files import FIELDS, TASK_FIELDS, board_files
from humetric.boards.method_board import Cell, legend
from humetric.boards.render import cell_text
from humetric.boards.task_board import TaskBoard, boards_of
from humetric.results.result import Failure, Result
from humetric.stats.bootstrap import mean_interval

NAN = float("nan")
DASH = "\N{EN DASH}"
METRICS = ("deletion", "mu-fidelity")


def over(failures: tuple[Failure, ...] = (), **settings: Rows) -> Result:
    """Results of settings, named ``task_data`` for ``task/data/m``, with cases of their own."""
    parts = [
        result_of([(f"{name}-{c}", *rest) for c, *rest in rows],  # type: ignore[misc]
                  setting=f"{name.replace('_', '/')}/m", metrics=METRICS).scores
        for name, rows in settings.items()
    ]  # fmt: skip
    whole = result_of([], failures, METRICS, about={**ABOUT, "settings": {}})
    return replace(whole, scores=pd.concat(parts, ignore_index=True))


def rows_of(values: dict[str, list[float]], metric: str = "deletion") -> Rows:
    return [(f"c{i}", m, metric, v) for m, some in values.items() for i, v in enumerate(some)]


def task(result: Result, name: str = "nli") -> TaskBoard:
    (found,) = (board for board in boards_of(result).tasks if board.task == name)
    return found


def cells(board: TaskBoard) -> dict[str, tuple[Cell, ...]]:
    return {row.method: row.cells for row in board.rows}


TWO = {
    "nli_a": rows_of({"lime": [0.0, 0.2], "random": [0.4, 0.6], "saliency": [0.1, 0.1]}),
    "nli_b": rows_of({"lime": [0.5, 0.5, 0.5, 0.5], "random": [0.9, 0.9, 0.9, NAN]}),
}


def test_a_mean_of_two_settings_made_by_hand() -> None:
    found = cells(task(over(**TWO)))
    (lime,), (chance,) = found["lime"], found["random"]
    assert lime.mean == pytest.approx((0.1 + 0.5) / 2), "not 2.2 / 6"
    assert (lime.low, lime.high) == pytest.approx((0.25, 0.35)), "only the first setting varies"
    assert (lime.n, lime.undefined, lime.settings, lime.of) == (6, 0, 2, 2)
    assert chance.mean == pytest.approx((0.5 + 0.9) / 2)
    assert (chance.n, chance.undefined) == (5, 1)
    assert cell_text(chance) == f"0.700 [0.650, 0.750] 1{DASH}2 a (1?)"


def test_a_method_on_a_part_of_the_settings_is_shown_and_not_ranked() -> None:
    board = task(over(**TWO))
    (part,) = cells(board)["saliency"]
    assert part.rank is None
    assert cell_text(part) == "0.100 [0.100, 0.100] 1 of 2"
    assert [row.method for row in board.rows] == ["lime", "random", "saliency"], "last, though best"
    without = {name: [r for r in rows if r[1] != "saliency"] for name, rows in TWO.items()}
    ranks = {m: c[0].rank for m, c in cells(task(over(**without))).items()}
    assert ranks == {m: c[0].rank for m, c in cells(board).items() if m != "saliency"}
    assert "it has no place and no letters" in legend(over(**TWO))


def test_undefined_on_a_whole_setting_is_not_ranked_either() -> None:
    some = {**TWO, "nli_c": rows_of({"lime": [0.3, 0.3], "random": [NAN, NAN]})}
    found = cells(task(over(**some)))
    assert cell_text(found["random"][0]).endswith(" 2 of 3 (3?)")
    assert found["random"][0].mean == pytest.approx(0.7)
    none = {name: rows_of({"constant": [NAN, NAN], "lime": [0.1, 0.2]}) for name in TWO}
    assert cell_text(cells(task(over(**none)))["constant"][0]) == "— (4?)"


def test_failed_and_missing_parts_say_so() -> None:
    failures = (Failure("nli/b/m", "saliency", "", "no good"),)
    assert cell_text(cells(task(over(failures, **TWO)))["saliency"][0]) == "failed"
    about = {"cases": {"nli/a/m": 3, "nli/b/m": 4}}
    result = over(**TWO)
    result = replace(result, provenance={**result.provenance, **about})
    board = task(result)
    assert {cell_text(c) for m, (c,) in cells(board).items()} == {"missing"}
    assert board.heading.startswith("nli: mean over 2 settings; INCOMPLETE: 3 of 5 cells")


def test_places_come_from_all_settings_together() -> None:
    """A difference that neither setting has cases enough for is found over both."""
    values = {"lime": [0.1, 0.11, 0.12, 0.13, 0.14], "random": [0.5, 0.5, 0.5, 0.5, 0.5]}
    result = over(nli_a=rows_of(values), nli_b=rows_of(values))
    made = boards_of(result)
    alone = {row.cells[0].rank.group for b in made.settings for row in b.rows if row.cells[0].rank}
    assert alone == {"a"}, "five cases never reach .05"
    ranks = {m: c.rank for m, (c,) in cells(task(result)).items()}
    assert [ranks[m] for m in ("lime", "random")] == [(1, 1, "a"), (2, 2, "b")]


def test_cases_that_settings_share_are_one_piece_of_evidence() -> None:
    rows = rows_of({"lime": [0.1, 0.11, 0.12, 0.13, 0.14], "random": [0.5] * 5})
    both = [result_of(rows, setting=f"qa/original/{m}").scores for m in ("high", "low")]
    board = task(replace(result_of([]), scores=pd.concat(both)), "qa")
    assert {c.rank.group for (c,) in cells(board).values() if c.rank} == {"a"}


def test_the_order_of_rows_does_not_matter() -> None:
    result = over(
        nli_a=drawn({"lime": 0.2, "saliency": 0.21, "edge": 0.6}),
        nli_b=drawn({"lime": 0.3, "saliency": 0.21, "edge": 0.6}, 16),
    )
    shuffled = replace(result, scores=result.scores.sample(frac=1, random_state=3))
    assert board_files(result) == board_files(shuffled)


def test_an_interval_does_not_depend_on_the_other_methods() -> None:
    rows = drawn({"lime": 0.2, "saliency": 0.21, "edge": 0.6})
    whole = cells(task(over(nli_a=rows, nli_b=rows)))["lime"][0]
    only = [row for row in rows if row[1] == "lime"]
    alone = cells(task(over(nli_a=only, nli_b=only)))["lime"][0]
    assert (whole.mean, whole.low, whole.high) == (alone.mean, alone.low, alone.high)
    one = mean_interval(np.array([v for *_, v in only]), np.random.default_rng(0))
    ratio = (whole.high - whole.low) / (one.high - one.low)
    assert ratio == pytest.approx(math.sqrt(0.5), abs=0.05), "other cases, so twice as many"


def test_a_metric_of_one_setting_only() -> None:
    result = over(nli_a=TWO["nli_a"] + rows_of({"lime": [0.5, 0.7]}, "mu-fidelity"),
                  nli_b=TWO["nli_b"] + rows_of({"edge": [0.5] * 4}))  # fmt: skip
    board = task(result)
    assert [c.on for c in board.columns] == ["", "1 of 2 settings"]
    assert "| mu-fidelity ↑, on 1 of 2 settings |" in board.markdown()
    assert cell_text(cells(board)["lime"][1]) == "0.600 [0.500, 0.700] 1 a"
    assert cell_text(cells(board)["edge"][1]) == "— 0 of 1"


def test_the_only_setting_of_a_task_is_shown_once() -> None:
    result = over(**TWO, image_leaf=TWO["nli_a"])
    made = boards_of(result)
    alone = task(result, "image")
    (setting,) = alone.boards
    assert alone.heading == "image/leaf/m (2 cases), the only setting of image in this run"
    assert (alone.rows, alone.columns) == (setting.rows, setting.columns)
    assert [b.setting for b in made.apart()] == ["nli/a/m", "nli/b/m"]
    page = board_files(result)["methods.md"]
    heads = [line for line in page.splitlines() if line.startswith("#")]
    assert heads == [
        "# Method boards", "## Tasks", f"### {alone.heading}", "### nli: mean over 2 settings",
        "## Settings", "### nli/a/m (2 cases)", "### nli/b/m (4 cases)",
    ]  # fmt: skip
    assert "Over nli/a/m (2 cases), nli/b/m (4 cases)." in page
    only = board_files(over(image_leaf=TWO["nli_a"]))["methods.md"]
    assert "## Settings" not in only


def test_files_agree() -> None:
    result = over(**TWO, image_leaf=TWO["nli_a"])
    files = board_files(result)
    rows = list(csv.DictReader(io.StringIO(files["tasks.csv"])))
    data = json.loads(files["methods.json"])
    assert tuple(rows[0]) == TASK_FIELDS
    assert FIELDS[0] == "setting"
    assert [
        {k: "" if v is None else str(v) for k, v in row.items()} for row in data["task_board"]
    ] == rows
    assert data["tasks"] == {"image": ["image/leaf/m"], "nli": ["nli/a/m", "nli/b/m"]}
    lines = files["methods.md"].split("## Settings")[0].splitlines()
    for row in rows:
        text = f"{float(row['mean']):.3f} "
        mine = [line for line in lines if line.startswith(f"| {row['method']} ") and text in line]
        assert mine, row
        assert (row["settings"] < row["of"]) == (row["group"] == "")
    part = next(row for row in rows if (row["task"], row["method"]) == ("nli", "saliency"))
    assert (part["settings"], part["of"], part["rank_best"]) == ("1", "2", "")


@pytest.mark.parametrize("width", [60, 100])
def test_a_terminal_table_fits(width: int) -> None:
    text = io.StringIO()
    Console(file=text, width=width).print(task(over(**TWO)).table(width))
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert "Over nli/a/m (2 cases), nli/b/m (4 cases)." in text.getvalue()
    assert any("1 of 2" in line for line in lines)
