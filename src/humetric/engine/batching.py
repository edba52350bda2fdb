"""How many questions go into one forward pass."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from humetric.models.model import call

LARGEST = {"cpu": 64, "cuda": 2048, "mps": 512}
"""Rows beyond which a batch does not get faster; on a CPU it gets slower, as caches overflow."""
LARGEST_ROWS = {"cpu": 4096, "cuda": 1 << 17, "mps": 1 << 14}
"""The same for rows of a table, which are small."""
LARGEST_TOKENS = {"cpu": 4096, "cuda": 1 << 16, "mps": 1 << 14}
"""The same for texts, in tokens: rows times the length they are padded to."""
CPU_BUDGET = 1 << 29
"""Bytes of activations at once on a CPU: enough to keep the cores busy, little enough to share."""


def automatic_batch_size(module: nn.Module, row: Tensor, device: torch.device) -> int:
    """The largest power of two whose activations fit the memory set aside for them.

    On a CPU this bound is the only protection: Linux kills a process that takes too much, it does
    not raise. On an accelerator the engine also halves the batch when it runs out of memory.
    """
    fits = max(1, _budget(device) // max(1, layer_bytes(module, row).peak))
    fits = min(fits, _largest(row, device))
    return 1 << (fits.bit_length() - 1)


def gradient_batch_size(module: nn.Module, row: Tensor, device: torch.device) -> int:
    """Rows of one backward pass: there the outputs of all layers are held at once."""
    fits = _budget(device) // max(1, layer_bytes(module, row).total)
    return max(1, min(_largest(row, device), fits))


def _largest(row: Tensor, device: torch.device) -> int:
    """Rows beyond which a batch does not get faster."""
    if row.is_floating_point():
        largest = LARGEST_ROWS if row.ndim == 1 else LARGEST
        return largest.get(device.type, largest["cpu"])
    tokens = LARGEST_TOKENS.get(device.type, LARGEST_TOKENS["cpu"])
    return max(1, tokens // row.shape[-1])


class LayerBytes(NamedTuple):
    """Bytes that one row takes in a forward pass."""

    peak: int
    """Twice the largest layer's input and output: a residual connection holds a second tensor."""
    total: int
    """Outputs of all layers, twice: for their gradients."""


def layer_bytes(module: nn.Module, row: Tensor) -> LayerBytes:
    """Measured by a pass on the ``meta`` device, which computes shapes only.

    A model that cannot go there (it reads a value, or keeps tensors outside of its buffers) is
    called once with a real row instead.
    """
    try:
        return _layer_bytes(copy.deepcopy(module).to("meta"), torch.empty_like(row, device="meta"))
    except Exception:
        device = next((p.device for p in module.parameters()), torch.device("cpu"))
        return _layer_bytes(module, torch.zeros_like(row, device=device))


def _layer_bytes(module: nn.Module, row: Tensor) -> LayerBytes:
    peak, total = row.nbytes, row.nbytes

    def see(_: nn.Module, inputs: tuple[object, ...], output: object) -> None:
        nonlocal peak, total
        several = output if isinstance(output, tuple) else (output,)  # a recurrent layer's states
        made = sum(t.nbytes for t in several if isinstance(t, Tensor))
        peak = max(peak, made + sum(t.nbytes for t in inputs if isinstance(t, Tensor)))
        total += made

    hooks = [m.register_forward_hook(see) for m in module.modules() if not list(m.children())]
    try:
        with torch.inference_mode():
            call(module, row[None])
    finally:
        for hook in hooks:
            hook.remove()
    return LayerBytes(2 * peak, 2 * total)


def _budget(device: torch.device) -> int:
    """Bytes set aside for activations."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0] // 2
    return min(CPU_BUDGET, available_memory() // 4)


def available_memory() -> int:
    """Bytes that this process may still take, as far as the system says."""
    found = [_meminfo(), _control_group()]
    return min((n for n in found if n is not None), default=4 << 30)


def _meminfo() -> int | None:
    try:
        text = Path("/proc/meminfo").read_text()
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _control_group() -> int | None:
    """Room left under a container's limit (control groups, version 2)."""
    root = Path("/sys/fs/cgroup")
    try:
        limit, used = (
            (root / name).read_text().strip() for name in ("memory.max", "memory.current")
        )
    except OSError:
        return None
    return max(0, int(limit) - int(used)) if limit.isdigit() else None
