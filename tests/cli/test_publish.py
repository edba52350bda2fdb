"""``humetric publish``, and a run that starts from what is published."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command import Humetric

RUN = ("run", "--setting", "image/leaf/cnn", "--method", "random", "--method", "edge",
       "--metric", "deletion", "--metric", "sparseness", "--cases", "2")  # fmt: skip


@pytest.fixture
def published(humetric: Humetric, tmp_path: Path) -> Path:
    """A run of two cases and what is published of it."""
    assert humetric(*RUN, "--out", str(tmp_path / "run")).returncode == 0
    done = humetric("publish", str(tmp_path / "run"), str(tmp_path / "board"))
    assert done.returncode == 0, done.stderr
    assert "image/leaf/cnn: published (2 cases, " in done.stdout
    return tmp_path / "board"


def test_boards_of_what_is_published(humetric: Humetric, published: Path) -> None:
    assert humetric("boards", "build", str(published)).returncode == 0
    names = {path.name for path in published.iterdir()}
    assert {"methods.md", "methods.csv", "methods.json", "metrics.md", "results"} <= names
    assert "metrics-scatter-toy.png" not in names
    assert "scores.csv" not in names
    assert humetric("boards", "build", str(published), "--check").returncode == 0
    (published / "methods.md").write_text("better\n")
    done = humetric("boards", "build", str(published), "--check")
    assert done.returncode == 1
    assert "methods.md differs from line 1" in done.stderr.replace("\n", "")


def test_the_index(humetric: Humetric, published: Path, tmp_path: Path) -> None:
    shutil.move(published, tmp_path / "leaderboards" / "embedded")
    place = str(tmp_path / "leaderboards")
    assert humetric("boards", "index", place, "--check").returncode == 1
    assert humetric("boards", "index", place).returncode == 0
    assert humetric("boards", "index", place, "--check").returncode == 0
    assert (tmp_path / "leaderboards" / "metrics.svg").read_text().startswith("<svg")
    assert humetric("boards", "index", str(tmp_path / "run")).returncode == 1


def test_a_lost_run_is_not_computed_again(
    humetric: Humetric, published: Path, tmp_path: Path
) -> None:
    shutil.rmtree(tmp_path / "run")
    begin = ("--published", str(published), "--out", str(tmp_path / "run"))
    plan = json.loads(humetric(*RUN, *begin, "--dry-run", "--json").stdout)
    assert [item["forward calls"] for item in plan["items"]] == [0]
    assert not (tmp_path / "run").exists(), "a dry run writes nothing"
    done = humetric(*RUN, *begin, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["provenance"]["model_calls"] == 0
    assert "starts from 6 published records" in done.stderr
    anew = humetric(*RUN, "--published", "none", "--out", str(tmp_path / "anew"), "--json")
    assert json.loads(anew.stdout)["provenance"]["model_calls"] > 0


def test_what_is_not_finished_is_not_published(humetric: Humetric, tmp_path: Path) -> None:
    run, board = tmp_path / "run", tmp_path / "board"
    assert humetric(*RUN, "--out", str(run)).returncode == 0
    next((run / "records").rglob("score/edge-deletion-*")).unlink()
    done = humetric("publish", str(run), str(board))
    assert done.returncode == 1
    assert "not finished" in done.stdout
    assert not board.exists()
    assert humetric("publish", str(run), str(board), "--unfinished").returncode == 0
    assert humetric("boards", "build", str(board)).returncode == 0
    assert "INCOMPLETE" in (board / "methods.md").read_text()
    done = humetric("boards", "build", str(board), "--check")
    assert done.returncode == 0, "the boards are what the results give, and say what is missing"
    assert f"humetric publish RUN {board}" in done.stderr.replace("\n", " ")


def test_a_folder_without_published_results(humetric: Humetric, tmp_path: Path) -> None:
    done = humetric(*RUN, "--published", str(tmp_path), "--out", str(tmp_path / "run"))
    assert done.returncode == 2
    assert "Expected published results in" in done.stderr
    done = humetric("publish", str(tmp_path), str(tmp_path / "board"))
    assert done.returncode == 2
    assert "no run.json" in done.stderr.replace("\n", " ")
