"""Device, precision and batch size are decided in one place, and say so when they cannot be."""

from __future__ import annotations

import pytest
import torch
from support import linear_setting, net_setting
from torch import nn

from humetric.engine import batching
from humetric.engine.placement import available_devices, place
from humetric.errors import HumetricError
from humetric.models.efficientnet_lite import EfficientNetLite0
from humetric.run.plan import find_batch_size


def test_auto_takes_what_is_there() -> None:
    assert place("auto").device.type == available_devices()[0].split(":")[0]
    assert place("cpu").dtype == torch.float32


@pytest.mark.parametrize("device", ["cuda:99", "tpu", "cpuu", "", "meta"])
def test_a_device_that_does_not_exist(device: str) -> None:
    with pytest.raises(HumetricError, match=r"cannot be used here.*choose one of .*cpu"):
        place(device)


def test_an_unknown_precision() -> None:
    with pytest.raises(HumetricError, match="fp32, bf16, fp64 but got 'fp8'"):
        place("cpu", "fp8")


def test_bf16_is_for_questions_only() -> None:
    placed = net_setting().place(place("cpu", "bf16"))
    assert next(placed.fast_module.parameters()).dtype == torch.bfloat16
    assert next(placed.model.module.parameters()).dtype == torch.float32
    assert placed.cases(0, 2).x.dtype == torch.float32


def test_placing_copies_the_model_and_keeps_channels_last() -> None:
    setting = net_setting()
    placed = setting.place(place("cpu"))
    assert placed.model.module is not setting.model.module
    assert placed.fast_module is placed.model.module
    assert not placed.model.module.training
    cases = placed.cases(0, 2)
    assert cases.x.is_contiguous(memory_format=torch.channels_last)


def test_batch_is_bounded_by_estimated_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    net, row = EfficientNetLite0().eval(), torch.empty(3, 224, 224)
    per_row = batching.layer_bytes(net, row).peak
    largest = 96 * 112 * 112 * 4  # the widest layer of EfficientNet-Lite0 at 224 x 224
    assert 2 * largest <= per_row <= 8 * largest
    cpu = torch.device("cpu")
    monkeypatch.setattr(batching, "available_memory", lambda: 64 << 30)
    plenty = batching.automatic_batch_size(net, row, cpu)
    assert plenty * per_row <= batching.CPU_BUDGET < 2 * plenty * per_row
    monkeypatch.setattr(batching, "available_memory", lambda: 8 * per_row)
    assert batching.automatic_batch_size(net, row, cpu) == 2
    monkeypatch.setattr(batching, "available_memory", lambda: 0)
    assert batching.automatic_batch_size(net, row, cpu) == 1


def test_a_small_model_gets_the_largest_batch() -> None:
    size = batching.automatic_batch_size(nn.Flatten(), torch.empty(3, 8, 8), torch.device("cpu"))
    assert size == batching.LARGEST["cpu"]


class Peeks(nn.Module):
    """Keeps a tensor outside of its buffers and reads a value: it cannot go to the meta device."""

    def __init__(self) -> None:
        super().__init__()
        self.mean = torch.ones(3, 1, 1)
        self.flat = nn.Flatten()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.flat(x - self.mean) * (2 if x.sum().item() > 0 else 1)


def test_a_model_that_cannot_go_to_meta_is_measured_with_a_real_row() -> None:
    assert batching.layer_bytes(Peeks(), torch.zeros(3, 8, 8)).total == 4 * 3 * 64 * 4


def test_gradients_take_fewer_rows_than_questions() -> None:
    net, row = EfficientNetLite0().eval(), torch.empty(3, 224, 224)
    cpu = torch.device("cpu")
    assert batching.gradient_batch_size(net, row, cpu) >= 1
    assert batching.gradient_batch_size(net, row, cpu) < batching.automatic_batch_size(
        net, row, cpu
    )


def test_memory_is_found() -> None:
    assert 1 << 20 < batching.available_memory() < 1 << 50


@pytest.mark.parametrize("wanted", ["0", "-3", "many", "1.5"])
def test_a_bad_batch_size_is_explained(wanted: str) -> None:
    placed = linear_setting().place(place("cpu"))
    with pytest.raises(HumetricError, match="at least 1, or auto"):
        find_batch_size(placed, wanted)
    assert find_batch_size(placed, "17") == 17
