"""Methods: each makes an attribution, one number per feature, of every case it is given.

A method is declared by decorating its factory. The factory's parameters are the method's; the
function that it returns does the work::

    @method("my-method", version=1, reference="Doe 2026", tasks=("image",), needs="gradient")
    def my_method(power: float = 2.0) -> Explainer:
        '''One sentence that says what it computes.'''

        def explain(cases: Cases) -> Tensor: ...

        return explain

A method that questions the model with features removed is a generator instead: it yields
questions, receives answers, and returns the attribution (see ``occlusion``).

A method that has more to show than an attribution returns an :class:`Explanation` instead.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

import torch
from torch import Tensor

from humetric.cards import Access, MethodCard, Registry, bound_parameters, summary_of
from humetric.engine.questions import Program
from humetric.errors import InvalidExplanationError
from humetric.methods.explanation import Explanation, check_more
from humetric.tasks.cases import Cases

Explainer = Callable[[Cases], Tensor | Explanation | Program[Tensor] | Program[Explanation]]
P = ParamSpec("P")
S = TypeVar("S")


@dataclass(frozen=True)
class Method:
    """A card and the function that explains."""

    card: MethodCard
    explain: Explainer


METHODS: Registry[Method] = Registry("method", __name__)


def method(
    id: str,
    *,
    version: int,
    reference: str,
    tasks: Sequence[str] = ("image",),
    needs: Access = "predict",
    signed: bool = True,
    control: bool = False,
    passes: str | int = 0,
    reads: str = "",
    uses: Sequence[str] = (),
) -> Callable[[Callable[P, Explainer]], Callable[P, Method]]:
    """Declare a method. ``passes`` is a number, or the name of the parameter that holds it.

    ``reads`` names the internals that a method needs, if other than the model's last convolution:
    ``attention`` or ``coefficients``. ``uses`` names what it needs of a setting beside cases and
    model: ``unlabelled`` texts, ``neighbours`` of words, ``prototypes``, ``embeddings`` of texts.
    """

    def declare(factory: Callable[P, Explainer]) -> Callable[P, Method]:
        @wraps(factory)
        def make(*args: P.args, **kwargs: P.kwargs) -> Method:
            parameters = bound_parameters(id, factory, args, kwargs)
            card = MethodCard(
                id=id,
                version=version,
                summary=summary_of(factory),
                reference=reference,
                tasks=tuple(tasks),
                parameters=parameters,
                needs=needs,
                signed=signed,
                control=control,
                passes=parameters[passes] if isinstance(passes, str) else passes,
                reads=reads,
                uses=tuple(uses),
                source=source_of(factory),
            )
            return Method(card, factory(*args, **kwargs))

        METHODS.add(id, make)
        return make

    return declare


def source_of(factory: Callable[..., object]) -> str:
    """A digest of the file behind a method that is not built in; empty for those that are.

    It is part of the name of stored results: an edited file is another method.
    """
    if factory.__module__.partition(".")[0] == "humetric":
        return ""
    try:
        text = Path(inspect.getsourcefile(factory) or "").read_bytes()
    except (OSError, TypeError):
        text = factory.__code__.co_code
    return hashlib.sha256(text).hexdigest()[:16]


def shared(cases: Cases, key: Hashable, search: Callable[[], Program[S]]) -> Program[S]:
    """What a search about some cases found; it is made once, whichever method asks for it."""
    known: list[S] = cases.once(("shared", key), list)
    if not known:
        known.append((yield from search()))
    return known[0]


def checked_explanation(found: object, cases: Cases, who: str) -> Explanation:
    """What a method returned as an explanation; or an error that says what is wrong with it."""
    if not isinstance(found, Explanation):
        return Explanation(checked(found, cases, who))
    check_more(found, len(cases), who)
    return replace(found, attribution=checked(found.attribution, cases, who))


def checked(attribution: object, cases: Cases, who: str) -> Tensor:
    """An attribution of the right shape, finite, detached; or an error that says what is wrong."""
    if not isinstance(attribution, Tensor):
        raise InvalidExplanationError(
            f"Expected a torch.Tensor from {who} but got {type(attribution).__name__}: "
            f"return one number per feature as a tensor of shape {cases.shape}."
        )
    if tuple(attribution.shape) != cases.shape:
        raise InvalidExplanationError(
            f"Expected an attribution of shape {cases.shape} from {who} but got "
            f"{tuple(attribution.shape)}: one value per feature, cases first, no channels."
        )
    if attribution.is_complex() or attribution.dtype == torch.bool:
        raise InvalidExplanationError(
            f"Expected real numbers from {who} but got {attribution.dtype}: convert to float32."
        )
    dtype = torch.promote_types(cases.dtype, torch.float32)
    attribution = attribution.detach().to(dtype).to(cases.device)  # MPS knows no doubles
    attribution = cases.real(attribution)
    bad = (~attribution.isfinite()).flatten(1).sum(1).tolist()
    for case, count in zip(cases.ids, bad, strict=True):
        if count:
            raise InvalidExplanationError(
                f"Expected finite numbers from {who} but {count} of {cases.features} are NaN or "
                f"infinite for case {case}: mask or clip them before returning."
            )
    return attribution
