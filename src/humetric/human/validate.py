"""What is wrong with a study folder: all of it, with file, row, column and what to do."""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from humetric.human.files import Problem, Read, read_files
from humetric.human.schema import FigureRow, ScoreRow, StatisticRow, StudyForm, VariantRow

CANONICAL = (
    "saliency", "gradient-input", "integrated-gradients", "smoothgrad", "grad-cam", "occlusion",
    "lime", "kernel-shap", "rise", "anchor", "prototype", "decision-boundary", "composite",
    "omission", "coefficients", "linear-student", "linear-student-global-cues", "random",
    "constant", "edge", "magnitude", "position",
)  # fmt: skip
"""Ids of methods that studies compare. Others are welcome; a near miss is taken for a slip."""

NEAR = 0.85

Wrong = Callable[[str, str, str, str], Problem]
"""A problem of a file or row from column, what was expected, what came, what to do."""

Undeclared = Callable[[str, Sequence[str], str], Iterator[Problem]]


def problems(folder: Path) -> list[Problem]:
    """Everything that is wrong with a folder; an empty list if it can be read.

    Files are checked each on its own first, then against each other as far as they could be read.
    """
    read = read_files(folder)
    return [*read.problems, *consistency(folder, read)]


def consistency(folder: Path, read: Read) -> list[Problem]:
    """What is wrong between the parts of a folder whose parts are well-formed."""
    if read.form is None:
        return []
    return [*_form(folder, read.form), *_rows(read.form, read)]


def _form(folder: Path, form: StudyForm) -> Iterator[Problem]:
    wrong: Wrong = partial(Problem, "study.toml", 0)
    if form.id != folder.resolve().name:
        yield wrong("id", f"the folder's name {folder.resolve().name!r}", repr(form.id), "Rename.")
    ids = {
        "cells": [c.id for c in form.cells],
        "conditions": [c.id for c in form.conditions],
        "measures": [m.id for m in form.measures],
    }
    for part, names in ids.items():
        for name, count in Counter(names).items():
            if count > 1:
                yield wrong(part, f"{name!r} once", f"{count} times", "Remove or rename one.")

    def undeclared(column: str, names: Sequence[str], part: str) -> Iterator[Problem]:
        for name in names:
            if name not in ids[part]:
                yield wrong(column, f"one of the {part}", repr(name), _hint(name, ids[part]))

    for cell in form.cells:
        yield from undeclared(f"cells.{cell.id}.regroups", cell.regroups, "cells")
    for measure in form.measures:
        yield from undeclared(
            f"measures.{measure.id}.derived_from", measure.derived_from, "measures"
        )
    for condition in form.conditions:
        where = f"conditions.{condition.id}"
        if condition.same_highlights_as == condition.id:
            yield wrong(
                f"{where}.same_highlights_as", "another condition", "itself", "Remove the field."
            )
        if condition.same_highlights_as:
            yield from undeclared(
                f"{where}.same_highlights_as", [condition.same_highlights_as], "conditions"
            )
        if condition.kind == "model" and form.unit == "method":
            yield wrong(where, "no model where the unit is the method", "kind model", "Change it.")
        near = difflib.get_close_matches(condition.id, CANONICAL, n=1, cutoff=NEAR)
        if condition.kind == "method" and near and condition.id not in CANONICAL:
            remedy = f"Did you mean {near[0]!r}? If it is another method, choose another id."
            yield wrong(where, f"the canonical id {near[0]!r}", repr(condition.id), remedy)
    yield from _primary(form, wrong, undeclared)


def _primary(form: StudyForm, wrong: Wrong, undeclared: Undeclared) -> Iterator[Problem]:
    primary, pooled = form.primary, [m.id for m in form.measures if m.pooled]
    if primary is None:
        if not form.not_pooled:
            yield wrong(
                "not_pooled", "a [primary] table or a reason not to pool", "neither", "Add one."
            )
        for name in pooled:
            yield wrong(f"measures.{name}.pooled", "a [primary] table", "none", "Remove pooled.")
        return
    if form.not_pooled:
        yield wrong("not_pooled", "nothing beside a [primary] table", "a reason", "Remove one.")
    yield from undeclared("primary.measure", [primary.measure], "measures")
    yield from undeclared("primary.cells", primary.cells, "cells")
    yield from undeclared("primary.methods", primary.methods, "conditions")
    yield from undeclared("primary.sensitivity", primary.sensitivity, "conditions")
    for column in ("cells", "methods", "sensitivity"):
        for name, count in Counter(getattr(primary, column)).items():
            if count > 1:
                yield wrong(f"primary.{column}", f"{name!r} once", f"{count} times", "Remove one.")
    for name in sorted(set(primary.methods) & set(primary.sensitivity)):
        remedy = "Sensitivity is what the primary comparison leaves out: name it in one of them."
        yield wrong("primary.sensitivity", "none of primary.methods", repr(name), remedy)
    for cell in form.cells:
        for name in sorted(set(cell.regroups) & set(primary.cells)):
            if cell.id in primary.cells:
                remedy = "The same people would count twice: keep one of the two."
                came = f"{cell.id!r}, which regroups {name!r}"
                yield wrong("primary.cells", "cells with people of their own", came, remedy)
    if pooled != [primary.measure]:
        remedy = "Mark the primary measure with pooled = true, and no other."
        yield wrong("measures", f"pooled = true for {primary.measure!r}", str(pooled), remedy)
    kinds = {m.id: (m.kind, m.direction) for m in form.measures}
    kind, direction = kinds.get(primary.measure, ("success", "higher"))
    if kind != "success" or direction == "none":
        remedy = "Ratings and seconds are not success: choose another measure."
        yield wrong("primary.measure", "a success with a direction", kind, remedy)
    shown = {c.id: c.kind for c in form.conditions}
    for name in primary.methods:
        if shown.get(name, "method") != "method":
            yield wrong("primary.methods", "methods only", f"{name!r} ({shown[name]})", "Remove.")


def _rows(form: StudyForm, read: Read) -> Iterator[Problem]:
    cells, conditions = [c.id for c in form.cells], [c.id for c in form.conditions]
    measures = {m.id: m for m in form.measures}
    seen: dict[tuple[str, ...], int] = {}
    directions: dict[str, str] = {}
    results = {
        (row.data.cell, row.data.condition, row.data.measure)
        for row in read.rows.get("results.csv", [])
        if isinstance(row.data, FigureRow)
    }
    for file, rows in read.rows.items():
        for line, row in rows:
            wrong: Wrong = partial(Problem, file, line)
            optional = isinstance(row, StatisticRow)
            declared = [("cell", row.cell, cells), ("condition", row.condition, conditions)]
            if not isinstance(row, ScoreRow):
                declared.append(("measure", row.measure, list(measures)))
            for column, name, known in declared:
                if name not in known and not (optional and not name):
                    yield wrong(column, f"a {column} of study.toml", repr(name), _hint(name, known))
            if not isinstance(row, ScoreRow):
                yield from _interval(row, wrong)
            if isinstance(row, FigureRow) and row.measure in measures:
                measure = measures[row.measure]
                for column in ("unit", "direction"):
                    came, expected = getattr(row, column), getattr(measure, column)
                    if came != expected:
                        remedy = "study.toml and the file must say the same."
                        yield wrong(column, repr(expected), repr(came), remedy)
            if isinstance(row, ScoreRow):
                expected = directions.setdefault(row.metric, row.direction)
                if expected != row.direction:
                    remedy = "A metric has one direction."
                    yield wrong("direction", repr(expected), repr(row.direction), remedy)
            if (
                isinstance(row, VariantRow)
                and (row.cell, row.condition, row.measure) not in results
            ):
                remedy = "A variant replaces a figure of results.csv."
                yield wrong("", "the key of a row of results.csv", "another", remedy)
            key = _key(file, row)
            if not optional and key in seen:
                came = f"the same as in row {seen[key]}"
                yield wrong("", "each figure once", came, "Remove one of the two rows.")
            seen.setdefault(key, line)
    # A row that could not be read has been named already: it is not missing as well.
    whole = not any(problem.file == "results.csv" for problem in read.problems)
    if form.primary is not None and whole:
        for cell in form.primary.cells:
            for name in form.primary.methods:
                if (cell, name, form.primary.measure) not in results:
                    yield Problem(
                        "results.csv", 0, "", f"the {form.primary.measure} of {name} in {cell}",
                        "none", "Add the row, or take cell or method out of [primary].",
                    )  # fmt: skip


def _interval(row: FigureRow | StatisticRow, wrong: Wrong) -> Iterator[Problem]:
    """low <= value <= high, as far as they are known."""
    if math.isnan(row.low) != math.isnan(row.high):
        yield wrong("low", "both ends of the interval or neither", "one", "Add the other end.")
    elif row.low > row.high:
        yield wrong("low", f"at most high ({row.high:g})", f"{row.low:g}", "Check both ends.")
    elif row.value < row.low or row.value > row.high:
        came = f"{row.value:g}"
        yield wrong("value", f"{row.low:g} to {row.high:g}", came, "Check value and interval.")


def _key(file: str, row: FigureRow | ScoreRow | StatisticRow) -> tuple[str, ...]:
    if isinstance(row, ScoreRow):
        return (file, row.cell, row.condition, row.metric)
    variant = row.variant if isinstance(row, VariantRow) else ""
    return (file, variant, row.cell, row.condition, row.measure)


def _hint(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
    if close:
        return f"Did you mean {' or '.join(map(repr, close))}?"
    return f"Declare it in study.toml, or use one of {', '.join(known)}."
