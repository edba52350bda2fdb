"""Any captum attribution class as a method, in one line: ``from_captum(captum.attr.DeepLift)``."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import torch
from captum.attr import Attribution, GradientAttribution, LayerAttribution, Saliency
from torch import Tensor

from humetric.cards import Access, MethodCard
from humetric.errors import HumetricError
from humetric.methods import Method
from humetric.seeding import generator
from humetric.tasks.cases import Cases

UNSIGNED: tuple[Callable[..., Attribution], ...] = (Saliency,)
"""captum classes whose maps have no sign by default."""


def from_captum(
    attribution: Callable[..., Attribution],
    *,
    id: str = "",
    signed: bool | None = None,
    channels: Literal["sum", "norm"] = "sum",
    arguments: Mapping[str, Any] = MappingProxyType({}),
    passes: int = 1,
) -> Method:
    """A method from a captum class, or from a function that makes one from a module.

    ``arguments`` go to ``attribute``; the explained output and, where the class takes one, the
    baseline are given by humetric. ``signed`` records whether negative values count against the
    output (known of captum's own classes), ``channels`` how channels become one number, ``passes``
    how many gradient passes a case takes (for dry runs). Layer classes get the model's last
    convolution, and their maps are enlarged bilinearly.

    A class that draws random numbers gives a case another map inside a batch than alone, even
    under one seed. So each block of cases is explained and watched: if a global generator moved, or
    if its first case gets another map alone, all of its cases run one at a time, each under a
    generator seeded by the case.
    """
    name = getattr(attribution, "__name__", "captum")
    card = MethodCard(
        id=id or _hyphenated(name),
        version=1,
        summary=f"captum's {name}.",
        reference="captum, arXiv:2009.07896",
        tasks=("image",),
        parameters=MappingProxyType({"channels": channels, **arguments}),
        needs=_needs(attribution),
        signed=attribution not in UNSIGNED if signed is None else signed,
        passes=passes,
    )

    def explain(cases: Cases) -> Tensor:
        made = _make(attribution, cases)

        def run(start: int, stop: int) -> tuple[Tensor, bool]:
            with _seeded(cases, cases.ids[start]) as moved:
                return _attribute(made, cases, slice(start, stop), arguments), moved()

        maps = []
        for start in range(0, len(cases), cases.gradient_rows):
            stop = min(start + cases.gradient_rows, len(cases))
            block, moved = run(start, stop)
            if stop - start > 1 and (moved or not _alike(block[:1], run(start, start + 1)[0])):
                block = torch.cat([run(i, i + 1)[0] for i in range(start, stop)])
            maps.append(block)
        found = torch.cat(maps)
        if found.shape[-2:] != cases.x.shape[-2:]:
            found = LayerAttribution.interpolate(found, tuple(cases.x.shape[-2:]), "bilinear")
        return found.sum(1) if channels == "sum" else found.square().sum(1).sqrt()

    return Method(card, explain)


def _alike(one: Tensor, other: Tensor) -> bool:
    """Equal up to the rounding of another batch size."""
    scale = float(one.abs().max())
    return torch.allclose(one, other, rtol=1e-3, atol=1e-4 * scale)


def _make(attribution: Callable[..., Attribution], cases: Cases) -> Attribution:
    if "layer" in inspect.signature(attribution).parameters:
        return attribution(cases.module(), cases.layer())
    return attribution(cases.module())


def _attribute(
    made: Attribution, cases: Cases, rows: slice, arguments: Mapping[str, Any]
) -> Tensor:
    x = cases.x[rows].detach().clone().requires_grad_()
    given = dict(arguments)
    takes = inspect.signature(made.attribute).parameters
    if "baselines" in takes and "baselines" not in given:
        given["baselines"] = cases.baseline[:, 0].expand_as(cases.x)[rows]
    if not any(p.name == "target" or p.kind is p.VAR_KEYWORD for p in takes.values()):
        raise HumetricError(
            f"captum's {type(made).__name__} does not attribute an output to the input: "
            f"use a class whose attribute() takes inputs and a target."
        )
    found = made.attribute(x, target=cases.target[rows], **given)
    if isinstance(found, tuple):
        found = found[0]
    if not isinstance(found, Tensor) or found.ndim != 4:
        raise HumetricError(
            f"Expected captum's {type(made).__name__} to give maps of shape (cases, channels, "
            f"height, width) but got {getattr(found, 'shape', type(found).__name__)}: "
            f"it is not an attribution of the input."
        )
    return found.detach()


def _needs(attribution: Callable[..., Attribution]) -> Access:
    if "layer" in inspect.signature(attribution).parameters:
        return "internals"
    if isinstance(attribution, type) and not issubclass(attribution, GradientAttribution):
        return "predict"
    return "gradient"


def _hyphenated(name: str) -> str:
    """IntegratedGradients -> integrated-gradients, with a prefix that says where it is from."""
    words = "".join(f"-{c.lower()}" if c.isupper() else c for c in name if c.isalnum())
    return "captum-" + words.strip("-")


@contextmanager
def _seeded(cases: Cases, case: str) -> Iterator[Callable[[], bool]]:
    """Let code that uses the global generators draw the same each time; nobody else notices.

    Gives a function that says whether any of them was used.
    """
    number = int(generator(cases.seed, case, "captum").integers(2**31))
    device = cases.device
    others = [] if device.type == "cpu" else [device]
    python_state, numpy_state = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(others, device_type="cuda" if device.type == "cpu" else device.type):
        random.seed(number)
        np.random.seed(number)
        torch.manual_seed(number)
        before = _states(device)
        try:
            yield lambda: _states(device) != before
        finally:
            random.setstate(python_state)
            np.random.set_state(numpy_state)


def _states(device: torch.device) -> tuple[object, ...]:
    """What the global generators would give next."""
    drawn = np.random.get_state()
    states = [torch.get_rng_state()]
    if device.type == "cuda":
        states.append(torch.cuda.get_rng_state(device))
    elif device.type == "mps":
        states.append(torch.mps.get_rng_state())
    return random.getstate(), str(drawn), *(s.numpy().tobytes() for s in states)
