"""Rows of different lengths: what is planned on the host before texts are evaluated.

Rows are sorted by their number of tokens, longest first, and cut into batches that hold at most so
many tokens, padding included. Lengths are known here, so the hot loop need not look at a value.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from humetric.engine.questions import GroupMasks, Questions, make, together
from humetric.errors import HumetricError
from humetric.tasks.cases import Cases
from humetric.tasks.partition import identity

SPARE = 256
"""Tokens of padding that cost about as much as another call of a small model."""
ENOUGH = 0.15
"""Share of a full batch from which on a batch of one length is not too small."""


def in_words(questions: Questions, cases: Cases) -> Questions:
    """The same questions as bits over words, in the one form in which duplicates are found.

    Words that a case does not have count as kept.
    """
    masks = questions.masks
    if isinstance(masks, GroupMasks) and masks.partition.name == "each":
        bits = masks.bits.cpu()
    else:
        share = make(masks, 0, len(masks), torch.float32).cpu()
        bits = share > 0.5
        if not torch.equal(bits.to(share.dtype), share):
            raise HumetricError("Words are kept or removed, not in part: use masks of 0 and 1.")
    owner = questions.case.cpu()
    beyond = torch.arange(cases.features) >= torch.tensor(cases.lengths)[:, None]
    bits = bits | beyond[owner]
    return replace(questions, masks=GroupMasks(bits, identity(cases.features)))


def with_lengths(questions: Questions, cases: Cases) -> Questions:
    """Questions in words, or other inputs, with the number of tokens of each row."""
    task, texts = cases.text()
    if questions.fill is not None:
        return replace(questions, tokens=questions.fill[:, 1].sum(1).cpu())
    asked = in_words(questions, cases)
    assert isinstance(asked.masks, GroupMasks)
    owner, tokens = asked.case.cpu(), texts.tokens
    counts = tokens.counts[owner]
    if task.removal == "delete":
        counts = task.lengths(asked.masks.bits, tokens.sizes[owner], counts)
    return replace(asked, tokens=counts)


@dataclass(frozen=True)
class SortedRows:
    """All rows of a round, longest first."""

    case: Tensor
    """(rows,) on the device."""
    keep: Tensor
    """(rows, words) bool on the device."""
    order: Tensor
    """(rows,) on the device: where each row was asked."""
    lengths: Sequence[int]
    """Tokens of each row, on the host: never increasing."""
    inputs: Tensor | None = None
    """(rows, 3, tokens) on the device: other inputs in the place of the cases'."""

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.lengths)

    def batch(self, start: int, budget: int) -> tuple[int, int]:
        """Where a batch that starts at a row ends, and the length that it is padded to.

        It ends with the rows of one length where filling it up with shorter ones would cost more in
        padding than another call, provided that it is not too small by then.
        """
        width = self.lengths[start]
        most = max(1, budget // width)
        stop = min(self.total, start + most)
        same = bisect.bisect_right(self.lengths, -width, start, stop, key=lambda n: -n)
        padding = width * (stop - same) - sum(self.lengths[same:stop])
        if padding > SPARE and same - start >= most * ENOUGH:
            stop = same
        return stop, width


def sorted_rows(families: Sequence[Questions], device: torch.device) -> SortedRows:
    """Rows of families that are on the device, in the order in which they are evaluated.

    Rows of one length stay in the order asked, so that the order is a function of what is asked.
    """
    lengths = torch.cat([f.tokens for f in families if f.tokens is not None])
    order = torch.sort(lengths, descending=True, stable=True).indices
    where = order.to(device)
    bits = [f.masks.bits for f in families if isinstance(f.masks, GroupMasks)]
    fills = [f.fill for f in families if f.fill is not None]
    return SortedRows(
        case=torch.cat([f.case for f in families]).index_select(0, where),
        keep=torch.cat(bits).index_select(0, where),
        order=where,
        lengths=lengths[order].tolist(),
        inputs=together(fills).index_select(0, where) if fills else None,
    )
