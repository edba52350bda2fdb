"""What all benchmarks share: their options, one thread, races, and what is printed at the end.

``pytest benchmarks`` is the guard: scores and invariants. Speed and memory are left out unless they
are asked for (``-m speed``, or the file by name), since they mean little on a busy machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture
from racing import Figure, Note, Race

FIGURES = pytest.StashKey[list[str]]()
NOTES = pytest.StashKey[list[str]]()
LEFT_OUT = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the guard."""
    group = parser.getgroup("guard", "pinned scores")
    group.addoption("--full", action="store_true", help="compare all cases, not the first few")
    group.addoption("--update", action="store_true", help="replace the pinned scores")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what measures, unless markers or its file are named."""
    if config.option.markexpr:
        return
    named = {(config.invocation_params.dir / a.partition("::")[0]).resolve() for a in config.args}
    here = Path(__file__).parent
    out = [
        item
        for item in items
        if item.get_closest_marker("speed") and item.path.parent == here and item.path not in named
    ]
    config.stash[LEFT_OUT] = len(out)
    if out:
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item not in out]


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """Whether all cases are compared."""
    return bool(request.config.getoption("--full", default=False))


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether pins are replaced."""
    return bool(request.config.getoption("--update", default=False))


@pytest.fixture
def note(request: pytest.FixtureRequest) -> Note:
    """Adds a text to what is said about pins at the end of the output."""
    return request.config.stash.setdefault(NOTES, []).append


@pytest.fixture(scope="session")
def one_thread() -> Iterator[None]:
    """Torch on one thread: small networks gain little by a second, and lose a lot if it waits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def race(benchmark: BenchmarkFixture, figure: Figure) -> Race:
    """Two sides timed against each other."""
    if benchmark.disabled:
        pytest.skip("nothing is timed with --benchmark-disable or in parallel (-n)")
    return Race(benchmark, figure)


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Figure:
    """Adds a line to the figures at the end of the output."""
    lines = request.config.stash.setdefault(FIGURES, [])
    return lines.append


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print figures, changed pins, and what was left out.

    The table of pytest-benchmark has seconds only.
    """
    for title, key in (("figures", FIGURES), ("pins", NOTES)):
        lines = config.stash.get(key, [])
        if lines:
            terminalreporter.section(title)
            for line in lines:
                terminalreporter.line(line)
    left_out = config.stash.get(LEFT_OUT, 0)
    if left_out:
        terminalreporter.line(
            f"{left_out} measurements of speed and memory left out; on a quiet machine: "
            f"pytest benchmarks -m speed"
        )
