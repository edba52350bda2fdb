"""Cases: a chunk of a setting on a device, as methods and metrics see it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar, cast

import numpy as np
import torch
from torch import Tensor, nn

from humetric.errors import AccessError, HumetricError
from humetric.models.model import Model
from humetric.models.prototypes import PrototypeModels
from humetric.models.tabular import TabularModel
from humetric.models.text import TextModel
from humetric.seeding import generator
from humetric.tasks.neighbours import Neighbours
from humetric.tasks.table import Table
from humetric.tasks.task import Task
from humetric.tasks.text import Texts, TextTask
from humetric.tasks.unlabelled import Unlabelled

T = TypeVar("T")
M = TypeVar("M", TextModel, TabularModel)


@dataclass(frozen=True)
class Cases:
    """Inputs, baselines and explained outputs of a few cases, and the model behind them.

    There is no label and no ground truth here: methods and metrics cannot read what they must not.
    """

    task: Task
    model: Model
    ids: tuple[str, ...]
    x: Tensor
    """(cases, *input), as the model takes it."""
    baseline: Tensor
    """(cases or 1, draws, *input): what removed features become; answers are means over draws."""
    target: Tensor
    """(cases,) int64: the explained output, by default the model's own prediction; for answers that
    are spans (cases, 2), the tokens that they start and end with."""
    seed: int = 0
    gradient_rows: int = 64
    """Inputs that fit into one backward pass."""
    dtype: torch.dtype = torch.float32
    """Precision of attributions and gradients."""
    texts: Texts | None = None
    """Words of the cases and the map from tokens to words; None for images."""
    unlabelled: Unlabelled | None = None
    """Texts of the same kind that are no cases of the setting, if it has any."""
    neighbours: Neighbours | None = None
    """Similar words, if the setting has any."""
    prototypes: PrototypeModels | None = None
    """Prototype models beside the explained one, placed as it is, if the setting has any."""
    table: Table | None = None
    """Columns of rows, and what other rows are like; None but for tables."""
    display: Tensor | None = None
    """(cases, height, width, channels) uint8 on the host: images as people see them."""
    across: dict[Hashable, object] = field(default_factory=dict, repr=False, compare=False)
    """What all chunks of the setting share; see :meth:`once_per_setting`."""
    _shared: dict[Hashable, object] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def device(self) -> torch.device:
        """Where the inputs are."""
        return self.x.device

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of an attribution of all cases: (cases, *features)."""
        return (len(self), *self.task.features)

    @property
    def features(self) -> int:
        """Number of base features of a case; where cases differ, of the longest."""
        return int(np.prod(self.task.features))

    @property
    def lengths(self) -> tuple[int, ...]:
        """Base features of each case: those of an attribution beyond them mean nothing."""
        if self.texts is None:
            return (self.features,) * len(self)
        return tuple(map(len, self.texts.words))

    def sizes(self, groups: int) -> tuple[int, ...]:
        """Groups of each case in a partition with so many: words where features are words."""
        return (groups,) * len(self) if self.texts is None else self.lengths

    def real(self, attribution: Tensor) -> Tensor:
        """An attribution (cases, features) with zeros beyond each case's own features."""
        if self.texts is None:
            return attribution
        place = torch.arange(self.features, device=attribution.device)
        own = torch.tensor(self.lengths, device=attribution.device)
        return attribution.masked_fill(place >= own[:, None], 0)

    def named(self, case: int) -> tuple[str, ...]:
        """What people call the features of a case: words, columns with their values; or nothing."""
        if self.texts is not None:
            return self.texts.words[case]
        if self.table is None:
            return ()
        values = zip(self.table.columns, self.x[case].tolist(), strict=True)
        return tuple(f"{column.name} = {column.text(value)}" for column, value in values)

    def text(self) -> tuple[TextTask, Texts]:
        """Task and words of cases that are texts."""
        if self.texts is None or not isinstance(self.task, TextTask):
            raise HumetricError(f"Expected texts but these are cases of the task {self.task.id}.")
        return self.task, self.texts

    def rng(self, purpose: str) -> list[np.random.Generator]:
        """One generator per case, seeded by (suite seed, case id, purpose)."""
        return [generator(self.seed, case, purpose) for case in self.ids]

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Make something that depends on the cases alone, the first time that it is asked for."""
        if key not in self._shared:
            self._shared[key] = make()
        return cast(T, self._shared[key])

    def once_per_setting(self, key: Hashable, make: Callable[[], T]) -> T:
        """Make something that depends on the setting alone, the first time that any chunk asks.

        It is made anew in another process, and when a run goes on: the same must come out, whatever
        the chunk, its cases, the seed and the batch size are.
        """
        if key not in self.across:
            self.across[key] = make()
        return cast(T, self.across[key])

    def module(self) -> nn.Module:
        """The differentiable module from inputs to logits."""
        refusal = self.model.refuses("gradient")
        if refusal:
            raise AccessError(
                f"This method {refusal}: use a method that only asks for predictions."
            )
        return self.model.module

    def rows(self) -> Table:
        """Columns and background of cases that are rows of a table."""
        if self.table is None:
            raise HumetricError(f"Expected rows but these are cases of the task {self.task.id}.")
        return self.table

    def tabular_module(self, reads: str = "") -> TabularModel:
        """The model behind rows; ``reads`` are internals that are wanted of it."""
        return self._open(TabularModel, "tabular", reads)

    def text_module(self, reads: str = "") -> TextModel:
        """The model behind texts; ``reads`` are internals that are wanted of it."""
        return self._open(TextModel, "text", reads)  # type: ignore[type-abstract]

    def _open(self, kind: type[M], noun: str, reads: str) -> M:
        refusal = self.model.refuses("internals" if reads else "gradient", reads)
        if refusal:
            raise AccessError(f"This method {refusal}.")
        if not isinstance(self.model.module, kind):
            raise AccessError(f"Expected a {noun} model but {self.model.id} is none.")
        return self.model.module

    def layer(self) -> nn.Module:
        """The last convolution of the module."""
        refusal = self.model.refuses("internals")
        if refusal:
            raise AccessError(f"This method {refusal}.")
        return self.model.module.get_submodule(self.model.layer)
