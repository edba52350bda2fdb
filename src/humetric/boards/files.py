"""The files of a run's boards: Markdown to read, CSV to compute with, JSON for programs."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from humetric.agreement.report import Agreement, agreement
from humetric.alignment.rows import Section
from humetric.boards.method_board import Cell, Column, MethodBoard, Row, legend
from humetric.boards.metric_board import metric_board_files
from humetric.boards.model_board import model_board_files
from humetric.boards.of_settings import footnote_part, marks_of, settings_part, settings_rows
from humetric.boards.pictures.draw import model_pictures, pictures
from humetric.boards.pictures.sheet import small
from humetric.boards.settings_line import settings_line
from humetric.boards.task_board import Boards, TaskBoard, boards_of
from humetric.human.read import load_studies
from humetric.results.files import write_whole
from humetric.results.published import is_published
from humetric.results.result import Result
from humetric.stats.steady import six

FOLDER = "boards"
TOY = "metrics-scatter-toy.png"
"""Not published: megabytes of what is no evidence."""

_CELL = (
    "method", "control", "metric", "metric_version", "direction", "n", "undefined",
    "mean", "low", "high", "rank_best", "rank_worst", "group",
)  # fmt: skip
FIELDS = ("setting", *_CELL)
"""Of methods.csv."""
TASK_FIELDS = ("task", "settings", "of", *_CELL)
"""Of tasks.csv; settings: how many the mean is over, of: how many the metric was measured on."""


def judged(result: Result, human_data: Sequence[Path] = ()) -> Agreement:
    """How far the metrics of a run agree with people, by the bundled studies and others."""
    return agreement(load_studies(human_data), result, seed=int(result.provenance.get("seed", 0)))


def board_files(
    result: Result,
    found: Agreement | None = None,
    sections: Sequence[Section] = (),
    human_data: Sequence[Path] = (),
    made: Boards | None = None,
) -> dict[str, str]:
    """File name -> text, the same to the byte whenever it is made from the same result.

    With an agreement the metric board is among them, and the others carry its verdicts; with
    sections of the model board it is. ``human_data`` are the places of further
    studies, named so that a check finds them. ``made`` are the method boards where they are known
    already: they take a while.
    """
    made = made or boards_of(result, None if found is None else found.verdicts())
    rows = [row for board in made.settings for row in tidy(board)]
    of_tasks = [row for board in made.tasks for row in tidy_task(board)]
    files = {
        "methods.md": _page(made, result),
        "methods.csv": _csv(FIELDS, rows),
        "methods.json": _json(rows, of_tasks, made, result, human_data),
        "tasks.csv": _csv(TASK_FIELDS, of_tasks),
    }
    files |= {} if found is None else metric_board_files(found, _notes_of_paired(result))
    return files | (model_board_files(sections, load_studies()["prasad2021"]) if sections else {})


def _page(made: Boards, result: Result) -> str:
    """What was run, then tasks, then the settings that are not shown with the tasks already."""
    parts = ["# Method boards", "", *settings_part(result), "## Tasks", ""]
    for task in made.tasks:
        parts += [task.markdown(), *_marks(result, [board.setting for board in task.boards])]
    apart = made.apart()
    parts += ["## Settings", ""] if apart else []
    for board in apart:
        parts += [board.markdown(), *_marks(result, [board.setting])]
    notes = footnote_part(result)
    return "\n".join([*parts, legend(result), *([""] if notes else []), *notes]) + "\n"


def _marks(result: Result, settings: Sequence[str]) -> list[str]:
    line = marks_of(result, settings)
    return [line, ""] if line else []


def _notes_of_paired(result: Result) -> list[str]:
    """Notes on the settings that stand beside a study, for the metric board."""
    return [
        f"{row['setting']}: {note}"
        for row in settings_rows(result)
        if row["pairs"]
        for note in row["notes"]
    ]


def boards_in(folder: Path) -> Path:
    """Where the boards of a folder lie: of published results beside them."""
    return folder if is_published(folder) else folder / FOLDER


def places_of(folder: Path) -> list[Path]:
    """Where the further studies lie that the boards of a run were made with; relative to the
    folder that humetric was called from."""
    try:
        data = json.loads((boards_in(folder) / "methods.json").read_text(encoding="utf-8"))
        return [Path(place) for place in data["human_data"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def write_boards(
    files: Mapping[str, str],
    folder: Path,
    found: Agreement | None = None,
    sections: Sequence[Section] = (),
) -> list[Path]:
    """Write the board files where they belong, each whole or not at all.

    With an agreement and with sections also the pictures of their boards; these are not compared
    byte by byte, since fonts differ.
    """
    target = boards_in(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        write_whole(target / name, text)
    drawn = {} if found is None else pictures(found)
    drawn |= model_pictures(sections, load_studies()["prasad2021"]) if sections else {}
    if is_published(folder):
        drawn = {n: small(content) for n, content in drawn.items() if n != TOY}
    for name, content in drawn.items():
        write_whole(target / name, content)
    return [target / name for name in (*files, *drawn)]


def tidy(board: MethodBoard) -> list[dict[str, Any]]:
    """One row per method and metric; None for what is undefined or has no place.

    Where not all cases were scored, the group says ``failed`` or ``missing``, and n is 0.
    """
    return [{"setting": board.setting} | _plain(*parts) for parts in _cells(board)]


def tidy_task(board: TaskBoard) -> list[dict[str, Any]]:
    """One row per method and metric, as of a setting; n and undefined are over all settings.

    ``settings`` of ``of`` are what the mean is over: where it is fewer, there is no place.
    """
    return [
        {"task": board.task, "settings": cell.settings, "of": cell.of} | _plain(row, column, cell)
        for row, column, cell in _cells(board)
    ]


def _cells(board: MethodBoard | TaskBoard) -> Iterator[tuple[Row, Column, Cell]]:
    for row in board.rows:
        for column, cell in zip(board.columns, row.cells, strict=True):
            yield row, column, cell


def _plain(row: Row, column: Column, cell: Cell) -> dict[str, Any]:
    return {
        "method": row.method,
        "control": row.control,
        "metric": column.metric,
        "metric_version": column.version,
        "direction": column.direction,
        "n": cell.n,
        "undefined": cell.undefined,
        "mean": six(cell.mean),
        "low": six(cell.low),
        "high": six(cell.high),
        "rank_best": cell.rank.best if cell.rank else None,
        "rank_worst": cell.rank.worst if cell.rank else None,
        "group": cell.gap or (cell.rank.group if cell.rank else None),
    }


def _csv(names: Sequence[str], rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _json(
    rows: list[dict[str, Any]],
    of_tasks: list[dict[str, Any]],
    made: Boards,
    result: Result,
    human_data: Sequence[Path],
) -> str:
    boards = made.settings
    data = {
        "settings": settings_line(result),
        "human_data": [str(place) for place in human_data],
        "run": settings_rows(result),
        "cases": {board.setting: board.cases for board in boards},
        "incomplete": {board.setting: board.missing for board in boards if board.missing},
        "verdicts": {c.metric: c.verdict for b in boards for c in b.columns if c.verdict},
        "superseded": sorted({c.metric for b in boards for c in b.columns if c.superseded}),
        "tasks": {b.task: [s.setting for s in b.boards] for b in made.tasks},
        "task_board": of_tasks,
        "board": rows,
        "failures": [vars(failure) for failure in result.failures],
        "skips": [vars(skip) for skip in result.skips],
        "methods": {name: card.describe() for name, card in result.methods.items()},
        "metrics": {name: card.describe() for name, card in result.metrics.items()},
    }
    return json.dumps(_finite(data), indent=1, ensure_ascii=False, default=str) + "\n"


def _finite(data: Any) -> Any:
    """Plain data with text for what JSON has no number for (a range without an end)."""
    if isinstance(data, float) and not math.isfinite(data):
        return str(data)
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return data


def first_difference(files: dict[str, str], folder: Path) -> str:
    """The first file and line that is not what it should be, in a sentence; empty if none."""
    for name, text in files.items():
        path = folder / name
        if not path.is_file():
            return f"{path} is missing."
        there = path.read_bytes()
        if there == text.encode():
            continue
        wanted, found = text.encode().split(b"\n"), there.split(b"\n")
        same = next(
            (i for i, (a, b) in enumerate(zip(wanted, found, strict=False)) if a != b),
            min(len(wanted), len(found)),
        )
        return f"{path} differs from line {same + 1} on."
    return ""
