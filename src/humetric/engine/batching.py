"""How many questions go into one forward pass."""

from __future__ import annotations

import copy
from pathlib import Path

import torch
from torch import Tensor, nn

LARGEST = {"cpu": 64, "cuda": 2048, "mps": 512}
"""Rows beyond which a batch does not get faster; on a CPU it gets slower, as caches overflow."""
CPU_BUDGET = 1 << 28
"""Bytes of activations at once on a CPU: enough to keep the cores busy, little enough to share."""


def automatic_batch_size(module: nn.Module, row: Tensor, device: torch.device) -> int:
    """The largest power of two whose activations fit the memory set aside for them.

    On a CPU this bound is the only protection: Linux kills a process that takes too much, it does
    not raise. On an accelerator the engine also halves the batch when it runs out of memory.
    """
    largest = LARGEST.get(device.type, LARGEST["cpu"])
    budget = min(CPU_BUDGET, available_memory() // 4)
    if device.type == "cuda":
        budget = torch.cuda.mem_get_info(device)[0] // 2
    fits = max(1, budget // max(1, bytes_per_row(module, row)))
    return min(largest, 1 << (fits.bit_length() - 1))


def bytes_per_row(module: nn.Module, row: Tensor) -> int:
    """Estimated peak of one row's activations: twice the largest layer's input and output.

    Found by a pass on the ``meta`` device, which computes shapes only. Twice, because a residual
    connection holds a second tensor of that size.
    """
    ghost = copy.deepcopy(module).to("meta")
    peak = row.nbytes

    def see(_: nn.Module, inputs: tuple[object, ...], output: object) -> None:
        nonlocal peak
        tensors = [t for t in (*inputs, output) if isinstance(t, Tensor)]
        peak = max(peak, sum(t.nbytes for t in tensors))

    hooks = [m.register_forward_hook(see) for m in ghost.modules() if not list(m.children())]
    try:
        with torch.inference_mode():
            ghost(torch.empty_like(row, device="meta")[None])
    finally:
        for hook in hooks:
            hook.remove()
    return 2 * peak


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
