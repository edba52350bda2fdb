"""A run goes on where it stopped, and ends as if it had never been interrupted."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from support import net_setting

from humetric import METHODS, METRICS, run_settings
from humetric.boards.files import board_files, judged
from humetric.errors import HumetricError
from humetric.methods import Method
from humetric.metrics import Metric
from humetric.results.read import read_result
from humetric.results.result import Result
from humetric.results.store import Store
from humetric.run.pending import changes

FEW = {"samples": 20, "cells": 3}


def methods(*names: str) -> list[Method]:
    few = ("lime", "kernel-shap", "rise")
    return [METHODS.make(name, FEW if name in few else None) for name in names]


def metrics(*names: str) -> list[Metric]:
    return [METRICS.make(name) for name in names]


def boards(folder: Path) -> dict[str, str]:
    """All boards of a folder, as if its setting were paired with a study."""
    found = read_result(folder)
    pair = {"study": "colin2022", "cell": "husky-wolf", "evidence": "toy"}
    about = {**found.provenance, "pairs": {net_setting().id: [pair]}}
    found = replace(found, provenance=about)
    return board_files(found, judged(found))


def into(folder: Path, which: list[Method], measured: list[Metric]) -> Result:
    return run_settings([net_setting()], which, measured, chunk=2, out=folder)


def test_a_second_run_computes_nothing(tmp_path: Path) -> None:
    which = methods("lime", "occlusion", "random")
    first = into(tmp_path, which, metrics("deletion", "mu-fidelity"))
    again = into(tmp_path, which, metrics("deletion", "mu-fidelity"))
    assert first.provenance["model_calls"] > 0
    assert again.provenance["model_calls"] == 0
    assert again.scores.equals(first.scores)
    assert again.curves == first.curves


def test_the_same_values_with_a_store_and_without(tmp_path: Path) -> None:
    which, measured = methods("lime", "saliency"), metrics("deletion", "mu-fidelity", "sparseness")
    kept = into(tmp_path, which, measured)
    plain = run_settings([net_setting()], which, measured, chunk=2)
    assert kept.scores.equals(plain.scores)
    assert read_result(tmp_path).scores.equals(kept.scores), (
        "what is read back is what was computed"
    )


def test_a_new_method_pays_only_for_its_own_questions(tmp_path: Path) -> None:
    """Four cases; the subsets of mu-fidelity and both ends of the curves are known."""
    measured = metrics("deletion", "insertion", "mu-fidelity")
    into(tmp_path, methods("lime"), measured)
    new = into(tmp_path, methods("random"), measured)
    assert new.provenance["model_calls"] == 4 * 2 * 31
    third = into(tmp_path, methods("occlusion"), metrics("mu-fidelity"))
    windows = 11 * 11
    assert third.provenance["model_calls"] == 4 * windows


def test_a_new_metric_never_explains_again(tmp_path: Path) -> None:
    explained = []

    def watched(method: Method) -> Method:
        def explain(cases):  # type: ignore[no-untyped-def]
            explained.append(cases.ids)
            return method.explain(cases)

        return replace(method, explain=explain)

    which = [watched(m) for m in methods("lime", "saliency")]
    into(tmp_path, which, metrics("sparseness"))
    assert len(explained) == 2 * 2
    new = into(tmp_path, which, metrics("deletion"))
    assert len(explained) == 2 * 2
    assert new.provenance["model_calls"] == 4 * (2 * 31 + 1), "the intact input is known from lime"
    assert set(read_result(tmp_path).scores["metric"]) == {"sparseness", "deletion"}


def test_a_changed_version_is_computed_anew_and_the_old_one_kept(tmp_path: Path) -> None:
    (old,) = metrics("deletion")
    first = into(tmp_path, methods("random"), [old])
    new = replace(old, card=replace(old.card, version=2))
    second = into(tmp_path, methods("random"), [new])
    assert second.provenance["model_calls"] == 4 * 31
    store = Store(tmp_path)
    kept = sorted((tmp_path / "records").glob("*/score/*"))
    assert len(kept) == 2 * 2
    assert not store.damaged
    third = into(tmp_path, methods("random"), [old])
    assert third.provenance["model_calls"] == 0
    assert third.scores.equals(first.scores)


def test_changes_are_named() -> None:
    old = {"cases": ["a"], "seed": 0, "metric": {"id": "d", "version": 1, "parameters": {"n": 3}}}
    new = old | {"seed": 1, "metric": {"id": "d", "version": 2, "parameters": {"n": 3}}}
    assert changes(old, new) == "seed was 0, is 1; version of d was 1, is 2"
    assert changes(old | {"cases": ["b"]}, new) == ""


@pytest.mark.parametrize("damage", ["cut", "changed", "emptied"])
def test_damage_is_noticed_and_mended(tmp_path: Path, damage: str) -> None:
    which, measured = methods("lime", "random"), metrics("deletion")
    first = into(tmp_path, which, measured)
    for path in sorted((tmp_path / "records").rglob("*.safetensors")):
        whole = bytearray(path.read_bytes())
        whole[-1] ^= 255
        path.write_bytes({"cut": whole[:-9], "changed": whole, "emptied": b""}[damage])
    with pytest.raises(HumetricError, match="is damaged"):
        read_result(tmp_path)
    again = into(tmp_path, which, measured)
    assert again.scores.equals(first.scores)
    assert again.provenance["model_calls"] == first.provenance["model_calls"]
    assert again.damaged
    assert into(tmp_path, which, measured).damaged == ()


def test_the_batch_size_of_a_folder_is_used_again(tmp_path: Path) -> None:
    run_settings(
        [net_setting()], methods("random"), metrics("deletion"), batch_size=3, out=tmp_path
    )
    second = into(tmp_path, methods("edge"), metrics("deletion"))
    assert second.provenance["batch_size"] == {"image/noise/cnn": 3}


SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import torch
torch.set_num_threads(1)
from test_resume import into, methods, metrics
print("ready", flush=True)
into(Path(sys.argv[1]), methods(*{methods!r}), metrics(*{metrics!r}))
"""
WHICH = ("lime", "kernel-shap", "rise", "occlusion", "saliency", "random", "edge", "constant")
MEASURED = ("deletion", "insertion", "mu-fidelity", "sparseness")


def start(folder: Path) -> subprocess.Popen[str]:
    here = Path(__file__).parent
    text = SCRIPT.format(tests=str(here), methods=WHICH, metrics=MEASURED)
    paths = os.pathsep.join([str(here.parent), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", text, str(folder)],
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_twenty_kills_leave_no_trace(tmp_path: Path) -> None:
    """Killed at random moments over and over, the run ends with byte-identical boards."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    process = start(whole)
    assert process.stdout is not None
    process.stdout.readline()
    began = time.monotonic()
    assert process.wait() == 0
    length = time.monotonic() - began
    draw, kills, inside = random.Random(0), 0, 0
    while kills < 20:
        process = start(killed)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(draw.uniform(0, length / 4))
        inside += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
        if kills in (7, 14):  # so that all twenty fall into work that is left to do
            for path in sorted((killed / "records").rglob("*.safetensors"))[::2]:
                path.unlink()
    assert inside >= 10
    assert start(killed).wait() == 0
    assert boards(killed) == boards(whole)
    values = [read_result(folder).scores for folder in (whole, killed)]
    assert values[0].equals(values[1])


@pytest.mark.slow
def test_two_runs_into_one_folder_at_once(tmp_path: Path) -> None:
    alone, shared = tmp_path / "alone", tmp_path / "shared"
    with ThreadPoolExecutor() as pool:
        ends = pool.map(lambda folder: start(folder).wait(), [alone, shared, shared])
    assert list(ends) == [0, 0, 0]
    assert boards(shared) == boards(alone)
    assert not list(shared.rglob("*.draft"))
