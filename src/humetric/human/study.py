"""A study as plain data, and its figures as arrays.

A study has cells (a data set and a model), conditions (what people were shown: a method, nothing, a
control) and measures (what was measured). A figure belongs to one of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from humetric.errors import HumetricError, UnknownNameError
from humetric.human.figures import Direction, Figure, Measured, Score, Statistic

Unit = Literal["method", "model"]
ConditionKind = Literal["method", "none", "control", "reference", "model"]
MeasureKind = Literal["success", "rating", "time", "other"]


@dataclass(frozen=True)
class Cell:
    """A data set and a model on which conditions were compared."""

    id: str
    data: str
    model: str
    description: str
    regroups: tuple[str, ...] = ()
    """Cells whose responses this one divides in another way: not independent of them."""


@dataclass(frozen=True)
class Condition:
    """What one group of people was shown."""

    id: str
    kind: ConditionKind
    description: str
    same_highlights_as: str = ""
    """The condition with the same attribution, where this one shows something besides."""


@dataclass(frozen=True)
class Measure:
    """One thing that was measured. Only kind ``success`` says that explanations helped."""

    id: str
    description: str
    unit: str
    direction: Direction
    kind: MeasureKind
    pooled: bool = False
    derived_from: tuple[str, ...] = ()
    """Measures of the same responses: never count them twice."""


@dataclass(frozen=True)
class Primary:
    """The comparison that enters across studies, declared before any metric was compared."""

    measure: str
    cells: tuple[str, ...]
    methods: tuple[str, ...]
    reason: str
    sensitivity: tuple[str, ...] = ()
    """Conditions that enter only as a check, or for metrics that see what they show besides."""


@dataclass(frozen=True)
class Study:
    """A published human experiment with all its figures."""

    id: str
    version: int
    digest: str
    title: str
    authors: tuple[str, ...]
    venue: str
    year: int
    url: str
    doi: str
    arxiv: str
    task: str
    unit: Unit
    protocol: str
    shown: str
    participants: int | None
    participants_text: str
    exclusions: str
    standard_errors: str
    checked: str
    not_pooled: str
    caveats: tuple[str, ...]
    cells: tuple[Cell, ...]
    conditions: tuple[Condition, ...]
    measures: tuple[Measure, ...]
    primary: Primary | None
    figures: tuple[Figure, ...]
    scores: tuple[Score, ...] = ()
    statistics: tuple[Statistic, ...] = ()
    variants: tuple[str, ...] = ()
    """Variants that were asked for when the study was read."""
    known_variants: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Name, version, digest and variants, for the settings line of a board."""
        extra = "".join(f"+{variant}" for variant in self.variants)
        return f"{self.id} v{self.version} ({self.digest}{extra})"

    @property
    def citation(self) -> str:
        """Authors, year, title and venue in one line."""
        who = self.authors[0].split()[-1] if self.authors else self.id
        names = (
            f"{who} et al."
            if len(self.authors) > 2
            else " and ".join(name.split()[-1] for name in self.authors)
        )
        end = "" if self.title[-1] in "?!." else "."
        return f"{names} ({self.year}). {self.title}{end} {self.venue}."

    @property
    def methods(self) -> tuple[str, ...]:
        """Conditions that are methods (or models, where the unit is the model)."""
        return tuple(c.id for c in self.conditions if c.kind == self.unit)

    @property
    def cue_conditions(self) -> tuple[str, ...]:
        """Methods that enter the primary comparison only for metrics that see what they add."""
        names = self.primary.sensitivity if self.primary else ()
        return tuple(name for name in names if self.condition(name).same_highlights_as)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Automatic metrics whose scores the paper published."""
        return tuple(dict.fromkeys(score.metric for score in self.scores))

    def cell(self, id: str) -> Cell:
        """A cell by id."""
        return _by_id("cell", self.id, id, self.cells)

    def condition(self, id: str) -> Condition:
        """A condition by id."""
        return _by_id("condition", self.id, id, self.conditions)

    def measure(self, id: str) -> Measure:
        """A measure by id."""
        return _by_id("measure", self.id, id, self.measures)

    def table(self, measure: str) -> tuple[Figure, ...]:
        """All figures of a measure, in the order of the file."""
        self.measure(measure)
        return tuple(figure for figure in self.figures if figure.measure == measure)

    def matrix(
        self,
        measure: str | None = None,
        cells: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
    ) -> Measured:
        """Figures of a measure as arrays.

        Without a measure it is the primary one, with the primary's cells and methods. Otherwise
        cells default to those that have a figure, methods to all conditions of kind ``method``
        (or ``model``) that have one.
        """
        if measure is None:
            primary = self._declared_primary()
            measure = primary.measure
            cells = primary.cells if cells is None else cells
            methods = primary.methods if methods is None else methods
        found = {(f.cell, f.condition): f for f in self.table(measure)}
        if cells is None:
            cells = [c.id for c in self.cells if any(key[0] == c.id for key in found)]
        if methods is None:
            methods = [m for m in self.methods if any(key[1] == m for key in found)]
        for name in cells:
            self.cell(name)
        for name in methods:
            self.condition(name)
        filled = [[found.get((c, m)) for m in methods] for c in cells]
        shape = (len(cells), len(methods))

        def array(field: Literal["value", "se", "precision"]) -> NDArray[np.float64]:
            return np.array(
                [[np.nan if f is None else getattr(f, field) for f in row] for row in filled],
                dtype=np.float64,
            ).reshape(shape)

        return Measured(
            measure,
            self.measure(measure).direction,
            tuple(cells),
            tuple(methods),
            array("value"),
            array("se"),
            array("precision"),
        )

    def scores_matrix(
        self,
        metric: str,
        cells: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
    ) -> Measured:
        """Published scores of an automatic metric as arrays; standard errors are unknown.

        Cells and methods default to those of the primary comparison, else to all.
        """
        if metric not in self.metrics:
            raise UnknownNameError(f"published metric of {self.id}", metric, self.metrics)
        if cells is None:
            cells = self.primary.cells if self.primary else [c.id for c in self.cells]
        if methods is None:
            methods = self.primary.methods if self.primary else self.methods
        found = {(s.cell, s.condition): s for s in self.scores if s.metric == metric}
        value = np.full((len(cells), len(methods)), np.nan)
        precision = value.copy()
        for i, cell in enumerate(cells):
            for j, name in enumerate(methods):
                if score := found.get((self.cell(cell).id, self.condition(name).id)):
                    value[i, j], precision[i, j] = score.value, score.precision
        direction = next(iter(found.values())).direction
        unknown = np.full_like(value, np.nan)
        return Measured(metric, direction, tuple(cells), tuple(methods), value, unknown, precision)

    def _declared_primary(self) -> Primary:
        if self.primary is None:
            raise HumetricError(
                f"{self.id} has no primary measure: {self.not_pooled} "
                f"Name a measure: {', '.join(m.id for m in self.measures)}."
            )
        return self.primary


Part = TypeVar("Part", Cell, Condition, Measure)


def _by_id(kind: str, study: str, id: str, items: tuple[Part, ...]) -> Part:
    for item in items:
        if item.id == id:
            return item
    raise UnknownNameError(f"{kind} of {study}", id, [item.id for item in items])
