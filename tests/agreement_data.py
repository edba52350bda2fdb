"""Studies and evidence made up for tests: people and metrics whose relation is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from humetric.agreement.evidence import Evidence, Level
from humetric.human.figures import Figure
from humetric.human.study import Cell, Condition, Measure, Primary, Study


def study(
    id: str,
    values: Sequence[Sequence[float]],
    *,
    se: float = float("nan"),
    precision: float = 0.0,
    control: Sequence[float] | None = None,
    direction: Any = "higher",
) -> Study:
    """A study with rows of cells and columns of methods m0, m1 ...; made up, not published."""
    cells = [f"c{i}" for i in range(len(values))]
    methods = [f"m{i}" for i in range(len(values[0]))]
    conditions = [Condition(name, "method", name) for name in methods]
    rows = [
        (cell, method, value)
        for cell, row in zip(cells, values, strict=True)
        for method, value in zip(methods, row, strict=True)
        if not np.isnan(value)
    ]
    if control is not None:
        conditions.append(Condition("control", "control", "uninformative"))
        rows += [(cell, "control", value) for cell, value in zip(cells, control, strict=True)]
    nan = float("nan")
    return Study(
        id=id,
        version=1,
        digest="0" * 8,
        title="Made up",
        authors=("Nobody",),
        venue="a test",
        year=2026,
        url="",
        doi="",
        arxiv="",
        task="image",
        unit="method",
        protocol="",
        shown="",
        participants=None,
        participants_text="",
        exclusions="",
        standard_errors="",
        checked="",
        not_pooled="",
        caveats=(),
        cells=tuple(Cell(c, f"data {c}", f"model {c}", "") for c in cells),
        conditions=tuple(conditions),
        measures=(Measure("success", "", "ratio", direction, "success", pooled=True),),
        primary=Primary(
            "success", tuple(cells), tuple(methods), "", ("control",) if control else ()
        ),
        figures=tuple(
            Figure(c, m, "success", v, nan, nan, se, precision, None, "ratio", direction,
                   "printed", "", "")
            for c, m, v in rows
        ),
    )  # fmt: skip


def evidence(
    metric: str,
    of: str,
    values: Sequence[Sequence[float]],
    *,
    level: Level = "replica",
    derived_from: str = "",
    methods: Sequence[str] | None = None,
    direction: Any = "higher",
    made_on: str = "a setting",
    cases: Any = None,
) -> list[Evidence]:
    """Values of a metric, one row per cell."""
    names = tuple(methods or [f"m{i}" for i in range(len(values[0]))])
    return [
        Evidence(
            metric,
            "metric",
            direction,
            of,
            f"c{i}",
            level,
            made_on,
            names,
            np.array(row, dtype=np.float64),
            np.zeros(len(row)),
            cases,
            derived_from,
        )
        for i, row in enumerate(values)
    ]
