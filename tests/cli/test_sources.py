"""``humetric sources``: the list and the check, on a made-up mirror."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Humetric
from sources_support import REVIEWS, declare, on_the_hub, table, write

from humetric.data import sources


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All made-up sources but the questions, which are nowhere."""
    made_up = declare(write(tmp_path / "mirror"))
    monkeypatch.setattr(sources, "SOURCES", made_up | on_the_hub(made_up))
    monkeypatch.setenv("HUMETRIC_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("HUMETRIC_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mirror" / "datasets" / "questions").rename(tmp_path / "questions")
    return tmp_path / "mirror"


def test_list(humetric: Humetric, mirror: Path) -> None:
    found = humetric("sources")
    assert found.returncode == 0
    lines = found.stdout.splitlines()
    assert max(map(len, lines)) <= 100 or str(mirror) in max(lines, key=len)
    by_name = {line.split()[0]: line.split() for line in lines if line}
    assert by_name["reviews"][-1] == "mirror"
    assert by_name["questions"][-1] == "missing"
    assert "docs/sources.md" in found.stdout


def test_list_says_what_could_be_fetched(
    humetric: Humetric, mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HUMETRIC_MIRROR")
    lines = humetric("sources").stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("reviews")]
    assert line.split()[-2:] == ["missing", "(hub)"]
    assert "HUMETRIC_MIRROR: not set" in lines


def test_list_for_programs(humetric: Humetric, mirror: Path) -> None:
    rows = {row["source"]: row for row in json.loads(humetric("sources", "--json").stdout)}
    assert rows["reviews"]["path"] == str(mirror / "datasets" / "reviews")
    assert rows["reviews"]["parts"][0]["rows"] == 3
    assert rows["reviews"]["hub"]["repo"] == "org/reviews"
    assert rows["questions"]["found"] is None
    assert rows["questions"]["ways"][0].startswith("set HUMETRIC_MIRROR to a folder with")


def test_check(humetric: Humetric, mirror: Path) -> None:
    """What is not found is said, and a failure only if asked for; what differs always is."""
    found = humetric("sources", "check")
    assert found.returncode == 0
    assert found.stdout.splitlines()[-1] == "8 ok, 1 not found"
    assert humetric("sources", "check", "--all").returncode == 1
    (mirror / "datasets/reviews/train.parquet").write_bytes(table(REVIEWS | {"label": [1, 1, 1]}))
    found = humetric("sources", "check")
    assert found.returncode == 1
    assert found.stdout.splitlines()[-1] == "7 ok, 1 differs, 1 not found"
    assert humetric("sources", "check", "tiny", "--all").returncode == 0
    rows = json.loads(humetric("sources", "check", "reviews", "--json").stdout)
    assert [row["state"] for row in rows] == ["differs"]


def test_wrong_names(humetric: Humetric, mirror: Path) -> None:
    found = humetric("sources", "check", "review")
    assert found.returncode == 2
    assert "Did you mean 'reviews'" in found.stderr
