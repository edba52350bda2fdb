"""Weights on disk: safetensors files whose metadata hold an architecture's name and configuration.

save(model, path)
model = load(path)
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from humetric.errors import HumetricError

ARCHITECTURES = {
    "transformer": ("humetric.models.transformer", "Transformer"),
    "bilstm": ("humetric.models.bilstm", "BiLSTM"),
    "infersent": ("humetric.models.infersent", "InferSent"),
    "bag-of-words": ("humetric.models.bag_of_words", "BagOfWords"),
    "tfidf": ("humetric.models.tfidf", "TfIdf"),
    "mlp": ("humetric.models.tabular", "MLP"),
}
"""Where the class of each architecture is; looked up by name when weights are loaded."""


class Stored(Protocol):
    """A module that can be made again from plain data."""

    architecture: ClassVar[str]

    @classmethod
    def make(cls, config: Mapping[str, Any]) -> Self:
        """An untrained model from what :meth:`config_dict` gives."""
        ...

    def config_dict(self) -> dict[str, Any]:
        """All that is needed to make the same architecture, as plain data."""
        ...

    def state_dict(self) -> Mapping[str, Tensor]:
        """Its weights."""
        ...


def save(model: Stored, path: Path, about: Mapping[str, str] | None = None) -> None:
    """Write weights and configuration; ``about`` is put beside them (training data, scores)."""
    tensors = {name: value.contiguous() for name, value in model.state_dict().items()}
    metadata = {
        **(about or {}),
        "architecture": model.architecture,
        "config": json.dumps(model.config_dict(), sort_keys=True),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, path, metadata)


def load(path: Path) -> Any:
    """The model in a safetensors file, ready for inference."""
    with safe_open(path, framework="pt") as weights:
        metadata: dict[str, str] = weights.metadata() or {}
        tensors = {name: weights.get_tensor(name) for name in weights.keys()}  # noqa: SIM118
    name = metadata.get("architecture", "")
    if name not in ARCHITECTURES or "config" not in metadata:
        raise HumetricError(
            f"Expected weights of one of {', '.join(ARCHITECTURES)} but {path.name} says "
            f"{name!r}: write them with humetric.models.stored.save."
        )
    model = architecture(name).make(json.loads(metadata["config"]))
    model.load_state_dict(tensors)
    return model.eval()


def architecture(name: str) -> Any:
    """The class behind a name."""
    module, noun = ARCHITECTURES[name]
    return getattr(importlib.import_module(module), noun)
