"""Tables: columns as people read them, and what rows of the same kind look like.

A row is a vector of plain numbers, one per column: the number itself, or the place of a category
in its column's list. Rows that are no cases (the background) say which values there are and how
often; they are what removed columns are filled from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humetric.errors import HumetricError

BINS = 4
"""Numbers are cut at the quartiles of the background, as Hase & Bansal's tabular data are."""

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """A column: its name, and its categories if it is not a number."""

    name: str
    categories: tuple[str, ...] = ()
    decimals: int = 0
    """Of a number, where people read it."""

    @property
    def number(self) -> bool:
        """Whether its values are numbers."""
        return not self.categories

    def text(self, value: float) -> str:
        """A value as people read it."""
        return f"{value:.{self.decimals}f}" if self.number else self.categories[int(value)]


def fingerprint(columns: Sequence[Column], row: Sequence[float]) -> str:
    """SHA-256 of a row as people read it, a column a line."""
    lines = [f"{c.name}: {c.text(v)}" for c, v in zip(columns, row, strict=True)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@dataclass(frozen=True)
class Table:
    """Columns, background rows, and the bins that numbers fall into."""

    columns: tuple[Column, ...]
    background: Values
    """(rows, columns)."""
    edges: tuple[tuple[float, ...], ...]
    """Inner edges of each number column's bins, rising; empty for categories."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    def bins(self, rows: Values) -> NDArray[np.int64]:
        """(rows, columns): the category of each value, or the bin of a number.

        Bin k holds what is above edge k - 1 and at most edge k.
        """
        found = np.empty(rows.shape, dtype=np.int64)
        for j, (column, edges) in enumerate(zip(self.columns, self.edges, strict=True)):
            found[:, j] = (
                np.searchsorted(edges, rows[:, j], side="left") if column.number else rows[:, j]
            )
        return found

    def sizes(self) -> tuple[int, ...]:
        """How many categories or bins each column has."""
        return tuple(
            len(edges) + 1 if column.number else len(column.categories)
            for column, edges in zip(self.columns, self.edges, strict=True)
        )

    def typical(self, column: int) -> Values:
        """A value for each category or bin: the category, or the median of the bin's background."""
        if not self.columns[column].number:
            return np.arange(len(self.columns[column].categories), dtype=np.float64)
        values = self.background[:, column]
        own = np.searchsorted(self.edges[column], values, side="left")
        return np.array([_middle(values[own == b]) for b in range(self.sizes()[column])])

    def condition(self, column: int, value: float) -> str:
        """What a rule says of a value: its category, or the bin that it lies in."""
        what = self.columns[column]
        if not what.number:
            return f"{what.name} = {what.text(value)}"
        edges = self.edges[column]
        place = int(np.searchsorted(edges, value, side="left"))
        low = f"{what.text(edges[place - 1])} < " if place else ""
        high = f" <= {what.text(edges[place])}" if place < len(edges) else ""
        return f"{low}{what.name}{high}" if high or not low else f"{what.name} > {low[:-3]}"


def table_of(columns: Sequence[Column], background: ArrayLike) -> Table:
    """A table with bins at the quartiles of its background; errors name what is wrong with it."""
    rows = single(background)
    check_rows(columns, rows, "background")
    edges = [_edges(rows[:, j]) if c.number else () for j, c in enumerate(columns)]
    return Table(tuple(columns), rows, tuple(edges))


def single(rows: ArrayLike) -> Values:
    """Rows as models see them, rounded to single precision.

    Unrounded edges of bins would lie just below the cases that they were taken from.
    """
    try:
        plain = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise HumetricError(
            f"Expected rows of plain numbers but got others ({error}): write a category as the "
            "place of its name in the column's list."
        ) from error
    with np.errstate(over="ignore"):
        return plain.astype(np.float32).astype(np.float64)


def check_names(columns: Sequence[Column], rows: object, what: str) -> None:
    """Refuse a data frame whose columns are others, or in another order."""
    names = getattr(rows, "columns", None)
    if names is not None and [str(n) for n in names] != [c.name for c in columns]:
        raise HumetricError(
            f"Expected {what} with the columns {', '.join(c.name for c in columns)} in this order "
            f"but got {', '.join(map(str, names))}."
        )


def check_rows(columns: Sequence[Column], rows: Values, what: str) -> None:
    """Refuse rows that are not of these columns."""
    if not all(isinstance(column, Column) for column in columns):
        raise HumetricError(
            "Expected columns as humetric.Column(name, categories), without categories for "
            f"numbers, but got {list(columns)[:3]}."
        )
    names = [column.name for column in columns]
    if len(set(names)) != len(names) or not names:
        raise HumetricError(f"Expected columns of different names but got {names}.")
    if rows.ndim != 2 or rows.shape[1] != len(names) or not len(rows):
        raise HumetricError(
            f"Expected {what} of shape (rows, {len(names)}), a value per column, but got "
            f"{rows.shape}."
        )
    for j, column in enumerate(columns):
        values = rows[:, j]
        bad = ~np.isfinite(values)
        if not column.number:
            bad |= (values < 0) | (values >= len(column.categories)) | (values % 1 != 0)
        if bad.any():
            expected = (
                "finite numbers (fill in what is missing, or make it a category)"
                if column.number
                else f"categories from 0 to {len(column.categories) - 1}"
            )
            raise HumetricError(
                f"Expected {expected} in column {column.name} of the {what} but got "
                f"{values[bad][0]} in row {int(np.flatnonzero(bad)[0])}."
            )


def _edges(values: Values) -> tuple[float, ...]:
    """Inner edges at the quartiles. Where most values are one (zero, say), that one is a bin."""
    quartiles = np.quantile(values, np.arange(1, BINS) / BINS, method="inverted_cdf")
    inner = sorted({float(q) for q in quartiles if q < values.max()})
    return tuple(inner)


def _middle(values: Values) -> float:
    """The median that is one of the values."""
    return float(np.quantile(values, 0.5, method="inverted_cdf"))
