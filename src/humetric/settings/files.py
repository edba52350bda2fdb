"""Files of settings on real data: which cases, and trained weights."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import torch

from humetric.engine.placement import place
from humetric.errors import HumetricError

SHIPPED = Path(__file__).parent / "files"


def cases_file(id: str) -> Path:
    """Which rows of the data are the setting's cases, with what its model said of them."""
    return SHIPPED / id / "cases.json"


def recorded(id: str) -> dict[str, Any]:
    """What cases.json says; empty where no cases were chosen yet."""
    file = cases_file(id)
    found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return found


def trainer() -> torch.device:
    """Where `humetric train` computes: a CUDA device where there is one, else the host."""
    found = place("auto").device
    return found if found.type == "cuda" else torch.device("cpu")


def trained_here(id: str) -> Path:
    """Where `humetric train` keeps weights that are not shipped."""
    cache = Path(os.environ.get("HUMETRIC_CACHE") or Path.home() / ".cache" / "humetric")
    return cache / "trained" / id


def trained(id: str, name: str = "trained.safetensors", minutes: float = 0) -> Path:
    """A file of trained weights: shipped, or made on this machine."""
    for folder in (SHIPPED / id, trained_here(id)):
        if (folder / name).exists():
            return folder / name
    took = f" (about {minutes:.0f} min on two cores)" if minutes else ""
    raise HumetricError(
        f"Expected trained weights of {id}, which are not shipped, in {trained_here(id)} but there "
        f"are none: run humetric train {id}{took}."
    )


def digest(*files: Path) -> str:
    """The first digits of files' SHA-256: enough to notice others."""
    found = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 24):
                found.update(block)
    return found.hexdigest()[:12]
