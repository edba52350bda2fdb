"""Ranks of features by importance, with ties broken by a permutation that belongs to the case."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from humetric.engine.questions import RankMasks
from humetric.tasks.cases import Cases


def ranks(attribution: Tensor, cases: Cases) -> Tensor:
    """(cases, features): 0 for the feature of highest signed attribution.

    Equal values are ordered by a permutation seeded by the case, never by position: else a map
    that is constant would be read from the top left corner on.
    """
    shuffle = cases.once("ties", lambda: _shuffles(cases))
    shuffled = attribution.gather(1, shuffle)
    order = torch.argsort(shuffled, dim=1, descending=True, stable=True)
    order = shuffle.gather(1, order)
    kind = torch.int16 if cases.features < 2**15 else torch.int32
    position = torch.arange(cases.features, device=order.device, dtype=kind).expand_as(order)
    return torch.empty_like(order, dtype=kind).scatter_(1, order, position.contiguous())


def curve_masks(attribution: Tensor, cases: Cases, steps: int, keep_first: bool) -> RankMasks:
    """Masks of the inner points of a curve: the first or all but the first features are kept."""
    inner = removed(cases.features, steps)[1:-1]
    rank = ranks(attribution, cases)
    return RankMasks(rank, torch.from_numpy(inner).to(rank), keep_first)


def removed(features: int, steps: int) -> np.ndarray:
    """How many features are replaced at each point of a curve, from none to all."""
    points = min(features, steps)
    return np.round(np.arange(points + 1) * features / points).astype(np.int64)


def _shuffles(cases: Cases) -> Tensor:
    drawn = [rng.permutation(cases.features) for rng in cases.rng("ties")]
    return torch.from_numpy(np.stack(drawn)).to(cases.device)
