"""Rank correlation along rows, in torch."""

from __future__ import annotations

import torch
from torch import Tensor


def spearman(a: Tensor, b: Tensor) -> Tensor:
    """Spearman's rho of each pair of rows, (rows, n) each; NaN where a row is constant."""
    x, y = midranks(a), midranks(b)
    x, y = x - x.mean(1, keepdim=True), y - y.mean(1, keepdim=True)
    return (x * y).sum(1) / (x.square().sum(1) * y.square().sum(1)).sqrt()


def midranks(a: Tensor) -> Tensor:
    """Ranks along rows from 1, ties sharing their mean rank."""
    below = (a[:, :, None] > a[:, None, :]).sum(2)
    equal = (a[:, :, None] == a[:, None, :]).sum(2)
    return below + (equal + 1).to(torch.float64) / 2


def snap(a: Tensor) -> Tensor:
    """Numbers rounded to 1e-9 of the largest in their row.

    Sums of the same terms in another order differ in the last bits; as ranks they must be ties.
    """
    scale = a.abs().amax(1, keepdim=True)
    return torch.where(scale > 0, (a / scale * 1e9).round() / 1e9, a)
