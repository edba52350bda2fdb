"""A method that is not built in, whatever it does, costs itself only."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from support import net_setting

from humetric import METHODS, METRICS
from humetric.engine.placement import place
from humetric.methods import Method
from humetric.methods.files import methods_in
from humetric.results.result import Result
from humetric.results.store import Store
from humetric.run.evaluate import by_id
from humetric.run.execute import execute
from humetric.run.isolated import Limits
from humetric.run.plan import make_plan

FILE = """
import os, random, sys, time
import numpy as np
import torch
from humetric.engine.questions import GroupMasks, about_each, intact
from humetric.methods import method

def good(cases):
    return cases.x.sum(1)

def asks(cases):
    answers, = yield [intact(cases)]
    return answers.logit[:, None, None].expand(cases.shape).float() + cases.x.sum(1).cpu()

def raises(cases):
    raise KeyError("no such layer")

def nan(cases):
    return torch.full(cases.shape, float("nan"))

def shape(cases):
    return cases.x

def hangs(cases):
    time.sleep(1000)

def spins(cases):
    while True:
        pass

def eats(cases):
    kept = []
    while True:
        kept.append(np.ones(1 << 22))

def prints(cases):
    for _ in range(60):
        print("x" * 100_000)
        print("y" * 100_000, file=sys.stderr)
    return cases.x.sum(1)

def exits(cases):
    print("that is all")
    sys.exit(3)

def dies(cases):
    os.abort()

def seeds(cases):
    torch.manual_seed(1), np.random.seed(1), random.seed(1)
    torch.set_default_dtype(torch.float64)
    return cases.x.sum(1)

def weights(cases):
    with torch.no_grad():
        next(cases.model.module.parameters()).add_(1)
    return cases.x.sum(1)

ALL = good, asks, raises, nan, shape, hangs, spins, eats, prints, exits, dies, seeds, weights
for function in ALL:
    method(f"own-{function.__name__}", version=1, reference="test")(
        (lambda function: lambda: function)(function)
    )
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of somebody's methods, declared for the time of these tests."""
    path = tmp_path_factory.mktemp("own") / "own.py"
    path.write_text(FILE)
    names = methods_in(path)
    yield path  # type: ignore[misc]
    for name in names:
        METHODS._factories.pop(name)


def run(method: Method, folder: Path | None = None, seconds: float = 2.0) -> Result:
    """A method beside a built-in one, on two chunks of two cases."""
    setting = net_setting()
    methods = [method, METHODS.make("random")]
    metrics = [METRICS.make("sparseness"), METRICS.make("mu-fidelity", {"subsets": 5})]
    placed = {setting.id: setting.place(place("cpu"))}
    return execute(
        make_plan([setting], methods, metrics, 2),
        placed,
        by_id(methods),
        by_id(metrics),
        batches={setting.id: 64},
        store=None if folder is None else Store(folder),
        isolate=Limits(seconds, 0.3),
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raises", "KeyError: 'no such layer'"),
        ("nan", "finite numbers from own-nan but 4096 of 4096 are NaN"),
        ("shape", r"shape (2, 64, 64) from own-shape but got (2, 3, 64, 64)"),
        ("hangs", "from own-hangs within 0.5 s per case but none came"),
        ("spins", "from own-spins within 0.5 s per case but none came"),
        ("eats", "to take at most 0.3 GiB of memory but it took"),
        ("exits", "ended with exit code 3: return a map or raise an exception, and do not exit. "
                  "Its last output: 'that is all'"),
        ("dies", "ended with signal SIGABRT"),
        ("weights", "Expected the model to be left as it was but features.0.0.weight changed"),
    ],
)  # fmt: skip
def test_failures_cost_the_method_only(own: Path, name: str, message: str) -> None:
    began = time.monotonic()
    seconds = 0.5 if name in ("hangs", "spins") else 20
    result = run(METHODS.make(f"own-{name}"), seconds=seconds)
    assert time.monotonic() - began < 60
    assert set(result.scores["method"]) == {"random"}
    assert len(result.scores) == 4 * 2
    assert {f.method for f in result.failures} == {f"own-{name}"}
    assert message in result.failures[0].message


@pytest.mark.parametrize("name", ["good", "prints", "seeds"])
def test_methods_that_behave_get_their_scores(own: Path, name: str) -> None:
    state, seed = torch.get_default_dtype(), torch.initial_seed()
    result = run(METHODS.make(f"own-{name}"), seconds=20)
    assert not result.failures
    assert len(result.scores) == 4 * 2 * 2
    assert (torch.get_default_dtype(), torch.initial_seed()) == (state, seed)


def test_answers_are_shared_with_the_process(own: Path, tmp_path: Path) -> None:
    """The run knows the intact input after the first method; the process reads it there."""
    run(METHODS.make("own-good"), tmp_path, 20)
    second = run(METHODS.make("own-asks"), tmp_path, 20)
    assert not second.failures
    assert second.provenance["model_calls"] == 0


def test_an_edited_file_is_another_method(own: Path, tmp_path: Path) -> None:
    before = METHODS.make("own-good").card.source
    assert len(before) == 16
    other = tmp_path / "other.py"
    other.write_text(FILE.replace("own-", "another-") + "\n# edited\n")
    names = methods_in(other)
    try:
        assert METHODS.make("another-good").card.source != before
    finally:
        for name in names:
            METHODS._factories.pop(name)


def test_no_process_is_left_behind(own: Path) -> None:
    run(METHODS.make("own-hangs"), seconds=0.2)
    if sys.platform == "linux":
        children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
        names = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children]
        assert not [name for name in names if b"humetric.run.worker" in name]


def test_the_reference_is_explained_in_a_process_too(own: Path) -> None:
    """Two cases are run and four compared with: the same values as in this process."""
    whole = net_setting()
    target = torch.arange(4) % 2
    some = replace(whole, target=target, label=target)
    some = replace(some, reference=replace(some, reference=None)).first(3)
    methods, metrics = [METHODS.make("own-good")], [METRICS.make("feature-similarity")]
    plan = make_plan([some], methods, metrics, 2)
    placed = {some.id: some.place(place("cpu"))}
    here, there = (
        execute(plan, placed, by_id(methods), by_id(metrics), batches={some.id: 64}, isolate=limits)
        for limits in (None, Limits(20))
    )
    assert not here.failures + there.failures
    assert here.scores["value"].notna().all()
    assert here.scores.equals(there.scores)
