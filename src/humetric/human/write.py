"""An analysis of raw responses as a study folder that boards can read."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from humetric.cards import ID
from humetric.errors import HumetricError
from humetric.human.analysis import Analysis, Estimate, Statistic
from humetric.human.measures import meaning
from humetric.human.protocols import find_protocol
from humetric.human.schema import columns
from humetric.human.trials import CONTROL, NONE
from humetric.human.validate import problems

PRECISION = {"%": 0.01, "percentage points": 0.01, "s": 0.01}
"""Computed figures have no printed digits: below this, people tell nothing apart anyway. Values
are written in full."""
FINE = 0.0001
"""The same for shares, ratios, ratings and correlations."""
ROUNDING = 1e-9
UNSTATED = "not stated"
STANDARD_ERRORS = "Of the draws of the bootstrap, or of the model; by the protocol."
SHARED = {
    "colin2022": " Those of utility hold the baseline fixed, which all methods of a cell share and "
    "which leaves their order alone: noise ceilings take methods for independent. The intervals "
    "(low, high) include its noise."
}
"""Where the figures of a cell have noise in common."""
SMALLEST_P = 1e-6


def write_study(
    analysis: Analysis, out: Path, study: str, year: int, overwrite: bool = False
) -> Path:
    """Write ``out/study`` with study.toml, results.csv and statistics.csv, checked; its path.

    Figures that are undefined are left out of results.csv and named among the caveats. Whatever
    the responses do not say (title, authors, task, data, model) is "not stated", to be filled in by
    hand. The primary comparison is the protocol's, with the methods that have a figure in every
    cell; with fewer than two such methods, or where models are compared, nothing is pooled.
    """
    if not ID.fullmatch(study):
        raise HumetricError(
            f"Expected a study id of lower-case letters, digits and hyphens but got {study!r}: "
            "rename it with --study."
        )
    if not any(math.isfinite(e.value) for e in analysis.findings.estimates):
        raise HumetricError(
            "Expected at least one defined estimate to write but there is none: see the exclusions "
            "and notes of the analysis."
        )
    folder = out / study
    if folder.exists() and not overwrite:
        raise HumetricError(
            f"Expected no folder at {folder} but there is one: name another --study, or give "
            "--force to replace what is in it."
        )
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as room:
        draft = Path(room) / study
        draft.mkdir()
        for name, text in study_files(analysis, study, year).items():
            (draft / name).write_text(text, encoding="utf-8", newline="\n")
        found = problems(draft)
        if found:
            said = "\n".join(f"  {problem}" for problem in found[:20])
            raise HumetricError(f"The analysis does not make a valid study folder:\n{said}")
        folder.mkdir(exist_ok=True)
        for path in draft.iterdir():
            shutil.move(path, folder / path.name)
    return folder


def study_files(analysis: Analysis, study: str, year: int) -> dict[str, str]:
    """Names and contents of the files of the folder."""
    estimates = [e for e in analysis.findings.estimates if math.isfinite(e.value)]
    source = f"raw responses, {analysis.protocol}"
    figures = [_figure(estimate, source) for estimate in estimates]
    statistics = [_statistic(found, source) for found in analysis.findings.statistics]
    files = {
        "study.toml": _toml(analysis, study, year, estimates),
        "results.csv": _csv("results.csv", figures),
    }
    if statistics:
        files["statistics.csv"] = _csv("statistics.csv", statistics)
    return files


def _figure(estimate: Estimate, source: str) -> dict[str, str]:
    low, high, widened = _around(estimate.value, estimate.low, estimate.high)
    return {
        "cell": estimate.cell,
        "condition": estimate.condition,
        "measure": estimate.measure,
        "value": _number(estimate.value),
        "low": _number(low),
        "high": _number(high),
        "se": _number(estimate.se),
        "precision": _number(PRECISION.get(estimate.unit, FINE)),
        "n": str(estimate.n) if estimate.n else "",
        "unit": estimate.unit,
        "direction": estimate.direction,
        "status": "responses",
        "source": source,
        "note": "; ".join(part for part in (estimate.note, widened) if part),
    }


def _statistic(found: Statistic, source: str) -> dict[str, str]:
    low, high, widened = _around(found.value, found.low, found.high)
    return {
        "cell": found.cell,
        "condition": found.condition,
        "measure": found.measure,
        "term": found.term,
        "statistic": found.statistic,
        "value": _number(found.value),
        "low": _number(low),
        "high": _number(high),
        "p": _p(found.p),
        "n": str(found.n) if found.n else "",
        "source": source,
        "note": "; ".join(part for part in (found.note, widened) if part),
    }


def _around(value: float, low: float, high: float) -> tuple[float, float, str]:
    """An interval that contains its value: quantiles of skewed draws need not."""
    if math.isnan(low) or math.isnan(high):
        return math.nan, math.nan, ""
    wide = (min(low, value), max(high, value))
    moved = max(low - wide[0], wide[1] - high) > ROUNDING
    return *wide, "interval widened to contain the value" if moved else ""


def _number(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else ""


def _p(value: float) -> str:
    if math.isnan(value):
        return ""
    return f"<{SMALLEST_P:.6f}" if value < SMALLEST_P else f"{min(value, 0.999999):.6f}"


def _csv(name: str, rows: Sequence[dict[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns(name), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _toml(analysis: Analysis, study: str, year: int, estimates: list[Estimate]) -> str:
    chosen = find_protocol(analysis.protocol)
    screened = analysis.screened
    models = chosen.table == "alignments"
    unit = "model" if models else "method"
    dropped = [f"{e.reason}: {_counted(e.participants, e.trials)}" for e in screened.exclusions]
    undefined = [
        f"{e.measure} of {e.condition} in {e.cell} is undefined: {e.note or 'no value'}."
        for e in analysis.findings.estimates
        if not math.isfinite(e.value)
    ]
    head: list[tuple[str, object]] = [
        ("id", study),
        ("version", 1),
        ("title", f"Raw responses, analysed as {analysis.protocol}"),
        ("authors", [UNSTATED]),
        ("venue", "unpublished"),
        ("year", year),
        ("task", UNSTATED),
        ("unit", unit),
        ("protocol", f"{chosen.reference}: {chosen.summary}."),
        ("shown", UNSTATED),
        ("exclusions", "; ".join(dropped) + "." if dropped else "None."),
        ("standard_errors", STANDARD_ERRORS + SHARED.get(analysis.protocol, "")),
        ("checked", "Computed from raw responses; nothing is printed to compare with."),
    ]
    caveats = [
        "Title, authors, venue, task and what was shown are to be filled in by hand.",
        f"Computed with {analysis.settings}.",
        *screened.notes,
        *analysis.findings.notes,
        *undefined,
    ]
    primary = _primary(analysis, estimates, chosen.primary)
    reason = "Models are compared, not methods." if models else ""
    if primary is None and not reason:
        reason = f"Fewer than two methods have a {chosen.primary} in every cell."
    if primary is None or models:
        head.append(("not_pooled", reason))
    head.append(("caveats", caveats))
    lines = [f"{key} = {_value(value)}" for key, value in head]
    people: list[tuple[str, object]] = [("text", "None: models are compared.")]
    if not models:
        left = int(screened.kept["participant"].nunique())
        said = f"{screened.participants} in the file, {left} after exclusions."
        people = [("number", left), ("text", said)]
    lines += _table("[participants]", people)
    lines += _declared(estimates, models, None if models else chosen.primary, primary)
    if primary is not None and not models:
        cells, methods = primary
        lines += _table(
            "[primary]",
            [
                ("measure", chosen.primary),
                ("cells", cells),
                ("methods", methods),
                ("reason", "The protocol's own measure of success."),
            ],
        )
    return "\n".join(lines) + "\n"


def _declared(
    estimates: list[Estimate],
    models: bool,
    pooled: str | None,
    primary: tuple[list[str], list[str]] | None,
) -> list[str]:
    """Cells, conditions and measures that have a figure."""
    lines: list[str] = []
    plain = list(dict.fromkeys(e.cell for e in estimates if not e.measure.endswith("-by-test")))
    for cell in dict.fromkeys(e.cell for e in estimates):
        entry: list[tuple[str, object]] = [("id", cell), ("data", UNSTATED), ("model", UNSTATED)]
        if cell not in plain:
            entry.append(("regroups", plain))
        lines += _table("[[cells]]", entry)
    for condition in dict.fromkeys(e.condition for e in estimates):
        kind = "model" if models else "method"
        kind = {NONE: "none", CONTROL: "control"}.get(condition, kind)
        lines += _table("[[conditions]]", [("id", condition), ("kind", kind)])
    names = tuple(dict.fromkeys(e.measure for e in estimates))
    for name in names:
        first = next(e for e in estimates if e.measure == name)
        said = meaning(name, names)
        entry = [
            ("id", name),
            ("description", said.description),
            ("unit", first.unit),
            ("direction", first.direction),
            ("kind", said.kind),
        ]
        if name == pooled and primary is not None:
            entry.append(("pooled", True))
        if said.derived_from:
            entry.append(("derived_from", list(said.derived_from)))
        lines += _table("[[measures]]", entry)
    return lines


def _primary(
    analysis: Analysis, estimates: list[Estimate], measure: str
) -> tuple[list[str], list[str]] | None:
    """Cells and methods of the primary comparison: those with a figure everywhere."""
    found = [e for e in estimates if e.measure == measure and e.condition not in (NONE, CONTROL)]
    cells = list(dict.fromkeys(e.cell for e in found))
    there = {(e.cell, e.condition) for e in found}
    methods = [
        name
        for name in dict.fromkeys(e.condition for e in found)
        if all((cell, name) in there for cell in cells)
    ]
    return (cells, methods) if len(methods) >= 2 else None


def _counted(participants: int, trials: int) -> str:
    people = f"{participants} participants, " if participants else ""
    return f"{people}{trials} trials"


def _table(title: str, entries: Sequence[tuple[str, object]]) -> list[str]:
    return ["", title, *(f"{key} = {_value(value)}" for key, value in entries)]


def _value(value: object) -> str:
    """A TOML value: its strings are those of JSON, but for the delete character."""
    if isinstance(value, list):
        return "[" + ", ".join(_value(part) for part in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
