"""The guard (``pytest benchmarks``) notices what is broken, and says what it is.

Each run is a process of its own in which a plugin breaks one thing before tests are collected.
"""

from __future__ import annotations

import copy
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pinning
import pytest

ROOT = Path(__file__).parents[2]
SCORES = "test_scores and leaf"
BOARDS = "TestBoards"

METRIC = """
import importlib
deletion = importlib.import_module("humetric.metrics.deletion")
area = deletion.area
def shifted(*arguments):
    found = area(*arguments)
    return found._replace(value=found.value + 0.01)
deletion.area = shifted
"""

METHOD = """
from dataclasses import replace
from humetric import METHODS
saliency = METHODS.factory("saliency")
def reversed_saliency():
    method = saliency()
    return replace(method, explain=lambda cases: 1 - method.explain(cases))
METHODS._factories["saliency"] = reversed_saliency
"""

NEW_METHOD = """
import torch
from humetric import method
@method("newcomer", version=1, reference="none")
def newcomer():
    '''A method that nobody has pinned.'''
    return lambda cases: torch.ones(cases.shape)
"""

BOARD = r"""
import re
from humetric.boards import files
board_files = files.board_files
def broken(*arguments, **options):
    made = board_files(*arguments, **options)
    page, table = made["methods.md"], made["methods.csv"]
    table = re.sub(r".*,saliency,.*,deletion,.*\n", "", table, count=1)
    moved = lambda row: re.sub(r"\d\.\d\d\d", lambda m: f"{float(m[0]) + 0.001:.3f}", row[0])
    page = re.sub(r"\| saliency .*", moved, page) + f"{id(made)}\n"
    tasks = re.sub(r".*,random,.*,mu-fidelity,.*\n", "", made["tasks.csv"], count=1)
    return made | {"methods.md": page, "methods.csv": table, "tasks.csv": tasks}
files.board_files = broken
"""


class Guarded(NamedTuple):
    code: int
    text: str


Guard = Callable[[str, str], Guarded]


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    """Runs part of the guard with a mutation."""

    def run(mutation: str, selection: str) -> Guarded:
        (tmp_path / "mutation.py").write_text(mutation)
        options = ["-k", selection, "-p", "mutation", "-p", "no:cacheprovider"]
        found = subprocess.run(
            [sys.executable, "-m", "pytest", "benchmarks", *options],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        return Guarded(found.returncode, found.stdout + found.stderr)

    return run


@pytest.mark.slow
class TestGuard:
    def test_passes_if_nothing_is_broken(self, guard: Guard) -> None:
        found = guard("", f"({SCORES}) or {BOARDS}")
        assert found.code == 0, found.text
        assert "pytest benchmarks -m speed" in found.text

    def test_names_a_broken_metric(self, guard: Guard) -> None:
        found = guard(METRIC, SCORES)
        assert found.code == 1, found.text
        assert "by metric: deletion 48\n" in found.text
        assert "pytest benchmarks --update" in found.text

    def test_names_a_broken_method_and_one_without_pins(self, guard: Guard) -> None:
        found = guard(METHOD + NEW_METHOD, SCORES)
        assert found.code == 1, found.text
        moved = set(re.findall(r"by method: (.*)", found.text))  # twice where CI is set
        assert len(moved) == 1
        assert re.fullmatch(r"saliency \d+", moved.pop())
        assert "method newcomer: registered, but has no pins" in found.text
        assert "pytest benchmarks --update" in found.text

    def test_names_what_is_wrong_with_boards(self, guard: Guard) -> None:
        """A row dropped, a digit changed, a file that is another one each time."""
        found = guard(BOARD, BOARDS)
        assert found.code == 1, found.text
        assert "methods.csv: image/leaf/cnn, saliency, deletion: no row" in found.text
        assert re.search(
            r"methods.md: image/leaf/cnn, saliency, mu-fidelity: .*, expected", found.text
        )
        assert "tasks.csv: image, random, mu-fidelity: no row" in found.text
        assert "methods.md: image, saliency, mu-fidelity: " in found.text
        assert "boards/methods.md is not the same when made again" in found.text


@pytest.fixture
def pins() -> pinning.Pins:
    """Pins of two methods, one metric and four cases."""
    card = {"version": 1, "parameters": {}}
    return {
        "setting": "image/toy/cnn",
        "version": "data 1",
        "seed": 0,
        "cases": ["a", "b", "c", "d"],
        "methods": {"one": card, "two": card},
        "metrics": {"area": card},
        "scores": {"one": {"area": [0.1, 0.2, None, 0.4]}, "two": {"area": "skipped: it is odd"}},
    }


class TestCompare:
    def test_nothing_to_say(self, pins: pinning.Pins) -> None:
        assert pinning.compare(pins, copy.deepcopy(pins)) == ""

    def test_only_cases_that_were_run_are_compared(self, pins: pinning.Pins) -> None:
        found = copy.deepcopy(pins)
        found["cases"] = ["a", "b"]
        found["scores"]["one"]["area"] = [0.1, 0.2]
        assert pinning.compare(pins, found) == ""

    @pytest.mark.parametrize(
        ("values", "moved"),
        [
            ([0.1, 0.209, None, 0.4], []),  # one case, as rounding may move it
            ([0.1, 0.211, None, 0.4], ["b"]),
            ([0.1001, 0.2001, None, 0.4001], []),
            ([0.1003, 0.2003, None, 0.4005], ["d", "a", "b"]),  # most cases, too far for rounding
            ([0.1, 0.2, 0.3, 0.4], ["c"]),
            ([0.1, None, None, 0.4], ["b"]),
        ],
    )
    def test_tolerance(
        self, pins: pinning.Pins, values: list[float | None], moved: list[str]
    ) -> None:
        found = copy.deepcopy(pins)
        found["scores"]["one"]["area"] = values
        moves = pinning.moves(pins, found)
        assert sorted(m.case for m in moves) == sorted(moved)
        assert [m.case for m in moves][:1] == moved[:1]
        assert all(case in pinning.compare(pins, found) for case in moved)

    def test_long_lists_are_cut(self, pins: pinning.Pins) -> None:
        pins["cases"] = [f"case-{i}" for i in range(30)]
        pins["scores"]["one"]["area"] = [0.1] * 30
        found = copy.deepcopy(pins)
        found["scores"]["one"]["area"] = [0.2] * 30
        said = pinning.compare(pins, found)
        assert "... and 10 more" in said
        assert len(said.splitlines()) < 30

    def test_declarations(self, pins: pinning.Pins) -> None:
        found = copy.deepcopy(pins)
        found["version"] = "data 2"
        found["metrics"]["area"] = {"version": 2, "parameters": {"steps": 8}}
        found["methods"]["three"] = found["methods"].pop("two")
        found["scores"]["three"] = found["scores"].pop("two")
        said = pinning.compare(pins, found)
        for line in (
            "setting image/toy/cnn: version data 1 pinned, data 2 found",
            "metric area: version 1 pinned, 2 found",
            "metric area: parameters {} pinned, {'steps': 8} found",
            "method two: pinned, but no longer registered",
            "method three: registered, but has no pins",
            "pytest benchmarks --update",
        ):
            assert line in said

    def test_a_setting_without_pins(self, pins: pinning.Pins) -> None:
        said = pinning.compare({}, pins)
        assert "setting image/toy/cnn: has no pins" in said
        assert "pytest benchmarks --update" in said

    def test_skipped_pairs(self, pins: pinning.Pins) -> None:
        found = copy.deepcopy(pins)
        found["scores"]["two"]["area"] = [0.1] * 4
        assert "area of two: skipped: it is odd pinned, values found" in pinning.compare(
            pins, found
        )

    def test_failures_are_always_said(self, pins: pinning.Pins) -> None:
        pins["scores"]["two"]["area"] = "failed: no"
        assert "area of two: failed: no" in pinning.compare(pins, copy.deepcopy(pins))

    def test_written_and_read(
        self, pins: pinning.Pins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pinning, "FOLDER", tmp_path)
        pinning.write(pins)
        assert pinning.read("image/toy/cnn") == pins
        text = (tmp_path / "image-toy-cnn.json").read_text()
        assert '"area": [0.1, 0.2, null, 0.4]' in text
