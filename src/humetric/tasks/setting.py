"""A setting: one concrete (task, data, model), loaded, with its cases in a fixed order."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from humetric.data.embedded import dataset
from humetric.engine.batching import gradient_batch_size
from humetric.engine.placement import Placement
from humetric.errors import HumetricError, UnknownNameError
from humetric.models import convnet
from humetric.models.model import Model, call
from humetric.models.prototypes import PrototypeModels
from humetric.tasks.cases import Cases
from humetric.tasks.image import BASELINES, ImageTask
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


def known_settings() -> list[str]:
    """Settings that can be loaded by name."""
    return sorted(
        "/".join(path.parent.relative_to(convnet.WEIGHTS).parts)
        for path in convnet.WEIGHTS.glob("*/*/*/cases.json")
    )


def load_setting(id: str, cases: int | None = None, baseline: str = "mean") -> Setting:
    """A setting by its name, e.g. ``image/habitat/cnn``, with its first ``cases`` cases."""
    if id not in known_settings():
        raise UnknownNameError("setting", id, known_settings())
    folder = convnet.WEIGHTS / id
    chosen = json.loads((folder / "cases.json").read_text())
    declared = rows = chosen["cases"]
    if cases is not None:
        if not 1 <= cases <= len(rows):
            raise HumetricError(
                f"{id} has {len(rows)} cases; expected 1 to {len(rows)}, got {cases}."
            )
        rows = rows[:cases]
    if id.startswith("tabular/"):
        from humetric.tasks.embedded_tabular import load_tabular_setting

        made = load_tabular_setting(id, chosen, rows)
        return replace(made, panel=Later(partial(load_setting, id)))
    if not id.startswith("image/"):
        from humetric.tasks.embedded_text import load_text_setting, rivals_of

        made = load_text_setting(id, chosen, rows)
        return replace(made, panel=Later(partial(load_setting, id)), rivals=rivals_of(id))
    name = id.split("/")[1]
    data, count = dataset(name), len(rows)
    rows = declared[: max(count, REFERENCE)]
    samples = [data.draw(row["index"], "pool") for row in rows]
    _compare(id, [s.image for s in samples], [row["sha256"] for row in rows])
    module, _ = convnet.load(folder / "model.safetensors")
    setting = image_setting(
        id,
        module,
        np.stack([s.image for s in samples]),
        mean=chosen["mean"],
        std=chosen["std"],
        layer=name_of(module.last_convolution, module),
        label=[s.label for s in samples],
        target=[row["predicted"] for row in rows],
        region=np.stack([s.region for s in samples]),
        ids=[f"{name}-{row['index']:04d}" for row in rows],
        version=f"data {data.VERSION}, weights {_digest(folder / 'model.safetensors')}",
        classes=data.CLASSES,
        baseline=baseline,
    )
    whole = Later(partial(load_setting, id, baseline=baseline))
    return replace(setting.first(count), panel=whole)


def _digest(path: Path) -> str:
    """The first digits of a file's SHA-256: enough to notice other weights."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _compare(id: str, images: list[NDArray[np.uint8]], recorded: list[str]) -> None:
    """Warn if this platform's arithmetic draws other images than those the cases were chosen by."""
    drawn = [hashlib.sha256(image.tobytes()).hexdigest() for image in images]
    other = sum(a != b for a, b in zip(drawn, recorded, strict=True))
    if other:
        warnings.warn(
            f"{other} of {len(images)} images of {id} differ from the recorded ones (by rounding, "
            f"if the package is intact): scores will differ slightly from published ones.",
            stacklevel=3,
        )


def image_setting(
    id: str,
    module: nn.Module,
    images: NDArray[np.uint8],
    *,
    mean: Sequence[float],
    std: Sequence[float],
    layer: str = "",
    label: Sequence[int] | None = None,
    target: Sequence[int] | None = None,
    region: NDArray[np.bool_] | None = None,
    ids: Sequence[str] | None = None,
    version: str = "own",
    classes: Sequence[str] = (),
    baseline: str = "mean",
) -> Setting:
    """A setting from a module of your own and images (cases, height, width, channels) of bytes.

    The module takes ``(image / 255 - mean) / std`` with channels first and gives logits. Without
    ``target`` its own predictions are explained. ``baseline`` is ``mean`` (zero in normalised
    space, the mean colour) or ``blur``. The first 24 are what metrics compare with.
    """
    images = np.asarray(images)
    if images.ndim != 4 or images.dtype != np.uint8:
        raise HumetricError(
            f"Expected images of shape (cases, height, width, channels) and dtype uint8 but got "
            f"{images.shape} and {images.dtype}."
        )
    if baseline not in BASELINES:
        raise UnknownNameError("baseline", baseline, BASELINES)
    count, height, width, channels = images.shape
    names = tuple(ids) if ids is not None else tuple(f"case-{i:04d}" for i in range(count))
    for what, length, expected in (
        ("ids", len(set(names)), count),
        ("targets", count if target is None else len(target), count),
        ("labels", count if label is None else len(label), count),
        ("numbers in mean", len(mean), channels),
        ("numbers in std", len(std), channels),
    ):
        if length != expected or count == 0:
            raise HumetricError(f"Expected {expected or 'some'} different {what} but got {length}.")
    task = ImageTask(channels, height, width)
    x = convnet.normalise(images, mean, std)
    logits = outputs(module, x)
    if logits.ndim != 2:
        raise HumetricError(
            f"Expected the module to give logits of shape (cases, classes) but got "
            f"{tuple(logits.shape)}: wrap it so that it classifies."
        )
    target = logits.argmax(1).tolist() if target is None else list(target)
    if not 0 <= min(target) <= max(target) < logits.shape[1]:
        raise HumetricError(f"Expected targets from 0 to {logits.shape[1] - 1} but got {target}.")
    setting = Setting(
        id=id,
        version=f"{version}, {baseline} baseline",
        task=task,
        model=Model(id, module, layer=layer),
        ids=names,
        x=x,
        baseline=BASELINES[baseline](x),
        target=torch.tensor(target),
        label=torch.tensor(label if label is not None else target),
        region=None if region is None else torch.from_numpy(region),
        classes=tuple(classes),
        display=torch.tensor(images),
    )
    return replace(setting, reference=setting.first(REFERENCE), panel=partial(same, setting))


def same(setting: Setting) -> Setting:
    """A setting as it is: the panel of one that was made of given cases is all of them."""
    return setting


def outputs(module: nn.Module, x: Tensor, rows: int = 16) -> Tensor:
    """What a module says about inputs, asked on a copy of it on the host."""
    placed = Placement(torch.device("cpu")).module(module)
    with torch.inference_mode():
        return torch.cat([call(placed, block) for block in torch.split(x, rows)])


def name_of(layer: nn.Module, module: nn.Module) -> str:
    """The name of a layer within its module."""
    names: dict[nn.Module, str] = {found: name for name, found in module.named_modules()}
    return names[layer]
