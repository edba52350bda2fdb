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
from captum.attr import Attribution, GradientAttribution, LayerAttribution
from torch import Tensor

from humetric.cards import Access, MethodCard
from humetric.errors import HumetricError
from humetric.methods import Method
from humetric.seeding import generator
from humetric.tasks.cases import Cases


def from_captum(
    attribution: Callable[..., Attribution],
    *,
    id: str = "",
    signed: bool = True,
    channels: Literal["sum", "norm"] = "sum",
    arguments: Mapping[str, Any] = MappingProxyType({}),
) -> Method:
    """A method from a captum class, or from a function that makes one from a module.

    ``arguments`` go to ``attribute``; the explained output and, where the class takes one, the
    baseline are given by humetric. ``signed`` records whether negative values count against the
    output, ``channels`` how channels become one number. Layer classes get the model's last
    convolution, and their maps are enlarged bilinearly.

    A class that draws random numbers gives a case another map inside a batch than alone, even
    under one seed. Such classes, found by explaining one case twice under different seeds, run one
    case at a time under a generator seeded by the case.
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
        signed=signed,
        passes=1,
    )
    draws: list[bool] = []

    def explain(cases: Cases) -> Tensor:
        made = _make(attribution, cases)

        def run(rows: slice, purpose: str) -> Tensor:
            with _seeded(cases.seed, cases.ids[rows][0], purpose):
                return _attribute(made, cases, rows, arguments)

        if not draws:
            one = slice(0, 1)
            draws.append(not torch.equal(run(one, "captum"), run(one, "captum again")))
        if draws[0]:
            maps = torch.cat([run(slice(i, i + 1), "captum") for i in range(len(cases))])
        else:
            maps = run(slice(None), "captum")
        if maps.shape[-2:] != cases.x.shape[-2:]:
            maps = LayerAttribution.interpolate(maps, tuple(cases.x.shape[-2:]), "bilinear")
        return maps.sum(1) if channels == "sum" else maps.square().sum(1).sqrt()

    return Method(card, explain)


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
def _seeded(seed: int, case: str, purpose: str) -> Iterator[None]:
    """Let code that uses the global generators draw the same each time; nobody else notices."""
    number = int(generator(seed, case, purpose).integers(2**31))
    python_state, numpy_state = random.getstate(), np.random.get_state()
    with torch.random.fork_rng():
        random.seed(number)
        np.random.seed(number)
        torch.manual_seed(number)
        try:
            yield
        finally:
            random.setstate(python_state)
            np.random.set_state(numpy_state)
