"""``humetric alignment`` and the model board of ``humetric boards build``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from humetric.cli import app
from humetric.errors import HumetricError

BOARD = ("models.md", "models.csv", "models.json")


def test_command_writes_table_and_board_and_repeats(tmp_path: Path) -> None:
    words = ["alignment", "nli/inference/bow", "--method", "saliency", "--cases", "6",
             "--device", "cpu", "--out", str(tmp_path)]  # fmt: skip
    first = CliRunner().invoke(app, words)
    assert first.exit_code == 0, first.output
    assert "Importance alignment" in first.output
    kept = {name: (tmp_path / "boards" / name).read_bytes() for name in BOARD}
    assert (tmp_path / "alignment" / "nli-inference.saliency.csv").exists()
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 0
    assert {name: (tmp_path / "boards" / name).read_bytes() for name in BOARD} == kept
    rows = json.loads(kept["models.json"])["board"]
    assert {r["evidence"] for r in rows} == {"toy", "published"}
    assert {r["oracle"] for r in rows if r["evidence"] == "toy" and r["table"] == "alignment"} == {
        "hard", "soft", "expert"}  # fmt: skip


def test_what_cannot_be_measured(tmp_path: Path) -> None:
    for words, message in (
        (["nowhere"], "nowhere"),
        (["nli", "--marks", "x.jsonl"], "one setting"),
        (["sentiment/deception/tfidf"], "cannot explain any"),
    ):
        found = CliRunner().invoke(app, ["alignment", *words, "--out", str(tmp_path)])
        assert isinstance(found.exception, HumetricError)
        assert message in str(found.exception)


@pytest.mark.slow
def test_boards_build_makes_the_model_board_again(tmp_path: Path) -> None:
    run = ["run", "--setting", "image/leaf/cnn", "--method", "saliency", "--metric",
           "complexity", "--cases", "4", "--device", "cpu", "--out", str(tmp_path)]  # fmt: skip
    assert CliRunner().invoke(app, run).exit_code == 0
    words = ["alignment", "sentiment/reviews/bilstm", "--method", "saliency", "--cases", "6",
             "--device", "cpu", "--out", str(tmp_path)]  # fmt: skip
    assert CliRunner().invoke(app, words).exit_code == 0
    kept = {name: (tmp_path / "boards" / name).read_bytes() for name in BOARD}
    for name in BOARD:
        (tmp_path / "boards" / name).unlink()
    assert CliRunner().invoke(app, ["boards", "build", str(tmp_path)]).exit_code == 0
    assert {name: (tmp_path / "boards" / name).read_bytes() for name in BOARD} == kept
    assert CliRunner().invoke(app, ["boards", "build", "--check", str(tmp_path)]).exit_code == 0
