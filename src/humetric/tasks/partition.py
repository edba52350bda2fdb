"""Partitions: base features (pixels, tokens, encoded inputs) gathered into groups."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True)
class Partition:
    """A map from base features to groups."""

    name: str
    group: Tensor
    """(features,) int64: the group of each base feature, numbered from 0."""
    groups: int
    lines: tuple[Tensor, Tensor] | None = None
    """For images: the groups along each distinct line, and which of these every line is like. A
    grid has few distinct lines, so that copying them is faster than looking up each pixel."""

    def sum(self, values: Tensor) -> Tensor:
        """Sum values (cases, features) over each group: (cases, groups)."""
        out = values.new_zeros(values.shape[0], self.groups)
        return out.index_add_(1, self.group.to(values.device), values)

    def spread(self, values: Tensor, out: Tensor | None = None) -> Tensor:
        """Give every feature its group's value: (cases, groups) -> (cases, features)."""
        rows, part = len(values), self.to(values.device)
        if part.lines is None:
            return torch.gather(values, 1, part.group.expand(rows, -1), out=out)
        distinct, like = part.lines
        few = values.gather(1, distinct.flatten().expand(rows, -1)).view(rows, *distinct.shape)
        if out is None:
            out = values.new_empty(rows, len(part.group))
        torch.index_select(few, 1, like, out=out.view(rows, len(like), -1))
        return out

    def to(self, device: torch.device) -> Partition:
        """The same partition on a device."""
        lines = self.lines and (self.lines[0].to(device), self.lines[1].to(device))
        return replace(self, group=self.group.to(device), lines=lines)

    def widen(self, times: int) -> Partition:
        """Every feature so many times in a row."""
        lines = self.lines and (self.lines[0].repeat_interleave(times, 1), self.lines[1])
        return replace(self, group=self.group.repeat_interleave(times), lines=lines)


def whole(features: int) -> Partition:
    """All features in one group: the partition behind the intact and the empty input."""
    return Partition("whole", torch.zeros(features, dtype=torch.int64), 1)


def identity(features: int) -> Partition:
    """Every feature in a group of its own: words of a text."""
    return Partition("each", torch.arange(features), features)


def grid(height: int, width: int, cells: int) -> Partition:
    """Pixels in a square grid; the cell of pixel i along an axis is floor(i * cells / size).

    An axis with fewer pixels than cells has one cell per pixel.
    """
    rows, columns = min(cells, height), min(cells, width)
    y = torch.arange(height) * rows // height
    x = torch.arange(width) * columns // width
    return _product(f"grid-{cells}", y, rows, x, columns)


def _product(name: str, y: Tensor, rows: int, x: Tensor, columns: int) -> Partition:
    """Pixels by the row and the column of groups that they lie in."""
    distinct = torch.arange(rows)[:, None] * columns + x
    return Partition(name, distinct[y].flatten(), rows * columns, (distinct, y))


def cuts(height: int, width: int, size: int, stride: int) -> tuple[Partition, Tensor]:
    """The partition that the edges of sliding windows cut, and which groups each window covers.

    Windows of ``size`` pixels start at every multiple of ``stride``; the last one along an axis is
    clipped. Returns the partition and (windows, groups) bool. With stride = size the groups are the
    windows themselves; overlapping windows are unions of groups.
    """
    vertical, horizontal = _axis(height, size, stride), _axis(width, size, stride)
    covers = torch.einsum("ar,bc->abrc", vertical[1].int(), horizontal[1].int())
    windows, (rows, columns) = len(vertical[1]) * len(horizontal[1]), covers.shape[2:]
    name = f"windows-{size}-{stride}"
    partition = _product(name, vertical[0], rows, horizontal[0], columns)
    return partition, covers.reshape(windows, rows * columns).bool()


def _axis(length: int, size: int, stride: int) -> tuple[Tensor, Tensor]:
    """Segment of each position along one axis, and (windows, segments) coverage."""
    starts = torch.arange(0, max(length - max(size - stride, 0), 1), stride)
    stops = (starts + size).clamp(max=length)
    edges = torch.cat((starts, stops, torch.tensor([0, length]))).unique()
    segment = torch.bucketize(torch.arange(length), edges, right=True) - 1
    left = edges[:-1]
    return segment, (left >= starts[:, None]) & (left < stops[:, None])
