"""``humetric boards`` and ``humetric compare`` as a person or a program meets them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from study_data import study_like

from humetric import METHODS, METRICS
from humetric.cli import app
from humetric.errors import HumetricError
from humetric.results.result import COLUMNS, Result

MEANS = {"lime": 0.2, "saliency": 0.4, "integrated-gradients": 0.405, "edge": 0.6}
NAMES = ("deletion", "insertion", "mu-fidelity", "complexity", "sparseness")


class Finished(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


Humetric = Callable[..., Finished]


def made(means: Mapping[str, float] = MEANS) -> Result:
    draw = np.random.default_rng(0)
    rows = [
        ("image/a/b", f"c{i:02}", method, metric, mean + 0.1 * draw.normal())
        for metric in NAMES
        for method, mean in means.items()
        for i in range(16)
    ]
    return Result(
        scores=pd.DataFrame(rows, columns=COLUMNS),
        curves={},
        failures=(),
        skips=(),
        methods={name: METHODS.make(name).card for name in means},
        metrics={name: METRICS.make(name).card for name in NAMES},
        provenance={"seed": 0, "device": "cpu", "precision": "fp32"},
    )


def shifted(by: float) -> Result:
    result = made()
    scores = result.scores.copy()
    lime = (scores["method"] == "lime") & (scores["metric"] == "deletion")
    scores.loc[lime, "value"] += by
    return replace(result, scores=scores, provenance={**result.provenance, "precision": "bf16"})


def several() -> Result:
    """Two settings of one task, one of another."""
    result = made()
    names = ("nli/a/b", "nli/c/d", "image/a/b")
    scores = pd.concat([result.scores.assign(setting=name) for name in names], ignore_index=True)
    return replace(result, scores=scores)


RUNS = {
    "runs/embedded": made,
    "several": several,
    "one": made,
    "noise": lambda: shifted(1e-8),
    "other": lambda: shifted(0.3),
}


@pytest.fixture
def humetric(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Humetric:
    """The command, called in this process from an empty folder; results are made up."""

    def read_result(folder: Path) -> Result:
        if str(folder) not in RUNS:
            raise HumetricError(f"Expected the results of a run in {folder}.")
        return RUNS[str(folder)]()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("humetric.results.read.read_result", read_result)

    def call(*arguments: str) -> Finished:
        with pytest.raises(SystemExit) as stop:
            app(arguments)
        return Finished(int(stop.value.code or 0), *capsys.readouterr())

    return call


def test_build_writes_and_prints_the_boards(humetric: Humetric, tmp_path: Path) -> None:
    found = humetric("boards", "build")
    assert found.returncode == 0, found.stderr
    assert "image/a/b (16 cases)" in found.stdout
    assert "edge (control)" in found.stdout
    assert "Boards: runs/embedded/boards (methods.md, methods.csv, methods.json," in found.stdout
    assert "metrics.md" in found.stdout
    assert "Metric board. Published and replica evidence" in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= 100
    folder = tmp_path / "runs" / "embedded" / "boards"
    kinds = {
        f"{board}.{kind}" for board in ("methods", "metrics") for kind in ("md", "csv", "json")
    }
    assert kinds <= {path.name for path in folder.iterdir()}


def test_boards_of_settings_are_printed_if_wanted(humetric: Humetric, tmp_path: Path) -> None:
    brief = humetric("boards", "build", "several").stdout
    assert "nli: mean over 2 settings" in brief
    assert "image/a/b (16 cases), the only setting of image in this run" in brief
    assert "nli/a/b (16 cases)\n" not in brief.replace(" \n", "\n")
    said = "The boards of 2 settings are in boards/methods.md; --settings prints them."
    assert brief.count(said) == 1
    page = (tmp_path / "several" / "boards" / "methods.md").read_text(encoding="utf-8")
    assert "### nli/a/b (16 cases)" in page
    whole = humetric("boards", "build", "several", "--settings").stdout
    assert said not in whole
    for setting in ("nli/a/b", "nli/c/d"):
        assert any(line.startswith(f"{setting} (16 cases) ") for line in whole.splitlines())
    assert whole.count("image/a/b (16 cases)") == 1, "not printed twice"
    assert humetric("boards", "build", "several", "--check").returncode == 0
    assert said not in humetric("boards", "build").stdout, "the task board is the setting's"


def test_build_as_json(humetric: Humetric) -> None:
    data = json.loads(humetric("boards", "build", "one", "--json").stdout)
    assert data["folder"] == "one/boards"
    assert len(data["board"]) == 4 * 5


def test_check_compares_bytes(humetric: Humetric, tmp_path: Path) -> None:
    assert "methods.md is missing" in " ".join(
        humetric("boards", "build", "--check").stderr.split()
    )
    assert list(tmp_path.iterdir()) == []
    humetric("boards", "build")
    fresh = humetric("boards", "build", "--check")
    assert fresh.returncode == 0
    assert "are what the results give" in fresh.stdout
    path = tmp_path / "runs" / "embedded" / "boards" / "methods.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("\n", "!\n", 4), encoding="utf-8")
    found = humetric("boards", "build", "--check")
    assert found.returncode == 1
    assert "methods.csv differs from line 1 on" in " ".join(found.stderr.split())
    data = humetric("boards", "build", "--check", "--json")
    assert data.returncode == 1
    assert json.loads(data.stdout)["same"] is False


def test_a_folder_without_results_is_explained(humetric: Humetric) -> None:
    found = humetric("boards", "build", "nowhere")
    assert found.returncode == 2
    assert "Expected the results of a run in nowhere" in found.stderr


def test_compare_says_when_nothing_moved(humetric: Humetric) -> None:
    found = humetric("compare", "runs/embedded", "one")
    assert found.returncode == 0, found.stderr
    assert "Nothing moved (20 compared)" in found.stdout
    assert "20 unchanged" in found.stdout


def test_compare_tells_rounding_from_moving(humetric: Humetric) -> None:
    found = humetric("compare", "one", "noise")
    assert "Nothing moved" in found.stdout
    assert "1 moved within rounding" in found.stdout
    assert "Differs: precision: fp32 -> bf16" in found.stdout


def test_compare_shows_what_moved_and_why_it_matters(humetric: Humetric) -> None:
    found = humetric("compare", "one", "other")
    assert found.returncode == 0, found.stderr
    assert "+0.3" in found.stdout
    assert "significant, order" in found.stdout
    assert "1 of 20 moved" in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= 100
    data = json.loads(humetric("compare", "one", "other", "--json").stdout)
    moved = [change for change in data["changes"] if change["status"] == "moved"]
    assert [(c["method"], c["metric"], c["matters"]) for c in moved] == [("lime", "deletion", True)]
    assert data["versions"] == ["precision: fp32 -> bf16"]


def test_compare_needs_two_runs(humetric: Humetric) -> None:
    assert humetric("compare", "one").returncode == 2


def test_check_also_reads_the_tables(humetric: Humetric, tmp_path: Path) -> None:
    humetric("boards", "build")
    assert "Pictures are not compared" in humetric("boards", "build", "--check").stdout
    for name in ("scores.csv", "curves.json"):
        path = tmp_path / "runs" / "embedded" / name
        path.write_text(path.read_text(encoding="utf-8") + " ", encoding="utf-8")
        found = humetric("boards", "build", "--check")
        assert found.returncode == 1
        assert f"{name} differs" in " ".join(found.stderr.split())
        humetric("boards", "build")
        assert humetric("boards", "build", "--check").returncode == 0


def test_check_remembers_further_studies(humetric: Humetric, tmp_path: Path) -> None:
    study_like("colin2022", tmp_path / "mine" / "doe2026")
    assert humetric("boards", "build", "one", "--human-data", "mine").returncode == 0
    found = humetric("boards", "build", "one", "--check")
    assert found.returncode == 0, found.stderr
    assert "and the studies in mine" in " ".join(found.stdout.split())
    (tmp_path / "one" / "boards" / "methods.md").write_text("")
    said = " ".join(humetric("boards", "build", "one", "--check").stderr.split())
    assert "humetric boards build one --human-data mine" in said
