"""The command line as a person or a program meets it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from command import Humetric
from rich.console import Console

from humetric.cli.progress import progress
from humetric.methods import METHODS, Method
from humetric.metrics import METRICS, Metric
from humetric.run.work import Item

COMMANDS = ["suites", "tasks", "settings", "methods", "metrics", "studies"]


def test_the_installed_command_works() -> None:
    """In a process of its own, as a user calls it."""
    command = Path(sys.executable).parent / "humetric"
    found = subprocess.run(
        [command, "list", "metricks"], capture_output=True, text=True, check=False
    )
    assert found.returncode == 2
    assert "'suites', 'tasks'" in found.stderr
    assert "Traceback" not in found.stderr


def test_version_reports_the_environment(humetric: Humetric) -> None:
    found = humetric("--version")
    assert found.returncode == 0
    for word in ("humetric", "revision", "python", "torch", "captum", "devices", "cores"):
        assert f"\n{word} " in "\n" + found.stdout
    assert "/home" not in found.stdout


@pytest.mark.parametrize("kind", COMMANDS)
def test_lists_for_people_and_programs(humetric: Humetric, kind: str) -> None:
    table, data = humetric("list", kind), humetric("list", kind, "--json")
    assert table.returncode == data.returncode == 0
    rows = json.loads(data.stdout)
    assert len(rows) >= 1
    name = next(iter(rows[0].values()))
    assert name in table.stdout
    assert max(map(len, table.stdout.splitlines())) <= 100


def test_run_prints_boards_and_writes_results(humetric: Humetric, tmp_path: Path) -> None:
    found = humetric(
        "run", "--setting", "image/leaf/cnn", "--method", "saliency", "--method", "constant",
        "--cases", "4", "--out", "runs/try",
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert "image/leaf/cnn (4 cases)" in found.stdout
    assert "constant (control)" in found.stdout
    assert "— (4?)" in found.stdout  # mu-fidelity of a constant map
    assert "runs/try/boards" in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= 100
    folder = tmp_path / "runs" / "try"
    assert {"boards", "records", "scores.csv", "curves.json", "run.json", ".lock"} == {
        p.name for p in folder.iterdir()
    }
    about = json.loads((folder / "run.json").read_text())
    assert about["suite"] == "embedded"
    assert len(about["settings"]["image/leaf/cnn"]["cases"]) == 4
    assert "weights" in about["settings"]["image/leaf/cnn"]["version"]
    assert "| saliency |" in (folder / "boards" / "methods.md").read_text()


OWN = """
import sys, humetric

@humetric.method("mine", version=1, reference="test")
def mine():
    return lambda cases: cases.x.sum(1)

@humetric.method("leaves", version=1, reference="test")
def leaves():
    return lambda cases: sys.exit(0)
"""


def test_methods_of_a_file_run_apart_and_failures_set_the_exit_code(
    humetric: Humetric, tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(OWN)
    command = [
        "run", "--setting", "image/leaf/cnn", "--method", str(tmp_path / "own.py"),
        "--metric", "sparseness", "--cases", "2", "--out", str(tmp_path / "run"),
    ]  # fmt: skip
    found = humetric(*command)
    METHODS._factories.pop("mine")
    METHODS._factories.pop("leaves")
    assert found.returncode == 1
    assert "failed: leaves on image/leaf/cnn. Expected maps from leaves" in found.stderr
    board = (tmp_path / "run" / "boards" / "methods.md").read_text()
    assert "| mine |" in board
    assert "| leaves | failed |" in board


def test_a_changed_definition_is_said(
    humetric: Humetric, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [
        "run", "--setting", "image/leaf/cnn", "--method", "edge", "--metric", "sparseness",
        "--cases", "2", "--out", str(tmp_path / "run"),
    ]  # fmt: skip
    assert humetric(*command).returncode == 0
    make = METRICS.factory("sparseness")

    def newer() -> Metric:
        old = make()
        return replace(old, card=replace(old.card, version=2))

    newer.__module__ = make.__module__
    monkeypatch.setitem(METRICS._factories, "sparseness", newer)
    found = humetric(*command)
    assert found.returncode == 0, found.stderr
    said = " ".join(found.stderr.split())
    assert "sparseness of edge on image/leaf/cnn is computed anew: version of sparseness" in said


def test_run_as_json(humetric: Humetric, tmp_path: Path) -> None:
    found = humetric(
        "run", "--setting", "image/pair/cnn", "--method", "edge", "--metric", "deletion",
        "--cases", "2", "--json",
    )  # fmt: skip
    data = json.loads(found.stdout)
    assert len(data["scores"]) == 2
    assert data["provenance"]["model_calls"] == 2 * 33


def test_undefined_values_are_null_in_json(humetric: Humetric, tmp_path: Path) -> None:
    found = humetric(
        "run", "--setting", "image/pair/cnn", "--method", "constant", "--metric", "mu-fidelity",
        "--cases", "1", "--json",
    )  # fmt: skip
    assert "NaN" not in found.stdout
    assert json.loads(found.stdout)["scores"][0]["value"] is None


def test_dry_run_says_what_would_be_done(humetric: Humetric, tmp_path: Path) -> None:
    chosen = ["--setting", "image/leaf/cnn", "--setting", "sentiment/deception/tfidf"]
    found = humetric("run", "--cases", "5", "--dry-run", *chosen)
    assert found.returncode == 0, found.stderr
    assert "nothing was run" in found.stdout
    assert "model calls, about" in found.stdout
    assert "skipped" in found.stdout
    assert list(tmp_path.iterdir()) == []
    data = json.loads(humetric("run", "--cases", "5", "--dry-run", "--json", *chosen).stdout)
    scored = [item for item in data["items"] if item["metrics"]]
    assert len(scored) == 2
    assert all(item["forward calls"] > 1000 for item in scored)
    beside = [item["setting"] for item in data["items"] if not item["metrics"]]
    # Reference cases that maps are compared with, and learning cases that simulated users see.
    assert beside == ["image/leaf/cnn"] * 2 + ["sentiment/deception/tfidf"] * 2
    assert {"setting": "image/leaf/cnn", "method": "attention"}.items() <= data["skips"][0].items()
    plain = humetric("run", "--cases", "2", "--dry-run", *chosen[:2], "--method", "lime")
    assert "Nothing is skipped." in plain.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--method", "salency"], "Unknown method 'salency'. Did you mean 'saliency'"),
        (["run", "--metric", "insert"], "Unknown metric 'insert'. Did you mean 'insertion'?"),
        (["run", "--setting", "image/leaf/cmn"], "Did you mean 'image/leaf/cnn'"),
        (["run", "--suite", "embed"], "Unknown suite 'embed'. Did you mean 'embedded'?"),
        (["run", "--suite", "none.toml"], "Cannot read the suite none.toml"),
        (["run", "--device", "cuda:7"], "The device 'cuda:7' cannot be used here"),
        (["run", "--precision", "fp8"], "Expected a precision of fp32, bf16, fp64"),
        (["run", "--cases", "9999"], "has 84 cases"),
        (["run", "--batch-size", "none"], "Expected a batch size of at least 1, or auto"),
    ],
)
def test_mistakes_are_explained_without_a_trace(
    humetric: Humetric, arguments: list[str], message: str
) -> None:
    found = humetric(*arguments)
    said = " ".join(found.stderr.split())
    assert found.returncode == 2
    assert message in said
    assert "Traceback" not in found.stderr


def test_an_output_folder_in_the_way_is_explained(humetric: Humetric, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    found = humetric("run", "--cases", "1", "--out", str(tmp_path / "file" / "run"))
    assert found.returncode == 2
    assert "Cannot write" in found.stderr
    assert "Traceback" not in found.stderr


def test_progress_falls_back_to_plain_lines(
    humetric: Humetric, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("humetric.cli.progress.EVERY", 0.0)
    found = humetric("run", "--setting", "image/leaf/cnn", "--method", "occlusion", "--cases", "2")
    assert found.returncode == 0, found.stderr
    lines = [line for line in found.stderr.splitlines() if "model calls" in line]
    assert "image/leaf/cnn cases 1-2:" in lines[0]
    assert "of the work, about" in lines[0]


def test_progress_on_a_terminal_is_a_bar() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    items = [Item(name, 0, 12, (), ()) for name in ("image/leaf/cnn", "tabular/census/mlp")]
    expected = {"image/leaf/cnn": 100, "tabular/census/mlp": 100_000}
    with progress(console, expected, {"image/leaf/cnn": 10, "tabular/census/mlp": 1e4}) as report:
        report(items[1], 50_000)
        time.sleep(0.2)  # the bar is drawn ten times a second
        report(items[0], 50)  # a fourth of the time, though hardly any of the rows
        time.sleep(0.2)
    written = console.file.getvalue()  # type: ignore[attr-defined]
    assert "image/leaf/cnn cases 1-12" in written
    assert "25%" in written
    assert "50%" in written


def test_a_failure_is_reported_and_the_exit_code_says_so(
    humetric: Humetric, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    card = METHODS.make("edge").card

    def broken() -> Method:
        return Method(card, lambda cases: cases.x)

    monkeypatch.setitem(METHODS._factories, "edge", broken)
    found = humetric(
        "run", "--setting", "image/leaf/cnn", "--method", "edge", "--method", "random",
        "--metric", "sparseness", "--cases", "2",
    )  # fmt: skip
    assert found.returncode == 1
    said = " ".join(found.stderr.split())
    assert "failed: edge on image/leaf/cnn. Expected an attribution of shape" in said
    assert "random (control)" in found.stdout
    assert (tmp_path / "runs" / "embedded-part" / "scores.csv").exists()
