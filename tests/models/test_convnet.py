"""The classifier, and that the shipped weights do what their files say."""

import hashlib
import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from humetric.data.embedded import DATA, dataset
from humetric.errors import HumetricError
from humetric.models.convnet import ARCHITECTURE, WEIGHTS, ConvNet, load, normalise

NAMES = sorted(DATA)
ACCURACY = {"habitat": (0.45, 0.55), "leaf": (0.85, 0.95), "pair": (0.80, 0.95)}


def shipped(name: str) -> tuple[ConvNet, dict[str, str], dict[str, Any]]:
    folder = WEIGHTS / "image" / name / "cnn"
    model, metadata = load(folder / "model.safetensors")
    return model, metadata, json.loads((folder / "cases.json").read_text(encoding="utf-8"))


def predict(model: ConvNet, images: list[Any], listing: dict[str, Any]) -> Tensor:
    inputs = normalise(np.stack(images), listing["mean"], listing["std"])
    with torch.inference_mode():
        return torch.softmax(model(inputs), 1)


def test_shape_size_and_hooks() -> None:
    model = ConvNet(classes=3, channels=1).eval()
    calls: Counter[nn.Module] = Counter()
    work = 0
    maps = []

    def count(module: nn.Module, _: Any, output: Tensor) -> None:
        nonlocal work
        calls[module] += 1
        if isinstance(module, nn.Conv2d | nn.Linear):
            work += module.weight[0].numel() * output[0].numel()

    for module in model.modules():
        module.register_forward_hook(count)
    model.last_convolution.register_forward_hook(lambda m, i, output: maps.append(output))
    assert model(torch.randn(2, 1, 64, 64)).shape == (2, 3)
    assert maps[0].shape == (2, 48, 8, 8)
    assert maps[0].min() >= 0
    relus = [module for module in model.modules() if isinstance(module, nn.ReLU)]
    assert relus
    assert all(calls[relu] == 1 and not relu.inplace for relu in relus)
    assert work <= 5_000_000


def test_zero_is_the_mean_colour() -> None:
    grey = np.full((1, 64, 64, 3), 51, np.uint8)
    values = normalise(grey, [0.2, 0.1, 0.0], [0.5, 0.1, 0.2])
    expected = torch.tensor([0.0, 1.0, 1.0]).reshape(1, 3, 1, 1).expand(1, 3, 64, 64)
    torch.testing.assert_close(values, expected)
    assert values.is_contiguous(memory_format=torch.channels_last)


def test_other_weights_are_refused(tmp_path: Any) -> None:
    save_file({"x": torch.zeros(1)}, tmp_path / "x.safetensors", {"architecture": "other"})
    with pytest.raises(HumetricError, match=f"{ARCHITECTURE} but got 'other'"):
        load(tmp_path / "x.safetensors")


@pytest.mark.parametrize("name", NAMES)
def test_shipped_cases_are_reproduced(name: str) -> None:
    model, metadata, listing = shipped(name)
    assert listing["setting"] == metadata["setting"] == f"image/{name}/cnn"
    assert listing["data_version"] == int(metadata["data_version"]) == dataset(name).VERSION
    for key in ("mean", "std", "pool_accuracy"):
        assert json.loads(metadata[key]) == listing[key]
    drawn = [dataset(name).draw(case["index"], "pool") for case in listing["cases"]]
    for case, sample in zip(listing["cases"], drawn, strict=True):
        assert hashlib.sha256(sample.image.tobytes()).hexdigest() == case["sha256"]
        assert sample.label == case["label"]
    outputs = predict(model, [sample.image for sample in drawn], listing)
    assert outputs.argmax(1).tolist() == [case["predicted"] for case in listing["cases"]]
    assert ((outputs[:, 1] - 0.5).abs() > 0.0099).all()


@pytest.mark.parametrize("name", NAMES)
def test_every_prefix_of_a_multiple_of_four_is_balanced(name: str) -> None:
    cases = shipped(name)[2]["cases"]
    assert len({case["index"] for case in cases}) == len(cases) == 84
    kinds = [(case["predicted"], case["predicted"] == case["label"]) for case in cases]
    for end in range(4, 61, 4):
        assert set(Counter(kinds[:end]).values()) == {end // 4}
        assert len(set(kinds[:end])) == 4


@pytest.mark.parametrize("name", NAMES)
def test_shipped_accuracy_holds_on_part_of_the_pool(name: str) -> None:
    model, metadata, listing = shipped(name)
    stated, count = listing["pool_accuracy"], 240
    low, high = ACCURACY[name]
    assert low <= stated <= high
    drawn = [dataset(name).draw(index, "pool") for index in range(count)]
    predicted = predict(model, [sample.image for sample in drawn], listing).argmax(1).numpy()
    accuracy = np.mean(predicted == [sample.label for sample in drawn])
    assert abs(accuracy - stated) < 4 * np.sqrt(stated * (1 - stated) / count)
    if name == "habitat":
        assert json.loads(metadata["cue_agreement"]) >= 0.9
        assert np.mean(predicted == [sample.cue for sample in drawn]) >= 0.9
