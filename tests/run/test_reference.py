"""Metrics that compare with reference cases: the same values whatever else is in the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from support import net_setting, reordered
from torch import Tensor

from humetric import METHODS, METRICS, load_setting, run_settings
from humetric.engine.placement import place
from humetric.errors import HumetricError
from humetric.methods import Method
from humetric.metrics import perceptual_similarity
from humetric.models.model import Model
from humetric.models.own_features import own_features
from humetric.results.read import read_result
from humetric.results.result import Result
from humetric.results.store import Store, read_identity
from humetric.run.evaluate import as_method, by_id, evaluate
from humetric.run.plan import costs, make_plan
from humetric.tasks.cases import Cases
from humetric.tasks.setting import Setting

KEYS = ["setting", "case", "method", "metric"]
METRIC_NAMES = ("feature-similarity", "deletion")


def setting(cases: int = 6) -> Setting:
    """Two classes, and all six cases for reference, however many are run."""
    whole = net_setting(6)
    target = torch.arange(6) % 2
    whole = replace(whole, target=target, label=target)
    return replace(whole, reference=replace(whole, reference=None)).first(cases)


def methods(*names: str) -> list[Method]:
    few = {"samples": 20}
    return [METHODS.make(name, few if name in ("lime", "smoothgrad") else None) for name in names]


def run(
    some: Setting,
    which: list[Method],
    *metrics: str,
    out: Path | None = None,
    chunk: int = 2,
    precision: str = "fp32",
) -> Result:
    measured = [METRICS.make(name) for name in metrics or METRIC_NAMES]
    return run_settings([some], which, measured, "cpu", precision, chunk=chunk, out=out)


def joined(one: Result, other: Result) -> pd.DataFrame:
    return one.scores.merge(other.scores, on=KEYS, suffixes=("_one", "_other"))


@pytest.mark.parametrize("order", [[0], [4], [5, 1], [3, 0, 2, 5]])
def test_a_value_does_not_depend_on_the_cases_that_are_run(order: list[int]) -> None:
    which = methods("saliency", "lime", "random", "occlusion")
    whole = run(setting(), which, precision="fp64")
    part = run(reordered(setting(), order), which[::-1], precision="fp64", chunk=3)
    both = joined(part, whole)
    assert len(both) == len(part.scores) == len(order) * 4 * 2
    assert np.abs(both["value_one"] - both["value_other"]).max() < 1e-9
    assert both["value_one"].notna().all()


def test_a_value_does_not_depend_on_the_methods_that_are_run(tmp_path: Path) -> None:
    whole = run(setting(), methods("saliency", "lime", "random"), out=tmp_path)
    alone = run(setting(), methods("lime"))
    both = joined(alone, whole)
    assert (both["value_one"] == both["value_other"]).all(), "to the last bit"
    assert len(both) == 6 * 2


def test_the_reference_is_of_the_method_and_of_the_setting() -> None:
    """Another reference gives other values: what is compared with is really looked at."""
    some = setting(2)
    assert some.reference is not None
    fewer = replace(some, reference=some.reference.first(4))
    one, other = (run(s, methods("saliency"), "feature-similarity") for s in (some, fewer))
    assert (joined(one, other)["value_one"] != joined(one, other)["value_other"]).all()


class Watched:
    """A method that counts what it explains, and fails when told to."""

    def __init__(self, fails: Callable[[tuple[str, ...]], BaseException | None]) -> None:
        self.fails, self.seen = fails, []  # type: ignore[var-annotated]

    def __call__(self, cases: Cases) -> Tensor:
        error = self.fails(cases.ids)
        if error is not None:
            raise error
        self.seen.append(cases.ids)
        return cases.x.sum(1)


def watched(fails: Callable[[tuple[str, ...]], BaseException | None]) -> tuple[Watched, Method]:
    seen = Watched(fails)
    return seen, replace(as_method(lambda cases: cases.x), explain=seen)


def test_each_chunk_is_explained_once(tmp_path: Path) -> None:
    for out in (None, tmp_path):
        seen, method = watched(lambda ids: None)
        run(setting(), [method], out=out)
        ids = setting().ids
        assert sorted(seen.seen) == [ids[0:2], ids[2:4], ids[4:6]]


def test_missing_reference_maps_are_made_and_kept(tmp_path: Path) -> None:
    seen, method = watched(lambda ids: None)
    first = run(setting(3), [method], out=tmp_path)
    ids = setting().ids
    assert sorted(seen.seen) == sorted([ids[0:2], ids[2:3], ids[2:4], ids[4:6]])
    assert set(first.scores["case"]) == set(ids[:3]), "reference cases have no scores"
    kept = [read_identity(path) for path in tmp_path.glob("records/*/map/*")]
    assert sorted(tuple(i["cases"]) for i in kept if i) == sorted(seen.seen)
    seen.seen.clear()
    again = run(setting(3), [method], out=tmp_path)
    assert (seen.seen, again.provenance["model_calls"]) == ([], 0)
    assert again.scores.equals(first.scores)
    run(setting(), [method], out=tmp_path)
    assert seen.seen == [], "all maps are there"
    whole = read_result(tmp_path)
    assert set(whole.scores["case"]) == set(ids)


def test_what_is_read_back_is_what_was_computed(tmp_path: Path) -> None:
    kept = run(setting(), methods("saliency", "constant"), out=tmp_path)
    assert read_result(tmp_path).scores.equals(kept.scores)
    undefined = kept.scores[kept.scores["value"].isna()]
    assert set(zip(undefined["method"], undefined["metric"], strict=True)) == {
        ("constant", "feature-similarity")
    }


@pytest.mark.parametrize("at", [0, 1, 2, 3])
def test_an_interrupted_run_ends_the_same(tmp_path: Path, at: int) -> None:
    """Broken off while the chunk's own maps or those of the reference are made."""
    _, plain = watched(lambda ids: None)
    run(setting(3), [plain], out=tmp_path / "whole")
    count = 0

    def breaks(ids: tuple[str, ...]) -> BaseException | None:
        nonlocal count
        count += 1
        return KeyboardInterrupt() if count == at + 1 else None

    with pytest.raises(KeyboardInterrupt):
        run(setting(3), [watched(breaks)[1]], out=tmp_path / "broken")
    run(setting(3), [plain], out=tmp_path / "broken")
    whole, broken = (read_result(tmp_path / name) for name in ("whole", "broken"))
    assert broken.scores.equals(whole.scores)
    files = [
        {p.relative_to(folder): Store(folder).get(read_identity(p) or {}) for p in
         (folder / "records").rglob("*.safetensors")}
        for folder in (tmp_path / "whole", tmp_path / "broken")
    ]  # fmt: skip
    assert files[0].keys() == files[1].keys()
    for path, record in files[0].items():
        other = files[1][path]
        assert record is not None
        assert other is not None
        for name, value in record.tensors.items():
            torch.testing.assert_close(value, other.tensors[name], rtol=0, atol=0, equal_nan=True)


def test_another_reference_is_never_mixed_with_the_old_one(tmp_path: Path) -> None:
    some = setting(2)
    assert some.reference is not None
    first = run(some, methods("saliency"), "feature-similarity", out=tmp_path)
    fewer = replace(some, reference=some.reference.first(4))
    second = run(fewer, methods("saliency"), "feature-similarity", out=tmp_path)
    assert not second.scores.equals(first.scores)
    assert read_result(tmp_path).scores.equals(second.scores)


def test_records_of_other_metrics_keep_their_names(tmp_path: Path) -> None:
    run(setting(), methods("saliency"), out=tmp_path)
    for path in tmp_path.glob("records/*/score/*"):
        identity = read_identity(path) or {}
        assert ("reference" in identity) == (identity["metric"]["id"] == "feature-similarity")


def test_a_ninth_method_costs_its_own_patches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in patches that go through the network: at most a sixth of what eight took."""
    rows: list[int] = []

    def counted(model: Model, pictures: Tensor) -> Tensor:
        rows.append(len(pictures))
        return own_features(model, pictures)

    monkeypatch.setattr(perceptual_similarity, "own_features", counted)
    eight = methods("saliency", "gradient-input", "grad-cam", "smoothgrad", "occlusion", "random",
                    "edge", "lime")  # fmt: skip
    run(setting(), eight, "feature-similarity", out=tmp_path)
    before = sum(rows)
    assert before == 8 * 6, "each patch once, though three chunks compare with all"
    run(setting(), [*eight, *methods("rise")], "feature-similarity", out=tmp_path)
    assert sum(rows) - before <= before / 6


def test_a_dry_run_counts_the_reference(tmp_path: Path) -> None:
    some, which = setting(3), methods("lime", "occlusion", "saliency")
    measured = [METRICS.make(name) for name in METRIC_NAMES]
    plan = make_plan([some], which, measured, chunk=2)
    placed = {some.id: some.place(place("cpu"))}

    def expected() -> list[tuple[int, int]]:
        found = costs(plan, placed, by_id(which), by_id(measured), 0, Store(tmp_path))
        return [(cost.forward, cost.backward) for cost in found]

    before = expected()
    assert len(before) == 2 + 2, "two chunks of the reference are no chunks of the run"
    result = run(some, which, out=tmp_path)
    assert sum(forward for forward, _ in before) == result.provenance["model_calls"]
    assert sum(backward for _, backward in before) == 3 + 4
    assert expected() == [(0, 0)] * 2


def test_a_method_that_fails_on_the_reference_alone() -> None:
    ids = setting().ids
    _, method = watched(lambda some: ValueError("not this one") if ids[5] in some else None)
    result = run(setting(2), [method])
    (failure,) = result.failures
    assert failure.metric == "feature-similarity"
    assert "reference cases, which this metric compares with" in failure.message
    assert f"({ids[4]} to {ids[5]})" in failure.message
    assert "not this one" in failure.message
    assert set(result.scores["metric"]) == {"deletion"}


def test_a_setting_without_a_reference_leaves_the_metric_out(tmp_path: Path) -> None:
    bare = replace(setting(), reference=None)
    for _ in range(2):
        result = run(bare, methods("saliency"), out=tmp_path)
    (skip,) = read_result(tmp_path).skips
    assert (skip.name, skip.method) == ("feature-similarity", "")
    assert "compares with reference cases" in skip.reason
    assert set(result.scores["metric"]) == {"deletion"}
    with pytest.raises(HumetricError, match="feature-similarity cannot run on image/noise/cnn"):
        evaluate(bare, "saliency", "feature-similarity")


def test_embedded_settings_of_images_have_their_first_cases_for_reference() -> None:
    few, many = load_setting("image/leaf/cnn", 2), load_setting("image/leaf/cnn", 30)
    assert len(few) == 2
    assert len(many) == 30
    for some in (few, many):
        assert some.reference is not None
        assert some.reference.ids == many.ids[:24]
        assert some.reference.target.tolist().count(0) == 12
        assert torch.equal(some.x, many.x[: len(some)])
    assert load_setting("sentiment/deception/tfidf", 2).reference is None
