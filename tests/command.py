"""Calling ``humetric`` within a test's own process."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from humetric.cli import app


class Finished(NamedTuple):
    """What a call left behind."""

    returncode: int
    stdout: str
    stderr: str


Humetric = Callable[..., Finished]


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> Finished:
    """The command's exit code and output."""
    with pytest.raises(SystemExit) as stop:
        app(arguments)
    return Finished(int(stop.value.code or 0), *capsys.readouterr())
