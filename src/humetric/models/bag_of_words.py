"""Mean word vectors and a small head: a model that cannot see the order of words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from torch import Tensor, nn

from humetric.models.text import TextModel, compared, halves, masked_mean


class BagOfWords(TextModel):
    """Logits from mean embeddings: of the text, or of both segments of a pair, compared.

    With ``hidden = 0`` and a single segment the logits are linear in the embeddings.
    """

    architecture: ClassVar[str] = "bag-of-words"

    def __init__(
        self,
        vocabulary: int,
        classes: int = 3,
        embedding: int = 32,
        hidden: int = 64,
        pairs: bool = True,
    ) -> None:
        super().__init__()
        self.config = {
            "vocabulary": vocabulary,
            "classes": classes,
            "embedding": embedding,
            "hidden": hidden,
            "pairs": pairs,
        }
        self.pairs = pairs
        width = embedding * (4 if pairs else 1)
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.head: nn.Module = (
            nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, classes))
            if hidden
            else nn.Linear(width, classes)
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
        if self.pairs:
            one, other = (masked_mean(embedded, part) for part in halves(attention, types))
            seen = compared(one, other)
        else:
            seen = masked_mean(embedded, attention)
        logits: Tensor = self.head(seen)
        return logits
