"""TF-IDF logistic regression as a module over token counts.

x_t = count_t * idf_t, divided by its Euclidean norm; logits = W x + b. Tokens whose idf is 0
(special ones, the unknown token) are not seen, so that replacing a word by ``<unk>`` removes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from humetric.cards import Access
from humetric.models.text import TextModel


class TfIdf(TextModel):
    """Logits of a linear model over normalised TF-IDF values of tokens.

    Set ``idf`` (vocabulary,) before training; it is a buffer and saved with the weights.
    """

    architecture: ClassVar[str] = "tfidf"
    gives: ClassVar[frozenset[Access]] = frozenset(("predict", "internals"))
    reads: ClassVar[frozenset[str]] = frozenset(("coefficients",))
    idf: Tensor

    def __init__(self, vocabulary: int, classes: int = 2) -> None:
        super().__init__()
        self.config = {"vocabulary": vocabulary, "classes": classes}
        self.register_buffer("idf", torch.ones(vocabulary))
        self.head = nn.Linear(vocabulary, classes)

    @classmethod
    def make(cls, config: Mapping[str, Any]) -> Self:
        return cls(**config)

    def config_dict(self) -> dict[str, Any]:
        return dict(self.config)

    def values(self, ids: Tensor, attention: Tensor) -> tuple[Tensor, Tensor]:
        """TF-IDF values (rows, vocabulary) and the norm that they were divided by (rows, 1)."""
        counts = self.idf.new_zeros(len(ids), len(self.idf))
        counts.scatter_add_(1, ids, attention.to(counts.dtype))
        raw = counts * self.idf
        norm = raw.norm(dim=1, keepdim=True).clamp(min=torch.finfo(raw.dtype).tiny)
        return raw / norm, norm

    def forward(self, ids: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        logits: Tensor = self.head(self.values(ids, attention)[0])
        return logits

    def contributions(self, ids: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        """Weight times value, shared among a token's occurrences; with the bias they sum to f."""
        norm = self.values(ids, attention)[1]
        value = self.idf[ids] * attention / norm
        return self.head.weight.T[ids] * value[:, :, None]
