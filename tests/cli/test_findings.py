"""``humetric findings`` as a person and as a maintainer's check call it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from board_results import like_people
from command import Humetric
from study_data import study_like

from humetric.results.result import COLUMNS, Result

RUNS: dict[str, Callable[[], Result]] = {
    "runs/toy": lambda: like_people("toy"),
    "runs/empty": lambda: replace(
        like_people("toy"), scores=pd.DataFrame([], columns=COLUMNS), provenance={}
    ),
}


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("humetric.results.read.read_result", lambda folder: RUNS[str(folder)]())


def test_published_figures_alone(humetric: Humetric, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    found = humetric("findings")
    assert found.returncode == 0, found.stderr
    assert "Families: published and replica evidence" in found.stdout
    assert "Nobody can say yet." in found.stdout
    assert "**" not in found.stdout
    assert "Written: docs/findings.md, docs/findings.svg" in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= 100
    page = (tmp_path / "docs" / "findings.md").read_text(encoding="utf-8")
    assert page.startswith("# Which metric goes with human success?\n")
    assert str(tmp_path) not in page


@pytest.mark.usefixtures("made_up")
def test_a_check_fails_on_any_difference(humetric: Humetric, tmp_path: Path) -> None:
    files = ("--out", "f.md", "--json", "f.json")
    assert humetric("findings", "runs/toy", *files).returncode == 0
    same = humetric("findings", "runs/toy", *files, "--check")
    assert (same.returncode, same.stdout) == (
        0,
        "f.md, f.svg and f.json: what the figures and results give.\n",
    )
    data = json.loads((tmp_path / "f.json").read_text(encoding="utf-8"))
    assert data["run"]["suite"] == "hand v3"

    page = tmp_path / "f.md"
    whole = page.read_bytes()
    page.write_bytes(whole.replace(b"\n\n## Families", b" \n\n## Families"))
    spoilt = page.read_bytes()
    other = humetric("findings", "runs/toy", *files, "--check")
    assert other.returncode == 1
    assert "f.md differs from line" in " ".join(other.stderr.split())
    assert page.read_bytes() == spoilt, "a check writes nothing"

    page.write_bytes(whole)
    figure = tmp_path / "f.svg"
    drawn = figure.read_bytes()
    figure.write_bytes(drawn.replace(b"toy", b"joy"))
    redrawn = humetric("findings", "runs/toy", *files, "--check")
    assert redrawn.returncode == 1
    assert "f.svg differs from line" in redrawn.stderr
    figure.write_bytes(drawn)
    without = humetric("findings", *files[:2], "--check")
    assert without.returncode == 1, "the page of a run is not that of published figures"
    page.unlink()
    gone = humetric("findings", "runs/toy", *files, "--check")
    assert gone.returncode == 1
    assert "f.md is missing" in gone.stderr


@pytest.mark.usefixtures("made_up")
def test_an_empty_run_makes_no_page(humetric: Humetric, tmp_path: Path) -> None:
    found = humetric("findings", "runs/empty", "--out", "f.md")
    assert found.returncode == 1
    assert "has no scores" in found.stderr
    assert not (tmp_path / "f.md").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("nowhere", "--out", "f.md"), "make one with humetric run --out nowhere"),
        (("--out", "f.txt"), "Expected a file that ends in .md but got 'f.txt'"),
        (("--out", "none/f.md"), "there is no folder none"),
        (("--out", "f.md", "--json", "f.md"), "Expected a file that ends in .json"),
        (("--out", "f.md", "--human-data", "none"), "Expected a study folder"),
    ],
)
def test_mistakes_get_a_sentence(humetric: Humetric, words: tuple[str, ...], expected: str) -> None:
    found = humetric("findings", *words)
    assert found.returncode == 2
    assert expected in " ".join(found.stderr.split())


def test_another_study_is_counted(humetric: Humetric, tmp_path: Path) -> None:
    study_like("colin2022", tmp_path / "doe2026")
    found = humetric("findings", "--out", "f.md", "--human-data", ".")
    assert found.returncode == 0, found.stderr
    assert "the most that any has is 2" in " ".join(found.stdout.split())
    assert "doe2026" in (tmp_path / "f.md").read_text(encoding="utf-8")
