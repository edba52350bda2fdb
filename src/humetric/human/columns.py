"""Tables that come from outside: declared columns, and a check that reports all problems."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humetric.cards import ID
from humetric.errors import HumetricError

Kind = Literal["text", "id", "number", "count", "boolean"]
AT_MOST = 20
"""Problems that are listed; the rest is counted."""
TRUE = frozenset({"1", "1.0", "true", "yes", "t", "y"})
FALSE = frozenset({"0", "0.0", "false", "no", "f", "n"})
MISSING = frozenset({"", "na", "nan", "none", "null", "<na>"})
"""Spellings of a missing number or truth value. In a text column only an empty cell is missing:
``none`` is a condition there."""


@dataclass(frozen=True)
class Column:
    """One column: its name, what its cells are, and within which bounds."""

    name: str
    kind: Kind
    meaning: str
    low: float = -np.inf
    high: float = np.inf
    one_of: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """What a cell of this column must be, in words."""
        if self.one_of:
            return "one of " + ", ".join(self.one_of)
        if self.kind == "text":
            return "a text"
        if self.kind == "id":
            return "an id of lower-case letters, digits and hyphens (at most 64)"
        if self.kind == "boolean":
            return "1 or 0 (true, false, yes, no are read too)"
        noun = "a whole number" if self.kind == "count" else "a finite number"
        if np.isfinite(self.low) and np.isfinite(self.high):
            return f"{noun} from {self.low:g} to {self.high:g}"
        return f"{noun} of at least {self.low:g}" if np.isfinite(self.low) else noun


class Problem(NamedTuple):
    """One thing that is wrong with a table."""

    row: int | None
    """Line of a CSV (the header is line 1), row of a Parquet file (from 1), None: all of it."""
    column: str
    expected: str
    came: str
    remedy: str

    def sentence(self) -> str:
        """The problem as one line."""
        where = f"row {self.row}, " if self.row is not None else ""
        return (
            f"{where}column {self.column!r}: expected {self.expected} but got {self.came}. "
            f"{self.remedy}"
        )


class TableError(HumetricError):
    """A table that cannot be used; carries all problems, prints the first of them."""

    def __init__(self, source: str, problems: Iterable[Problem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        many = len(self.problems)
        lines = [f"  {problem.sentence()}" for problem in self.problems[:AT_MOST]]
        more = [f"  ... and {many - AT_MOST} more."] if many > AT_MOST else []
        noun = "problem" if many == 1 else "problems"
        super().__init__("\n".join([f"{source}: {many} {noun}.", *lines, *more]))


class Read(NamedTuple):
    """A table whose cells have been parsed; text "" and numbers NaN where nothing came."""

    frame: pd.DataFrame
    given: frozenset[str]
    """Columns with at least one value."""
    unused: tuple[str, ...]
    """Columns of the file that nothing here reads."""
    problems: tuple[Problem, ...]
    rows: NDArray[np.int64]
    """The row of the file that each row came from, for messages."""


def read_file(path: Path) -> tuple[pd.DataFrame, int]:
    """The cells of a CSV or Parquet file, and the number of its first row in messages."""
    if not path.is_file():
        raise HumetricError(f"Expected a CSV or Parquet file but there is none at {path}.")
    suffix = path.suffix.lower()
    try:
        if suffix in (".parquet", ".pq"):
            return pd.read_parquet(path), 1
        if suffix in (".csv", ".gz"):
            # Text, as written: pandas would turn the condition "None" into a missing value.
            return pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig"), 2
    except pd.errors.EmptyDataError:
        raise HumetricError(
            f"{path}: expected a header and one row per trial but the file is empty."
        ) from None
    except (pd.errors.ParserError, UnicodeDecodeError, OSError, ValueError) as error:
        raise HumetricError(
            f"{path}: expected a readable {suffix[1:]} table but reading stopped with: {error}. "
            "Write it anew as UTF-8 CSV with one header line, or as Parquet."
        ) from error
    raise HumetricError(
        f"Expected a file that ends in .csv, .csv.gz or .parquet but got {path.name!r}: rename or "
        "convert it."
    )


def parse(
    cells: pd.DataFrame, columns: tuple[Column, ...], required: Iterable[str], first: int
) -> Read:
    """Parse every declared column; all that is wrong comes back as problems."""
    problems: list[Problem] = []
    cells = cells.rename(columns={name: str(name).strip() for name in cells.columns})
    known = {column.name for column in columns}
    doubled = sorted({str(n) for n in cells.columns[cells.columns.duplicated()]} & known)
    problems += [
        Problem(None, name, "one column of this name", "several", "Remove or rename one.")
        for name in doubled
    ]
    cells = cells.loc[:, ~cells.columns.duplicated()]
    there = {str(name) for name in cells.columns}
    unused = []
    for name in sorted(there - known):
        close = difflib.get_close_matches(name.lower(), sorted(known - there), n=1, cutoff=0.8)
        if close:
            remedy = f"Rename it to {close[0]!r}, or to something less alike to leave it unread."
            problems.append(Problem(None, name, f"{close[0]!r}", f"{name!r}", remedy))
        else:
            unused.append(name)
    rows = np.arange(first, first + len(cells))
    parsed: dict[str, NDArray[np.float64] | list[str]] = {}
    given = set()
    for column in columns:
        if column.name not in there:
            blank: NDArray[np.float64] | list[str] = (
                [""] * len(cells) if column.kind in ("text", "id") else np.full(len(cells), np.nan)
            )
            parsed[column.name] = blank
            continue
        values, wrong, filled = _column(cells[column.name], column)
        parsed[column.name] = values
        if filled.any():
            given.add(column.name)
        for index in np.flatnonzero(wrong):
            came = repr(str(cells[column.name].iloc[index]))
            remedy = "Correct the cell, or leave it empty where there is no value."
            problems.append(Problem(int(rows[index]), column.name, column.expected, came, remedy))
    if len(cells):
        for name in required:
            if name in given:
                continue
            came = "only empty cells" if name in there else "no such column"
            meaning = next(column.meaning for column in columns if column.name == name)
            problems.append(Problem(None, name, f"a value ({meaning})", came, "Add it."))
    problems.sort(key=lambda problem: (-1 if problem.row is None else problem.row, problem.column))
    frame = pd.DataFrame(parsed, columns=[column.name for column in columns])
    return Read(frame, frozenset(given), tuple(unused), tuple(problems), rows)


def missing_cells(read: Read, names: Iterable[str]) -> list[Problem]:
    """A problem for each empty cell of columns that must be filled everywhere."""
    problems = []
    for name in names:
        if name not in read.given:
            continue
        cells = read.frame[name]
        empty = (cells == "") if cells.dtype == object or cells.dtype == "str" else cells.isna()
        problems += [
            Problem(int(read.rows[i]), name, "a value", "an empty cell", "Fill it or drop the row.")
            for i in np.flatnonzero(empty.to_numpy(dtype=bool))
        ]
    return problems


def _column(
    cells: pd.Series, column: Column
) -> tuple[NDArray[np.float64] | list[str], NDArray[np.bool_], NDArray[np.bool_]]:
    """Parsed values, which cells are wrong, and which hold something."""
    texts = ["" if _is_missing(cell) else str(cell).strip() for cell in cells]
    if column.kind in ("text", "id"):
        filled = np.array([text != "" for text in texts], dtype=bool)
        wrong = np.zeros(len(texts), dtype=bool)
        if column.one_of:
            wrong = np.array([t != "" and t not in column.one_of for t in texts], dtype=bool)
        elif column.kind == "id":
            wrong = np.array([t != "" and not ID.fullmatch(t) for t in texts], dtype=bool)
        return texts, wrong, filled
    lower = [text.lower() for text in texts]
    filled = np.array([text not in MISSING for text in lower], dtype=bool)
    values = np.full(len(texts), np.nan)
    wrong = np.zeros(len(texts), dtype=bool)
    if column.kind == "boolean":
        for i in np.flatnonzero(filled):
            if lower[i] in TRUE:
                values[i] = 1.0
            elif lower[i] in FALSE:
                values[i] = 0.0
            else:
                wrong[i] = True
        return values, wrong, filled
    for i in np.flatnonzero(filled):
        try:
            values[i] = float(texts[i])
        except ValueError:
            wrong[i] = True
            continue
        whole = column.kind != "count" or values[i] == np.floor(values[i])
        if not (np.isfinite(values[i]) and column.low <= values[i] <= column.high and whole):
            wrong[i], values[i] = True, np.nan
    return values, wrong, filled


def _is_missing(cell: object) -> bool:
    """None, NaN and pandas' NA, as Parquet brings them."""
    return cell is None or cell is pd.NA or (isinstance(cell, float) and np.isnan(cell))
