"""Tables: a feature is a column, however many numbers a model makes of it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from humetric.tasks.partition import Partition, identity
from humetric.tasks.task import class_answer

REMOVALS = ("expectation", "mean", "imputation")
"""What removed columns become: those of background rows, over which answers are averaged; the mean
or the commonest category; values drawn given the other columns."""


@dataclass(frozen=True)
class TabularTask:
    """Rows of so many columns, as plain numbers; the model gives logits."""

    columns: int

    @property
    def id(self) -> str:
        """Name of the task."""
        return "tabular"

    @property
    def features(self) -> tuple[int, ...]:
        """An attribution has one number per column."""
        return (self.columns,)

    @property
    def exact(self) -> bool:
        """Categories are codes."""
        return True

    @property
    def numbers(self) -> int:
        """A column has one number in a row."""
        return 1

    def groups(self, cells: int) -> Partition:
        """Every column is a group of its own."""
        return identity(self.columns)

    def windows(self, size: int, stride: int) -> tuple[Partition, Tensor]:
        """One column at a time."""
        return identity(self.columns), torch.eye(self.columns, dtype=torch.bool)

    def store(self, x: Tensor) -> Tensor:
        """As it is."""
        return x

    def mix(self, keep: Tensor, x: Tensor, fill: Tensor) -> None:
        """One or the other: between two categories there is nothing."""
        torch.where(keep > 0.5, x.expand_as(keep), fill.expand_as(keep), out=keep)

    def model_inputs(self, x: Tensor) -> Tensor:
        """As it is: the model encodes."""
        return x

    def answer(self, output: Tensor, target: Tensor) -> Tensor:
        """Logit, softmax probability and margin of the explained class."""
        return class_answer(output, target)
