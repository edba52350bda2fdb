"""``humetric human analyse`` as a person or a program meets it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from simulated_people import simulated_colin

from humetric.cli import app
from humetric.human.validate import problems


@pytest.fixture
def responses(tmp_path: Path) -> Path:
    frame = simulated_colin(
        np.random.default_rng(0),
        {"none": (0.5, 0.6), "saliency": (0.6, 0.7), "occlusion": (0.5, 0.7)},
        users=8,
        careless=0.2,
    )
    path = tmp_path / "My_responses.csv"
    frame.assign(age=30).to_csv(path, index=False)
    return path


def humetric(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as caught:
        app([str(word) for word in words])
    out, err = capsys.readouterr()
    return int(caught.value.code or 0), out, err


def test_tables_and_folder(
    responses: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = humetric(
        capsys, "human", "analyse", responses, "--protocol", "colin2022", "--out", tmp_path / "s",
        "--resamples", 199,
    )  # fmt: skip
    assert code == 0
    assert "utility (ratio)" in out
    assert "excluded, 1 or more wrong catch trials (catch_failures)" in out
    assert "set aside, catch trials" in out
    assert "Columns that nothing read: age." in out
    assert "199 resamples, seed 0" in out
    assert max(map(len, out.splitlines()[:-1])) <= 100
    assert problems(tmp_path / "s" / "my-responses") == []
    code, out, _ = humetric(capsys, "human", "show", "my-responses", "--human-data", tmp_path / "s")
    assert code == 0
    assert "computed from raw responses" in out


def test_json_and_rules(
    responses: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("catch_failures = false\n")
    code, out, _ = humetric(
        capsys, "human", "analyse", responses, "--protocol", "colin2022", "--json",
        "--exclusions", rules, "--resamples", 199,
    )  # fmt: skip
    data = json.loads(out)
    assert code == 0
    assert data["exclusions"] == []
    assert data["rows"] == data["analysed"] + sum(e["trials"] for e in data["set_aside"])
    assert data["folder"] is None
    assert {e["measure"] for e in data["estimates"]} >= {"utility", "accuracy-1", "total-time"}


def test_nothing_left(responses: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("minimum_trials = 1000\n")
    code, out, err = humetric(
        capsys, "human", "analyse", responses, "--protocol", "colin2022", "--exclusions", rules,
        "--out", tmp_path / "s",
    )  # fmt: skip
    assert code == 1
    assert "fewer than 1000 trials left" in out
    assert "no study folder is written" in err
    assert not (tmp_path / "s").exists()


def test_errors_are_sentences(responses: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = humetric(capsys, "human", "analyse", responses, "--protocol", "colin")
    assert code == 2
    assert "Unknown protocol 'colin'. Did you mean 'colin2022'" in " ".join(err.split())
    responses.write_text("participant,condition,item,session,correct\ns1,none,a,1,perhaps\n")
    code, _, err = humetric(capsys, "human", "analyse", responses, "--protocol", "colin2022")
    assert code == 2
    assert "row 2, column 'correct'" in " ".join(err.split())
