"""Per-case scores and curves of a run, and where they came from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd
from torch import Tensor

from humetric.cards import MethodCard, MetricCard
from humetric.results.files import write_whole

COLUMNS = ["setting", "case", "method", "metric", "value"]


@dataclass(frozen=True)
class Failure:
    """A method (or a metric of it) that did not finish on a setting, and what it said."""

    setting: str
    method: str
    metric: str
    message: str


@dataclass(frozen=True)
class Skip:
    """A method (or a metric, and then no method) that was not run on a setting, and why."""

    setting: str
    method: str
    reason: str
    metric: str = ""

    @property
    def name(self) -> str:
        """What was not run."""
        return self.method or self.metric


@dataclass
class Spent:
    """What results of a setting took, as was noted when each was made: explanations, scores and
    simulated users, without loading and without what failed."""

    seconds: float = 0.0
    calls: int = 0
    """Rows that the model was asked forward; shared questions once."""
    gradients: int = 0
    """Rows that were passed forward and backward besides."""
    metrics: dict[str, list[int]] = field(default_factory=dict)
    """By metric with a value per case: calls, and pairs of case and method."""
    revisions: set[str] = field(default_factory=set)
    """Of the code."""

    def add(
        self, about: Mapping[str, Any], metric: str = "", cases: int = 0, gradients: int = 0
    ) -> None:
        """Add what was noted beside a record."""
        self.seconds += about.get("seconds", 0.0)
        self.calls += about.get("model_calls", 0)
        self.gradients += gradients
        self.revisions |= {about.get("environment", {}).get("revision", "")} - {""}
        if metric:
            of = self.metrics.setdefault(metric, [0, 0])
            of[0] += about.get("model_calls", 0)
            of[1] += cases


@dataclass(frozen=True)
class Result:
    """Everything that a run found out."""

    scores: pd.DataFrame
    """One row per (setting, case, method, metric); value is NaN where the metric is undefined."""
    curves: Mapping[tuple[str, str, str, str], list[float]]
    """By (setting, case, method, metric)."""
    failures: tuple[Failure, ...]
    skips: tuple[Skip, ...]
    methods: Mapping[str, MethodCard]
    metrics: Mapping[str, MetricCard]
    provenance: Mapping[str, Any]
    calls: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Model calls that a method's explanation of a case takes, by (setting, method): questions and
    gradient passes. Counted, where time would depend on the machine."""
    damaged: tuple[Path, ...] = ()
    """Stored records that were found damaged and computed anew."""
    more: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    """What methods have to show of a setting as a whole beside their maps, by (setting, method)."""

    controls: Mapping[tuple[str, str, str], Mapping[str, float]] = field(default_factory=dict)
    """By (setting, method, metric), of simulated users: what they do with no explanation, or with
    shuffled ones, as means over replicates."""
    spent: Mapping[str, Spent] = field(default_factory=dict)
    """By setting, of published results: what they took."""

    def notes(self) -> list[str]:
        """What methods want to be known of their explanations, in sentences, each once."""
        said: dict[tuple[str, str], list[str]] = {}
        for (setting, method), more in self.more.items():
            if "note" in more:
                said.setdefault((setting, str(more["note"])), []).append(method)
        return [f"{', '.join(who)} on {where}: {note}" for (where, note), who in said.items()]

    def records(self) -> list[dict[str, Any]]:
        """The scores as plain data for JSON, None where undefined."""
        rows = [
            dict(zip(COLUMNS, row, strict=True)) for row in self.scores[COLUMNS].to_numpy().tolist()
        ]
        return [
            row | {"value": None if row["value"] != row["value"] else row["value"]} for row in rows
        ]

    def manifest(
        self,
        cases: Mapping[str, Sequence[str]],
        beside: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """The run as run.json describes it, by the ids of each setting's cases.

        ``beside`` says by setting which other cases values depend on: its ``reference``, its
        ``panel``, its ``rivals`` with their versions.
        """
        versions = self.provenance["settings"]
        settings: dict[str, dict[str, Any]] = {
            name: {"version": versions[name], "cases": list(cases[name])} for name in cases
        }
        for name, others in beside.items():
            settings[name] |= others
        return {
            **{k: v for k, v in self.provenance.items() if k not in ("settings", "cases")},
            "settings": settings,
            "methods": {name: card.describe() for name, card in self.methods.items()},
            "metrics": {name: card.describe() for name, card in self.metrics.items()},
            "failures": [asdict(failure) for failure in self.failures],
            "skips": [asdict(skip) for skip in self.skips],
        }

    def tables(self) -> dict[str, str]:
        """scores.csv and curves.json for other programs, by name."""
        curves = [
            dict(zip(COLUMNS, key, strict=False)) | {"curve": c} for key, c in self.curves.items()
        ]
        scores = self.scores.to_csv(index=False, lineterminator="\n")
        return {"scores.csv": scores, "curves.json": json.dumps(curves)}

    def write_tables(self, folder: Path) -> None:
        """Write the tables, each whole or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.tables().items():
            write_whole(folder / name, text)


def curve_points(curve: Tensor) -> list[list[float]]:
    """Curves (cases, points) as lists, each without the NaN after its own last point."""
    rows: list[list[float]] = curve.tolist()
    for row in rows:
        while row and row[-1] != row[-1]:
            row.pop()
    return rows
