"""A run that was interrupted says so: on its boards, in the evidence and on the command line."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from support import net_setting

from humetric import METHODS, METRICS, run_settings
from humetric.agreement.evidence import of_run
from humetric.boards.differences import only_in
from humetric.boards.files import board_files
from humetric.boards.method_board import method_boards
from humetric.cli import app
from humetric.human.read import load_studies
from humetric.results.gaps import gaps, unfinished
from humetric.results.read import read_result
from humetric.results.result import Result
from humetric.results.store import read_identity

SETTING = net_setting().id
METHOD_NAMES, METRIC_NAMES = ("saliency", "random"), ("deletion", "sparseness")
PAIR = {"study": "colin2022", "cell": "husky-wolf", "evidence": "toy"}


def made(folder: Path) -> Path:
    """Two methods, two metrics, four cases in two chunks, as if a suite had asked for them."""
    run_settings(
        [net_setting()],
        [METHODS.make(name) for name in METHOD_NAMES],
        [METRICS.make(name) for name in METRIC_NAMES],
        chunk=2,
        out=folder,
    )
    manifest = json.loads((folder / "run.json").read_text())
    manifest |= {"suite": "embedded", "pairs": {SETTING: [PAIR]}}
    (folder / "run.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("whole"))


def records(folder: Path, method: str, metric: str) -> list[Path]:
    found = sorted(folder.glob(f"records/*/score/{method}-{metric}-*"))
    assert len(found) == 2, "one per chunk"
    return found


def second_chunk_gone(folder: Path) -> Result:
    for path in folder.glob("records/*/score/*"):
        if (read_identity(path) or {})["cases"] == list(net_setting().ids[2:]):
            path.unlink()
    return read_result(folder)


def called(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        app(words)
    found = capsys.readouterr()
    return int(stop.value.code or 0), found.out, " ".join(found.err.split())


def test_a_whole_run_has_no_gaps(whole: Path) -> None:
    result = read_result(whole)
    assert gaps(result) == []
    assert unfinished(result, whole) == ""
    assert "; INCOMPLETE" not in board_files(result)["methods.md"]


def test_a_chunk_that_nobody_scored_is_missing_from_every_cell(tmp_path: Path) -> None:
    result = second_chunk_gone(made(tmp_path))
    assert len(result.scores) == 2 * 2 * 2
    (board,) = method_boards(result)
    assert board.cases == 4
    assert {cell.gap for row in board.rows for cell in row.cells} == {"missing"}
    text = board_files(result)["methods.md"]
    assert "(4 cases; INCOMPLETE: 4 of 4 cells are missing)" in text
    assert {(gap.missing, gap.cases) for gap in gaps(result)} == {(2, 4)}


def test_what_was_planned_and_never_begun_is_missing_too(tmp_path: Path) -> None:
    for path in made(tmp_path).glob("records/*/score/random-*"):
        path.unlink()
    (board,) = method_boards(read_result(tmp_path))
    assert [[cell.gap for cell in row.cells] for row in board.rows] == [["", ""], ["missing"] * 2]


def test_a_part_of_the_cases_is_no_evidence(tmp_path: Path) -> None:
    records(made(tmp_path), "random", "deletion")[0].unlink()
    next(iter(tmp_path.glob("records/*/map/random-*"))).unlink()
    found = {e.metric: e for e in of_run(read_result(tmp_path), load_studies())}
    value = dict(zip(found["deletion"].methods, found["deletion"].value, strict=True))
    assert math.isnan(value["random"])
    assert not math.isnan(value["saliency"])
    assert not any(map(math.isnan, found["sparseness"].value))
    assert found["model-calls"].methods == ("saliency",)


def test_a_comparison_names_whose_cases_are_missing(whole: Path, tmp_path: Path) -> None:
    first = read_result(whole)
    path = records(made(tmp_path), "random", "deletion")[0]
    content = path.read_bytes()
    path.unlink()
    second = read_result(tmp_path)
    assert only_in(first, second) == (f"2 cases of {SETTING} for random by deletion",)
    assert only_in(second, first) == ()
    path.write_bytes(content)
    assert only_in(first, second_chunk_gone(tmp_path)) == (f"2 cases of {SETTING}",)


def test_boards_name_an_interrupted_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    second_chunk_gone(made(tmp_path))
    code, _, said = called(capsys, "boards", "build", str(tmp_path))
    assert code == 0
    assert "is unfinished" in said
    assert f"{SETTING} (2 metrics of saliency, random)" in said
    assert f"humetric run --suite embedded --setting {SETTING} --method saliency" in said
    assert f"--cases 4 --out {tmp_path}" in said
    code, _, said = called(capsys, "boards", "build", str(tmp_path), "--check")
    assert code == 1
    assert "is unfinished" in said


def test_a_run_without_any_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in made(tmp_path).rglob("*.safetensors"):
        path.unlink()
    for words in ((), ("--check",)):
        code, _, said = called(capsys, "boards", "build", str(tmp_path), *words)
        assert code == 1
        assert "has no scores at all" in said
        assert "Finish it with: humetric run" in said
    assert not (tmp_path / "boards").exists()
