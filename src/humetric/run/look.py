"""One case looked at closely: what is shown of it, the methods' maps, and how these score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from humetric.cards import MethodCard, MetricCard
from humetric.engine.engine import Engine
from humetric.engine.placement import place
from humetric.engine.questions import intact
from humetric.errors import HumetricError, UnknownNameError
from humetric.methods import Method
from humetric.methods.explanation import Explanation
from humetric.metrics import Metric
from humetric.metrics.ranking import removed
from humetric.results.result import Failure, Skip
from humetric.run.evaluate import by_id
from humetric.run.plan import find_batch_size, make_plan
from humetric.run.work import explanations, said, score
from humetric.tasks.answers import answer_text
from humetric.tasks.setting import Setting

Pair = tuple[str, str]
"""(method, metric)."""

AREAS = ("deletion", "insertion")
"""Metrics whose curves are probabilities at shares from none to all; others keep other things."""

UNKNOWN = "not known"
"""What stands for a true answer that a setting does not have."""


@dataclass(frozen=True)
class Curve:
    """Deletion or insertion: probability of the explained output at shares of changed features."""

    share: NDArray[np.float64]
    probability: NDArray[np.float64]


S = TypeVar("S", covariant=True)


@dataclass(frozen=True)
class Look(Generic[S]):
    """All there is to show of one case; ``shown`` is the image, text or row itself.

    A method that failed or was skipped has no map; a metric that failed has no value.
    """

    setting: str
    task: str
    case: str
    label: str
    """The true class, or the true answer."""
    target: str
    """The explained class, or the explained answer."""
    probability: float
    """Of the explained output, for the input as it is."""
    classes: tuple[str, ...]
    """Names of the classes by their numbers; none where an answer is explained."""
    shown: S
    methods: Mapping[str, MethodCard]
    metrics: Mapping[str, MetricCard]
    maps: Mapping[str, NDArray[np.float64]]
    more: Mapping[str, Mapping[str, Any]]
    """By method what it has to show of the case beside the map, by kind."""
    about: Mapping[str, Mapping[str, Any]]
    """The same for what is true of the whole setting, not of the case alone."""
    values: Mapping[Pair, float]
    curves: Mapping[Pair, Curve]
    failures: tuple[Failure, ...]
    skips: tuple[Skip, ...]
    seed: int
    device: str


@dataclass(frozen=True)
class Scene:
    """A case where the work is done, and what was found: all that can be shown is made of it."""

    setting: Setting
    row: int
    engine: Engine
    methods: Sequence[Method]
    """Those that gave a map."""
    maps: Mapping[str, Tensor]
    """(1, *features) each."""


def look(
    setting: Setting,
    case: str | int,
    methods: Sequence[Method],
    metrics: Sequence[Metric],
    show: Callable[[Scene], S],
    *,
    device: str = "auto",
    precision: str = "fp32",
    seed: int = 0,
    progress: Callable[[int], object] = lambda rows: None,
) -> Look[S]:
    """Explain one case (an id, or a number from 1) with each method, and score the maps.

    ``show`` is :func:`humetric.run.shown_image.shown_image`,
    :func:`humetric.run.shown_text.shown_text` or :func:`humetric.run.shown_table.shown_table`.

    Values are those that a run gives this case, up to rounding: in fp64 the same to 1e-9. In fp32 a
    chunk of another size rounds otherwise; where that swaps pixels that are almost tied, as in
    grad-cam's smooth maps, an area moves by up to 1e-4 (measured on the embedded settings) and
    mu-fidelity, which ranks, by up to 1e-3.
    """
    chosen, measured = by_id(methods), by_id(metrics)
    row = find_case(setting, case)
    measured = {name: m for name, m in measured.items() if m.card.scope == "case"}
    plan = make_plan([setting], methods, list(measured.values()), chunk=1)
    item = plan.items[row]
    placed = setting.place(place(device, precision))
    cases = placed.cases(item.start, item.stop, seed)
    batch = find_batch_size(placed, "auto")
    engine = Engine(cases, placed.fast_module, placed.placement.dtype, batch, progress)
    (whole,) = engine.ask([intact(cases)])
    tried = explanations([chosen[name] for name in item.methods], engine)
    explained = {name: found for name, found in tried.items() if isinstance(found, Explanation)}
    maps = {name: found.attribution for name, found in explained.items()}
    failures = [
        Failure(setting.id, name, "", said(found))
        for name, found in tried.items()
        if isinstance(found, Exception)
    ]
    values: dict[Pair, float] = {}
    curves: dict[Pair, Curve] = {}
    for pair, scores in score(maps, [measured[name] for name in item.metrics], engine).items():
        if isinstance(scores, Exception):
            failures.append(Failure(setting.id, *pair, said(scores)))
            continue
        values[pair] = scores.value.item()
        if pair[1] in AREAS and scores.curve is not None:
            heights = scores.curve[0].double().cpu().numpy()
            shares = removed(cases.features, len(heights) - 1) / cases.features
            curves[pair] = Curve(shares, heights)
    scene = Scene(setting, row, engine, [chosen[name] for name in maps], maps)
    return Look(
        setting=setting.id,
        task=setting.task.id,
        case=setting.ids[row],
        label=_named(setting, row, setting.label[row]),
        target=_named(setting, row, setting.target[row]),
        probability=whole.probability.item(),
        classes=setting.classes,
        shown=show(scene),
        methods={name: method.card for name, method in chosen.items()},
        metrics={name: measured[name].card for name in item.metrics},
        maps={name: found[0].double().cpu().numpy() for name, found in maps.items()},
        more={name: found.cases[0] for name, found in explained.items() if found.cases},
        about={name: found.setting for name, found in explained.items() if found.setting},
        values=values,
        curves=curves,
        failures=tuple(failures),
        skips=plan.skips,
        seed=seed,
        device=str(placed.placement.device),
    )


def find_case(setting: Setting, case: str | int) -> int:
    """Where a case stands, by its id or by its number: 1 is the first, as in a dry run."""
    name = str(case)
    if name in setting.ids:
        return setting.ids.index(name)
    if not name.lstrip("-").isdecimal():
        raise UnknownNameError(f"case of {setting.id}", name, setting.ids)
    if not 1 <= int(name) <= len(setting):
        raise HumetricError(
            f"{setting.id} has {len(setting)} cases; expected a number from 1 to {len(setting)} "
            f"or an id such as {setting.ids[0]}, got {name}."
        )
    return int(name) - 1


def _named(setting: Setting, row: int, output: Tensor) -> str:
    """A class by its name, a span by its words."""
    if output.ndim:
        assert setting.texts is not None
        known = int(output.min()) >= 0
        return answer_text(setting.texts, row, output.tolist()) if known else UNKNOWN
    return class_name(setting.classes, int(output))


def class_name(classes: Sequence[str], index: int) -> str:
    """A class by its name, or by its number where it has none."""
    if index < 0:
        return UNKNOWN
    return classes[index] if index < len(classes) else f"class {index}"
