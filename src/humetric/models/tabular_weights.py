"""Weights of models of rows: networks, or trees that are asked as a function."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import safe_open

from humetric.models import stored, trees
from humetric.models.tabular import MLP
from humetric.models.trees import Trees


def load(path: Path) -> MLP | Trees:
    """The model in a safetensors file, whichever it is."""
    with safe_open(path, framework="numpy") as file:
        name = (file.metadata() or {}).get("architecture")
    if name == trees.ARCHITECTURE:
        return trees.load(path)
    model: MLP = stored.load(path)
    return model


@torch.inference_mode()
def probabilities(model: MLP | Trees, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """(rows, classes): of rows of plain numbers."""
    if isinstance(model, Trees):
        return model.predict(rows)
    logits = model(torch.tensor(rows, dtype=torch.float32))
    found: NDArray[np.float64] = logits.double().softmax(1).numpy()
    return found


def parameters(model: MLP | Trees) -> int:
    """Numbers that were learned: weights; or thresholds and what leaves add."""
    if isinstance(model, Trees):
        return len(model.feature)
    return sum(weights.numel() for weights in model.parameters())
