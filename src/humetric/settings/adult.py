"""Adult as rows of plain numbers, nearly as Hase & Bansal (2020) have it.

They "use the same data processing scheme" as Ribeiro et al. (2018): twelve columns, without fnlwgt
(how many people a row stands for) and education_num (education again); capital gains and losses as
none, low or high, cut at the median of those that are not zero; and as many people of one class as
of the other, which is why their data are 15,682 people. Here as there; but age and hours stay
numbers (theirs are cut at the quartiles, which here only explanations and edits do), and instead of
categories joined by hand those that fewer than one row in a hundred has are one. What is missing is
a category.

Names of categories come from the data and are in no file of this package. The cases are from UCI's
test rows, theirs from its training rows. Of the training rows those are left out that are the same,
in these columns, as one of the pool: one in twelve.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humetric.data.sources import rows
from humetric.errors import HumetricError
from humetric.seeding import generator
from humetric.tasks.table import Column, Values, single

SOURCE = "adult"
CLASSES = ("at most 50K", "above 50K")
LEFT_OUT = ("fnlwgt", "education_num")
BANDED = ("capital_gain", "capital_loss")
BANDS = ("none", "low", "high")
RARE = 0.01
"""Categories that a smaller share of the training rows has are joined."""
OTHERS, MISSING = "(others)", "(unknown)"


@dataclass(frozen=True)
class People:
    """Rows of a split."""

    ids: tuple[str, ...]
    values: Values
    """(rows, columns)."""
    labels: NDArray[np.int64]

    def take(self, chosen: NDArray[np.int64]) -> People:
        """Some rows, in this order."""
        return People(tuple(self.ids[i] for i in chosen), self.values[chosen], self.labels[chosen])


@dataclass(frozen=True)
class Adult:
    """Columns, what models learn from, and what is held out."""

    columns: tuple[Column, ...]
    training: People
    """As many of each class, in random order; none is in the pool."""
    pool: People
    """As many of each class, in the order of the file."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Categories of each column; 0: a number."""
        return tuple(len(column.categories) for column in self.columns)


@dataclass(frozen=True)
class Reader:
    """A column, and the plain number of what the data hold there."""

    column: Column
    read: Callable[[Any], float]


@cache
def adult() -> Adult:
    """The data, from where sources are found."""
    plain = {split: rows(SOURCE, split) for split in ("train", "test")}
    readers = [
        reader(name, [row["values"][name] for row in plain["train"]])
        for name in plain["train"][0]["values"]
        if name not in LEFT_OUT
    ]
    train, test = (_people(readers, plain[split]) for split in ("train", "test"))
    pool = test.take(np.sort(evened(test.labels, "pool")))
    held = {row.tobytes() for row in pool.values}
    apart = np.array([row.tobytes() not in held for row in train.values])
    own = train.take(np.flatnonzero(apart))
    return Adult(tuple(r.column for r in readers), own.take(evened(own.labels, "train")), pool)


def reader(name: str, values: Sequence[Any]) -> Reader:
    """How a column is read, by what the training rows hold there."""
    if all(isinstance(value, int | float) for value in values):
        if name not in BANDED:
            return Reader(Column(name), float)
        some = [value for value in values if value > 0]
        middle = float(np.median(some)) if some else 0.0
        return Reader(Column(name, BANDS), lambda v: float((v > 0) + (v > middle)))
    counts = Counter(MISSING if value is None else str(value) for value in values)
    common = sorted(c for c, n in counts.items() if n >= RARE * len(values) and c != MISSING)
    joined = any(n < RARE * len(values) for c, n in counts.items() if c != MISSING)
    names = (*common, *([OTHERS] if joined else []), *([MISSING] if MISSING in counts else []))
    place = {name: float(i) for i, name in enumerate(names)}

    def read(value: Any) -> float:
        found = place.get(MISSING if value is None else str(value), place.get(OTHERS))
        if found is None:
            raise HumetricError(
                f"Expected one of {len(names)} categories of the training rows in column {name} "
                f"but got {value!r}: the data in place are other ones. Verify them with humetric "
                f"sources check {SOURCE}."
            )
        return found

    return Reader(Column(name, names), read)


def evened(labels: NDArray[np.int64], purpose: str) -> NDArray[np.int64]:
    """As many rows of each class as the rarest has, drawn, in random order."""
    rng = generator(0, SOURCE, purpose)
    drawn = rng.permutation(len(labels))
    counts = np.bincount(labels)
    kept = [drawn[labels[drawn] == c][: counts.min()] for c in range(len(counts))]
    return np.asarray(rng.permutation(np.concatenate(kept)), dtype=np.int64)


def _people(readers: Sequence[Reader], plain: Sequence[dict[str, Any]]) -> People:
    columns = [[r.read(row["values"][r.column.name]) for row in plain] for r in readers]
    labels = np.array([row["label"] for row in plain], dtype=np.int64)
    return People(tuple(row["id"] for row in plain), single(np.array(columns).T), labels)
