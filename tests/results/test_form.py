"""A run.json of another form is refused with its file, the place and what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from humetric import METHODS, METRICS
from humetric.errors import HumetricError
from humetric.results.read import read_result
from humetric.results.result import Result

GOOD: dict[str, Any] = {
    "schema": 1,
    "seed": 0,
    "chunk": 12,
    "device": "cpu",
    "precision": "fp32",
    "settings": {"image/a/b": {"version": "data 1", "cases": ["c1"]}},
    "methods": {"lime": METHODS.make("lime").card.describe()},
    "metrics": {"deletion": METRICS.make("deletion").card.describe()},
    "failures": [],
    "skips": [],
    "pairs": {"image/a/b": [{"study": "colin2022", "cell": "leaves", "evidence": "toy"}]},
}


def read(folder: Path, **changed: object) -> Result:
    (folder / "run.json").write_text(json.dumps(GOOD | changed), encoding="utf-8")
    return read_result(folder)


def test_the_right_form_is_read(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert set(found.methods) == {"lime"}
    assert found.provenance["pairs"] == GOOD["pairs"]
    later = read(tmp_path, something="that a later version writes")
    assert later.metrics == found.metrics


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"pairs": []}, "pairs: expected a valid dictionary but got \\[\\]"),
        ({"pairs": ["x"]}, "pairs: expected"),
        ({"pairs": {"image/a/b": ["x"]}}, "pairs.image/a/b.0: expected"),
        (
            {"pairs": {"image/a/b": [{"study": "s", "cell": "c", "evidence": "good"}]}},
            "evidence: expected 'published', 'replica', 'stand-in' or 'toy' but got 'good'",
        ),
        (
            {"metrics": {"deletion": GOOD["metrics"]["deletion"] | {"direction": "up"}}},
            "metrics.deletion.direction: expected 'higher' or 'lower' but got 'up'",
        ),
        ({"chunk": 0}, "chunk: expected"),
        ({"settings": {"a": {"version": "1"}}}, "cases: expected this field but got nothing"),
    ],
)
def test_another_form_is_refused(tmp_path: Path, changed: dict[str, object], place: str) -> None:
    with pytest.raises(HumetricError, match=place) as caught:
        read(tmp_path, **changed)
    assert str(tmp_path / "run.json") in str(caught.value)
    assert "run again" in str(caught.value)


def test_a_file_is_no_folder_of_a_run(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text("x")
    with pytest.raises(HumetricError, match=r"scores\.csv is not a folder") as caught:
        read_result(file)
    assert "Delete" not in str(caught.value)
