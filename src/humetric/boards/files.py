"""The files of a run's boards: Markdown to read, CSV to compute with, JSON for programs."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humetric.agreement.report import Agreement, agreement
from humetric.alignment.report import Report, read_reports
from humetric.boards.method_board import MethodBoard, legend, method_boards
from humetric.boards.metric_board import metric_board_files
from humetric.boards.model_board import model_board_files
from humetric.boards.pictures.draw import pictures
from humetric.boards.settings_line import settings_line
from humetric.human.read import load_studies
from humetric.results.files import write_whole
from humetric.results.result import Result

FOLDER = "boards"

FIELDS = (
    "setting", "method", "control", "metric", "metric_version", "direction", "n", "undefined",
    "mean", "low", "high", "rank_best", "rank_worst", "group",
)  # fmt: skip


def judged(result: Result, human_data: Sequence[Path] = ()) -> Agreement:
    """How far the metrics of a run agree with people, by the bundled studies and others."""
    return agreement(load_studies(human_data), result, seed=int(result.provenance.get("seed", 0)))


def board_files(
    result: Result,
    found: Agreement | None = None,
    reports: Sequence[Report] = (),
    human_data: Sequence[Path] = (),
) -> dict[str, str]:
    """File name -> text, the same to the byte whenever it is made from the same result.

    With an agreement the metric board is among them, and the others carry its verdicts; with
    reports of importance alignment the model board is. ``human_data`` are the places of further
    studies, named so that a check finds them.
    """
    boards = method_boards(result, None if found is None else found.verdicts())
    rows = [row for board in boards for row in tidy(board)]
    tables = "\n".join(board.markdown() for board in boards)
    files = {
        "methods.md": f"# Method boards\n\n{tables}\n{legend(result)}\n",
        "methods.csv": _csv(rows),
        "methods.json": _json(rows, boards, result, human_data),
    }
    files |= {} if found is None else metric_board_files(found)
    return files | (model_board_files(reports, load_studies()["prasad2021"]) if reports else {})


def places_of(folder: Path) -> list[Path]:
    """Where the further studies lie that the boards of a run were made with; relative to the
    folder that humetric was called from."""
    try:
        data = json.loads((folder / FOLDER / "methods.json").read_text(encoding="utf-8"))
        return [Path(place) for place in data["human_data"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def write_boards(
    result: Result,
    folder: Path,
    found: Agreement | None = None,
    human_data: Sequence[Path] = (),
) -> list[Path]:
    """Write the board files into ``folder/boards``, each whole or not at all.

    With an agreement also its pictures; these are not compared byte by byte, since fonts differ.
    """
    target = folder / FOLDER
    target.mkdir(parents=True, exist_ok=True)
    files = board_files(result, found, read_reports(folder), human_data)
    for name, text in files.items():
        write_whole(target / name, text)
    drawn = {} if found is None else pictures(found)
    for name, content in drawn.items():
        write_whole(target / name, content)
    return [target / name for name in (*files, *drawn)]


def tidy(board: MethodBoard) -> list[dict[str, Any]]:
    """One row per method and metric; None for what is undefined or has no place.

    Where not all cases were scored, the group says ``failed`` or ``missing``, and n is 0.
    """
    return [
        {
            "setting": board.setting,
            "method": row.method,
            "control": row.control,
            "metric": column.metric,
            "metric_version": column.version,
            "direction": column.direction,
            "n": cell.n,
            "undefined": cell.undefined,
            "mean": _rounded(cell.mean),
            "low": _rounded(cell.low),
            "high": _rounded(cell.high),
            "rank_best": cell.rank.best if cell.rank else None,
            "rank_worst": cell.rank.worst if cell.rank else None,
            "group": cell.gap or (cell.rank.group if cell.rank else None),
        }
        for row in board.rows
        for column, cell in zip(board.columns, row.cells, strict=True)
    ]


def _csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _json(
    rows: list[dict[str, Any]],
    boards: list[MethodBoard],
    result: Result,
    human_data: Sequence[Path],
) -> str:
    data = {
        "settings": settings_line(result),
        "human_data": [str(place) for place in human_data],
        "cases": {board.setting: board.cases for board in boards},
        "incomplete": {board.setting: board.missing for board in boards if board.missing},
        "verdicts": {c.metric: c.verdict for b in boards for c in b.columns if c.verdict},
        "superseded": sorted({c.metric for b in boards for c in b.columns if c.superseded}),
        "board": rows,
        "failures": [vars(failure) for failure in result.failures],
        "skips": [vars(skip) for skip in result.skips],
        "methods": {name: card.describe() for name, card in result.methods.items()},
        "metrics": {name: card.describe() for name, card in result.metrics.items()},
    }
    return json.dumps(_finite(data), indent=1, ensure_ascii=False, default=str) + "\n"


def _rounded(value: float) -> float | None:
    """Six significant digits: what is left of a value on whatever machine it was averaged."""
    return None if math.isnan(value) else float(f"{value:.6g}") + 0.0


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
