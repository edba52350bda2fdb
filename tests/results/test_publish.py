"""What is published is what was found, no more and no less."""

from __future__ import annotations

import lzma
import shutil
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import torch
from support import net_setting

from humetric import METHODS, METRICS, run_settings
from humetric.boards.files import board_files, judged
from humetric.cards import EVERY, MethodCard
from humetric.errors import HumetricError
from humetric.methods import Method
from humetric.methods.explanation import Explanation
from humetric.results import guard
from humetric.results.contents import scores
from humetric.results.manifest import read_manifest
from humetric.results.pack import file_of, packed, read_pack
from humetric.results.publish import bring, publish
from humetric.results.published import read_published
from humetric.results.read import read_result
from humetric.results.result import Result
from humetric.results.store import Store
from humetric.tasks.setting import Setting

SECRET = "the staff stole my grandmother's umbrella"
NAME = net_setting().id
PACK = file_of(NAME, Path("results"))


def methods(*names: str) -> list[Method]:
    return [METHODS.make(n, {"samples": 20, "cells": 3} if n == "lime" else None) for n in names]


def into(folder: Path, cases: int = 4, which: tuple[str, ...] = ("lime", "random")) -> Result:
    metrics = [METRICS.make(n) for n in ("deletion", "mu-fidelity", "sparseness")]
    setting = net_setting().first(cases)
    return run_settings([setting], methods(*which), metrics, chunk=2, out=folder)


def sorted_scores(result: Result) -> Any:
    keys = ["setting", "method", "metric", "case"]
    return result.scores.sort_values(keys).reset_index(drop=True)


def test_what_is_published_is_what_was_run(tmp_path: Path) -> None:
    into(tmp_path / "run")
    (done,) = publish(tmp_path / "run", tmp_path / "board")
    assert (done.done, done.cases) == ("published", 4)
    run, board = read_result(tmp_path / "run"), read_result(tmp_path / "board")
    assert sorted_scores(board).equals(sorted_scores(run)), "to the last bit"
    assert board.curves == run.curves
    assert board.calls == run.calls
    assert list(board.metrics) == list(run.metrics)
    assert board.methods == run.methods
    spent = board.spent[NAME]
    assert spent.calls == run_calls(tmp_path / "run") > 0
    assert spent.seconds > 0
    assert board.provenance["about"][NAME]["features"] == [64 * 64] * 4


def run_calls(folder: Path) -> int:
    """Model calls of a run, summed from its own files."""
    from safetensors import safe_open

    total = 0
    for kind in ("map", "score"):
        for path in (folder / "records").glob(f"*/{kind}/*.safetensors"):
            with safe_open(path, framework="pt") as file:
                about = file.metadata()["about"]
            total += int(about.split('"model_calls":')[1].split(",")[0].rstrip("}"))
    return total


def test_the_same_bytes_and_nothing_anew_the_second_time(tmp_path: Path) -> None:
    into(tmp_path / "run")
    publish(tmp_path / "run", tmp_path / "one")
    publish(tmp_path / "run", tmp_path / "two")
    assert (tmp_path / "one" / PACK).read_bytes() == (tmp_path / "two" / PACK).read_bytes()
    pack = read_pack(tmp_path / "one" / PACK)
    assert packed(pack) == (tmp_path / "one" / PACK).read_bytes(), "reading loses nothing"
    (again,) = publish(tmp_path / "run", tmp_path / "one")
    assert again.done == "unchanged"


def test_maps_stay_at_home(tmp_path: Path) -> None:
    into(tmp_path / "run")
    publish(tmp_path / "run", tmp_path / "board")
    records = read_pack(tmp_path / "board" / PACK).records.values()
    names = {part for record in records for part in record.tensors}
    assert names == {"value", "curve"}


def telling(fail: bool = False) -> Method:
    """A method that shows texts of the cases in every place where it can, or fails with one."""

    def explain(cases: Any) -> Explanation:
        if fail:
            raise ValueError(f"cannot explain {SECRET!r}")
        more = {"rule": {"words": SECRET.split()}, "note": SECRET}
        maps = torch.rand(cases.shape, generator=torch.Generator().manual_seed(1))
        of_setting = {"cues": [{"word": SECRET}], "note": SECRET}
        return Explanation(maps, tuple(more for _ in cases.ids), of_setting)

    name = "failing" if fail else "telling"
    return Method(MethodCard(name, 1, "Made up.", "", EVERY), explain)


def test_no_text_comes_through(tmp_path: Path) -> None:
    """Neither from what methods show nor from what errors say; nor onto the boards."""
    which = [telling(), telling(fail=True), *methods("random")]
    metrics = [METRICS.make("deletion"), METRICS.make("sparseness")]
    run_settings([net_setting()], which, metrics, chunk=2, out=tmp_path / "run")
    found = read_result(tmp_path / "run")
    assert SECRET in found.failures[0].message, "it is there to be found"
    assert found.more
    publish(tmp_path / "run", tmp_path / "board")
    content = lzma.decompress((tmp_path / "board" / PACK).read_bytes())
    result = read_result(tmp_path / "board")
    boards = "".join(board_files(result, judged(result)).values())
    for word in (SECRET, "umbrella", "grandmother"):
        assert word.encode() not in content
        assert word not in boards
    assert result.failures[0].message.startswith("ValueError (what it said has the digest ")
    assert "telling" in set(result.scores["method"]), "its numbers are published"


@pytest.mark.parametrize("field", ["quote", "names"])
def test_an_unknown_field_is_refused(tmp_path: Path, field: str) -> None:
    into(tmp_path / "run")
    store, (entry, *_) = Store(tmp_path / "run"), entries(tmp_path / "run")
    record = store.get(entry.identity)
    assert record is not None
    store.put(entry.identity, record.tensors, {**record.about, field: [SECRET]})
    with pytest.raises(HumetricError, match=f"a field called '{field}'"):
        publish(tmp_path / "run", tmp_path / "board")
    assert not (tmp_path / "board" / PACK).exists()


def entries(folder: Path) -> Any:
    manifest = read_manifest(folder)
    assert manifest is not None
    return scores(manifest, NAME)


def test_unknown_numbers_are_refused() -> None:
    with pytest.raises(HumetricError, match="numbers called 'tokens'"):
        guard.tensors("score", {"value": torch.zeros(2), "tokens": torch.zeros(2)})
    kept = guard.tensors("replicates", {"value": torch.zeros(2), "control none": torch.zeros(2)})
    assert set(kept) == {"value", "control none"}
    with pytest.raises(HumetricError, match="numbers called"):
        guard.tensors("replicates", {f"control {SECRET}": torch.zeros(2)})


@pytest.mark.parametrize("name", ["draw-01", "test-7", "cohort 1: test-7", "sentiment/a/b: test-7"])
def test_replicates_are_named_by_draws_and_cases(name: str) -> None:
    assert guard.replicate(name, {"test-7"}) == name


@pytest.mark.parametrize("name", [SECRET, f"cohort 1: {SECRET}", f"{SECRET}: test-7", "TEST-8"])
def test_other_names_of_replicates_are_refused(name: str) -> None:
    with pytest.raises(HumetricError, match="not published"):
        guard.replicate(name, {"test-7"})


def test_cases_that_are_named_by_their_text_are_refused(tmp_path: Path) -> None:
    setting = replace(net_setting(), ids=(SECRET, "b", "c", "d"))
    run_settings([setting], methods("random"), [METRICS.make("sparseness")], out=tmp_path / "run")
    with pytest.raises(HumetricError, match="may hold text"):
        publish(tmp_path / "run", tmp_path / "board")


def test_more_cases_of_a_published_setting(tmp_path: Path) -> None:
    """A longer run that starts from what is published ends as if it had begun at home."""
    into(tmp_path / "short", cases=2)
    publish(tmp_path / "short", tmp_path / "board")
    bring(read_pack(tmp_path / "board" / PACK), Store(tmp_path / "long"))
    longer = into(tmp_path / "long", cases=4)
    publish(tmp_path / "long", tmp_path / "board")
    whole = into(tmp_path / "whole", cases=4)
    assert 0 < longer.provenance["model_calls"] < whole.provenance["model_calls"]
    board = read_result(tmp_path / "board")
    assert sorted_scores(board).equals(sorted_scores(whole))
    assert board.calls == read_result(tmp_path / "whole").calls


def test_what_the_run_does_not_have_is_kept(tmp_path: Path) -> None:
    into(tmp_path / "first", which=("lime", "random"))
    publish(tmp_path / "first", tmp_path / "board")
    into(tmp_path / "second", cases=2, which=("edge",))
    publish(tmp_path / "second", tmp_path / "board", unfinished=True)
    board = read_result(tmp_path / "board")
    assert set(board.scores["method"]) == {"lime", "random", "edge"}
    assert board.provenance["cases"] == {NAME: 4}
    counts = board.scores.groupby(["method", "metric"])["case"].nunique()
    assert (counts["lime"] == 4).all()
    assert (counts["edge"] == 2).all()
    publish(tmp_path / "first", tmp_path / "other")
    assert set(read_result(tmp_path / "other").scores["method"]) == {"lime", "random"}


def test_other_cases_or_conditions_are_not_mixed(tmp_path: Path) -> None:
    into(tmp_path / "run")
    publish(tmp_path / "run", tmp_path / "board")
    other: Setting = replace(net_setting(), ids=("d", "c", "b", "a"))
    metrics = [METRICS.make("sparseness")]
    run_settings([other], methods("random"), metrics, chunk=2, out=tmp_path / "ids")
    with pytest.raises(HumetricError, match="begin as the published ones"):
        publish(tmp_path / "ids", tmp_path / "board")
    run_settings([net_setting()], methods("random"), metrics, precision="fp64", chunk=2,
                 out=tmp_path / "fp64")  # fmt: skip
    with pytest.raises(HumetricError, match="another precision than this run"):
        publish(tmp_path / "fp64", tmp_path / "board")


def test_one_version_has_one_set_of_parameters(tmp_path: Path) -> None:
    into(tmp_path / "run")
    publish(tmp_path / "run", tmp_path / "board")
    second = replace(net_setting(), id="image/other/cnn")
    few = METHODS.make("lime", {"samples": 30, "cells": 3})
    run_settings([second], [few], [METRICS.make("deletion")], chunk=2, out=tmp_path / "few")
    publish(tmp_path / "few", tmp_path / "board")
    with pytest.raises(HumetricError, match="lime version 2 with the same parameters"):
        read_result(tmp_path / "board")


def test_an_older_version_counts_as_missing(tmp_path: Path) -> None:
    into(tmp_path / "run")
    publish(tmp_path / "run", tmp_path / "board")
    second = replace(net_setting(), id="image/other/cnn")
    (lime,) = methods("lime")
    newer = replace(lime, card=replace(lime.card, version=lime.card.version + 1))
    run_settings([second], [newer], [METRICS.make("deletion")], chunk=2, out=tmp_path / "new")
    publish(tmp_path / "new", tmp_path / "board")
    board = read_result(tmp_path / "board")
    there = set(map(tuple, board.scores[["setting", "method"]].drop_duplicates().to_numpy()))
    assert (NAME, "lime") not in there
    assert ("image/other/cnn", "lime") in there
    assert "INCOMPLETE" in board_files(board)["methods.md"]


def test_a_run_starts_from_what_is_published(tmp_path: Path) -> None:
    """Publish, lose the run, run again: nothing is computed, and the boards are the same."""
    first = into(tmp_path / "run")
    publish(tmp_path / "run", tmp_path / "board")
    before = board_files(read_result(tmp_path / "run"))
    shutil.rmtree(tmp_path / "run")
    for pack in read_published(tmp_path / "board").packs.values():
        assert bring(pack, Store(tmp_path / "run")) > 0
        assert bring(pack, Store(tmp_path / "run")) == 0
    again = into(tmp_path / "run")
    assert again.provenance["model_calls"] == 0
    assert again.scores.equals(first.scores)
    assert board_files(read_result(tmp_path / "run")) == before
    (done,) = publish(tmp_path / "run", tmp_path / "board")
    assert done.done == "unchanged", "and it can be published as before"
    more = into(tmp_path / "run", which=("lime", "random", "edge"))
    assert more.provenance["model_calls"] > 0
    assert set(more.scores["method"]) == {"lime", "random", "edge"}


def test_another_seed_starts_from_nothing(tmp_path: Path) -> None:
    into(tmp_path / "run")
    publish(tmp_path / "run", tmp_path / "board")
    bring(read_pack(tmp_path / "board" / PACK), Store(tmp_path / "other"))
    metrics = [METRICS.make(n) for n in ("deletion", "mu-fidelity", "sparseness")]
    calls = [
        run_settings([net_setting()], methods("lime", "random"), metrics, chunk=2, seed=1,
                     out=tmp_path / name).provenance["model_calls"]
        for name in ("other", "empty")
    ]  # fmt: skip
    assert calls[0] == calls[1] > 0


@pytest.mark.parametrize("damage", ["cut", "changed", "emptied", "another"])
def test_damage_is_noticed(tmp_path: Path, damage: str) -> None:
    into(tmp_path / "run")
    publish(tmp_path / "run", tmp_path / "board")
    path = tmp_path / "board" / PACK
    whole = path.read_bytes()
    inside = bytearray(lzma.decompress(whole))
    inside[-3] ^= 255
    path.write_bytes(
        {
            "cut": whole[:-20],
            "changed": lzma.compress(bytes(inside)),
            "emptied": b"",
            "another": lzma.compress(b"something else"),
        }[damage]
    )
    with pytest.raises(HumetricError, match="not a whole pack"):
        read_result(tmp_path / "board")


def test_numbers_are_as_they_were_stored(tmp_path: Path) -> None:
    """NaN, infinity-free doubles and what fits into a float32 come back to the last bit."""
    from humetric.results.pack import Pack, write_pack
    from humetric.results.store import Record

    values = {
        "value": torch.tensor([0.1, float("nan"), 1 / 3], dtype=torch.float64),
        "curve": torch.tensor([[0.5, 0.25], [float("nan"), 1.0]], dtype=torch.float64),
    }
    pack = Pack({"settings": {"a/b/c": {}}}, {"0" * 16: Record(values, {"environment": {}})})
    write_pack(pack, tmp_path / "x.safetensors.xz")
    found = read_pack(tmp_path / "x.safetensors.xz").records["0" * 16].tensors
    for name, tensor in values.items():
        assert found[name].dtype == torch.float64
        assert torch.equal(found[name].nan_to_num(-7), tensor.nan_to_num(-7))


def test_a_student_is_published_by_its_numbers() -> None:
    about = {"setting": {"student": {"agreement": 0.9, "held out": 40}, "cues": [SECRET]}}
    kept = guard.about("map", {"asked": 3, "more": about, "environment": {}}, set())
    assert kept["more"] == {"setting": {"student": {"agreement": 0.9, "held out": 40}}}
    bad = MappingProxyType({"setting": {"student": {"word": SECRET}}})
    with pytest.raises(HumetricError, match="a field of a student"):
        guard.about("map", {"more": bad}, set())
