"""Texts without some of their words: as a setting of their own, and as inputs of its model.

Words are taken out of the text as it came, with the space before them, and what is left is encoded
anew: whatever a setting has masks become, this is a text that somebody could have written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from humetric.errors import HumetricError
from humetric.tasks.edits import Place
from humetric.tasks.setting import Setting
from humetric.tasks.text import Texts, TextTask
from humetric.tasks.words import Encoder


class Deletion(NamedTuple):
    """Words that are taken out of a case, by number and in order."""

    case: int
    words: tuple[int, ...]


def parts_of(setting: Setting) -> tuple[TextTask, Texts, Encoder]:
    """What it takes to change a setting's texts."""
    task, texts, encoder = setting.task, setting.texts, setting.encoder
    if not isinstance(task, TextTask) or texts is None or encoder is None:
        raise HumetricError(
            f"Expected a setting of texts with an encoder but {setting.id} has none: make it with "
            f"text_setting."
        )
    if task.span or encoder.split == "tokens":
        raise HumetricError(
            f"Expected words that can be taken out of a text but in {setting.id} "
            + ("answers are places in it." if task.span else "features are tokens: split words.")
        )
    return task, texts, encoder


def without(raw: Sequence[str], places: Sequence[Place], words: Sequence[int]) -> tuple[str, ...]:
    """Segments without some words, and without the space before each (at the start: after it)."""
    found = []
    for segment, text in enumerate(raw):
        gone = np.zeros(len(text), dtype=bool)
        for start, stop in (places[w].span for w in words if places[w].segment == segment):
            first, last = start, stop
            while first > 0 and (text[first - 1].isspace() or gone[first - 1]):
                first -= 1
            while first == 0 and last < len(text) and (text[last].isspace() or gone[last]):
                last += 1
            gone[first:last] = True
        found.append("".join(c for c, out in zip(text, gone, strict=True) if not out))
    return tuple(found)


def texts_without(
    texts: Texts, places: Sequence[Sequence[Place]], deletions: Sequence[Deletion]
) -> list[tuple[str, ...]]:
    """The segments that each deletion leaves; ``places`` are those of all cases."""
    return [without(texts.raw[case], places[case], words) for case, words in deletions]


def rewritten(
    setting: Setting, places: Sequence[Sequence[Place]], deletions: Sequence[Deletion]
) -> Setting:
    """The cases after each deletion, of which the same output is explained as before.

    Ids say what was taken out, so that what is random in a method differs from text to text.
    """
    from humetric.tasks.text_setting import packed

    task, texts, encoder = parts_of(setting)
    raw = texts_without(texts, places, deletions)
    encoded = [encoder.encode(segments) for segments in raw]
    if not all(e.words for e in encoded):
        raise HumetricError("Expected texts that keep a word but all were taken out of one.")
    x, shown = packed(encoded, raw, texts.names, encoder.special.pad)
    made = replace(
        task,
        words=max(len(e.words) for e in encoded),
        longest=max(task.longest, x.shape[2]),
    )
    keep = torch.zeros(len(x), made.words, dtype=torch.bool)
    rows = [case for case, _ in deletions]
    return replace(
        setting,
        task=made,
        ids=tuple(f"{setting.ids[c]} without {' '.join(map(str, w))}" for c, w in deletions),
        x=x,
        baseline=made.rows(keep, x, shown.tokens.word, x.shape[2])[:, None],
        target=setting.target[rows],
        label=setting.label[rows],
        region=None,
        texts=shown,
        panel=None,
        rivals={},
    )


def survivors(
    texts: Texts, deletion: Deletion, new: Texts, row: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which words of a case are which of the changed text's: (numbers before, numbers after).

    Words that were beyond the model's longest input may have moved into it; they are left out, and
    so are those for which there is no more room.
    """
    before, after = [], []
    gone = set(deletion.words)
    for segment in range(len(texts.names)):
        old = [
            i for i, s in enumerate(texts.segment[deletion.case]) if s == segment and i not in gone
        ]
        own = [i for i, s in enumerate(new.segment[row]) if s == segment]
        before += old[: len(own)]
        after += own[: len(old)]
    was = [texts.words[deletion.case][i] for i in before]
    now = [new.words[row][i] for i in after]
    if was != now:
        raise HumetricError(
            f"Expected the words {' '.join(was)!r} of a changed text but it reads "
            f"{' '.join(now)!r}: its tokenizer must not mix words."
        )
    return np.array(before, dtype=np.int64), np.array(after, dtype=np.int64)
