"""A setting: one concrete (task, data, model), loaded, with its cases in a fixed order."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from humetric.engine.batching import gradient_batch_size
from humetric.engine.placement import Placement
from humetric.models.model import Model, call
from humetric.models.prototypes import PrototypeModels
from humetric.tasks.cases import Cases
from humetric.tasks.neighbours import Neighbours
from humetric.tasks.table import Table
from humetric.tasks.task import Task
from humetric.tasks.text import Texts, TextTask
from humetric.tasks.unlabelled import Unlabelled
from humetric.tasks.words import Encoder

REFERENCE = 24
"""Cases of a setting of images that others are compared with: its first."""


@dataclass
class Later:
    """A setting that is loaded when it is first asked for, and then kept."""

    load: Callable[[], Setting]
    _loaded: Setting | None = field(default=None, init=False, repr=False)

    def __call__(self) -> Setting:
        if self._loaded is None:
            self._loaded = self.load()
        return self._loaded


@dataclass(frozen=True)
class Setting:
    """Inputs, explained outputs and model of a setting, on the host.

    ``label`` and ``region`` are what is true of the cases. They are for people and for tests, and
    stay behind when cases are handed to methods.
    """

    id: str
    version: str
    task: Task
    model: Model
    ids: tuple[str, ...]
    x: Tensor
    baseline: Tensor
    target: Tensor
    label: Tensor
    region: Tensor | None = None
    classes: tuple[str, ...] = ()
    display: Tensor | None = None
    """(cases, height, width, channels) uint8: images as people see them, before normalisation."""
    texts: Texts | None = None
    """Words and segments of texts as people see them, with the map from tokens to words."""
    unlabelled: Unlabelled | None = None
    """More texts of the same kind, none of them a case, for students of the model."""
    neighbours: Neighbours | None = None
    """Similar words, for methods that replace some."""
    prototypes: PrototypeModels | None = None
    """Prototype models that were made of the explained one."""
    table: Table | None = None
    """Columns of rows, and what other rows are like."""
    reference: Setting | None = None
    """Images alone: the cases that metrics compare with. They belong to the setting, whichever of
    its cases are loaded."""
    panel: Callable[[], Setting] | None = None
    """Makes the setting with all cases that simulated users are shown: those that it declares,
    whichever of them are loaded."""
    encoder: Encoder | None = None
    """Makes inputs of changed texts, for simulated users who edit."""
    rivals: Mapping[str, Callable[[], Setting]] = field(default_factory=dict)
    """Settings of the same cases whose models are worse; see two-model-choice."""
    notes: tuple[str, ...] = ()
    """What a reader of its results must know: what the model has seen of the data, where it departs
    from the study beside it."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def right(self) -> Tensor:
        """(cases,) bool: where the explained output is the true one."""
        return (
            (self.label == self.target).flatten(1).all(1)
            if self.label.ndim > 1
            else (self.label == self.target)
        )

    @property
    def features(self) -> tuple[int, ...]:
        """Of each case, how many features it has: words, columns, pixels."""
        if self.texts is not None:
            return tuple(map(len, self.texts.words))
        return (math.prod(self.task.features),) * len(self)

    def first(self, count: int) -> Setting:
        """The setting with its first cases alone."""
        return replace(
            self,
            ids=self.ids[:count],
            x=self.x[:count],
            baseline=self.baseline[:count] if len(self.baseline) > 1 else self.baseline,
            target=self.target[:count],
            label=self.label[:count],
            region=None if self.region is None else self.region[:count],
            display=None if self.display is None else self.display[:count],
            texts=None if self.texts is None else self.texts.take(slice(count)),
        )

    def place(self, placement: Placement) -> PlacedSetting:
        """The setting on a device."""
        model = replace(self.model, module=placement.module(self.model.module))
        row = self.x[0]
        return PlacedSetting(
            setting=self,
            placement=placement,
            model=model,
            fast_module=placement.fast_module(model.module),
            gradient_rows=gradient_batch_size(
                model.module,
                row.to(placement.full_dtype) if row.is_floating_point() else row,
                placement.device,
            ),
            prototypes=None if self.prototypes is None else self.prototypes.on(placement.module),
        )


@dataclass(frozen=True)
class PlacedSetting:
    """A setting whose model is where the work is done."""

    setting: Setting
    placement: Placement
    model: Model
    fast_module: nn.Module
    """What the engine calls: the model in the precision of the run."""
    gradient_rows: int
    prototypes: PrototypeModels | None = None
    """In full precision; copied to the device once, when they are first asked for."""
    _shared: dict[Hashable, object] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """What was made once for all chunks; see Cases.once_per_setting."""

    def beside(self, setting: Setting) -> PlacedSetting:
        """Other cases of the same setting, which share what was made for all of them."""
        found = replace(self, setting=setting)
        found._shared_with(self)
        return found

    @property
    def panel(self) -> Setting | None:
        """All cases that simulated users are shown, made when they are first needed."""
        make = self.setting.panel
        return None if make is None else make()

    def _shared_with(self, other: PlacedSetting) -> None:
        object.__setattr__(self, "_shared", other._shared)

    def cases(self, start: int, stop: int, seed: int = 0) -> Cases:
        """A chunk of the setting's cases on the device."""
        setting, put = self.setting, self.placement.inputs
        rows = slice(start, stop)
        own = setting.baseline.shape[0] > 1
        task, texts, tokens = setting.task, setting.texts, setting.x.shape[-1]
        if texts is not None and isinstance(task, TextTask):  # no wider than these cases are
            texts = texts.take(rows)
            task, tokens = task.resized(max(map(len, texts.words))), texts.tokens.word.shape[1]
            device = self.placement.device
            texts = replace(texts, tokens=texts.tokens.to(device))
        return Cases(
            task=task,
            model=self.model,
            ids=setting.ids[rows],
            x=put(setting.x[rows][..., :tokens]),
            baseline=put((setting.baseline[rows] if own else setting.baseline)[..., :tokens]),
            target=put(setting.target[rows]),
            seed=seed,
            gradient_rows=self.gradient_rows,
            dtype=self.placement.full_dtype,
            texts=texts,
            unlabelled=setting.unlabelled,
            neighbours=setting.neighbours,
            prototypes=self.prototypes,
            table=setting.table,
            display=None if setting.display is None else setting.display[rows],
            across=self._shared,
        )


def same(setting: Setting) -> Setting:
    """A setting as it is: the panel of one that was made of given cases is all of them."""
    return setting


def outputs(module: nn.Module, x: Tensor, rows: int = 16) -> Tensor:
    """What a module says about inputs, asked on a copy of it on the host."""
    placed = Placement(torch.device("cpu")).module(module)
    with torch.inference_mode():
        return torch.cat([call(placed, block) for block in torch.split(x, rows)])
