"""The patches that methods highlight, as people see them: some cases of each class.

What Figure 6 of Colin et al.'s supplement (2022, arXiv:2112.04417) shows of one method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from humetric.cards import MethodCard, MetricCard
from humetric.engine.engine import Engine
from humetric.errors import HumetricError
from humetric.methods import Method
from humetric.metrics import Metric, Reference, Scores
from humetric.metrics.patches import Patches, cut, patches
from humetric.results.result import Failure, Skip
from humetric.run.look import class_name
from humetric.run.reference_maps import reference_maps, reference_plan
from humetric.run.shown_image import picture
from humetric.run.work import said, score
from humetric.tasks.setting import PlacedSetting, Setting

PER_CLASS = 5
"""Cases of a class that are shown, as far as the reference has so many."""


@dataclass(frozen=True)
class Shown:
    """A case that is shown."""

    case: str
    row: int
    """Its place among the reference cases."""
    image: NDArray[np.uint8]
    """(height, width, channels)."""
    right: bool
    """Whether the predicted class is the true one."""


@dataclass(frozen=True)
class Highlighted:
    """The patches of one method."""

    found: Patches
    """Of all reference cases, as the metric has them."""
    parts: NDArray[np.uint8]
    """(reference cases, patches, size, size, channels): cut out and resized as by the metric."""
    values: NDArray[np.float64] | None
    """Of the metric by reference case; None where it could not be computed."""

    @property
    def mean(self) -> float:
        """The metric over the reference cases where it is defined; NaN where it never is."""
        known = np.empty(0) if self.values is None else self.values[~np.isnan(self.values)]
        return float(known.mean()) if len(known) else float("nan")


@dataclass(frozen=True)
class PatchLook:
    """All there is to show of the patches of a setting."""

    setting: str
    metric: MetricCard
    """Whose patches they are."""
    reference: int
    """Cases that are compared."""
    size: tuple[int, int]
    """Height and width of the images."""
    classes: Mapping[str, Sequence[Shown]]
    """The first reference cases that are predicted to be of each class, by its name."""
    methods: Mapping[str, MethodCard]
    highlighted: Mapping[str, Highlighted]
    """Without methods that failed or were skipped."""
    failures: tuple[Failure, ...]
    skips: tuple[Skip, ...]

    @property
    def side(self) -> int:
        """Of a patch, in pixels of the image; 0 where no method gave any."""
        return next((of.found.side for of in self.highlighted.values()), 0)


def look_at_patches(
    placed: PlacedSetting,
    methods: Sequence[Method],
    metric: Metric,
    *,
    chunk: int,
    seed: int,
    per_class: int = PER_CLASS,
    progress: Callable[[str], object] = lambda method: None,
) -> PatchLook:
    """Patches that ``metric`` (perceptual-similarity or feature-similarity) cuts and compares.

    They are those of a run with the same chunks and seed: of the setting's reference cases, by the
    metric's own functions and the parameters on its card.
    """
    setting, name = placed.setting, metric.card.id
    plan = reference_plan(setting, methods, metric, chunk)
    if not metric.card.compares or "share" not in metric.card.parameters:
        raise HumetricError(
            f"Expected a metric of patches but got {name}: give perceptual-similarity or "
            f"feature-similarity."
        )
    others = setting.reference
    assert others is not None  # the plan refuses settings without
    images = np.stack([picture(others, row) for row in range(len(others))])
    highlighted: dict[str, Highlighted] = {}
    failures: list[Failure] = []
    for method, reference in reference_maps(placed, plan, methods, seed=seed, progress=progress):
        if isinstance(reference, HumetricError):
            failures.append(Failure(setting.id, method, "", said(reference)))
            continue
        engine = Engine(reference.cases, placed.fast_module, placed.placement.dtype)
        scores = score({method: reference.attribution}, [metric], engine, reference)[method, name]
        values = scores.value.numpy() if isinstance(scores, Scores) else None
        if not isinstance(scores, Scores):
            failures.append(Failure(setting.id, method, name, said(scores)))
        highlighted[method] = _highlighted(reference, images, metric.card.parameters, values)
    return PatchLook(
        setting=setting.id,
        metric=metric.card,
        reference=len(others),
        size=images.shape[1:3],
        classes=_classes(others, images, per_class),
        methods={method.card.id: method.card for method in methods},
        highlighted=highlighted,
        failures=tuple(failures),
        skips=plan.skips,
    )


def _highlighted(
    reference: Reference,
    images: NDArray[np.uint8],
    how: Mapping[str, Any],
    values: NDArray[np.float64] | None,
) -> Highlighted:
    """What the metric cuts out, of the images as people see them."""
    found = patches(reference.attribution, reference.cases, how["share"], how["patches"])
    parts = cut(torch.from_numpy(images).movedim(3, 1).double(), found, how["size"])
    seen = parts.movedim(1, 3).round().to(torch.uint8)
    return Highlighted(found, seen.view(*found.there.shape, *seen.shape[1:]).numpy(), values)


def _classes(
    others: Setting, images: NDArray[np.uint8], per_class: int
) -> dict[str, tuple[Shown, ...]]:
    """The first cases of each predicted class: those are what the metric tells apart."""
    target = others.target.numpy()
    return {
        class_name(others.classes, int(which)): tuple(
            Shown(others.ids[row], int(row), images[row], bool(others.right[row]))
            for row in np.flatnonzero(target == which)[:per_class]
        )
        for which in np.unique(target)
    }
