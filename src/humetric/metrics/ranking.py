"""Ranks of features by importance, with ties broken by a permutation that belongs to the case."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from humetric.engine.questions import Questions, RankMasks, about, about_each
from humetric.tasks.cases import Cases

FEW = 64
"""Up to so many features, masks are made while planning."""


def ranks(attribution: Tensor, cases: Cases) -> Tensor:
    """(cases, features): 0 for the feature of highest signed attribution.

    Equal values are ordered by a permutation seeded by the case, never by position: else a map
    that is constant would be read from the top left corner on.
    """
    shuffle = cases.once("ties", lambda: _shuffles(cases))
    if cases.texts is not None:  # what a case does not have comes last
        beyond = torch.ones_like(attribution) - cases.real(torch.ones_like(attribution))
        attribution = attribution.masked_fill(beyond.bool(), -torch.inf)
    shuffled = attribution.gather(1, shuffle)
    order = torch.argsort(shuffled, dim=1, descending=True, stable=True)
    order = shuffle.gather(1, order)
    kind = torch.int16 if cases.features < 2**15 else torch.int32
    position = torch.arange(cases.features, device=order.device, dtype=kind).expand_as(order)
    return torch.empty_like(order, dtype=kind).scatter_(1, order, position.contiguous())


def curve_questions(attribution: Tensor, cases: Cases, steps: int, keep_first: bool) -> Questions:
    """The inner points of a curve: the first or all but the first features are kept.

    Masks of few features are made here, as bits: equal ones are asked once.
    """
    if cases.texts is None and cases.features > FEW:
        return about_each(cases, curve_masks(attribution, cases, steps, keep_first))
    counts = [removed(n, steps)[1:-1] for n in cases.lengths]
    return top_questions(attribution, cases, counts, keep_first)


def top_questions(
    attribution: Tensor, cases: Cases, counts: Sequence[np.ndarray], keep_first: bool
) -> Questions:
    """Questions with so many of the most important features kept alone, or removed.

    ``counts`` are those of each case.
    """
    rank = ranks(attribution, cases).cpu().numpy()
    bits = [
        (own[:n] < count[:, None]) == keep_first
        for own, n, count in zip(rank, cases.lengths, counts, strict=True)
    ]
    return about(cases, bits)


def curve_masks(attribution: Tensor, cases: Cases, steps: int, keep_first: bool) -> RankMasks:
    """Masks of the inner points of curves, made when the engine gets there."""
    inner = removed(cases.features, steps)[1:-1]
    rank = ranks(attribution, cases)
    return RankMasks(rank, torch.from_numpy(inner).to(rank), keep_first)


def removed(features: int, steps: int) -> np.ndarray:
    """How many features are replaced at each point of a curve, from none to all."""
    points = min(features, steps)
    return np.round(np.arange(points + 1) * features / points).astype(np.int64)


def _shuffles(cases: Cases) -> Tensor:
    drawn = [
        np.concatenate((rng.permutation(n), np.arange(n, cases.features)))
        for rng, n in zip(cases.rng("ties"), cases.lengths, strict=True)
    ]
    return torch.from_numpy(np.stack(drawn)).to(cases.device)
