"""A bidirectional LSTM with attention over its states, and the encoder that it is made of.

Hierarchical attention (Yang et al. 2016) at the level of one sentence, as Hase & Bansal (2020) use
it for sentiment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from humetric.models.text import TextModel


class Encoder(nn.Module):
    """Stacked bidirectional LSTMs: (rows, tokens, inputs) -> (rows, tokens, 2 width).

    The backward direction reads each row from its own last token on. Rows are reversed by index
    instead of being packed, because packing needs the lengths on the host. Tokens come first in a
    row and padding last.
    """

    def __init__(self, inputs: int, width: int, layers: int = 1) -> None:
        super().__init__()
        sizes = [inputs] + [2 * width] * (layers - 1)
        self.onward = nn.ModuleList(nn.LSTM(size, width, batch_first=True) for size in sizes)
        self.backward_ = nn.ModuleList(nn.LSTM(size, width, batch_first=True) for size in sizes)

    def forward(self, x: Tensor, attention: Tensor) -> Tensor:
        length = attention.sum(1, keepdim=True)
        place = torch.arange(x.shape[1], device=x.device)[None]
        reverse = torch.where(place < length, length - 1 - place, place)[:, :, None]
        # cuDNN differentiates recurrent layers in training mode only; dropout there is none.
        with torch.backends.cudnn.flags(enabled=not x.requires_grad):
            for onward, backward in zip(self.onward, self.backward_, strict=True):
                ahead = onward(x)[0]
                back = backward(x.gather(1, reverse.expand_as(x)))[0]
                x = torch.cat((ahead, back.gather(1, reverse.expand_as(back))), 2)
        return x


class BiLSTM(TextModel):
    """Logits from a weighted mean of LSTM states; weights are a softmax over tokens."""

    architecture: ClassVar[str] = "bilstm"

    def __init__(
        self, vocabulary: int, classes: int = 2, embedding: int = 32, width: int = 32
    ) -> None:
        super().__init__()
        self.config = {
            "vocabulary": vocabulary,
            "classes": classes,
            "embedding": embedding,
            "width": width,
        }
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.encoder = Encoder(embedding, width)
        self.hidden = nn.Linear(2 * width, 2 * width)
        self.context = nn.Linear(2 * width, 1, bias=False)
        self.head = nn.Linear(2 * width, classes)

    @classmethod
    def make(cls, config: Mapping[str, Any]) -> Self:
        return cls(**config)

    def config_dict(self) -> dict[str, Any]:
        return dict(self.config)

    def embed(self, ids: Tensor) -> Tensor:
        embedded: Tensor = self.embedding(ids)
        return embedded

    def from_embeddings(self, embedded: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        states = self.encoder(embedded, attention)
        score = self.context(torch.tanh(self.hidden(states)))[:, :, 0]
        score = score.masked_fill(attention == 0, torch.finfo(score.dtype).min)
        logits: Tensor = self.head((score.softmax(1)[:, :, None] * states).sum(1))
        return logits
