"""What a study published: figures, scores, statistics; and figures as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from humetric.errors import HumetricError

Direction = Literal["higher", "lower", "none"]
"""Which way is better; ``none`` where neither is."""

Status = Literal["printed", "read-off", "inferred", "notebook", "responses"]
"""In the paper's text or tables; read off a plot; computed here from printed figures; from the
authors' files, unchecked; computed here from raw responses."""


@dataclass(frozen=True)
class Figure:
    """A published number. NaN: not published."""

    cell: str
    condition: str
    measure: str
    value: float
    low: float
    high: float
    se: float
    precision: float
    n: int | None
    unit: str
    direction: Direction
    status: Status
    source: str
    note: str


@dataclass(frozen=True)
class Score:
    """A score of an automatic metric that the paper itself published."""

    cell: str
    condition: str
    metric: str
    value: float
    precision: float
    direction: Direction
    status: Status
    source: str
    note: str


@dataclass(frozen=True)
class Statistic:
    """Something that the paper computed: a correlation, a coefficient, a test."""

    cell: str
    condition: str
    measure: str
    term: str
    statistic: str
    value: float
    low: float
    high: float
    p: str
    """As printed: a number, or a bound such as ``<0.05``."""
    n: int | None
    source: str
    note: str


class Measured(NamedTuple):
    """Figures as arrays, one row per cell and one column per method. NaN: there is none.

    Two values are told apart if they differ by at least the larger of their precisions.
    """

    name: str
    direction: Direction
    cells: tuple[str, ...]
    methods: tuple[str, ...]
    value: NDArray[np.float64]
    se: NDArray[np.float64]
    precision: NDArray[np.float64]
    oriented: bool = False

    def orient(self) -> Measured:
        """The same with the sign turned where lower is better, so that higher is better."""
        if self.direction == "none":
            raise HumetricError(
                f"Expected a measure with a direction but {self.name} has none: neither more nor "
                f"less of it is success, so methods cannot be ordered by it."
            )
        turned = self.direction == "lower" and not self.oriented
        return self._replace(value=-self.value if turned else self.value, oriented=True)
