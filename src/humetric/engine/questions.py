"""Questions to a model: *what do you say about this case with these features replaced?*

Masks are families that make their rows when the engine gets there, so memory does not grow with
the number of steps or methods.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import pad

from humetric.errors import HumetricError
from humetric.tasks.cases import Cases
from humetric.tasks.partition import Partition, identity, whole
from humetric.tasks.task import Task


class Masks(Protocol):
    """A family of keep-masks: 1 keeps a feature, 0 replaces it, a share between does in part."""

    def __len__(self) -> int: ...

    @property
    def features(self) -> int:
        """Width of a mask."""
        ...

    @property
    def device(self) -> torch.device:
        """Where the family is."""
        ...

    def to(self, device: torch.device) -> Self:
        """The same family on a device."""
        ...

    def widen(self, times: int) -> Self:
        """Every feature so many times in a row: once for each number of the input behind it."""
        ...

    def write(self, start: int, stop: int, out: Tensor) -> None:
        """Write rows start to stop into (stop - start, features), without touching the host."""
        ...


def make(masks: Masks, start: int, stop: int, dtype: torch.dtype) -> Tensor:
    """Rows start to stop of a family as a tensor of their own."""
    out = torch.empty(stop - start, masks.features, dtype=dtype, device=masks.device)
    masks.write(start, stop, out)
    return out


@dataclass(frozen=True)
class RankMasks:
    """Keep the features of lowest rank, or all but those: each count in turn for every map."""

    ranks: Tensor
    """(maps, features) integer: 0 for the most important feature."""
    counts: Tensor
    """(points,) same dtype as ranks: how many features are meant at each point of a curve."""
    keep_first: bool

    def __len__(self) -> int:
        return len(self.ranks) * len(self.counts)

    @property
    def features(self) -> int:
        return self.ranks.shape[1]

    @property
    def device(self) -> torch.device:
        return self.ranks.device

    def to(self, device: torch.device) -> Self:
        return replace(self, ranks=self.ranks.to(device), counts=self.counts.to(device))

    def widen(self, times: int) -> Self:
        return replace(self, ranks=self.ranks.repeat_interleave(times, 1))

    def write(self, start: int, stop: int, out: Tensor) -> None:
        compare, points = torch.lt if self.keep_first else torch.ge, len(self.counts)
        for low, high, length in blocks(start, stop, points):
            ranks = self.ranks[low // points : (high - 1) // points + 1, None]
            counts = self.counts[low % points : low % points + length, None]
            block = out[low - start : high - start].view(-1, length, self.features)
            compare(ranks, counts, out=block)


@dataclass(frozen=True)
class GroupMasks:
    """Keep or remove the groups of a partition. Equal rows about a case are asked only once."""

    bits: Tensor
    """(rows, groups) bool: which groups are kept."""
    partition: Partition

    def __len__(self) -> int:
        return len(self.bits)

    @property
    def features(self) -> int:
        return len(self.partition.group)

    @property
    def device(self) -> torch.device:
        return self.bits.device

    def to(self, device: torch.device) -> Self:
        return replace(self, bits=self.bits.to(device), partition=self.partition.to(device))

    def widen(self, times: int) -> Self:
        return replace(self, partition=self.partition.widen(times))

    def write(self, start: int, stop: int, out: Tensor) -> None:
        self.partition.spread(self.bits[start:stop].to(out.dtype), out)


@dataclass(frozen=True)
class GridMasks:
    """Smooth masks: a coarse grid of bits, shifted and enlarged bilinearly (as RISE does)."""

    bits: Tensor
    """(rows, cells + 2, cells + 2) float: a point more on each side, so that shifts stay inside."""
    shift: Tensor
    """(rows, 2) float in [0, 1): how far the grid is moved, in cells."""
    size: tuple[int, int]
    times: int = 1

    def __len__(self) -> int:
        return len(self.bits)

    @property
    def features(self) -> int:
        return self.size[0] * self.size[1] * self.times

    @property
    def device(self) -> torch.device:
        return self.bits.device

    def to(self, device: torch.device) -> Self:
        return replace(self, bits=self.bits.to(device), shift=self.shift.to(device))

    def widen(self, times: int) -> Self:
        return replace(self, times=self.times * times)

    def write(self, start: int, stop: int, out: Tensor) -> None:
        bits, shift = self.bits[start:stop], self.shift[start:stop]
        rows = self._hat(self.size[0], shift[:, 0])
        columns = self._hat(self.size[1], shift[:, 1]).repeat_interleave(self.times, 1)
        smooth = torch.bmm(torch.bmm(rows, bits), columns.transpose(1, 2))
        out.view_as(smooth).copy_(smooth)

    def _hat(self, size: int, shift: Tensor) -> Tensor:
        """(rows, size, cells + 2): weights of linear interpolation between grid points."""
        points = self.bits.shape[-1]
        pixel = torch.arange(size, device=shift.device, dtype=shift.dtype)
        position = (pixel + 0.5) * ((points - 2) / size) + shift[:, None]
        point = torch.arange(points, device=shift.device, dtype=shift.dtype)
        return (1 - (position[:, :, None] - point).abs()).clamp(min=0)


def blocks(start: int, stop: int, run: int) -> list[tuple[int, int, int]]:
    """Rows start to stop, which come in runs of one length, as at most three blocks.

    Each block is (low, high, length): a cut run, whole runs, a cut run. What a run has in common is
    then broadcast, and not copied for each row.
    """
    first, last = -(-start // run) * run, stop // run * run
    if first > last:  # inside of one run
        return [(start, stop, stop - start)]
    cut = ((start, first, first - start), (first, last, run), (last, stop, stop - last))
    return [(low, high, length) for low, high, length in cut if low < high]


@dataclass(frozen=True, eq=False)
class View:
    """Another way to see the cases: by another model, or with removed features as something else.

    A prototype model is one; so is the same model with zeroed embeddings in the place of masks.
    """

    module: nn.Module
    task: Task
    target: Tensor
    """(cases,): the explained output of each case."""
    baseline: Tensor | None = None
    """As in Cases; None is that of the cases."""


@dataclass(frozen=True)
class Questions:
    """Rows of (case, keep, fill)."""

    case: Tensor
    """(rows,) int64: position of the case in its chunk."""
    masks: Masks
    fill: Tensor | None = None
    """(rows, *input) replacement values; None is the setting's baseline. Of texts: whole inputs in
    the place of the case's, with nothing kept."""
    view: View | None = None
    """Who is asked, if it is not the explained model."""
    key: Hashable = None
    """Set for questions that depend on the cases alone: they are asked once, whoever asks."""
    run: int = 1
    """Rows come in runs of so many about one case."""
    tokens: Tensor | None = None
    """For texts, set by the engine while planning: (rows,) on the host, how long each row is."""

    def __len__(self) -> int:
        return len(self.case)

    def widen(self, times: int) -> Questions:
        """The same questions with masks over all numbers of an input."""
        return replace(self, masks=self.masks.widen(times)) if times > 1 else self


class Answers(NamedTuple):
    """What the model said, row by row, in double precision on the host."""

    logit: Tensor
    probability: Tensor
    margin: Tensor
    """Logit less the highest of the other outputs': positive where the explained one is given."""


T = TypeVar("T", covariant=True)

Program = Generator[Sequence[Questions], Sequence[Answers], T]
"""Something that asks, in one round or several, and returns a result."""


def on_host(x: Tensor) -> Tensor:
    """Numbers on the host in double precision; in two steps, since MPS knows no doubles."""
    return x.cpu().double()


def same_questions(one: Questions, other: Questions) -> bool:
    """Whether two sets of questions ask the same, row by row."""
    if one is other or one.masks is other.masks:
        return True
    if type(one.masks) is not type(other.masks) or not torch.equal(one.case, other.case):
        return False
    mine, theirs = (q.masks.__dict__ for q in (one, other))
    return all(
        torch.equal(mine[name], theirs[name]) for name in mine if isinstance(mine[name], Tensor)
    )


def checked_questions(asked: object, cases: Cases) -> Sequence[Questions]:
    """What a program yielded, if it can be asked; else an error that says what is wrong with it.

    Caught here, a mistake costs the program that made it; on the device it would cost the run.
    """
    if not isinstance(asked, Sequence) or not all(isinstance(q, Questions) for q in asked):
        raise HumetricError(
            f"Expected a list of Questions to be yielded but got {type(asked).__name__}: "
            f"yield [questions], even for one."
        )
    for q in asked:
        rows = len(q.case)
        if len(q.masks) != rows or (q.fill is not None and len(q.fill) != rows):
            raise HumetricError(
                f"Expected as many masks (and fills) as cases but got {len(q.masks)} for {rows}."
            )
        if q.fill is not None and cases.texts is not None and q.fill.shape[1:2] != (3,):
            raise HumetricError(
                f"Expected texts in the place of a case's as (rows, 3, tokens) but got "
                f"{tuple(q.fill.shape)}."
            )
        if q.fill is not None and cases.texts is not None and cases.text()[0].span:
            raise HumetricError("Answers are places in a text: ask about no other text instead.")
        if rows and not 0 <= int(q.case.min()) <= int(q.case.max()) < len(cases):
            raise HumetricError(f"Expected cases from 0 to {len(cases) - 1} in a question.")
        if q.masks.features != cases.features:
            raise HumetricError(
                f"Expected masks of {cases.features} features but got {q.masks.features}."
            )
        if isinstance(q.masks, GroupMasks) and q.masks.bits.shape[1] != q.masks.partition.groups:
            raise HumetricError(
                f"Expected a bit for each of {q.masks.partition.groups} groups but got "
                f"{q.masks.bits.shape[1]}."
            )
    return asked


def about_each(cases: Cases, masks: Masks, key: Hashable = None) -> Questions:
    """Questions with equally many rows for each case, case by case."""
    per_case = len(masks) // len(cases)
    case = torch.arange(len(cases)).repeat_interleave(per_case)
    return Questions(case, masks, key=key, run=max(1, per_case))


def instead(cases: Cases, rows: Sequence[Tensor], view: View | None = None) -> Questions:
    """Questions about other inputs in the place of each case: rows[i] is (rows, *input).

    What they are called is the case's: its explained output is asked for.
    """
    case = torch.arange(len(cases)).repeat_interleave(torch.tensor([len(r) for r in rows]))
    bits = torch.zeros(len(case), 1, dtype=torch.bool)
    masks = GroupMasks(bits, whole(cases.features))
    return Questions(case, masks, fill=together(rows), view=view)


def together(inputs: Sequence[Tensor]) -> Tensor:
    """Inputs of several widths together: shorter ones end in zeros, which nobody attends to."""
    width = max(x.shape[-1] for x in inputs)
    return torch.cat([pad(x, (0, width - x.shape[-1])) for x in inputs])


def intact(cases: Cases) -> Questions:
    """The input as it is, once per case."""
    return _all_or_nothing(cases, True)


def empty(cases: Cases) -> Questions:
    """The input with everything removed, once per case."""
    return _all_or_nothing(cases, False)


def _all_or_nothing(cases: Cases, keep: bool) -> Questions:
    key = ("whole", keep)
    if cases.texts is not None:  # in words, so that they are recognised among other bits
        return about(cases, [np.full((1, n), keep) for n in cases.lengths], key=key)
    bits = torch.full((len(cases), 1), keep)
    return about_each(cases, GroupMasks(bits, whole(cases.features)), key=key)


def about(
    cases: Cases,
    bits: Sequence[NDArray[np.bool_]],
    partition: Partition | None = None,
    key: Hashable = None,
) -> Questions:
    """Questions about each case with masks of its own: bits[i] is (rows, groups of case i).

    Cases may have different numbers of rows and, where features are words, of groups; groups that
    a case does not have are kept. Without a partition every feature is a group.
    """
    part = identity(cases.features) if partition is None else partition
    if cases.texts is not None:
        bits = [
            np.pad(b, ((0, 0), (0, part.groups - b.shape[1])), constant_values=True) for b in bits
        ]
    rows = [len(b) for b in bits]
    case = torch.arange(len(cases)).repeat_interleave(torch.tensor(rows))
    alike = len(set(rows)) == 1
    masks = GroupMasks(torch.from_numpy(np.concatenate(bits)), part)
    return Questions(case, masks, key=key, run=max(1, rows[0]) if alike else 1)


def alike(bits: Sequence[NDArray[np.bool_]]) -> Iterator[tuple[list[int], Tensor]]:
    """Cases whose bits have one shape, stacked: (cases, (cases, rows, groups)).

    What is computed from them is then computed for all cases of a kind together, at their own
    number of groups: nothing depends on which longer cases are there too.
    """
    kinds: dict[tuple[int, ...], list[int]] = {}
    for i, b in enumerate(bits):
        kinds.setdefault(b.shape, []).append(i)
    for members in kinds.values():
        yield members, torch.from_numpy(np.stack([bits[i] for i in members]))


def chosen(values: Tensor, bits: Sequence[NDArray[np.bool_]], members: list[int]) -> Tensor:
    """(members, rows): the answers about some cases that have equally many rows."""
    parts = values.split([len(b) for b in bits])
    return torch.stack([parts[i] for i in members])


def spread(cases: Cases, partition: Partition, found: Iterable[tuple[list[int], Tensor]]) -> Tensor:
    """Attributions from a number per group: (cases, (cases, groups)) of each kind of case."""
    values = torch.zeros(len(cases), partition.groups, dtype=torch.float64)
    for members, each in found:
        values[members, : each.shape[1]] = each
    return partition.spread(values).view(cases.shape)
