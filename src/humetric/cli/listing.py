"""``humetric list``: what there is."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.table import Table

from humetric.cards import Card, summary_of
from humetric.cli.app import app, out, print_json

ONLY_JSON = {
    "version",
    "reference",
    "parameters",
    "passes",
    "scope",
    "derived_from",
    "deprecated",
    "gives",
    "reads",
    "signed",
    "source",
    "range",
    "digest",
    "pairs",
    "uses",
    "compares",
    "weights",
}
"""Columns that would make a table too wide for a terminal."""
WRAPPED = ("summary", "task", "tasks", "classes", "needs")
"""Columns that may take several lines."""


class Kind(StrEnum):
    """What can be listed."""

    suites = "suites"
    tasks = "tasks"
    settings = "settings"
    methods = "methods"
    metrics = "metrics"
    studies = "studies"


@app.command("list")
def list_(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List suites, tasks, settings, methods, metrics or studies."""
    rows = LISTS[kind]()
    if as_json:
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    columns = sorted((c for c in rows[0] if c not in ONLY_JSON), key=lambda c: c == "summary")
    for column in columns:
        table.add_column(column, no_wrap=column not in WRAPPED)
    for row in rows:
        table.add_row(*(_text(row[column]) for column in columns))
    out.print(table)


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return (
        {True: "yes", False: ""}.get(value, str(value)) if isinstance(value, bool) else str(value)
    )


def _suites() -> list[dict[str, Any]]:
    from humetric.suites import known_suites, load_suite

    suites = [load_suite(name) for name in known_suites()]
    return [
        {
            "suite": s.id,
            "version": s.version,
            "settings": len(s.settings),
            "methods": len(s.methods),
            "metrics": len(s.metrics),
            "cases": s.cases,
            "summary": s.summary,
        }
        for s in suites
    ]


def _tasks() -> list[dict[str, Any]]:
    from humetric.tasks import TASKS

    return [{"task": name, "summary": summary_of(task)} for name, task in TASKS.items()]


def _settings() -> list[dict[str, Any]]:
    from humetric.settings import REAL
    from humetric.settings.files import recorded
    from humetric.tasks.named import embedded_settings, load_setting

    rows = []
    for name in embedded_settings():
        setting = load_setting(name)
        right = int(setting.right.sum())
        rows.append(
            {
                "setting": name,
                "task": setting.task.id,
                "version": setting.version,
                "cases": len(setting),
                "model right": right,
                "classes": list(setting.classes),
                "gives": sorted(setting.model.gives),
                "needs": [],
            }
        )
    for name, declared in sorted(REAL.items()):  # not loaded: what they need may not be here
        cases = recorded(declared.cases or name).get("cases", [])
        right = sum(row["predicted"] == row["label"] for row in cases)
        rows.append(
            {
                "setting": name,
                "task": name.partition("/")[0],
                "version": recorded(name).get("weights", ""),
                "cases": len(cases),
                "model right": "" if declared.cases else right,  # the cases' own model's
                "classes": [],
                "gives": [],
                "needs": list(declared.sources),
            }
        )
    return rows


def _methods() -> list[dict[str, Any]]:
    from humetric.methods import METHODS

    return [_row("method", METHODS.make(name).card) for name in METHODS]


def _metrics() -> list[dict[str, Any]]:
    from humetric.metrics import METRICS

    return [_row("metric", METRICS.make(name).card) for name in METRICS]


def _row(kind: str, card: Card) -> dict[str, Any]:
    """A card as a row, its name under the name of its kind."""
    plain = card.describe()
    return {kind: plain.pop("id")} | plain


def _studies() -> list[dict[str, Any]]:
    """Bundled studies, and the settings of suites that are paired with them."""
    from humetric.human.read import load_studies
    from humetric.suites import known_suites, load_suite

    pairs = [
        {"suite": name, "setting": setting.id} | pair.model_dump()
        for name in known_suites()
        for setting in load_suite(name).settings
        for pair in setting.pairs
    ]
    return [
        {
            "study": study.id,
            "version": study.version,
            "digest": study.digest,
            "task": study.task,
            "cells": len(study.primary.cells if study.primary else study.cells),
            "compares": f"{len(compared)} {study.unit}s",
            "people": study.participants or "?",
            "primary": study.primary.measure if study.primary else "none",
            "pairs": [pair for pair in pairs if pair["study"] == study.id],
            "settings": sum(pair["study"] == study.id for pair in pairs),
            "reference": study.citation,
        }
        for study in load_studies().values()
        for compared in [study.primary.methods if study.primary else study.methods]
    ]


LISTS = {
    Kind.suites: _suites,
    Kind.tasks: _tasks,
    Kind.settings: _settings,
    Kind.methods: _methods,
    Kind.metrics: _metrics,
    Kind.studies: _studies,
}
