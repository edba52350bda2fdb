"""Embedded texts as what the text models take: token ids, attention and types, and their targets.

A text is [CLS] text [SEP], a pair [CLS] a [SEP] b [SEP] with types 0 and 1. Explanation-informed
models take [CLS] premise [SEP] hypothesis [SEP] reason [SEP]; the reason has type 1, and the tokens
before it are, one by one, those of the pair alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import Encoding, Tokenizer
from torch import Tensor

from humetric.data.embedded.inference import Pair
from humetric.data.embedded.reading import Question
from humetric.data.embedded.wording import Span, Text, seeded
from humetric.errors import HumetricError
from humetric.models.wordpiece import PAD


class Inputs(NamedTuple):
    """Texts in a batch, padded at the end, and what to predict of them."""

    ids: Tensor
    types: Tensor
    target: Tensor
    """(rows,) classes, or (rows, 2) first and last token of a span."""
    pad: int = PAD
    """The id of padding."""

    @property
    def attention(self) -> Tensor:
        """1 where there is a token."""
        return (self.ids != self.pad).long()

    def to(self, device: torch.device) -> Inputs:
        """The same on a device."""
        ids, types, target = (tensor.to(device) for tensor in self[:3])
        return Inputs(ids, types, target, self.pad)

    def take(self, rows: Tensor) -> Inputs:
        """Some rows, no wider than they are."""
        ids = self.ids[rows]
        width = int((ids != self.pad).sum(1).max())
        return Inputs(ids[:, :width], self.types[rows, :width], self.target[rows], self.pad)


def of_texts(tokenizer: Tokenizer, texts: Sequence[Text]) -> Inputs:
    """Single texts and their labels."""
    found = tokenizer.encode_batch([t.text for t in texts])
    return _padded([e.ids for e in found], [e.type_ids for e in found], [t.label for t in texts])


def of_pairs(
    tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]], labels: Sequence[int]
) -> Inputs:
    """Premises and hypotheses, and their labels."""
    found = tokenizer.encode_batch(list(pairs))
    return _padded([e.ids for e in found], [e.type_ids for e in found], labels)


def explained(
    tokenizer: Tokenizer, pairs: Sequence[Pair], reasons: Sequence[str], matched: Sequence[bool]
) -> Inputs:
    """Pairs with a reason each; the class is the label, plus 3 where the reason is another's."""
    found = tokenizer.encode_batch([(p.premise, p.hypothesis) for p in pairs])
    added = tokenizer.encode_batch(list(reasons), add_special_tokens=False)
    classes = [p.label + (0 if m else 3) for p, m in zip(pairs, matched, strict=True)]
    return followed([e.ids for e in found], [e.type_ids for e in found],
                    [e.ids for e in added], classes)  # fmt: skip


def followed(
    ids: Sequence[Sequence[int]],
    types: Sequence[Sequence[int]],
    added: Sequence[Sequence[int]],
    target: Sequence[int],
    pad: int = PAD,
) -> Inputs:
    """Tokens of pairs, and after each those of a reason and the pair's last special token again."""
    return _padded(
        [[*own, *more, own[-1]] for own, more in zip(ids, added, strict=True)],
        [[*own, *([1] * (len(more) + 1))] for own, more in zip(types, added, strict=True)],
        target,
        pad,
    )


def matched_and_not(
    pairs: Sequence[Pair], purpose: str
) -> tuple[list[Pair], list[str], list[bool]]:
    """Every pair twice: with its own reason, and with that of another pair drawn at random."""
    whose, reasons = twice([pair.reason for pair in pairs], purpose)
    return [pairs[i] for i in whose], reasons, [True, False] * len(pairs)


def twice(reasons: Sequence[str], purpose: str) -> tuple[list[int], list[str]]:
    """Every pair's number twice, with its own reason and with another's, drawn at random."""
    rng, whose, told = seeded(purpose), [], []
    for own, reason in enumerate(reasons):
        other = reason
        while other == reason:
            other = reasons[int(rng.integers(len(reasons)))]
        whose += [own, own]
        told += [reason, other]
    return whose, told


def of_questions(
    tokenizer: Tokenizer, questions: Sequence[Question], spans: Sequence[Span]
) -> Inputs:
    """Questions and passages, and the tokens of the spans to answer with."""
    found = tokenizer.encode_batch([(q.question, q.passage) for q in questions])
    tokens = [
        [_token(e, start), _token(e, stop - 1)]
        for e, (start, stop) in zip(found, spans, strict=True)
    ]
    return _padded([e.ids for e in found], [e.type_ids for e in found], tokens)


def batches(inputs: Inputs, size: int, rng: np.random.Generator) -> Iterator[Inputs]:
    """Every row once, in batches of like length: rows are shuffled, then sorted in runs of 20."""
    lengths = inputs.attention.sum(1).numpy()
    order = rng.permutation(len(lengths))
    run = 20 * size
    runs = [order[i : i + run] for i in range(0, len(order), run)]
    for rows in runs:
        rows = rows[np.argsort(lengths[rows], kind="stable")]
        chunks = [rows[i : i + size] for i in range(0, len(rows), size)]
        for place in rng.permutation(len(chunks)):
            yield inputs.take(torch.from_numpy(chunks[place]))


def in_order(inputs: Inputs, size: int = 200) -> Iterator[Inputs]:
    """Every row once, in order."""
    for rows in torch.split(torch.arange(len(inputs.ids)), size):
        yield inputs.take(rows)


def _token(encoding: Encoding, character: int) -> int:
    """The token that a character of the passage is in."""
    token = encoding.char_to_token(character, 1)
    if token is None:
        raise HumetricError(f"Expected a token at character {character} of a passage: none is.")
    return token


def _padded(
    ids: Sequence[Sequence[int]],
    types: Sequence[Sequence[int]],
    target: Sequence[int] | Sequence[Sequence[int]],
    pad: int = PAD,
) -> Inputs:
    longest = max(map(len, ids))
    shape = (len(ids), longest)
    padded, kinds = torch.full(shape, pad), torch.zeros(shape, dtype=torch.long)
    for row, (tokens, kind) in enumerate(zip(ids, types, strict=True)):
        padded[row, : len(tokens)] = torch.tensor(tokens)
        kinds[row, : len(kind)] = torch.tensor(kind)
    return Inputs(padded, kinds, torch.tensor(target), pad)
