"""Attention rollout: how far attention lets a word reach the output. People ask for it."""

from __future__ import annotations

import torch
from torch import Tensor

from humetric.cards import TEXT
from humetric.methods import Explainer, method
from humetric.tasks.cases import Cases


@method(
    "attention",
    version=1,
    reference="Abnar & Zuidema 2020, arXiv:2005.00928",
    tasks=TEXT,
    needs="internals",
    reads="attention",
    signed=False,
    passes=1,
)
def attention() -> Explainer:
    """Attention multiplied through the layers, from the token that the output is read off.

    Each layer's attention is averaged over heads and mixed half and half with the identity, for the
    residual connection. A classifier reads off the first token, a span off its start and its end
    (their mean). It does not see the output: all classes have one map, and whether a word speaks
    for or against is not in it.
    """

    def explain(cases: Cases) -> Tensor:
        task, texts = cases.text()
        module, tokens = cases.text_module("attention"), texts.tokens
        values = torch.zeros(tokens.word.shape, dtype=cases.dtype, device=cases.device)
        for i, count in enumerate(tokens.counts.tolist()):
            with torch.no_grad():
                layers = module.attentions(*cases.x[i : i + 1, :, :count].unbind(1))
            flow = rollout(layers)[0]
            read = cases.target[i] if task.span else torch.zeros_like(cases.target[i : i + 1])
            values[i, :count] = flow.index_select(0, read).mean(0)
        return tokens.sum(values)

    return explain


def rollout(layers: list[Tensor]) -> Tensor:
    """(rows, tokens, tokens): what flows from each token (column) into each (row)."""
    flow: Tensor | None = None
    for layer in layers:
        mean = layer.mean(1)
        mixed = (mean + torch.eye(mean.shape[1], dtype=mean.dtype, device=mean.device)) / 2
        flow = mixed if flow is None else mixed @ flow
    assert flow is not None
    return flow
