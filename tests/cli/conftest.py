"""The command, as tests of it call it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Finished, Humetric, called


@pytest.fixture
def humetric(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Humetric:
    """The command, called in this process from an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Finished:
        return called(capsys, *arguments)

    return call
