"""Heads on the frozen network, and classes in groups."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from lite_support import random_network
from torch.nn.functional import cross_entropy

from humetric.errors import HumetricError
from humetric.models import lite_head
from humetric.tasks.setting import outputs


def images(count: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, (count, 32, 32, 3)).astype(np.uint8)


def test_grouped_is_the_models_probability_given_the_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random_network(tmp_path, monkeypatch)
    plain = lite_head.network()
    grouped = lite_head.Grouped(plain, ((0, 3), (4, 5, 7)))
    x = lite_head.inputs(images(3))
    p = outputs(plain, x).double().softmax(1)
    kinds = torch.stack((p[:, [0, 3]].sum(1), p[:, [4, 5, 7]].sum(1)), 1)
    expected = kinds / kinds.sum(1, keepdim=True)
    torch.testing.assert_close(outputs(grouped, x).double().softmax(1), expected)
    assert grouped.last_convolution is plain.last_convolution
    half = grouped.bfloat16()(x.bfloat16())
    assert half.dtype == torch.float32, "groups are summed in full precision"


def test_a_head_minimises_what_it_says() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 40)
    values = torch.from_numpy(rng.normal(labels[:, None] * 0.8, 1.0, (40, 5)))
    head = lite_head.fit(values, labels, decay=0.05)
    weight, bias = (head[k].double().requires_grad_() for k in ("weight", "bias"))
    aim = torch.from_numpy(labels)
    loss = cross_entropy(values @ weight.T + bias, aim) + 0.05 * weight.square().sum()
    loss.backward()
    assert weight.grad is not None
    assert bias.grad is not None
    assert weight.grad.abs().max() < 2e-3, "as far as half precision goes"
    assert bias.grad.abs().max() < 2e-3
    torch.testing.assert_close(weight[0], -weight[1], atol=1e-3, rtol=0)


def test_a_head_is_kept_with_the_network_it_was_trained_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random_network(tmp_path, monkeypatch)
    x, labels = lite_head.inputs(images(6)), [0, 1, 2, 0, 1, 2]
    head = lite_head.fit(lite_head.features(lite_head.network(), x), labels)
    file = tmp_path / "head.safetensors"
    lite_head.write(head, file, {"setting": "made-up"})
    assert file.stat().st_size < 10_000, "the head alone"
    first = file.read_bytes()
    lite_head.write(head, file, {"setting": "made-up"})
    assert file.read_bytes() == first
    found = lite_head.read(file)
    torch.testing.assert_close(outputs(found, x), outputs(lite_head.network(head), x))
    assert outputs(found, x).shape == (6, 3)

    random_network(tmp_path, monkeypatch, seed=1)
    with pytest.raises(HumetricError, match=r"which head\.safetensors was trained on, but it has"):
        lite_head.read(file)
    with pytest.raises(HumetricError, match="Expected a head that humetric train wrote"):
        lite_head.read(lite_head.network_file())
