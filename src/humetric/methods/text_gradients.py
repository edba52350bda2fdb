"""Gradients of texts: with respect to the embeddings of tokens, summed to words.

The score is the engine's: the logit of the explained class, or the mean of the start and the end
logit of the explained span. Each case is differentiated at its own length, without padding: its
map is the same to the last bit whatever other cases there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from humetric.errors import HumetricError
from humetric.models.text import TextModel
from humetric.tasks.cases import Cases
from humetric.tasks.text import TextTask

BASELINES = ("mask", "pad", "zero")


@dataclass(frozen=True)
class One:
    """One case, embedded."""

    task: TextTask
    module: TextModel
    embedded: Tensor
    """(1, tokens, width)."""
    attention: Tensor
    types: Tensor
    target: Tensor
    word: Tensor
    """(tokens,): word of each token, -1 for special ones."""
    rows: int
    """Inputs that fit into one backward pass."""

    def gradient(self, embedded: Tensor) -> Tensor:
        """Gradient of the score at each of (rows, tokens, width)."""
        found = []
        for block in torch.split(embedded.detach(), self.rows):
            x, count = block.clone().requires_grad_(), len(block)
            attention, types, target = (
                t.expand(count, *t.shape[1:]) for t in (self.attention, self.types, self.target)
            )
            with torch.enable_grad():
                score = self.task.logit(self.module.from_embeddings(x, attention, types), target)
                found.append(torch.autograd.grad(score.sum(), x)[0])
        return torch.cat(found)

    def baseline(self, kind: str) -> Tensor:
        """Embeddings with every word replaced; special tokens stay."""
        if kind not in BASELINES:
            raise HumetricError(
                f"Expected a baseline of {', '.join(BASELINES)} for texts but got {kind!r}."
            )
        if kind == "zero":
            fill = torch.zeros_like(self.embedded)
        else:
            id = self.task.removed if kind == "mask" else self.task.pad
            fill = self.module.embed(torch.full_like(self.attention, id)).detach()
        return torch.where((self.word >= 0)[None, :, None], fill, self.embedded)


def each(cases: Cases) -> Iterator[One]:
    """Cases one by one, at their own length."""
    task, texts = cases.text()
    module = cases.text_module()
    for i, count in enumerate(texts.tokens.counts.tolist()):
        ids, attention, types = cases.x[i : i + 1, :, :count].unbind(1)
        with torch.no_grad():
            embedded = module.embed(ids)
        yield One(
            task=task,
            module=module,
            embedded=embedded.detach(),
            attention=attention,
            types=types,
            target=cases.target[i : i + 1],
            word=texts.tokens.word[i, :count],
            rows=cases.gradient_rows,
        )


def to_words(cases: Cases, of_tokens: Callable[[int, One], Tensor]) -> Tensor:
    """(cases, words): a number per token, (tokens,) of each case, summed over each word."""
    _, texts = cases.text()
    values = torch.zeros(texts.tokens.word.shape, dtype=cases.dtype, device=cases.device)
    for i, one in enumerate(each(cases)):
        found = of_tokens(i, one)
        values[i, : len(found)] = found
    return texts.tokens.sum(values)
