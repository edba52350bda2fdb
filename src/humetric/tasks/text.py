"""Text tasks: a feature is a word, removed with all of its tokens.

Removal makes words unseen in one of three ways:

- ``mask``: their tokens become the mask token (the unknown token where there is none);
- ``drop``: no token attends to theirs; positions stay (transformers only);
- ``delete``: their tokens are taken out, so that the input gets shorter (not for QA, whose answers
  are positions).

Special tokens are never removed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from humetric.errors import HumetricError
from humetric.tasks.partition import Partition, identity
from humetric.tasks.task import class_answer

REMOVALS = ("mask", "drop", "delete")

SEGMENTS = {
    "sentiment": ("text",),
    "nli": ("premise", "hypothesis"),
    "qa": ("question", "passage"),
}
"""Segments of an input, in the order in which a model takes them."""

PASSAGE = 1


@dataclass(frozen=True)
class Tokens:
    """Which word and segment each token of some cases belongs to."""

    word: Tensor
    """(cases, tokens) int64: word of each token; -1 for special tokens and padding."""
    part: Tensor
    """(cases, tokens) int64: segment of each token; -1 for special tokens and padding."""
    sizes: Tensor
    """(cases, words) int64 on the host: tokens of each word; 0 beyond a case's words."""
    counts: Tensor
    """(cases,) int64 on the host: tokens of each case, special ones included."""

    @property
    def lengths(self) -> Tensor:
        """(cases,) on the host: words of each case."""
        return (self.sizes > 0).sum(1)

    def to(self, device: torch.device) -> Tokens:
        """The same with what the model's inputs are made from on a device."""
        return replace(self, word=self.word.to(device), part=self.part.to(device))

    def sum(self, values: Tensor) -> Tensor:
        """Sum a number per token (cases, tokens) over words: (cases, words)."""
        inside = self.word >= 0
        out = values.new_zeros(len(values), self.sizes.shape[1])
        place = self.word.clamp(min=0)
        return out.scatter_add_(1, place, values * inside)


@dataclass(frozen=True)
class Texts:
    """Words of some cases as people read them, and their place in the model's input."""

    raw: tuple[tuple[str, ...], ...]
    """Segments as they came."""
    words: tuple[tuple[str, ...], ...]
    """Words of all segments of each case: its features."""
    segment: tuple[tuple[int, ...], ...]
    """Segment of each word; names are in ``names``."""
    names: tuple[str, ...]
    cut: tuple[int, ...]
    """Words of each case that are no features: beyond the longest input, or without a token."""
    tokens: Tokens
    offset: Tensor
    """(cases, tokens, 2): characters of each token in its segment."""

    def take(self, rows: slice | list[int]) -> Texts:
        """Some of the cases, no wider than they need."""
        chosen = range(len(self.words))[rows] if isinstance(rows, slice) else rows
        pick = list(chosen)
        counts, sizes = self.tokens.counts[pick], self.tokens.sizes[pick]
        long, wide = int(counts.max()), int((sizes > 0).sum(1).max())
        return Texts(
            raw=tuple(self.raw[i] for i in pick),
            words=tuple(self.words[i] for i in pick),
            segment=tuple(self.segment[i] for i in pick),
            names=self.names,
            cut=tuple(self.cut[i] for i in pick),
            tokens=Tokens(
                self.tokens.word[pick, :long],
                self.tokens.part[pick, :long],
                sizes[:, :wide],
                counts,
            ),
            offset=self.offset[pick, :long],
        )


@dataclass(frozen=True)
class TextTask:
    """Sentiment, NLI or QA; inputs are (rows, 3, tokens): ids, attention, types."""

    id: str
    words: int
    """Words of the longest case."""
    longest: int
    """Tokens of the setting's longest case: batches are bounded by rows of this length."""
    removed: int
    """Id that removed tokens become."""
    pad: int
    removal: str = "mask"
    ends: tuple[int, ...] = (0, 1)
    """Ends of a span that are explained: its start (0), its end (1), or both, by their mean."""

    @property
    def features(self) -> tuple[int, ...]:
        """An attribution has one number per word; shorter cases leave the last ones zero."""
        return (self.words,)

    @property
    def exact(self) -> bool:
        """Tokens are codes."""
        return True

    @property
    def numbers(self) -> int:
        """A word has one place in a mask."""
        return 1

    @property
    def span(self) -> bool:
        """Whether the answer is a span of the passage."""
        return self.id == "qa"

    def resized(self, words: int) -> TextTask:
        """The same for cases of at most so many words."""
        return replace(self, words=words)

    def groups(self, cells: int) -> Partition:
        """Every word is a group of its own, however many cells an image would have."""
        return identity(self.words)

    def windows(self, size: int, stride: int) -> tuple[Partition, Tensor]:
        """One word at a time."""
        return identity(self.words), torch.eye(self.words, dtype=torch.bool)

    def store(self, x: Tensor) -> Tensor:
        """As it is."""
        return x

    def mix(self, keep: Tensor, x: Tensor, fill: Tensor) -> None:
        """Tokens are not mixed: the engine makes rows of tokens by :meth:`rows`."""
        raise HumetricError("Tokens cannot be kept in part: remove whole words.")

    def model_inputs(self, x: Tensor) -> Tensor:
        """As it is."""
        return x

    def lengths(self, keep: Tensor, sizes: Tensor, counts: Tensor) -> Tensor:
        """Tokens of rows whose words are kept or not; all on the host."""
        if self.removal != "delete":
            return counts
        return counts - ((~keep) * sizes).sum(1)

    def rows(self, keep: Tensor, x: Tensor, word: Tensor, width: int) -> Tensor:
        """(rows, 3, width): inputs with words removed.

        keep: (rows, words) bool, x: (rows, 3, tokens), word: (rows, tokens) as in Tokens. Nothing
        here looks at a value on the host; ``width`` is what :meth:`lengths` said.
        """
        if self.removal != "delete":
            x, word = x[:, :, :width], word[:, :width]
        kept = keep.gather(1, word.clamp(min=0)) | (word < 0)
        if self.removal == "mask":
            ids = torch.where(kept, x[:, 0], self.removed)
            return torch.stack((ids, x[:, 1], x[:, 2]), 1)
        if self.removal == "drop":
            return torch.stack((x[:, 0], x[:, 1] * kept, x[:, 2]), 1)
        there = (kept & (x[:, 1] > 0)).to(x.dtype)
        order = torch.argsort(there, dim=1, descending=True, stable=True)[:, :width]
        moved = x.gather(2, order[:, None].expand(-1, 3, -1))
        there = there.gather(1, order)
        ids = torch.where(there > 0, moved[:, 0], self.pad)
        return torch.stack((ids, there, moved[:, 2] * there), 1)

    def answer(self, output: Tensor, target: Tensor, part: Tensor | None = None) -> Tensor:
        """Logit, probability and margin of the explained class, or of the explained span.

        A span's are means over its start and its end, or one of them if ``ends`` says so; softmax
        and the best other token are of the passage only (``part``: segment of each token).
        """
        if not self.span:
            return class_answer(output, target)
        if output.dtype != torch.float64:
            output = output.float()
        assert part is not None
        outside = (part[:, : output.shape[2]] != PASSAGE)[:, None]
        inside = output.masked_fill(outside, -torch.inf)
        other = inside.scatter(2, target[:, :, None], -torch.inf).amax(2, keepdim=True)
        found = (output, inside.softmax(2), output - other)
        return torch.stack([self._at(each, target) for each in found], 1)

    def logit(self, output: Tensor, target: Tensor) -> Tensor:
        """(rows,): the score that gradient methods differentiate, as :meth:`answer` has it."""
        if self.span:
            return self._at(output, target)
        return output.gather(1, target[:, None])[:, 0]

    def _at(self, found: Tensor, target: Tensor) -> Tensor:
        """(rows,): what (rows, 2, tokens) has at the explained ends of a span."""
        return found.gather(2, target[:, :, None])[:, list(self.ends), 0].mean(1)


def best_span(start: Tensor, end: Tensor, inside: Tensor, longest: int) -> tuple[int, int]:
    """The pair of tokens start <= end of highest summed logits, at most ``longest`` tokens.

    start, end: (tokens,) logits; inside: (tokens,) bool, where an answer may be.
    """
    total = start[:, None] + end[None, :]
    place = torch.arange(len(start))
    far = place[None, :] - place[:, None]
    allowed = inside[:, None] & inside[None, :] & (far >= 0) & (far < longest)
    total = total.masked_fill(~allowed, -torch.inf)
    at = int(total.argmax())
    return at // len(start), at % len(start)
