"""Device, precision and memory format: decided here and nowhere else."""

from __future__ import annotations

import copy
import ctypes
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from humetric.errors import HumetricError

Precision = Literal["fp32", "bf16", "fp64"]

DTYPES: dict[str, torch.dtype] = {
    "fp32": torch.float32,
    "bf16": torch.bfloat16,
    "fp64": torch.float64,
}


@dataclass(frozen=True)
class Placement:
    """Where a run computes, and in which precision it questions the model.

    Gradients are always taken in full precision: ``bf16`` concerns the engine's questions only.
    ``fp64`` is for checks against references.
    """

    device: torch.device
    precision: Precision = "fp32"

    @property
    def dtype(self) -> torch.dtype:
        """Precision of the engine's forward passes."""
        return DTYPES[self.precision]

    @property
    def full_dtype(self) -> torch.dtype:
        """Precision of inputs, gradients and attributions."""
        return torch.float64 if self.precision == "fp64" else torch.float32

    def inputs(self, x: Tensor) -> Tensor:
        """Inputs (or targets) on the device; images with channels last."""
        if x.is_floating_point():
            x = x.to(self.full_dtype)
        x = x.to(self.device)
        return x.contiguous(memory_format=torch.channels_last) if x.ndim == 4 else x

    def module(self, module: nn.Module) -> nn.Module:
        """A copy of a module for gradients, in evaluation mode."""
        return self._copy(module, self.full_dtype)

    def fast_module(self, module: nn.Module) -> nn.Module:
        """The module that the engine calls; the given one if precision does not ask for another."""
        return module if self.dtype == self.full_dtype else self._copy(module, self.dtype)

    def _copy(self, module: nn.Module, dtype: torch.dtype) -> nn.Module:
        placed = copy.deepcopy(module).to(device=self.device, dtype=dtype).eval()
        placed.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        return placed.requires_grad_(False)


def place(device: str = "auto", precision: str = "fp32") -> Placement:
    """Choose a placement: ``auto`` takes CUDA, else MPS, else the CPU."""
    if precision not in DTYPES:
        raise HumetricError(f"Expected a precision of {', '.join(DTYPES)} but got {precision!r}.")
    if device.partition(":")[0] not in ("auto", "cpu", "cuda", "mps"):
        raise HumetricError(
            f"The device {device!r} cannot be used here: "
            f"choose one of {', '.join(available_devices())} or auto."
        )
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else _mps_or_cpu()
    try:
        found = torch.device(device)
        torch.empty(1, device=found)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise HumetricError(
            f"The device {device!r} cannot be used here ({reason}): "
            f"choose one of {', '.join(available_devices())} or auto."
        ) from None
    if found.type == "cuda":  # what is called fp32 must be fp32, and the same each time
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.deterministic = True
    if found.type == "cpu":
        keep_freed_memory()
    if found.type == "mps" and precision == "fp64":
        raise HumetricError("MPS has no double precision: use --precision fp32 or --device cpu.")
    return Placement(found, precision)  # type: ignore[arg-type]


def available_devices() -> list[str]:
    """Devices of this machine."""
    cuda = [f"cuda:{i}" for i in range(torch.cuda.device_count())]
    return [*cuda, *(["mps"] if _mps_or_cpu() == "mps" else []), "cpu"]


def _mps_or_cpu() -> str:
    return "mps" if torch.backends.mps.is_available() else "cpu"


def keep_freed_memory() -> None:
    """Let this process keep the memory that it frees, where the C library is glibc.

    By default glibc takes large blocks from the system and hands them back at once, so that every
    layer of every forward pass touches fresh pages: on small images, half of the time of a run.
    It concerns the whole process, changes no result, and lasts until the process ends.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library or system
        return
    never, largest = 0, 2**31 - 1
    for option, value in ((M_MMAP_MAX, never), (M_TRIM_THRESHOLD, largest), (M_TOP_PAD, 1 << 26)):
        mallopt(option, value)


M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4
"""Options of mallopt(3)."""
