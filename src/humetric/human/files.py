"""The files of a study folder as checked rows, and everything that is wrong with each of them."""

from __future__ import annotations

import csv
import io
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from humetric.human.schema import (
    ROWS,
    FigureRow,
    ScoreRow,
    StatisticRow,
    StudyForm,
    VariantRow,
    columns,
)

MAY_BE_EMPTY = ("low", "high", "se", "n", "p", "note")
"""Columns that may have no value in any row of any file."""


class Problem(NamedTuple):
    """Something wrong with a study folder. Row 1 is the header; 0: the file as a whole."""

    file: str
    row: int
    column: str
    expected: str
    came: str
    remedy: str

    def __str__(self) -> str:
        where = self.file + (f", row {self.row}" if self.row else "")
        where += f", {self.column}" if self.column else ""
        return f"{where}: expected {self.expected} but got {self.came}. {self.remedy}"


class Row(NamedTuple):
    """A checked row and the line that it stands on."""

    line: int
    data: FigureRow | VariantRow | ScoreRow | StatisticRow


class Read(NamedTuple):
    """What could be read of a folder; rows with problems are left out."""

    form: StudyForm | None
    rows: dict[str, list[Row]]
    problems: list[Problem]


def read_files(folder: Path) -> Read:
    """Read study.toml and the CSV files of a folder, each on its own."""
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing"
        problem = Problem(str(folder), 0, "", "a study folder", found, "Check the path.")
        return Read(None, {}, [problem])
    form, problems = _form(folder / "study.toml")
    rows: dict[str, list[Row]] = {}
    for name in ROWS:
        if (folder / name).exists() or name == "results.csv":
            rows[name], found_problems = _rows(folder / name)
            problems += found_problems
    return Read(form, rows, problems)


def _text(path: Path) -> tuple[str, list[Problem]]:
    def wrong(expected: str, came: str, remedy: str) -> tuple[str, list[Problem]]:
        return "", [Problem(path.name, 0, "", expected, came, remedy)]

    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        return wrong("UTF-8", f"other bytes on line {line}", "Save the file as UTF-8.")
    except OSError as error:
        return wrong("a file", error.strerror or "nothing", "human_data/README.md has the form.")
    if not text.strip():
        return wrong("some content", "an empty file", "Fill it or, if it may be absent, delete it.")
    return text, []


def _form(path: Path) -> tuple[StudyForm | None, list[Problem]]:
    text, problems = _text(path)
    if problems:
        return None, problems
    try:
        return StudyForm.model_validate(tomllib.loads(text)), []
    except tomllib.TOMLDecodeError as error:
        remedy = 'Correct the line; text in double quotes needs \\" and \\\\.'
        return None, [Problem(path.name, 0, "", "valid TOML", str(error), remedy)]
    except ValidationError as error:
        return None, [
            Problem(path.name, 0, _place(item["loc"]), *_words(item)) for item in error.errors()
        ]


def _rows(path: Path) -> tuple[list[Row], list[Problem]]:
    text, problems = _text(path)
    if problems:
        return [], problems
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        lines = [(reader.line_num, fields) for fields in reader]
    except csv.Error as error:
        return [], [Problem(path.name, reader.line_num, "", "CSV", str(error), "Check quotes.")]
    header = [name.strip() for name in lines[0][1]]
    wanted = columns(path.name)
    for name in wanted:
        if name not in header:
            remedy = "Add it; it may be empty." if name in MAY_BE_EMPTY else "Add it, with values."
            problems.append(Problem(path.name, 1, name, "this column", "none", remedy))
    for name in header:
        if name not in wanted or header.count(name) > 1:
            came = f"{name!r}" if name not in wanted else f"{name!r} twice"
            problems.append(
                Problem(path.name, 1, name, f"only {', '.join(wanted)}", came, "Remove it.")
            )
    if problems:
        return [], problems
    rows = []
    for line, fields in lines[1:]:
        if not any(field.strip() for field in fields):
            continue
        if len(fields) != len(header):
            remedy = "Quote fields that contain commas; leave empty ones empty."
            problems.append(
                Problem(path.name, line, "", f"{len(header)} fields", str(len(fields)), remedy)
            )
            continue
        try:
            data = ROWS[path.name].model_validate(dict(zip(header, fields, strict=True)))
            rows.append(Row(line, data))
        except ValidationError as error:
            problems += [
                Problem(path.name, line, _place(item["loc"]), *_words(item))
                for item in error.errors()
            ]
    if not rows and not problems:
        problems.append(Problem(path.name, 0, "", "at least one row", "a header only", "Add rows."))
    return rows, problems


def _place(loc: tuple[int | str, ...]) -> str:
    """cells.0.id as people count: cells[1].id."""
    out = ""
    for part in loc:
        out += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if out else part
    return out


def _words(item: Any) -> tuple[str, str, str]:
    """What was expected, what came, what to do."""
    kind, context = item["type"], item.get("ctx", {})
    came = repr(item["input"])[:60]
    if kind == "missing":
        return "this field", "none", "Add it; human_data/README.md says what it means."
    if kind == "extra_forbidden":
        return "no such field", came, "Remove it, or check its spelling."
    if kind == "literal_error":
        return f"one of {context['expected']}", came, "Use one of these words."
    if kind == "string_pattern_mismatch":
        return "an id of lower-case letters, digits and hyphens", came, "Rename it."
    if kind == "value_error":
        words = str(context["error"]).removeprefix("should be ").removeprefix("should ")
        return words, came, "Correct it; leave it empty only if the column allows that."
    words = item["msg"].removeprefix("Input should be ").removeprefix("String should have ")
    return words[:1].lower() + words[1:], came, "Correct it."
