"""The boards in the repository are what the results in the repository give."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import called

from humetric.results.published import leaderboards, published_suites

FOLDER = leaderboards()
SUITES = [] if FOLDER is None else published_suites(FOLDER)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not SUITES, reason="no leaderboards/ with results here: this is not a source tree"
    ),
]


@pytest.mark.parametrize("folder", SUITES, ids=lambda path: path.name)
def test_boards_are_up_to_date(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = called(capsys, "boards", "build", str(folder), "--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_index_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    done = called(capsys, "boards", "index", str(FOLDER), "--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_published_files_are_small() -> None:
    """A few megabytes in all; a file of more than one is a mistake."""
    assert FOLDER is not None
    files = [path for path in FOLDER.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 40e6
    results = [path for path in files if path.parent.name == "results"]
    assert max(path.stat().st_size for path in results) < 2e6
