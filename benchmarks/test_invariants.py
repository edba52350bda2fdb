"""What holds for everything that is registered, and for boards made from stored results.

The contract that each method and metric keeps is the one of ``tests/test_contract.py``: the same
classes are collected here.
"""

from __future__ import annotations

import csv
import difflib
import io
from pathlib import Path

import pandas as pd
import pytest
from test_contract import TestMethods, TestMetrics, weights

from humetric.cli import app

__all__ = ["TestMethods", "TestMetrics", "weights"]

pytestmark = pytest.mark.usefixtures("one_thread")

PICK = {
    "--setting": ["image/leaf/cnn", "image/pair/cnn"],
    "--method": ["saliency", "occlusion", "random", "constant"],
    "--metric": ["deletion", "mu-fidelity", "sparseness"],
}
"""Small, with a control and with a method (constant) that some metrics are undefined for."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a small run, as the command line leaves them."""
    out = tmp_path_factory.mktemp("boards") / "run"
    picked = [text for option, names in PICK.items() for name in names for text in (option, name)]
    with pytest.raises(SystemExit) as stop:
        app(["run", *picked, "--cases", "4", "--device", "cpu", "--out", str(out)])
    assert not stop.value.code
    return out


class TestBoards:
    def test_made_again_from_stored_results_they_are_the_same_bytes(self, folder: Path) -> None:
        from humetric.boards.files import board_files, judged
        from humetric.results.read import read_result

        for _ in range(2):
            result = read_result(folder)
            made = board_files(result, judged(result))
            assert {"methods.md", "metrics.md"} <= set(made)
            for name, text in made.items():
                kept = (folder / "boards" / name).read_bytes()
                if text.encode() != kept:
                    pytest.fail(_difference(name, kept.decode(), text), pytrace=False)

    def test_numbers_are_those_of_the_scores(self, folder: Path) -> None:
        """Counted and averaged here once more, without the code that makes boards."""
        from humetric.boards.files import board_files
        from humetric.results.read import read_result

        result = read_result(folder)
        made = board_files(result)
        board = {
            (row["setting"], row["method"], row["metric"]): row
            for row in csv.DictReader(io.StringIO(made["methods.csv"]))
        }
        page = _cells(made["methods.md"])
        wrong = []
        groups = result.scores.groupby(["setting", "method", "metric"])["value"]
        for key, values in groups:
            name = ", ".join(key)
            row = board.pop(key, None)
            said = ["no row"] if row is None else _wrong(row, values)
            wrong += [f"methods.csv: {name}: {text}" for text in said]
            mean = "—" if values.isna().all() else f"{round(values.mean(), 3) + 0.0:.3f}"
            cell = page.get(key, "no cell")
            if cell.split()[0] != mean:
                wrong.append(f"methods.md: {name}: {cell}, expected {mean}")
        wrong += [f"methods.csv: a row for {', '.join(key)}, without scores" for key in board]
        wrong += _wrong_of_tasks(result.scores, made["tasks.csv"], page)
        if wrong:
            pytest.fail("\n".join(["Boards do not say what the scores say.", *wrong[:20]]), False)


def _wrong_of_tasks(
    scores: pd.DataFrame, table: str, page: dict[tuple[str, str, str], str]
) -> list[str]:
    """What the boards of tasks say otherwise than the mean of the settings' means."""
    scores = scores.assign(task=scores["setting"].str.split("/").str[0])
    means = scores.groupby(["task", "method", "metric", "setting"])["value"].mean()
    settings = scores.groupby(["task", "metric"])["setting"].nunique()
    board = {(row["task"], row["method"], row["metric"]): row
             for row in csv.DictReader(io.StringIO(table))}  # fmt: skip
    wrong = []
    for (task, method, metric), some in means.groupby(["task", "method", "metric"]):
        row = board.pop((task, method, metric), None)
        if row is None:
            wrong.append(f"tasks.csv: {task}, {method}, {metric}: no row")
            continue
        over, of, found = int(some.notna().sum()), int(settings[task, metric]), row["mean"]
        close = found and float(found) == pytest.approx(some.mean(), rel=1e-5, abs=1e-6)
        if not (close if over else found == ""):
            wrong.append(f"tasks.csv: {task}, {method}, {metric}: {found}, not {some.mean()}")
        if (row["settings"], row["of"]) != (str(over), str(of)) or (over < of) != (
            not row["group"]
        ):
            wrong.append(f"tasks.csv: {task}, {method}, {metric}: over {row['settings']} of "
                         f"{row['of']}, group {row['group']!r}, not {over} of {of}")  # fmt: skip
        cell = page.get((f"{task}:", method, metric), "no cell")
        if of > 1 and cell.split()[0] != (f"{round(some.mean(), 3) + 0.0:.3f}" if over else "—"):
            wrong.append(f"methods.md: {task}, {method}, {metric}: {cell}, not {some.mean()}")
    return wrong + [f"tasks.csv: a row for {', '.join(key)}, without scores" for key in board]


def _cells(page: str) -> dict[tuple[str, str, str], str]:
    """The cells of the Markdown boards by (setting or ``task:``, method, metric)."""
    found = {}
    for board in page.split("\n### ")[1:]:
        rows = [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in board.splitlines()
            if line.startswith("| ")
        ]
        metrics = [title.split()[0] for title in rows[0][1:]]
        for name, *cells in rows[1:]:
            for metric, cell in zip(metrics, cells, strict=True):
                found[board.split()[0], name.split()[0], metric] = cell
    return found


def _wrong(row: dict[str, str], values: pd.Series[float]) -> list[str]:
    """What a board's row says otherwise than the values: how many, how many undefined, mean."""
    undefined = int(values.isna().sum())
    counts = {"n": len(values) - undefined, "undefined": undefined}
    said = [f"{k} {row[k]}, expected {n}" for k, n in counts.items() if row[k] != str(n)]
    mean = float(row["mean"]) if row["mean"] else None
    expected = None if undefined == len(values) else float(values.mean())
    if mean != (expected if expected is None else pytest.approx(expected, rel=1e-5, abs=1e-6)):
        said.append(f"mean {mean}, expected {expected}")
    return said


def _difference(name: str, kept: str, made: str) -> str:
    """A readable difference of two texts."""
    lines = difflib.unified_diff(
        kept.splitlines(), made.splitlines(), "as kept", "made again", n=0, lineterm=""
    )
    return "\n".join([f"boards/{name} is not the same when made again.", *list(lines)[:20]])
