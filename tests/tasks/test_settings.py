"""Embedded settings: cases are what they say, and the known region is what the model uses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from support import engine_for
from torch import Tensor, nn

from humetric import evaluate, load_setting
from humetric.data.embedded import Sample, leaf
from humetric.errors import HumetricError, UnknownNameError
from humetric.metrics import METRICS, Scores
from humetric.tasks.cases import Cases
from humetric.tasks.image import blur
from humetric.tasks.image_setting import image_setting
from humetric.tasks.named import embedded_settings

SETTINGS = ["image/habitat/cnn", "image/leaf/cnn", "image/pair/cnn"]


def test_all_are_known() -> None:
    assert [id for id in embedded_settings() if id.startswith("image/")] == SETTINGS


@pytest.mark.parametrize("name", SETTINGS)
def test_cases_are_balanced_and_targets_are_the_predictions(name: str) -> None:
    setting = load_setting(name, 24)
    right = setting.label == setting.target
    assert int(setting.target.sum()) == 12
    assert int(right.sum()) == 12
    assert int(right[setting.target == 1].sum()) == 6
    with torch.inference_mode():
        assert torch.equal(setting.model.module(setting.x).argmax(1), setting.target)
    assert len(set(setting.ids)) == 24
    assert setting.region is not None
    assert setting.region.flatten(1).any(1).all()


@pytest.mark.parametrize("name", SETTINGS)
def test_first_cases_are_the_same_in_a_longer_list(name: str) -> None:
    few, many = load_setting(name, 4), load_setting(name)
    assert len(many) == 84
    assert many.ids[:4] == few.ids
    assert torch.equal(many.x[:4], few.x)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_true_region_beats_random(name: str) -> None:
    """Deletion falls faster and insertion rises faster for a map of the known region."""
    setting = load_setting(name, 24)
    assert setting.region is not None
    engine = engine_for(setting, precision="fp32", batch_size=256)
    draw = torch.Generator().manual_seed(0)
    random = torch.rand(engine.cases.shape, generator=draw)
    region = setting.region.float() + 1e-3 * random
    found = {}
    for metric in ("deletion", "insertion"):
        programs = [METRICS.make(metric).program(a, engine.cases) for a in (region, random)]
        for label, scores in zip(("region", "random"), engine.run(programs), strict=True):
            assert isinstance(scores, Scores)
            found[metric, label] = float(scores.value.mean())
    assert found["deletion", "region"] < found["deletion", "random"]
    assert found["insertion", "region"] > found["insertion", "random"]


def test_the_random_control_is_near_chance() -> None:
    """Its mu-fidelity is around 0; its deletion and insertion are alike."""
    scores = evaluate(load_setting("image/habitat/cnn", 60), "random")
    means = scores.groupby("metric")["value"].agg(["mean", "sem"])
    assert abs(means.loc["mu-fidelity", "mean"]) < 3 * means.loc["mu-fidelity", "sem"]
    gap = means.loc["deletion", "mean"] - means.loc["insertion", "mean"]
    areas = means.loc[["deletion", "insertion"], "sem"]
    assert abs(gap) < 3 * (areas**2).sum() ** 0.5


def test_methods_get_no_labels_and_no_regions() -> None:
    fields = set(Cases.__dataclass_fields__)
    assert not {"label", "labels", "region", "classes"} & fields


def test_unknown_names_and_numbers_are_explained() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'image/leaf/cnn'"):
        load_setting("image/leaf/ccn")
    with pytest.raises(UnknownNameError):
        load_setting("../weights")
    with pytest.raises(HumetricError, match="expected 1 to 84, got 85"):
        load_setting("image/leaf/cnn", 85)


def test_images_of_the_wrong_kind_are_explained() -> None:
    with pytest.raises(HumetricError, match=r"\(cases, height, width, channels\) and dtype uint8"):
        image_setting("x", nn.Flatten(), np.zeros((2, 3, 4)), mean=[0], std=[1])  # type: ignore[arg-type]
    images = np.zeros((2, 3, 4, 1), dtype=np.uint8)
    with pytest.raises(UnknownNameError, match="baseline 'grey'"):
        image_setting("x", nn.Flatten(), images, mean=[0], std=[1], baseline="grey")


def test_images_drawn_differently_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = leaf.draw

    def other(index: int, split: str) -> Sample:
        sample = real(index, split)
        return sample._replace(image=sample.image ^ 1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_setting("image/leaf/cnn", 2)
    monkeypatch.setattr(leaf, "draw", other)
    with pytest.warns(UserWarning, match="24 of 24 images of image/leaf/cnn differ"):
        load_setting("image/leaf/cnn", 2)


def test_zero_is_the_mean_colour() -> None:
    setting = load_setting("image/leaf/cnn", 1)
    assert setting.baseline.shape == (1, 1, 3, 64, 64)
    assert not setting.baseline.any()


def test_blur_keeps_colours_and_loses_detail() -> None:
    flat = torch.full((2, 3, 40, 40), 0.7)
    torch.testing.assert_close(blur(flat)[:, 0], flat)
    noise = torch.randn(2, 3, 40, 40, generator=torch.Generator().manual_seed(0))
    smooth: Tensor = blur(noise)[:, 0]
    assert smooth.shape == noise.shape
    assert smooth.std() < 0.3 * noise.std()
    assert load_setting("image/leaf/cnn", 3, baseline="blur").baseline.shape == (3, 1, 3, 64, 64)
