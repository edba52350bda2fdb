"""One case looked at closely: its image, the methods' maps, and what the metrics say of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from humetric.cards import MethodCard, MetricCard
from humetric.engine.engine import Engine
from humetric.engine.placement import place
from humetric.engine.questions import intact
from humetric.errors import HumetricError, UnknownNameError
from humetric.methods import Method
from humetric.metrics import Metric
from humetric.metrics.ranking import removed
from humetric.results.result import Failure, Skip
from humetric.run.evaluate import by_id
from humetric.run.plan import find_batch_size, make_plan
from humetric.run.work import explain, said, score
from humetric.tasks.setting import Setting

Pair = tuple[str, str]
"""(method, metric)."""


@dataclass(frozen=True)
class Curve:
    """A metric's curve: the probability of the explained class at shares of changed pixels."""

    share: NDArray[np.float64]
    probability: NDArray[np.float64]


@dataclass(frozen=True)
class Look:
    """All there is to show of one case of an image setting.

    A method that failed or was skipped has no map; a metric that failed has no value.
    """

    setting: str
    case: str
    label: str
    target: str
    probability: float
    """Of the explained class (``target``), for the image as it is."""
    image: NDArray[np.uint8]
    """(height, width, channels)."""
    region: NDArray[np.bool_] | None
    """(height, width): where the evidence is, if the setting knows it."""
    methods: Mapping[str, MethodCard]
    metrics: Mapping[str, MetricCard]
    maps: Mapping[str, NDArray[np.float64]]
    values: Mapping[Pair, float]
    curves: Mapping[Pair, Curve]
    failures: tuple[Failure, ...]
    skips: tuple[Skip, ...]
    seed: int
    device: str


def look(
    setting: Setting,
    case: str | int,
    methods: Sequence[Method],
    metrics: Sequence[Metric],
    *,
    device: str = "auto",
    precision: str = "fp32",
    seed: int = 0,
    progress: Callable[[int], object] = lambda rows: None,
) -> Look:
    """Explain one case (an id, or a number from 1) with each method, and score the maps.

    Values are those that a run gives this case, up to rounding: in fp64 the same to 1e-9. In fp32 a
    chunk of another size rounds otherwise; where that swaps pixels that are almost tied, as in
    grad-cam's smooth maps, an area moves by up to 1e-4 (measured on the embedded settings) and
    mu-fidelity, which ranks, by up to 1e-3.
    """
    if setting.task.id != "image":
        raise HumetricError(
            f"Expected an image setting but {setting.id} is of the task {setting.task.id}: "
            f"only images can be looked at so far."
        )
    chosen, measured = by_id(methods), by_id(metrics)
    row = find_case(setting, case)
    plan = make_plan([setting], methods, metrics, chunk=1)
    item = plan.items[row]
    placed = setting.place(place(device, precision))
    cases = placed.cases(item.start, item.stop, seed)
    batch = find_batch_size(placed, "auto")
    engine = Engine(cases, placed.fast_module, placed.placement.dtype, batch, progress)
    (whole,) = engine.ask([intact(cases)])
    explained = explain([chosen[name] for name in item.methods], engine)
    maps = {name: found for name, found in explained.items() if isinstance(found, torch.Tensor)}
    failures = [
        Failure(setting.id, name, "", said(found))
        for name, found in explained.items()
        if isinstance(found, Exception)
    ]
    values: dict[Pair, float] = {}
    curves: dict[Pair, Curve] = {}
    for pair, scores in score(maps, [measured[name] for name in item.metrics], engine).items():
        if isinstance(scores, Exception):
            failures.append(Failure(setting.id, *pair, said(scores)))
            continue
        values[pair] = scores.value.item()
        if scores.curve is not None:
            heights = scores.curve[0].double().cpu().numpy()
            shares = removed(cases.features, len(heights) - 1) / cases.features
            curves[pair] = Curve(shares, heights)
    return Look(
        setting=setting.id,
        case=setting.ids[row],
        label=_class(setting, int(setting.label[row])),
        target=_class(setting, int(setting.target[row])),
        probability=whole.probability.item(),
        image=picture(setting, row),
        region=None if setting.region is None else setting.region[row].numpy(),
        methods={name: method.card for name, method in chosen.items()},
        metrics={name: measured[name].card for name in item.metrics},
        maps={name: found[0].double().cpu().numpy() for name, found in maps.items()},
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


def picture(setting: Setting, row: int) -> NDArray[np.uint8]:
    """A case's image to look at: its bytes, or else its input stretched to the range of bytes."""
    if setting.display is not None:
        return setting.display[row].numpy()
    x = setting.x[row].double().movedim(0, -1)
    low, high = x.min(), x.max()
    stretched = (x - low) / (high - low) * 255 if high > low else torch.full_like(x, 127)
    return stretched.round().to(torch.uint8).numpy()


def _class(setting: Setting, index: int) -> str:
    return setting.classes[index] if index < len(setting.classes) else f"class {index}"
