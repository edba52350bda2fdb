"""The form of a study folder: fields of study.toml, columns of the CSV files."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from humetric.cards import ID
from humetric.human.figures import Direction, Status
from humetric.human.study import ConditionKind, MeasureKind, Unit

NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"


def _blank_is_unknown(value: Any) -> Any:
    """An empty field is NaN; "nan" and "inf" written out are not numbers that anyone published."""
    return math.nan if value is None or (isinstance(value, str) and not value.strip()) else value


def _written_number(value: Any) -> Any:
    words = value.strip() if isinstance(value, str) else ""
    if words and not (re.fullmatch(NUMBER, words) and math.isfinite(float(words))):
        raise ValueError("should be a finite number, such as 0.93 or -1.5")
    return value


def _p(value: str) -> str:
    number = value.removeprefix("<").removeprefix(">")
    if value and not (re.fullmatch(NUMBER, number) and 0 <= float(number) <= 1):
        raise ValueError("should be a probability or a bound of one, such as 0.04 or <0.05")
    return value


def _positive(value: float) -> float:
    if not value > 0:
        raise ValueError("should be more than 0")
    return value


def _not_negative(value: float) -> float:
    if value < 0:
        raise ValueError("should not be negative")
    return value


Id = Annotated[str, Field(pattern=f"^{ID.pattern}$")]
Text = Annotated[str, Field(min_length=1)]
Given = Annotated[float, BeforeValidator(_written_number)]
Known = Annotated[float, BeforeValidator(_blank_is_unknown), BeforeValidator(_written_number)]
Count = Annotated[
    int | None,
    BeforeValidator(lambda value: None if value == "" else value),
    AfterValidator(lambda value: value if value is None else int(_positive(value))),
]
P = Annotated[str, AfterValidator(_p)]


class Strict(BaseModel):
    """No field that the form does not know; text without blanks around it."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class CellForm(Strict):
    """A [[cells]] entry."""

    id: Id
    data: Text
    model: Text
    description: str = ""
    regroups: tuple[Id, ...] = ()


class ConditionForm(Strict):
    """A [[conditions]] entry."""

    id: Id
    kind: ConditionKind
    description: str = ""
    same_highlights_as: str = ""


class MeasureForm(Strict):
    """A [[measures]] entry."""

    id: Id
    description: Text
    unit: Text
    direction: Direction
    kind: MeasureKind
    pooled: bool = False
    derived_from: tuple[Id, ...] = ()


class PrimaryForm(Strict):
    """The [primary] table."""

    measure: Id
    cells: tuple[Id, ...] = Field(min_length=1)
    methods: tuple[Id, ...] = Field(min_length=2)
    reason: Text
    sensitivity: tuple[Id, ...] = ()


class ParticipantsForm(Strict):
    """The [participants] table."""

    number: int | None = Field(default=None, gt=0)
    text: Text


class StudyForm(Strict):
    """All of study.toml."""

    id: Id
    version: int = Field(gt=0)
    title: Text
    authors: tuple[Text, ...] = Field(min_length=1)
    venue: Text
    year: int = Field(gt=1900, lt=2200)
    url: str = ""
    doi: str = ""
    arxiv: str = ""
    task: Text
    unit: Unit
    protocol: Text
    shown: Text
    exclusions: Text
    standard_errors: Text
    checked: Text
    not_pooled: str = ""
    caveats: tuple[Text, ...] = ()
    participants: ParticipantsForm
    cells: tuple[CellForm, ...] = Field(min_length=1)
    conditions: tuple[ConditionForm, ...] = Field(min_length=1)
    measures: tuple[MeasureForm, ...] = Field(min_length=1)
    primary: PrimaryForm | None = None


class FigureRow(Strict):
    """A row of results.csv."""

    cell: Id
    condition: Id
    measure: Id
    value: Given
    low: Known
    high: Known
    se: Annotated[Known, AfterValidator(_not_negative)]
    precision: Annotated[Given, AfterValidator(_positive)]
    n: Count
    unit: Text
    direction: Direction
    status: Status
    source: Text
    note: str


class VariantRow(FigureRow):
    """A row of variants.csv: it takes the place of the row of results.csv with the same key."""

    variant: Id


class ScoreRow(Strict):
    """A row of scores.csv."""

    cell: Id
    condition: Id
    metric: Id
    value: Given
    precision: Annotated[Given, AfterValidator(_positive)]
    direction: Direction
    status: Status
    source: Text
    note: str


class StatisticRow(Strict):
    """A row of statistics.csv."""

    cell: str
    condition: str
    measure: str
    term: Text
    statistic: Text
    value: Known
    low: Known
    high: Known
    p: P
    n: Count
    source: Text
    note: str


ROWS: dict[str, type[FigureRow | VariantRow | ScoreRow | StatisticRow]] = {
    "results.csv": FigureRow,
    "variants.csv": VariantRow,
    "scores.csv": ScoreRow,
    "statistics.csv": StatisticRow,
}
"""The CSV files of a folder; all but results.csv may be absent."""


def columns(name: str) -> list[str]:
    """Columns of a file, in order; ``variant`` leads."""
    fields = list(ROWS[name].model_fields)
    return ["variant", *fields[:-1]] if fields[-1] == "variant" else fields
