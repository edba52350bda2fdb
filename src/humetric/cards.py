"""Cards say what a method or metric is; registries find the factory behind an id.

A method or metric is declared once, by a decorator on its factory. The card is frozen and goes into
every result, so that a changed definition (another version or parameter) never mixes with old ones.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar

from humetric.errors import HumetricError, UnknownNameError

Access = Literal["predict", "gradient", "internals"]
"""What a model lets others do: ask for outputs, differentiate them, look at its layers."""

TEXT = ("sentiment", "nli", "qa")
"""Tasks whose features are words."""

EVERY = ("image", *TEXT, "tabular")
"""All tasks."""

Direction = Literal["higher", "lower"]

ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


@dataclass(frozen=True)
class Card:
    """What is common to all cards."""

    id: str
    version: int
    summary: str
    reference: str
    tasks: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if not ID.fullmatch(self.id):
            raise HumetricError(
                f"Expected an id of lower-case letters, digits and hyphens (at most 64) "
                f"but got {self.id[:80]!r}: rename it."
            )

    def describe(self) -> dict[str, Any]:
        """The card as plain data, for JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return plain | {"parameters": dict(self.parameters)}


@dataclass(frozen=True)
class MethodCard(Card):
    """What a method is, what it needs of a model and what its numbers mean."""

    needs: Access = "predict"
    signed: bool = True
    control: bool = False
    passes: int = 0
    """Forward-and-backward passes per case that do not go through the engine."""
    reads: str = ""
    """Which internals it needs, if other than a named layer: ``attention``, ``coefficients``."""
    uses: tuple[str, ...] = ()
    """What it needs of a setting beside cases and model: ``unlabelled`` texts, ``neighbours`` of
    words, ``prototypes``, ``embeddings`` of texts."""
    source: str = ""
    """Digest of the file that declares it, for a method that is not built in."""


@dataclass(frozen=True)
class MetricCard(Card):
    """What a metric is, which way is better and where its values lie."""

    direction: Direction = "higher"
    range: tuple[float, float] = (0.0, 1.0)
    scope: Literal["case", "setting", "setting-pair"] = "case"
    derived_from: str = ""
    """The study that it was proposed in to explain that study's results."""
    needs: Access = "predict"
    compares: bool = False
    """Whether a value also depends on the setting's reference cases and the method's maps of them.
    """
    weights: str = ""
    """Weights that it needs and that are not shipped, by their folder in a mirror."""
    deprecated: str = ""
    """Why this version should no longer be used; old results of it stay readable."""
    sees: tuple[str, ...] = ()
    """What it sees besides attributions and the model: ``cues``, words shown with highlights."""


T = TypeVar("T")


class Registry(Generic[T]):
    """Factories by id. The modules of a package register themselves when first looked up."""

    def __init__(self, kind: str, package: str) -> None:
        self.kind, self.package = kind, package
        self._factories: dict[str, Callable[..., T]] = {}
        self._discovered = False

    def add(self, name: str, factory: Callable[..., T]) -> None:
        """Register a factory; the same one again (a notebook cell run twice) replaces itself."""
        known = self._factories.get(name)
        if known is not None and known.__module__ != factory.__module__:
            raise HumetricError(
                f"The {self.kind} {name!r} is already declared in {known.__module__}: "
                f"choose another id for the one in {factory.__module__}."
            )
        self._factories[name] = factory

    def factory(self, name: str) -> Callable[..., T]:
        """The factory behind an id."""
        self._discover()
        if name not in self._factories:
            raise UnknownNameError(self.kind, name, self._factories)
        return self._factories[name]

    def make(self, name: str, parameters: Mapping[str, Any] | None = None) -> T:
        """The object behind an id, with some of its parameters changed."""
        factory = self.factory(name)
        known = inspect.signature(factory).parameters
        for parameter in parameters or {}:
            if parameter not in known:
                raise UnknownNameError(f"parameter of {self.kind} {name}", parameter, known)
        return factory(**(parameters or {}))

    def __iter__(self) -> Iterator[str]:
        self._discover()
        return iter(sorted(self._factories))

    def _discover(self) -> None:
        if not self._discovered:
            package = importlib.import_module(self.package)
            for module in pkgutil.walk_packages(package.__path__, f"{self.package}."):
                importlib.import_module(module.name)
            self._discovered = True


COUNTS = {"samples", "points", "steps", "subsets", "cells", "texts", "least", "cues", "draws"}
"""Parameters that count something, so that there must be at least one of it."""


def bound_parameters(
    id: str, factory: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Mapping[str, Any]:
    """All parameters of a factory call, defaults included, for the card.

    A value must be of the kind of the default, and counts must be positive.
    """
    signature = inspect.signature(factory)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    for name, value in bound.arguments.items():
        kind = type(signature.parameters[name].default)
        allowed = {float: (float, int)}.get(kind, (kind,))
        if kind in (int, float, bool) and type(value) not in allowed:
            raise HumetricError(
                f"Expected the parameter {name} of {id} to be of type {kind.__name__} "
                f"but got {value!r}."
            )
        if name in COUNTS and value < 1:
            raise HumetricError(f"Expected {name} of {id} to be at least 1 but got {value}.")
    return MappingProxyType(dict(bound.arguments))


def summary_of(factory: Callable[..., Any]) -> str:
    """The first sentence of a factory's docstring."""
    return (inspect.getdoc(factory) or "").partition("\n\n")[0].replace("\n", " ")
