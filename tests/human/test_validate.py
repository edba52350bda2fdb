"""Every way to get a study folder wrong is named with its file, row and column."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from humetric.human.files import Problem
from humetric.human.read import bundled_folder
from humetric.human.validate import problems

FIRST = "text,lime,accuracy-change,0.99,-8.59,10.57,4.888,0.01,190,percentage points,higher,printed"


@pytest.fixture
def hase(tmp_path: Path) -> Path:
    return Path(shutil.copytree(bundled_folder() / "hase2020", tmp_path / "hase2020"))


@pytest.fixture
def broken(hase: Path) -> Callable[[str, str, str], list[Problem]]:
    """The problems of the folder after one text in one file was replaced by another, once."""

    def change(file: str, old: str, new: str) -> list[Problem]:
        path = hase / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return problems(hase)

    return change


ROWS = [
    # old, new, column, expected, remedy
    ("text,lime", "txt,lime", "cell", "a cell of study.toml", "Did you mean 'text'"),
    ("text,lime", "text,lyme", "condition", "a condition of study.toml", "Did you mean 'lime'"),
    ("text,lime", "text,shap", "condition", "a condition of study.toml", "Declare it"),
    ("accuracy-change,0.99", "accuracy-chnge,0.99", "measure", "a measure", "'accuracy-change'"),
    (",0.99,", ",O.99,", "value", "a finite number", "Correct it"),
    (",0.99,", ",,", "value", "number", "Correct it"),
    (",0.99,", ",nan,", "value", "a finite number", "Correct it"),
    (",0.99,", ",inf,", "value", "a finite number", "Correct it"),
    (",0.99,", ",1e999,", "value", "a finite number", "Correct it"),
    (",-8.59,", ",-inf,", "low", "a finite number", "Correct it"),
    (",0.99,", ",99,", "value", "-8.59 to 10.57", "Check value"),
    (",-8.59,", ",18.59,", "low", "at most high", "Check both"),
    (",-8.59,", ",,", "low", "both ends", "Add the other"),
    (",4.888,", ",-4.888,", "se", "not be negative", "Correct it"),
    (",0.01,190", ",0,190", "precision", "more than 0", "Correct it"),
    (",190,", ",many,", "n", "integer", "Correct it"),
    (",190,", ",-190,", "n", "more than 0", "Correct it"),
    ("percentage points", "points", "unit", "'percentage points'", "say the same"),
    (",higher,", ",lower,", "direction", "'higher'", "say the same"),
    (",higher,", ",up,", "direction", "one of 'higher', 'lower' or 'none'", "one of these"),
    (
        ",printed,",
        ",seen,",
        "status",
        "'printed', 'read-off', 'inferred', 'notebook' or 'responses'",
        "Use",
    ),
    (',"Table 1, page 5545"', ",", "source", "at least 1 character", "Correct"),
    (',"Table 1, page 5545",', ",Table 1, page 5545,", "", "14 fields", "Quote fields"),
]


@pytest.mark.parametrize(("old", "new", "column", "expected", "remedy"), ROWS)
def test_a_wrong_row(
    broken: Callable[[str, str, str], list[Problem]],
    old: str,
    new: str,
    column: str,
    expected: str,
    remedy: str,
) -> None:
    assert old in FIRST + ',"Table 1, page 5545",'
    found = [p for p in broken("results.csv", old, new) if p.row == 2]
    assert len(found) == 1
    assert (found[0].file, found[0].column) == ("results.csv", column)
    assert expected in found[0].expected
    assert remedy in found[0].remedy


def test_all_problems_come_at_once(hase: Path) -> None:
    path = hase / "results.csv"
    lines = path.read_text().splitlines()
    lines[1] = lines[1].replace("0.99", "x").replace("printed", "seen")
    lines[2] = lines[2].replace("anchor", "ankor")
    lines.append(lines[3])
    path.write_text("\n".join(lines) + "\n")
    toml = hase / "study.toml"
    toml.write_text(toml.read_text().replace('regroups = ["text"', 'regroups = ["txt"', 1))
    found = problems(hase)
    places = {(p.file, p.row, p.column) for p in found}
    assert places == {
        ("results.csv", 2, "value"),
        ("results.csv", 2, "status"),
        ("results.csv", 3, "condition"),
        ("results.csv", len(lines), ""),
        ("study.toml", 0, "cells.forward.regroups"),
    }
    assert "row 4" in next(p.came for p in found if p.row == len(lines))


def test_columns(broken: Callable[[str, str, str], list[Problem]]) -> None:
    found = broken("results.csv", ",se,precision", ",sd,precision")
    assert [(p.row, p.column) for p in found] == [(1, "se"), (1, "sd")]


TOML = [
    ('unit = "method"', 'unit = "people"', "unit", "'method' or 'model'"),
    ("year = 2020", 'year = "soon"', "year", "integer"),
    ('shown = "', 'seen = "', "shown", "this field"),
    ('id = "lime"\nkind = "method"', 'id = "lime"\nkind = "map"', "conditions[2].kind", "one of"),
    ('id = "hase2020"', 'id = "hase2021"', "id", "'hase2020'"),
    ('id = "tabular"', 'id = "text"', "cells", "'text' once"),
    ('measure = "accuracy-change"', 'measure = "rating"', "primary.measure", "a success"),
    ('methods = ["lime"', 'methods = ["none"', "primary.methods", "methods only"),
    ('cells = ["text"', 'cells = ["txt"', "primary.cells", "one of the cells"),
    ('derived_from = ["pre-', 'derived_from = ["per-', "measures.pre-accuracy-by-test", "measures"),
    ("pooled = true\n", "", "measures", "pooled = true"),
    ("version = 1", "version = 0", "version", "greater than 0"),
    ("[primary]", "[secondary]", "secondary", "no such field"),
]


@pytest.mark.parametrize(("old", "new", "column", "expected"), TOML)
def test_a_wrong_study_file(
    broken: Callable[[str, str, str], list[Problem]],
    old: str,
    new: str,
    column: str,
    expected: str,
) -> None:
    found = [p for p in broken("study.toml", old, new) if p.column.startswith(column)]
    assert found
    assert found[0].file == "study.toml"
    assert expected in found[0].expected


def test_no_primary_needs_a_reason(hase: Path) -> None:
    path = hase / "study.toml"
    text = path.read_text()
    path.write_text(text[: text.index("[primary]")].replace("pooled = true\n", ""))
    assert [p.column for p in problems(hase)] == ["not_pooled"]


def test_a_primary_figure_that_is_missing(hase: Path) -> None:
    path = hase / "results.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *lines[2:]]) + "\n")
    assert [p.expected for p in problems(hase)] == ["the accuracy-change of lime in text"]


def test_a_near_miss_of_a_method(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(bundled_folder() / "colin2022", tmp_path / "colin2022"))
    for path in folder.iterdir():
        path.write_text(path.read_text(encoding="utf-8").replace("grad-cam", "gradcam"), "utf-8")
    found = problems(folder)
    assert [(p.column, p.came) for p in found] == [("conditions.gradcam", "'gradcam'")]
    assert "Did you mean 'grad-cam'?" in found[0].remedy


def test_scores_and_variants(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(bundled_folder() / "colin2022", tmp_path / "colin2022"))
    scores, variants = folder / "scores.csv", folder / "variants.csv"
    lines = scores.read_text().splitlines()
    lines[2] = lines[2].replace(",lower,", ",higher,")
    scores.write_text("\n".join([*lines, lines[1]]) + "\n")
    variants.write_text(variants.read_text().replace("leaves,gradient-input", "leaves,none"))
    found = {(p.file, p.row, p.column) for p in problems(folder)}
    assert found == {
        ("scores.csv", 3, "direction"),
        ("scores.csv", len(lines) + 1, ""),
        ("variants.csv", 2, ""),
    }


@pytest.mark.parametrize("p", ["n.s.", "1.834", "-0.1", "<", "<<0.1", "nan"])
def test_p_values(broken: Callable[[str, str, str], list[Problem]], p: str) -> None:
    found = broken("statistics.csv", ",0.834,", f",{p},")
    assert [(p.file, p.row, p.column) for p in found] == [("statistics.csv", 2, "p")]


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        ("study.toml", b"", "some content"),
        ("study.toml", b"id = hase", "valid TOML"),
        ("study.toml", "title = 'González'".encode("latin-1"), "UTF-8"),
        ("results.csv", b"", "some content"),
        ("results.csv", "cell\nGonz\xe1lez".encode("latin-1"), "UTF-8"),
        ("statistics.csv", b"\n\n", "some content"),
    ],
)
def test_files_that_cannot_be_read(hase: Path, file: str, content: bytes, expected: str) -> None:
    (hase / file).write_bytes(content)
    found = problems(hase)
    assert [(p.file, p.row, p.expected) for p in found] == [(file, 0, expected)]


def test_a_header_alone(hase: Path) -> None:
    path = hase / "results.csv"
    path.write_text(path.read_text().splitlines()[0] + "\n")
    assert ("results.csv", "at least one row") in {(p.file, p.expected) for p in problems(hase)}


def test_files_that_are_not_there(hase: Path, tmp_path: Path) -> None:
    (hase / "statistics.csv").unlink()
    assert problems(hase) == []
    (hase / "results.csv").unlink()
    (hase / "study.toml").unlink()
    assert [p.file for p in problems(hase)] == ["study.toml", "results.csv"]
    assert problems(tmp_path / "nowhere")[0].expected == "a study folder"


def test_a_byte_order_mark_and_windows_lines_do_no_harm(hase: Path) -> None:
    path = hase / "results.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert problems(hase) == []


def test_a_problem_reads_as_a_sentence() -> None:
    problem = Problem("results.csv", 4, "cell", "a cell", "'txt'", "Did you mean 'text'?")
    assert str(problem) == (
        "results.csv, row 4, cell: expected a cell but got 'txt'. Did you mean 'text'?"
    )


@pytest.mark.parametrize("column", ["cells", "methods"])
def test_a_name_that_comes_twice_in_primary(hase: Path, column: str) -> None:
    path = hase / "study.toml"
    head, _, tail = path.read_text(encoding="utf-8").partition("[primary]")
    line = next(row for row in tail.splitlines() if row.startswith(f"{column} = "))
    first = line.partition("[")[2].partition(",")[0].rstrip("]").strip()
    tail = tail.replace(line, line.replace("[", f"[{first}, ", 1))
    path.write_text(f"{head}[primary]{tail}", encoding="utf-8")
    assert [(p.column, p.came) for p in problems(hase)] == [(f"primary.{column}", "2 times")]


def test_a_primary_method_is_no_sensitivity_and_no_copy_of_itself(hase: Path) -> None:
    path = hase / "study.toml"
    text = path.read_text(encoding="utf-8")
    lime = '[[conditions]]\nid = "lime"\n'
    assert lime in text
    text = text.replace(lime, lime + 'same_highlights_as = "lime"\n')
    path.write_text(text.replace("[primary]\n", '[primary]\nsensitivity = ["lime"]\n'))
    assert {(p.column, p.came) for p in problems(hase)} == {
        ("conditions.lime.same_highlights_as", "itself"),
        ("primary.sensitivity", "'lime'"),
    }


def test_primary_cells_do_not_regroup_each_other(hase: Path) -> None:
    path = hase / "study.toml"
    text = path.read_text(encoding="utf-8")
    cell = '[[cells]]\nid = "text"\n'
    assert cell in text
    path.write_text(text.replace(cell, cell + 'regroups = ["tabular"]\n'), encoding="utf-8")
    assert "'text', which regroups 'tabular'" in {p.came for p in problems(hase)}


def test_a_column_that_needs_values_is_not_said_to_be_optional(
    broken: Callable[[str, str, str], list[Problem]],
) -> None:
    (problem, *_) = [p for p in broken("results.csv", "precision", "x") if p.column == "precision"]
    assert problem.remedy == "Add it, with values."
