"""Results made by hand, for tests of what is made from results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from humetric import METHODS, METRICS
from humetric.human.read import load_studies
from humetric.results.result import COLUMNS, Failure, Result

SETTING = "image/a/b"

ABOUT: Mapping[str, Any] = {
    "seed": 0,
    "suite": "hand",
    "suite_version": 3,
    "device": "cpu",
    "precision": "fp32",
    "settings": {SETTING: "data 7"},
    "environment": {"humetric": "0.1.0", "revision": "abc123", "memory": "3.2 GiB available"},
    "seconds": 12.5,
    "model_calls": 99,
}

Rows = list[tuple[str, str, str, float]]
"""(case, method, metric, value)."""


def result_of(
    rows: Rows,
    failures: tuple[Failure, ...] = (),
    metrics: tuple[str, ...] = ("deletion", "mu-fidelity"),
    setting: str = SETTING,
    about: Mapping[str, Any] = ABOUT,
) -> Result:
    """A result of one setting with the cards that are registered."""
    return Result(
        scores=pd.DataFrame([(setting, *row) for row in rows], columns=COLUMNS),
        curves={},
        failures=failures,
        skips=(),
        methods={name: METHODS.make(name).card for name in METHODS},
        metrics={name: METRICS.make(name).card for name in metrics},
        provenance=about,
    )


def drawn(means: Mapping[str, float], cases: int = 24, metric: str = "deletion") -> Rows:
    """Values of methods around their means (standard deviation .05 and a case effect of .2)."""
    draw = np.random.default_rng(0)
    effect = draw.normal(0, 0.2, cases)
    return [
        (f"c{i:02}", method, metric, float(mean + effect[i] + draw.normal(0, 0.05)))
        for method, mean in means.items()
        for i in range(cases)
    ]


def like_people(level: str, metric: str = "insertion") -> Result:
    """A run of one setting whose metric orders methods as people did (colin2022, husky-wolf)."""
    human = load_studies()["colin2022"].matrix()
    row = human.cells.index("husky-wolf")
    rows = [
        (f"c{i}", method, metric, float(value) + i / 1000)
        for method, value in zip(human.methods, human.value[row], strict=True)
        for i in range(4)
    ]
    pair = {"study": "colin2022", "cell": "husky-wolf", "evidence": level}
    about = {**ABOUT, "pairs": {SETTING: [pair]}, "cases": {SETTING: 4}}
    return result_of(rows, metrics=(metric,), about=about)
