"""A sentence-pair classifier on stacked bidirectional LSTMs with max pooling.

In the manner of InferSent (Conneau et al. 2017): both sentences go through the same encoder; the
head sees their vectors, the distance and the product.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from humetric.models.bilstm import Encoder
from humetric.models.text import TextModel, compared, halves, masked_max


class InferSent(TextModel):
    """Logits of a pair; the segments are told apart by their types and encoded separately."""

    architecture: ClassVar[str] = "infersent"

    def __init__(
        self,
        vocabulary: int,
        classes: int = 3,
        embedding: int = 32,
        width: int = 32,
        layers: int = 2,
        hidden: int = 64,
    ) -> None:
        super().__init__()
        self.config = {
            "vocabulary": vocabulary,
            "classes": classes,
            "embedding": embedding,
            "width": width,
            "layers": layers,
            "hidden": hidden,
        }
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.encoder = Encoder(embedding, width, layers)
        self.head = nn.Sequential(
            nn.Linear(8 * width, hidden), nn.ReLU(), nn.Linear(hidden, classes)
        )

    @classmethod
    def make(cls, config: Mapping[str, Any]) -> Self:
        return cls(**config)

    def config_dict(self) -> dict[str, Any]:
        return dict(self.config)

    def embed(self, ids: Tensor) -> Tensor:
        embedded: Tensor = self.embedding(ids)
        return embedded

    def from_embeddings(self, embedded: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        one, other = (self._sentence(embedded, part) for part in halves(attention, types))
        logits: Tensor = self.head(compared(one, other))
        return logits

    def _sentence(self, embedded: Tensor, part: Tensor) -> Tensor:
        """The vector of one segment, its tokens moved to the front."""
        order = torch.argsort(part, dim=1, descending=True, stable=True)
        moved = embedded.gather(1, order[:, :, None].expand_as(embedded))
        part = part.gather(1, order)
        return masked_max(self.encoder(moved, part), part)
