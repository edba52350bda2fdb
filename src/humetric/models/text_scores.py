"""What the embedded text models say, to see how good they are: classes and spans."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from humetric.data.embedded.reading import Question
from humetric.data.embedded.wording import Span
from humetric.models.text import TextModel
from humetric.models.text_fit import EMBEDDED, Marks, outputs, passage
from humetric.models.text_inputs import Inputs, in_order

LONGEST = 30
"""Tokens of the longest answer."""


def probabilities(model: TextModel, data: Inputs) -> NDArray[np.float64]:
    """(rows, classes): softmax of the logits."""
    return torch.cat([logits.double().softmax(1) for logits in outputs(model, data)]).numpy()


def token_spans(
    model: TextModel, data: Inputs, marks: Marks = EMBEDDED
) -> tuple[list[tuple[int, int]], list[float]]:
    """First and last token of each answer, and by how much its score leads over the next best.

    The score of a span is the sum of its start and end logits; start <= end, within the passage.
    """
    spans, leads = [], []
    for batch, logits in zip(in_order(data), outputs(model, data), strict=True):
        logits = logits.masked_fill(~passage(batch, marks)[:, None], -1e4)
        width = logits.shape[2]
        far = torch.arange(width)[None, :] - torch.arange(width)[:, None]
        total = logits[:, 0, :, None] + logits[:, 1, None, :]
        total = total.masked_fill((far < 0) | (far >= LONGEST), -1e9).flatten(1)
        best = total.topk(2, 1)
        spans += [(int(at) // width, int(at) % width) for at in best.indices[:, 0]]
        leads += (best.values[:, 0] - best.values[:, 1]).tolist()
    return spans, leads


def answers(
    tokenizer: Tokenizer, questions: Sequence[Question], spans: Sequence[tuple[int, int]]
) -> list[Span]:
    """The characters of the passage that tokens cover."""
    found = tokenizer.encode_batch([(q.question, q.passage) for q in questions])
    return [
        (e.offsets[first][0], e.offsets[last][1])
        for e, (first, last) in zip(found, spans, strict=True)
    ]
