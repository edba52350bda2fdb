"""Unlabelled texts of the same kind as a setting's cases, for what learns from its model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from humetric.errors import HumetricError
from humetric.tasks.text import Texts
from humetric.tasks.words import Encoder, Text


@dataclass(frozen=True)
class Unlabelled:
    """Texts that are no cases; they are drawn and encoded when somebody asks for them."""

    texts: Sequence[tuple[Text, ...]]
    """Segments of each text; a sequence that makes them when asked will do."""
    encoder: Encoder
    names: tuple[str, ...]
    """Names of the segments."""

    def __len__(self) -> int:
        return len(self.texts)

    def first(self, count: int) -> tuple[Tensor, Texts]:
        """Inputs (texts, 3, tokens) and words of the first so many texts that have any."""
        from humetric.tasks.text_setting import packed

        given = [self.texts[i] for i in range(min(count, len(self)))]
        both = [(raw, self.encoder.encode(raw)) for raw in given]
        there = [(raw, encoded) for raw, encoded in both if encoded.words]
        if not there:
            raise HumetricError("Expected unlabelled texts with words in them but there are none.")
        raw, encoded = zip(*there, strict=True)
        return packed(encoded, raw, self.names, self.encoder.special.pad)


def apart(
    unlabelled: Sequence[tuple[Text, ...]], cases: Sequence[tuple[Text, ...]], ids: Sequence[str]
) -> None:
    """Refuse unlabelled texts that are cases: what is explained must not have been learned from."""
    known = {_plain(case): id for case, id in zip(cases, ids, strict=True)}
    for i, text in enumerate(unlabelled):
        if _plain(text) in known:
            raise HumetricError(
                f"Expected unlabelled texts that are no cases but number {i} is "
                f"{known[_plain(text)]}: leave it out."
            )


def _plain(segments: tuple[Text, ...]) -> tuple[str, ...]:
    return tuple(t if isinstance(t, str) else " ".join(t) for t in segments)
