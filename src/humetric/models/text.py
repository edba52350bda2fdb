"""What every text model offers: logits from tokens, and a way in at the embedding layer.

A model is called with three (rows, tokens) tensors of whole numbers: token ids, attention (1 where
there is a token, 0 where there is padding or a dropped token) and types (0 for the first segment
of a pair, 1 for the second). A classifier gives (rows, classes). A span model gives (rows, 2,
tokens): start and end logits. Models never look at a value on the host, so that the engine can keep
a device busy.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from humetric.cards import Access
from humetric.errors import AccessError, HumetricError


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

    def features(self, embedded: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        """(rows, width): what the last linear layer of a classifier sees of embedded tokens."""
        last = [part for part in self.modules() if isinstance(part, nn.Linear)][-1]
        seen: list[Tensor] = []
        hook = last.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
        try:
            self.from_embeddings(embedded, attention, types)
        finally:
            hook.remove()
        return seen[0]

    def attentions(self, ids: Tensor, attention: Tensor, types: Tensor) -> list[Tensor]:
        """Attention of each layer: (rows, heads, tokens, tokens), each row a distribution."""
        raise AccessError(f"A {self.architecture} model has no attention between tokens.")

    def contributions(self, ids: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        """(rows, tokens, classes): what each token adds to the logits of a linear model."""
        raise AccessError(f"A {self.architecture} model is not linear in its tokens.")


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


class Zeroed(TextModel):
    """A text model that takes ``ZERO`` for a token whose embedding is the zero vector.

    Omission as Hase & Bansal (2020) have it; removal by a mask token needs no such thing.
    """

    ZERO: ClassVar[int] = -1

    def __init__(self, model: TextModel) -> None:
        super().__init__()
        self.model, self.span, self.limit = model, model.span, model.limit

    @classmethod
    def make(cls, config: Mapping[str, Any]) -> Self:
        raise HumetricError("Wrap a model that is there already.")

    def config_dict(self) -> dict[str, Any]:
        return self.model.config_dict()

    def embed(self, ids: Tensor) -> Tensor:
        return self.model.embed(ids.clamp(min=0)) * (ids >= 0)[:, :, None]

    def from_embeddings(self, embedded: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        return self.model.from_embeddings(embedded, attention, types)
