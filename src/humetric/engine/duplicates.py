"""Dropping duplicates before anything is asked. This is planning: it runs on the host."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from humetric.engine.questions import GroupMasks, Questions

LARGEST = 4096
"""Numbers of a fill that it is worth looking at: rows and texts, not images."""


def drop_duplicates(asked: Sequence[Questions]) -> tuple[list[Questions], list[tuple[int, Tensor]]]:
    """Distinct questions, and where the answer to each asked row will be found.

    Rows of the same partition about the same case with the same bits (and the same fill, if they
    bring one) are asked once. Returns the families to ask and, for each of ``asked``, (family, row
    of the family for each of its rows). Masks that are not bits, and large fills, are taken as
    distinct.
    """
    families: list[Questions] = []
    places: list[tuple[int, Tensor] | None] = [None] * len(asked)
    by_partition: dict[tuple[object, ...], list[int]] = {}
    for i, questions in enumerate(asked):
        small = questions.fill is None or questions.fill[:1].numel() <= LARGEST
        if isinstance(questions.masks, GroupMasks) and small:
            fill = questions.fill
            shape = () if fill is None else (fill.dtype, *fill.shape[1:])
            by_partition.setdefault((_content(questions.masks), shape), []).append(i)
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
    parts = [case.numpy().astype(np.int64)[:, None].view(np.uint8), packed]
    fills = [q.fill.cpu() for q in asked if q.fill is not None]
    fill = torch.cat(fills).contiguous() if fills else None
    if fill is not None:
        parts.append(fill.numpy().reshape(len(case), -1).view(np.uint8))
    label = np.concatenate(parts, axis=1)
    width, text = label.shape[1], label.tobytes()
    known: dict[bytes, int] = {}  # in the order first asked, so that batches read cases in sequence
    where = [
        known.setdefault(text[at : at + width], len(known)) for at in range(0, len(text), width)
    ]
    position = np.array(where)
    chosen = torch.from_numpy(np.unique(position, return_index=True)[1])
    run = asked[0].run if len(asked) == 1 and len(chosen) == len(case) else 1
    family = Questions(
        case[chosen],
        GroupMasks(bits[chosen], masks[0].partition),
        fill=None if fill is None else fill[chosen],
        run=run,
    )
    return family, list(torch.from_numpy(position).split([len(q) for q in asked]))
