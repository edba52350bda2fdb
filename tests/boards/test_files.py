"""Board files: the same bytes every time, and nothing in them that time changes."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

from board_results import ABOUT, SETTING, drawn, result_of

from humetric.boards.files import FIELDS, board_files, first_difference, write_boards
from humetric.results.result import Failure, Result


def some(**about: object) -> Result:
    rows = drawn({"lime": 0.2, "saliency": 0.21, "edge": 0.6})
    rows += [(case, method, "mu-fidelity", float("nan")) for case, method, _, _ in rows]
    failures = (Failure(SETTING, "rise", "", "no good"),)
    return result_of(rows, failures, about={**ABOUT, **about})


def test_the_same_bytes_whatever_the_order_and_the_clock() -> None:
    again = some(seconds=99.0, model_calls=1, finished="2031-01-01T00:00:00")
    shuffled = replace(again, scores=again.scores.sample(frac=1, random_state=1))
    assert board_files(some()) == board_files(shuffled)


def test_another_seed_gives_other_intervals() -> None:
    assert board_files(some())["methods.csv"] != board_files(some(seed=1))["methods.csv"]


def test_csv_is_tidy() -> None:
    rows = list(csv.DictReader(io.StringIO(board_files(some())["methods.csv"])))
    assert tuple(rows[0]) == FIELDS
    assert len(rows) == 4 * 2
    by = {(row["method"], row["metric"]): row for row in rows}
    lime = by["lime", "deletion"]
    assert (lime["control"], lime["direction"], lime["n"], lime["undefined"]) == (
        "False", "lower", "24", "0",
    )  # fmt: skip
    assert float(lime["low"]) < float(lime["mean"]) < float(lime["high"])
    assert by["edge", "deletion"]["control"] == "True"
    assert (by["edge", "deletion"]["rank_best"], by["edge", "deletion"]["rank_worst"]) == ("3", "3")
    undefined = by["edge", "mu-fidelity"]
    assert (undefined["n"], undefined["undefined"], undefined["mean"]) == ("0", "24", "")
    assert by["rise", "deletion"]["group"] == "failed"


def test_json_has_the_same_rows_the_settings_and_the_cards() -> None:
    files = board_files(some())
    data = json.loads(files["methods.json"])
    rows = list(csv.DictReader(io.StringIO(files["methods.csv"])))
    assert [
        {k: "" if v is None else str(v) for k, v in row.items()} for row in data["board"]
    ] == rows
    assert data["settings"]["seed"] == 0
    assert data["metrics"]["deletion"]["direction"] == "lower"
    assert data["methods"]["edge"]["control"] is True
    assert data["failures"][0]["method"] == "rise"
    assert "NaN" not in files["methods.json"]


def test_a_range_without_an_end_is_still_json() -> None:
    result = some()
    card = replace(result.metrics["deletion"], range=(0.0, float("inf")))
    text = board_files(replace(result, metrics={"deletion": card}))["methods.json"]
    assert "Infinity" not in text
    assert json.loads(text)["metrics"]["deletion"]["range"] == [0.0, "inf"]


def test_markdown_has_all_boards_and_the_legend() -> None:
    text = board_files(some())["methods.md"]
    assert "### image/a/b (24 cases)" in text
    assert "| rise | failed | failed |" in text
    assert "seed: 0" in text


def test_written_files_are_found_the_same(tmp_path: Path) -> None:
    files = board_files(some())
    assert first_difference(files, tmp_path / "boards") == (
        f"{tmp_path / 'boards' / 'methods.md'} is missing."
    )
    written = write_boards(files, tmp_path)
    assert [path.name for path in written] == list(files)
    assert first_difference(files, tmp_path / "boards") == ""
    lines = files["methods.csv"].split("\n")
    lines[2] += " "
    written[1].write_text("\n".join(lines), encoding="utf-8")
    said = f"{written[1]} differs from line 3 on."
    assert first_difference(files, tmp_path / "boards") == said
    written[1].write_text(files["methods.csv"] + "one more\n", encoding="utf-8")
    assert "methods.csv differs from line" in first_difference(files, tmp_path / "boards")
