"""Dropping duplicates before anything is asked. This is planning: it runs on the host."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from humetric.engine.questions import GroupMasks, Questions


def drop_duplicates(asked: Sequence[Questions]) -> tuple[list[Questions], list[tuple[int, Tensor]]]:
    """Distinct questions, and where the answer to each asked row will be found.

    Rows of the same partition about the same case with the same bits are asked once. Returns the
    families to ask and, for each of ``asked``, (family, row of the family for each of its rows).
    Questions that bring fills of their own, and masks that are not bits, are taken as distinct.
    """
    families: list[Questions] = []
    places: list[tuple[int, Tensor] | None] = [None] * len(asked)
    by_partition: dict[tuple[int, bytes], list[int]] = {}
    for i, questions in enumerate(asked):
        if isinstance(questions.masks, GroupMasks) and questions.fill is None:
            by_partition.setdefault(_content(questions.masks), []).append(i)
        else:
            places[i] = (len(families), torch.arange(len(questions)))
            families.append(questions)
    for members in by_partition.values():
        merged, rows = _merge([asked[i] for i in members])
        for i, where in zip(members, rows, strict=True):
            places[i] = (len(families), where)
        families.append(merged)
    return families, [place for place in places if place is not None]


def _content(masks: GroupMasks) -> tuple[int, bytes]:
    """What a partition is, whatever its name."""
    partition = masks.partition
    return partition.groups, hashlib.sha256(partition.group.cpu().numpy().tobytes()).digest()


def _merge(asked: list[Questions]) -> tuple[Questions, list[Tensor]]:
    """One family without repeated (case, bits), and the rows of each of the given ones in it."""
    masks = [q.masks for q in asked if isinstance(q.masks, GroupMasks)]
    case = torch.cat([q.case.cpu() for q in asked])
    bits = torch.cat([m.bits.cpu() for m in masks])
    packed = np.packbits(bits.numpy(), axis=1)
    label = np.concatenate((case.numpy().astype(np.int64)[:, None].view(np.uint8), packed), axis=1)
    width, text = label.shape[1], label.tobytes()
    known: dict[bytes, int] = {}  # in the order first asked, so that batches read cases in sequence
    where = [
        known.setdefault(text[at : at + width], len(known)) for at in range(0, len(text), width)
    ]
    position = np.array(where)
    chosen = torch.from_numpy(np.unique(position, return_index=True)[1])
    run = asked[0].run if len(asked) == 1 and len(chosen) == len(case) else 1
    family = Questions(case[chosen], GroupMasks(bits[chosen], masks[0].partition), run=run)
    return family, list(torch.from_numpy(position).split([len(q) for q in asked]))
