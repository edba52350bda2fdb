"""Memory that must not grow with steps and methods.

Each measurement runs in a process of its own and reports the peak of its resident memory. With 24
cases, 8 methods and two curves of 32 steps at 64 x 64, keep-masks made all at once would take
195 MB as numbers; made when they are needed they take one batch. That the measurement would notice
is tested too: with ``EAGER=1`` all masks are made before the first question.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

CASES = 24


def peak(steps: int, methods: int, eager: bool = False) -> tuple[int, int]:
    """Bytes of resident memory in a new process: before the work, and at its peak."""
    environment = os.environ | {"EAGER": "1" if eager else ""}
    command = [sys.executable, __file__, str(steps), str(methods)]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    before, after = map(int, found.stdout.split())
    return before, after


def test_peak_memory_when_steps_times_methods_doubles(benchmark: BenchmarkFixture) -> None:
    once = peak(32, 4)
    more_steps, more_methods = peak(64, 4), peak(32, 8)
    ratios = {"steps": more_steps[1] / once[1], "methods": more_methods[1] / once[1]}
    benchmark.extra_info["ratio"] = ratios
    benchmark.extra_info["megabytes"] = [round(b / 2**20) for b in (*once, more_methods[1])]
    benchmark.pedantic(lambda: peak(32, 4), rounds=1)
    assert max(ratios.values()) <= 1.1


def test_masks_made_at_once_would_be_noticed() -> None:
    """The measurement can fail: eager masks push the ratio over the mark."""
    assert peak(32, 8, eager=True)[1] / peak(32, 4, eager=True)[1] > 1.1


def work(steps: int, methods: int) -> None:
    """Deletion and insertion of random maps; prints resident memory before and at the peak."""
    import torch
    from measure import engine_for, placed, random_maps

    from humetric.engine.questions import make
    from humetric.metrics import METRICS
    from humetric.models.convnet import ConvNet

    net = placed(ConvNet(), 64, CASES)
    cases = net.cases(0, CASES)
    maps = random_maps(cases, methods)
    engine = engine_for(net, cases)
    metrics = [METRICS.make(name, {"steps": steps}) for name in ("deletion", "insertion")]
    before = resident_peak()
    held = []
    if os.environ.get("EAGER"):
        for attribution in maps:
            for metric in metrics:
                masks = metric.work.plan(attribution.flatten(1), cases)[1].masks
                held.append(make(masks, 0, len(masks), torch.float32))
    engine.run([metric.program(a, cases) for a in maps for metric in metrics])
    print(before, resident_peak())


def resident_peak() -> int:
    """Bytes at the peak of this process. Not ru_maxrss: a child inherits its parent's there."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


if __name__ == "__main__":
    work(int(sys.argv[1]), int(sys.argv[2]))
else:
    pytestmark = pytest.mark.speed
