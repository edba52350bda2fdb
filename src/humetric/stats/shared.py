"""The joint test where studies share methods: methods of one name are relabelled together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from humetric.stats.enumeration import SLACK
from humetric.stats.joint import StudyData, study_t

DRAWS = 9_999


class SharedTest(NamedTuple):
    """A sensitivity check of T. NaN where no study is defined."""

    p: float
    """Two-sided."""
    relabellings: int
    """How many there are; below 40 the check cannot reach .05."""


def shared_test(
    studies: Sequence[StudyData],
    methods: Mapping[str, Sequence[str]],
    generator: np.random.Generator,
    b: int = DRAWS,
) -> SharedTest:
    """p of T when people's liking for a method may be the same in all studies that have it.

    `joint_test` relabels studies independently. If a metric orders the methods that several studies
    share alike in all of them, and so do people, that repetition passes for evidence. Here one
    relabelling of method names serves all studies at once, T as in `joint_test`. A name is only
    exchanged with one that is found in exactly the same studies, since others have no value to give
    away; such relabellings form a group, so p = (count + 1) / (b + 1) of ``b`` draws is valid if
    values are exchangeable among those methods. The price: a method with a set of studies of its
    own stays where it is, so that with studies that overlap in part little can be relabelled and
    little found (``relabellings`` says how much). It is a check, not the headline.
    """
    kept: list[tuple[StudyData, list[str]]] = []
    for study in studies:
        known = ~(np.isnan(study.metric) | np.isnan(study.human)).all(0)
        names = [n for n, there in zip(methods[study.name], known, strict=True) if there]
        shape = study.human.shape
        trimmed = study._replace(
            metric=study.metric[:, known],
            human=study.human[:, known],
            metric_precision=np.broadcast_to(study.metric_precision, shape)[:, known],
            human_precision=np.broadcast_to(study.human_precision, shape)[:, known],
        )
        if names and not math.isnan(study_t(trimmed, np.arange(len(names))[None])[0]):
            kept.append((trimmed, names))
    if not kept:
        return SharedTest(math.nan, 0)
    union = sorted({name for _, names in kept for name in names})
    blocks: dict[tuple[bool, ...], list[int]] = {}
    for i, name in enumerate(union):
        blocks.setdefault(tuple(name in names for _, names in kept), []).append(i)
    # Row 0 is the unchanged order.
    orders = np.tile(np.arange(len(union), dtype=np.intp), (b + 1, 1))
    for block in blocks.values():
        orders[1:, block] = generator.permuted(orders[1:, block], axis=1)
    total = np.zeros(b + 1)
    for study, names in kept:
        at = np.array([union.index(name) for name in names], dtype=np.intp)
        position = np.full(len(union), -1, dtype=np.intp)
        position[at] = np.arange(len(names))
        total += study_t(study, position[orders[:, at]])
    drawn = total[1:][~np.isnan(total[1:])]
    count = int((np.abs(drawn) >= abs(total[0]) - SLACK).sum())
    ways = math.prod(math.factorial(len(block)) for block in blocks.values())
    return SharedTest((count + 1) / (len(drawn) + 1), ways)


def overlap(methods: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Methods that more than one study has, with the number of those studies, the most first."""
    names = sorted({name for some in methods.values() for name in some})
    counts = {name: sum(name in some for some in methods.values()) for name in names}
    return {n: counts[n] for n in sorted(names, key=lambda n: (-counts[n], n)) if counts[n] > 1}
