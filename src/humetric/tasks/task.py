"""What a task must say, so that the engine can question a model about its inputs."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from humetric.tasks.partition import Partition


class Task(Protocol):
    """How inputs become features, how features are replaced, and what the explained score is."""

    @property
    def id(self) -> str:
        """Name of the task, e.g. ``image``."""
        ...

    @property
    def features(self) -> tuple[int, ...]:
        """Shape of an attribution of one case; where cases differ in length, of the longest."""
        ...

    @property
    def exact(self) -> bool:
        """Whether inputs are codes (tokens, categories) that must not be rounded to a precision."""
        ...

    @property
    def numbers(self) -> int:
        """How many numbers of a stored input stand for one feature, side by side."""
        ...

    def groups(self, cells: int) -> Partition:
        """Features in few groups: grid cells of an image, words of a text, columns of a table."""
        ...

    def windows(self, size: int, stride: int) -> tuple[Partition, Tensor]:
        """What occlusion hides: a partition, and (windows, groups) which groups each one covers."""
        ...

    def store(self, x: Tensor) -> Tensor:
        """Inputs in the memory layout that :meth:`mix` works on."""
        ...

    def mix(self, keep: Tensor, x: Tensor, fill: Tensor) -> None:
        """Overwrite keep by stored inputs: ``x`` where it is 1, ``fill`` where it is 0.

        keep is in the inputs' precision, one for each number, and may lie between; ``x`` and
        ``fill`` are broadcast.
        """
        ...

    def model_inputs(self, x: Tensor) -> Tensor:
        """Stored inputs as the model takes them."""
        ...

    def answer(self, output: Tensor, target: Tensor) -> Tensor:
        """(rows, 3): logit, probability and margin of each row's explained output."""
        ...


def class_answer(output: Tensor, target: Tensor) -> Tensor:
    """(rows, 3): logit, softmax probability and margin of explained classes.

    The margin is the logit less the highest other one: positive where the class is predicted.
    """
    if output.dtype != torch.float64:
        output = output.float()
    at = target[:, None]
    logit = output.gather(1, at)
    other = output.scatter(1, at, -torch.inf).amax(1, keepdim=True)
    return torch.cat((logit, output.softmax(1).gather(1, at), logit - other), 1)
