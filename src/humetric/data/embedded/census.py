"""People of an invented country: twelve columns, and whether somebody's income is above the middle.

Where the columns come from, in the order in which they are drawn:

- region: alone; age: alone;
- schooling: fewer years in older cohorts, and never more than age - 6;
- occupation: by schooling (up to 10, 11 to 14, 15 and more years); farming mostly in Highmoor;
- employer: by occupation; marital: by age; household: by marital and age;
- hours: longer for the self-employed, shorter in large households and before 22 and after 65;
- capital: income from property, zero for most; likelier with age and schooling;
- commute: by region, longer with full-time hours; dwelling: by age, marital and region;
- interview: day of the year, noise.

The label is "above" where rule + noise > 0. The rule, in points::

    rule = PAY[occupation]
         + 5 (schooling - 12)                  if the occupation is learned (LEARNED)
         + min(age - 18, 32)                   unless self-employed (15.5 instead): seniority
         + RATE[employer] (hours - 38)         unless public, which pays no hours
         + PLACE[region]                       if private or self-employed: others pay alike
         + min(capital / 10, 40)
         + 14 - 5 max(household - 2, 0)        if married, no matter how many they are otherwise
         - MIDDLE

Noise is the sum of three whole numbers, each uniform from -NOISE to NOISE, so that the rule itself,
which no model knows, is right in about 87 of 100. A column is relevant to a row if some other value
of it alone would change the rule's points. Commute and dwelling go with columns that matter, and
the interview with nothing; none of the three is ever relevant.

In the manner of the census data that Hase & Bansal (2020) gave to people. Written for humetric:
nobody was asked, and the country does not exist. Licensed as the package.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humetric.data.embedded.wording import seeded
from humetric.errors import HumetricError, UnknownNameError
from humetric.tasks.table import Column, fingerprint

CLASSES = ("below", "above")
VERSION = 1

SPLITS = {"train": 12000, "pool": 2000, "background": 1000, "test": 2000}
"""Rows to train on, to choose cases from, to say what values there are, and to measure on alone."""

_SHARES = {"train": range(4), "pool": range(4, 6), "background": range(6, 8), "test": range(8, 10)}
"""Which tenths of all rows, by hash, belong to each split: none is in two."""

REGIONS = ("Marrow Coast", "Eastvale", "Lakeland", "Port Aldan", "Highmoor")
OCCUPATIONS = (
    "farming",
    "crafts",
    "transport",
    "sales",
    "care",
    "clerical",
    "technical",
    "professional",
    "management",
)
EMPLOYERS = ("private", "public", "cooperative", "self-employed")
MARITAL = ("single", "married", "separated", "widowed")
DWELLINGS = ("rented", "owned", "with relatives")

COLUMNS = (
    Column("age"),
    Column("schooling"),
    Column("occupation", OCCUPATIONS),
    Column("employer", EMPLOYERS),
    Column("hours"),
    Column("marital", MARITAL),
    Column("household"),
    Column("region", REGIONS),
    Column("capital"),
    Column("commute"),
    Column("dwelling", DWELLINGS),
    Column("interview"),
)
"""Years, years, hours a week, people, crowns a month, minutes, day of the year."""

UNRELATED = ("commute", "dwelling", "interview")
"""Columns that matter to no label."""

PAY = (-14, -2, -6, -4, -8, 0, 10, 16, 24)
LEARNED = frozenset((4, 5, 6, 7, 8))
"""Occupations in which years of schooling are paid for: care to management."""
RATE = (1, 0, 1, 2)
PRIVATE, PUBLIC, _, OWN = range(4)
PLACE = (6, -6, 0, 14, -12)
SINGLE, MARRIED, SEPARATED, WIDOWED = range(4)
MIDDLE = 38
NOISE = 8

DICE = 1 << 31
Dice = Iterator[int]


class Record(NamedTuple):
    """A row of plain numbers, categories by their place, and its label."""

    values: tuple[int, ...]
    label: int
    """Index into CLASSES."""


def rule(values: Sequence[float]) -> float:
    """Points of a row before noise; above 0 the income is more likely above the middle."""
    age, schooling, occupation, employer, hours, marital, household, region, capital = values[:9]
    points = PAY[int(occupation)] + min(capital / 10, 40) - MIDDLE
    if occupation in LEARNED:
        points += 5 * (schooling - 12)
    points += 15.5 if employer == OWN else min(age - 18, 32)
    points += RATE[int(employer)] * (hours - 38)
    if employer in (PRIVATE, OWN):
        points += PLACE[int(region)]
    if marital == MARRIED:
        points += 14 - 5 * max(household - 2, 0)
    return float(points)


def relevant(values: Sequence[float]) -> tuple[bool, ...]:
    """For each column, whether another value of it alone could change the rule's points."""
    employer = values[3]
    takes_part = {
        "age": employer != OWN,
        "schooling": values[2] in LEARNED,
        "hours": employer != PUBLIC,
        "household": values[5] == MARRIED,
        "region": employer in (PRIVATE, OWN),
    }
    return tuple(takes_part.get(c.name, c.name not in UNRELATED) for c in COLUMNS)


def draw(index: int, split: str) -> Record:
    """The row at `index` of `split`.

    It is the day of the interview that is drawn again until the row belongs to the split.
    """
    if split not in SPLITS:
        raise UnknownNameError("split", split, SPLITS)
    if not 0 <= index < SPLITS[split]:
        raise IndexError(f"Expected an index in 0..{SPLITS[split] - 1} of {split} but got {index}.")
    dice = _dice(f"census/{split}/{index}")
    person = _person(dice)
    for _ in range(1000):
        values = (*person, 1 + _below(dice, 365))
        if split_of(values) == split:
            noise = sum(_below(dice, 2 * NOISE + 1) - NOISE for _ in range(3))
            return Record(values, int(rule(values) + noise > 0))
    raise HumetricError("Expected a row of this split within 1000 draws: hashes are not uniform.")


def split_of(values: Sequence[int]) -> str:
    """The only split that a row may belong to."""
    tenth = hashlib.sha256(repr(tuple(values)).encode()).digest()[0] % 10
    return next(split for split, share in _SHARES.items() if tenth in share)


def digest(values: Sequence[float]) -> str:
    """SHA-256 of a row as people read it, a column a line."""
    return fingerprint(COLUMNS, values)


@cache
def rows(split: str, count: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The first rows of a split and their labels; read-only, since they are kept."""
    drawn = [draw(index, split) for index in range(SPLITS[split] if count is None else count)]
    values = np.array([record.values for record in drawn], dtype=np.float64)
    labels = np.array([record.label for record in drawn], dtype=np.int64)
    values.flags.writeable = labels.flags.writeable = False
    return values, labels


def _person(dice: Dice) -> tuple[int, ...]:
    """All columns but the interview."""
    region = _weighted(dice, (22, 18, 20, 28, 12))
    age = 18 + _below(dice, 36) + _below(dice, 28)
    schooling = 8 + _below(dice, 7) + _below(dice, 6) - max(age - 40, 0) // 9
    schooling = max(5, min(schooling, age - 6))
    occupation = _weighted(dice, _OCCUPATION[(schooling > 10) + (schooling > 14)][region == 4])
    employer = _weighted(dice, _EMPLOYER[occupation])
    marital = _weighted(dice, _MARITAL[(age >= 27) + (age >= 40) + (age >= 60)])
    household = _household(dice, age, marital)
    hours = _hours(dice, age, employer, household)
    capital = 0
    if _chance(dice, 4 + (age - 18) // 3 + 2 * max(schooling - 12, 0)):
        capital = 5 * (1 + _below(dice, 12)) * (1 + _below(dice, 12))
    commute = 5 + _below(dice, 16) + _below(dice, _AWAY[region]) + (10 if hours >= 35 else 0)
    dwelling = _dwelling(dice, age, marital, region)
    return (
        age,
        schooling,
        occupation,
        employer,
        hours,
        marital,
        household,
        region,
        capital,
        commute,
        dwelling,
    )


_OCCUPATION = (
    ((8, 30, 26, 20, 14, 2, 0, 0, 0), (44, 20, 16, 10, 10, 0, 0, 0, 0)),
    ((2, 16, 10, 18, 14, 22, 12, 2, 4), (22, 16, 10, 12, 14, 14, 8, 2, 2)),
    ((0, 2, 2, 8, 12, 16, 20, 26, 14), (8, 2, 2, 6, 14, 14, 16, 26, 12)),
)
"""Weights by schooling, and by whether the region is Highmoor."""

_EMPLOYER = (
    (20, 4, 30, 46),
    (60, 8, 12, 20),
    (54, 24, 8, 14),
    (66, 2, 14, 18),
    (30, 52, 14, 4),
    (52, 36, 10, 2),
    (62, 22, 8, 8),
    (36, 40, 4, 20),
    (58, 18, 8, 16),
)
"""Weights by occupation."""

_MARITAL = ((86, 12, 2, 0), (44, 46, 10, 0), (18, 60, 20, 2), (10, 54, 16, 20))
"""Weights before 27, 40, 60, and after."""

_AWAY = (20, 35, 25, 45, 30)
"""Minutes on top, by region."""


def _household(dice: Dice, age: int, marital: int) -> int:
    """Couples have children at home while they are young enough; some others share."""
    if marital == MARRIED:
        return 2 + (_below(dice, 4) if 25 <= age < 55 else _below(dice, 2))
    if age < 24 and _chance(dice, 60):
        return 3 + _below(dice, 3)
    return 1 + (_below(dice, 3) if _chance(dice, 35) else 0)


def _hours(dice: Dice, age: int, employer: int, household: int) -> int:
    """Hours a week."""
    if age < 22 or age > 65 or (household > 3 and _chance(dice, 45)):
        return 12 + _below(dice, 20)
    return 40 + _below(dice, 21) if employer == OWN else 34 + _below(dice, 13)


def _dwelling(dice: Dice, age: int, marital: int, region: int) -> int:
    """The old and the married own, except in the expensive port."""
    if age < 26 and marital == SINGLE and _chance(dice, 65):
        return 2
    return int(_chance(dice, age + (15 if marital == MARRIED else 0) - (30 if region == 3 else 10)))


def _dice(key: str) -> Dice:
    """Whole numbers below DICE for ever, drawn by the block: one at a time takes far longer."""
    rng = seeded(key)
    while True:
        yield from rng.integers(DICE, size=40).tolist()


def _below(dice: Dice, stop: int) -> int:
    """A whole number from 0 to stop - 1, all alike but for one part in a million."""
    return next(dice) * stop // DICE


def _chance(dice: Dice, percent: int) -> bool:
    """True in so many of a hundred draws."""
    return next(dice) * 100 < percent * DICE


def _weighted(dice: Dice, weights: tuple[int, ...]) -> int:
    """A place, with a chance in proportion to its weight."""
    ends = _ends(weights)
    return bisect_right(ends, _below(dice, ends[-1]))


@cache
def _ends(weights: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(accumulate(weights))
