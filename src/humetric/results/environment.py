"""What a result was computed with: packages, machine, code revision."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from humetric.engine.batching import available_memory
from humetric.engine.placement import available_devices

PACKAGES = ("torch", "numpy", "scipy", "pandas", "captum", "safetensors", "quantus", "lpips")


def environment() -> dict[str, str]:
    """A report to put beside a result or into a bug report; no machine name and no path in it."""
    report = {
        "humetric": _version("humetric"),
        "revision": _revision(),
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        "cores": str(os.cpu_count()),
        "threads": str(torch.get_num_threads()),
        "memory": f"{available_memory() / 2**30:.1f} GiB available",
        "devices": ", ".join(available_devices()),
    }
    return report | {package: _version(package) for package in PACKAGES}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _revision() -> str:
    """Commit of the checkout that this code runs from; empty for an installed wheel."""
    here = Path(__file__).resolve()
    root = next((p for p in here.parents if (p / "src" / "humetric").is_dir()), None)
    if root is None or not (root / ".git").exists():
        return ""
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],
            cwd=root, capture_output=True, text=True, timeout=10, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return found.stdout.strip()
