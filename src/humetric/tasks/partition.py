"""Partitions: base features (pixels, tokens, encoded inputs) gathered into groups."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Partition:
    """A map from base features to groups."""

    name: str
    group: Tensor
    """(features,) int64: the group of each base feature, numbered from 0."""
    groups: int

    def sum(self, values: Tensor) -> Tensor:
        """Sum values (cases, features) over each group: (cases, groups)."""
        out = values.new_zeros(values.shape[0], self.groups)
        return out.index_add_(1, self.group.to(values.device), values)

    def spread(self, values: Tensor) -> Tensor:
        """Give every feature its group's value: (cases, groups) -> (cases, features)."""
        return values.index_select(1, self.group.to(values.device))


def whole(features: int) -> Partition:
    """All features in one group: the partition behind the intact and the empty input."""
    return Partition("whole", torch.zeros(features, dtype=torch.int64), 1)


def grid(height: int, width: int, cells: int) -> Partition:
    """Pixels in a square grid; the cell of pixel i along an axis is floor(i * cells / size).

    An axis with fewer pixels than cells has one cell per pixel.
    """
    rows, columns = min(cells, height), min(cells, width)
    y = torch.arange(height) * rows // height
    x = torch.arange(width) * columns // width
    return Partition(f"grid-{cells}", (y[:, None] * columns + x).flatten(), rows * columns)


def cuts(height: int, width: int, size: int, stride: int) -> tuple[Partition, Tensor]:
    """The partition that the edges of sliding windows cut, and which groups each window covers.

    Windows of ``size`` pixels start at every multiple of ``stride``; the last one along an axis is
    clipped. Returns the partition and (windows, groups) bool. With stride = size the groups are the
    windows themselves; overlapping windows are unions of groups.
    """
    vertical, horizontal = _axis(height, size, stride), _axis(width, size, stride)
    group = (vertical[0][:, None] * horizontal[1].shape[1] + horizontal[0]).flatten()
    covers = torch.einsum("ar,bc->abrc", vertical[1].int(), horizontal[1].int())
    covers = covers.reshape(
        len(vertical[1]) * len(horizontal[1]), vertical[1].shape[1] * horizontal[1].shape[1]
    )
    return Partition(f"windows-{size}-{stride}", group, covers.shape[1]), covers.bool()


def _axis(length: int, size: int, stride: int) -> tuple[Tensor, Tensor]:
    """Segment of each position along one axis, and (windows, segments) coverage."""
    starts = torch.arange(0, max(length - max(size - stride, 0), 1), stride)
    stops = (starts + size).clamp(max=length)
    edges = torch.cat((starts, stops, torch.tensor([0, length]))).unique()
    segment = torch.bucketize(torch.arange(length), edges, right=True) - 1
    left = edges[:-1]
    return segment, (left >= starts[:, None]) & (left < stops[:, None])
