"""What every text model offers: logits from tokens, and a way in at the embedding layer.

A model is called with three (rows, tokens) tensors of whole numbers: token ids, attention (1 where
there is a token, 0 where there is padding or a dropped token) and types (0 for the first segment
of a pair, 1 for the second). A classifier gives (rows, classes). A span model gives (rows, 2,
tokens): start and end logits. Models never look at a value on the host, so that the engine can keep
a device busy.

Weights are safetensors files whose metadata hold the architecture's name and its configuration::

    save(model, path)
    model = load(path)
"""

from __future__ import annotations

import importlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from humetric.cards import Access
from humetric.errors import AccessError, HumetricError

ARCHITECTURES = {
    "transformer": ("humetric.models.transformer", "Transformer"),
    "bilstm": ("humetric.models.bilstm", "BiLSTM"),
    "infersent": ("humetric.models.infersent", "InferSent"),
    "bag-of-words": ("humetric.models.bag_of_words", "BagOfWords"),
    "tfidf": ("humetric.models.tfidf", "TfIdf"),
}
"""Where the class of each architecture is; looked up by name when weights are loaded."""


class TextModel(nn.Module, ABC):
    """A module from (ids, attention, types) to logits."""

    architecture: ClassVar[str]
    gives: ClassVar[frozenset[Access]] = frozenset(("predict", "gradient", "internals"))
    reads: ClassVar[frozenset[str]] = frozenset()
    """Which internals there are: ``attention``, ``coefficients``."""
    span: bool = False
    """Whether it gives start and end logits of every token instead of logits of classes."""
    limit: int | None = None
    """The longest input in tokens, special ones included; None where there is no bound."""

    @classmethod
    @abstractmethod
    def make(cls, config: Mapping[str, Any]) -> Self:
        """An untrained model from what :meth:`config_dict` gives."""

    @abstractmethod
    def config_dict(self) -> dict[str, Any]:
        """All that is needed to make the same architecture, as plain data."""

    def forward(self, ids: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        """Logits of tokens."""
        return self.from_embeddings(self.embed(ids), attention, types)

    def embed(self, ids: Tensor) -> Tensor:
        """(rows, tokens, width): the embedding of each token, before anything is added to it."""
        raise AccessError(f"A {self.architecture} model has no embedding layer.")

    def from_embeddings(self, embedded: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        """Logits of embedded tokens: what gradient methods differentiate."""
        raise AccessError(f"A {self.architecture} model has no embedding layer.")

    def attentions(self, ids: Tensor, attention: Tensor, types: Tensor) -> list[Tensor]:
        """Attention of each layer: (rows, heads, tokens, tokens), each row a distribution."""
        raise AccessError(f"A {self.architecture} model has no attention between tokens.")

    def contributions(self, ids: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        """(rows, tokens, classes): what each token adds to the logits of a linear model."""
        raise AccessError(f"A {self.architecture} model is not linear in its tokens.")


def save(model: TextModel, path: Path, about: Mapping[str, str] | None = None) -> None:
    """Write weights and configuration; ``about`` is put beside them (training data, scores)."""
    tensors = {name: value.contiguous() for name, value in model.state_dict().items()}
    metadata = {
        **(about or {}),
        "architecture": model.architecture,
        "config": json.dumps(model.config_dict(), sort_keys=True),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, path, metadata)


def load(path: Path) -> TextModel:
    """The model in a safetensors file, ready for inference."""
    with safe_open(path, framework="pt") as weights:
        metadata: dict[str, str] = weights.metadata() or {}
        tensors = {name: weights.get_tensor(name) for name in weights.keys()}  # noqa: SIM118
    name = metadata.get("architecture", "")
    if name not in ARCHITECTURES or "config" not in metadata:
        raise HumetricError(
            f"Expected weights of one of {', '.join(ARCHITECTURES)} but {path.name} says "
            f"{name!r}: write them with humetric.models.text.save."
        )
    model = architecture(name).make(json.loads(metadata["config"]))
    model.load_state_dict(tensors)
    return model.eval()


def architecture(name: str) -> type[TextModel]:
    """The class behind a name."""
    module, noun = ARCHITECTURES[name]
    found: type[TextModel] = getattr(importlib.import_module(module), noun)
    return found


def masked_mean(values: Tensor, attention: Tensor) -> Tensor:
    """(rows, width): mean over the tokens that are there; zero where none is."""
    weight = attention.to(values.dtype)[:, :, None]
    return (values * weight).sum(1) / weight.sum(1).clamp(min=1)


def masked_max(values: Tensor, attention: Tensor) -> Tensor:
    """(rows, width): maximum over the tokens that are there; zero where none is."""
    there = attention.bool()[:, :, None]
    top = values.masked_fill(~there, torch.finfo(values.dtype).min).amax(1)
    return torch.where(there.any(1), top, torch.zeros_like(top))


def halves(attention: Tensor, types: Tensor) -> tuple[Tensor, Tensor]:
    """Attention of the first and of the second segment."""
    return attention * (types == 0), attention * (types == 1)


def compared(one: Tensor, other: Tensor) -> Tensor:
    """(rows, 4 width): two sentence vectors, their distance and product (Conneau et al. 2017)."""
    return torch.cat((one, other, (one - other).abs(), one * other), 1)
