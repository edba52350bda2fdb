"""Patches that are shown: those that the metric cuts, of the cases that it compares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from support import net_setting
from torch import Tensor

from humetric import METHODS, METRICS, load_setting, run_settings
from humetric.engine.placement import place
from humetric.errors import HumetricError
from humetric.methods import Method
from humetric.metrics import perceptual_similarity
from humetric.metrics.patches import Patches, cut
from humetric.run.shown_patches import PatchLook, look_at_patches
from humetric.tasks.setting import Setting

HOW = {"share": 0.2, "patches": 2, "size": 20}


def setting() -> Setting:
    """Nine cases of two classes in turn, the fourth of them predicted wrongly."""
    target = torch.arange(9) % 2
    label = target.clone()
    label[3] = 0
    whole = replace(net_setting(9), target=target, label=label, classes=("even", "odd"))
    return replace(whole, reference=replace(whole, reference=None))


def looked(
    *names: str, some: Setting | None = None, how: dict[str, object] | None = None, per: int = 3
) -> PatchLook:
    methods = [METHODS.make(name) for name in names]
    return look_at_patches(
        (some or setting()).place(place("cpu")),
        methods,
        METRICS.make("feature-similarity", how),
        chunk=4,
        seed=0,
        per_class=per,
    )


@pytest.mark.parametrize("how", [None, HOW])
@pytest.mark.parametrize("name", ["saliency", "random", "edge"])
def test_patches_and_values_are_those_of_a_run_of_the_metric(
    name: str, how: dict[str, object] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[Patches, Tensor]] = []

    def watched(images: Tensor, found: Patches, size: int) -> Tensor:
        parts = cut(images, found, size)
        compared.append((found, parts))
        return parts

    monkeypatch.setattr(perceptual_similarity, "cut", watched)
    run = run_settings(
        [setting().first(2)],
        [METHODS.make(name)],
        [METRICS.make("feature-similarity", how)],
        "cpu",
        chunk=4,
    )
    (found, parts), *_ = compared
    monkeypatch.undo()
    shown = looked(name, how=how).highlighted[name]
    assert len(found.there) == 9, "the reference comes first, however few cases are run"
    assert torch.equal(shown.found.corner, found.corner)
    assert torch.equal(shown.found.there, found.there)
    assert shown.found.side == found.side == (13 if how else 16)
    bytes_ = ((parts * 0.25 + 0.5) * 255).movedim(1, -1).reshape(shown.parts.shape).numpy()
    assert np.abs(shown.parts - bytes_).max() < 0.501, "the same pixels, before normalisation"
    assert shown.values is not None
    assert shown.values[:2] == pytest.approx(run.scores["value"].to_numpy(), abs=1e-9)
    assert shown.mean == pytest.approx(shown.values.mean())


def test_the_first_reference_cases_of_each_predicted_class_are_shown() -> None:
    some = setting()
    found = looked("edge", some=some)
    rows = {name: [case.row for case in cases] for name, cases in found.classes.items()}
    assert rows == {"even": [0, 2, 4], "odd": [1, 3, 5]}
    assert [case.right for case in found.classes["odd"]] == [True, False, True]
    assert some.display is not None
    for case in found.classes["even"]:
        assert case.case == some.ids[case.row]
        np.testing.assert_array_equal(case.image, some.display[case.row].numpy())
    assert (found.reference, found.side, found.size) == (9, 16, (64, 64))
    assert [len(cases) for cases in looked("edge", per=9).classes.values()] == [5, 4]


def test_a_constant_map_has_no_patch_and_no_value() -> None:
    found = looked("constant").highlighted["constant"]
    assert not found.found.there.any()
    assert np.isnan(found.mean)


def test_what_fails_costs_itself_only(monkeypatch: pytest.MonkeyPatch) -> None:
    edge = METHODS.make("edge")

    def wrong(cases: object) -> Tensor:
        raise ValueError("no map")

    methods = [edge, Method(replace(edge.card, id="broken"), wrong), METHODS.make("attention")]
    metric = METRICS.make("feature-similarity")
    placed = setting().place(place("cpu"))
    found = look_at_patches(placed, methods, metric, chunk=4, seed=0)
    assert list(found.highlighted) == ["edge"]
    assert [skip.method for skip in found.skips] == ["attention"]
    (failure,) = found.failures
    assert (failure.method, failure.metric) == ("broken", "")
    assert "no map" in failure.message

    def unread(*_: object) -> Tensor:
        raise HumetricError("no features")

    monkeypatch.setattr(perceptual_similarity, "own_features", unread)
    found = look_at_patches(placed, [edge], metric, chunk=4, seed=0)
    assert found.highlighted["edge"].values is None
    assert found.highlighted["edge"].found.there.all(), "patches need no features"
    assert [(f.method, f.metric) for f in found.failures] == [("edge", "feature-similarity")]


def test_what_has_no_patches_is_refused() -> None:
    placed, edge = setting().place(place("cpu")), [METHODS.make("edge")]
    with pytest.raises(HumetricError, match="Expected a metric of patches but got deletion"):
        look_at_patches(placed, edge, METRICS.make("deletion"), chunk=4, seed=0)
    text = load_setting("sentiment/deception/tfidf", 2).place(place("cpu"))
    random, metric = [METHODS.make("random")], METRICS.make("feature-similarity")
    with pytest.raises(HumetricError, match="feature-similarity is for image, and sentiment/"):
        look_at_patches(text, random, metric, chunk=4, seed=0)
