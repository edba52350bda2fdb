"""Prototype models: a case is of the class whose prototypes it resembles most (Hase & Bansal 2020).

A prototype model is a task model whose last linear layer is replaced. What is left, the extractor
g, gives the latent z of a case, and each class c has prototypes P_c, which are latents too:

    activation  a(z, p) = exp(-||z - p||^2 / scale), in (0, 1]
    class score f(x)_c  = max over p in P_c of a(g(x), p)
    logits             = own * f(x)_c + other * (sum of the other classes' scores)

The study's kernel has no scale. Latents of 48 numbers are far apart, so without one nearly every
activation would be 0. Here it is a constant: while training so that nine in ten training cases have
an activation above .5 at one of the cases that stand for clusters of their class; in the end so
that half of them have less than .1 at the nearest prototype of another class. So a feature without
which a case would lie among the others costs most of the similarity, and half the way there half of
it or so. No scale changes a prediction.

The study also has a final layer with weights of 1 and -.5, and says that a case gets the class of
the prototype closest to it. Both hold here: ``own`` starts at 1 and ``other`` at -.5, each is one
number for all classes, and as long as own > other the highest logit is that of the highest score.
They serve the training; what is shown is f(x)_c.

In the end each prototype is a training case: its latent is the prototype, so that "the most similar
prototype" is a case that can be shown. There are two variants. ``own`` has an extractor of its own,
which started from the task model's; ``fixed`` shares the task model's, so that its prototypes say
something about the task model (the study's composite method).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from humetric.cards import Access
from humetric.errors import HumetricError
from humetric.models.tabular import TabularModel
from humetric.models.text import TextModel

OWN, OTHER = 1.0, -0.5
"""Weights of the own and of the other classes' scores, before training."""


@dataclass(frozen=True)
class Shown:
    """The training case that is a prototype."""

    content: tuple[str, ...] | tuple[float, ...]
    """Segments of a text, or the numbers of a row."""
    label: int | None = None
    index: int = -1
    """Which case of its split it is; -1 if that is not known."""
    split: str = ""


class Prototypes(nn.Module):
    """The layer in the place of the last linear one: latents (rows, width) -> activations."""

    owner: Tensor
    """(prototypes,) int64: class of each."""
    scale: Tensor
    """Squared distance at which an activation is exp(-1)."""

    def __init__(self, owner: Sequence[int], width: int) -> None:
        super().__init__()
        self.classes = max(owner) + 1
        self.vectors = nn.Parameter(torch.zeros(len(owner), width))
        self.own, self.other = (nn.Parameter(torch.tensor(start)) for start in (OWN, OTHER))
        self.register_buffer("owner", torch.tensor(list(owner)))
        self.register_buffer("scale", torch.tensor(1.0))

    def distances(self, latent: Tensor) -> Tensor:
        """(rows, prototypes): squared distances in units of the scale."""
        return (latent[:, None] - self.vectors).square().sum(2) / self.scale

    def forward(self, latent: Tensor) -> Tensor:
        """(rows, prototypes): activations."""
        return (-self.distances(latent)).exp()

    def scores(self, activations: Tensor) -> Tensor:
        """(rows, classes): the highest activation of each class."""
        each = torch.arange(self.classes, device=activations.device)[:, None]
        return activations[:, None].masked_fill(self.owner != each, -1).amax(2)

    def logits(self, scores: Tensor) -> Tensor:
        """(rows, classes): what the cross-entropy of the training is taken of."""
        return self.own * scores + self.other * (scores.sum(1, keepdim=True) - scores)


class PrototypeText(TextModel):
    """A prototype model of texts; called, it gives activations (rows, prototypes)."""

    architecture: ClassVar[str] = "prototypes"
    gives: ClassVar[frozenset[Access]] = frozenset(("predict", "gradient"))

    def __init__(self, extractor: TextModel, layer: Prototypes, shown: Sequence[Shown]) -> None:
        super().__init__()
        self.extractor, self.layer, self.shown = extractor, layer, tuple(shown)
        self.limit = extractor.limit

    @classmethod
    def make(cls, config: Mapping[str, Any]) -> Self:
        raise HumetricError("Make one around a task model, or load one with prototype_files.")

    def config_dict(self) -> dict[str, Any]:
        return self.extractor.config_dict()

    def embed(self, ids: Tensor) -> Tensor:
        return self.extractor.embed(ids)

    def from_embeddings(self, embedded: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        activations: Tensor = self.layer(self.features(embedded, attention, types))
        return activations

    def features(self, embedded: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        return self.extractor.features(embedded, attention, types)

    def latent(self, ids: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        """(rows, width): g(x)."""
        return self.features(self.embed(ids), attention, types)

    def scores(self, activations: Tensor) -> Tensor:
        """(rows, classes): f(x)."""
        return self.layer.scores(activations)


class PrototypeTable(TabularModel):
    """A prototype model of rows of a table; called, it gives activations (rows, prototypes)."""

    def __init__(self, extractor: TabularModel, layer: Prototypes, shown: Sequence[Shown]) -> None:
        super().__init__()
        self.extractor, self.layer, self.shown = extractor, layer, tuple(shown)

    def forward(self, x: Tensor) -> Tensor:
        activations: Tensor = self.layer(self.features(x))
        return activations

    def features(self, x: Tensor) -> Tensor:
        return self.extractor.features(x)

    def latent(self, x: Tensor) -> Tensor:
        """(rows, width): g(x)."""
        return self.features(x)

    def scores(self, activations: Tensor) -> Tensor:
        """(rows, classes): f(x)."""
        return self.layer.scores(activations)


PrototypeModel = PrototypeText | PrototypeTable


def around(extractor: nn.Module, layer: Prototypes, shown: Sequence[Shown]) -> PrototypeModel:
    """The prototype model that is made of a task model and a layer of prototypes."""
    if len(shown) != len(layer.owner):
        raise HumetricError(
            f"Expected a case for each of {len(layer.owner)} prototypes but got {len(shown)}."
        )
    if isinstance(extractor, TextModel) and not extractor.span:
        return PrototypeText(extractor, layer, shown)
    if isinstance(extractor, TabularModel):
        return PrototypeTable(extractor, layer, shown)
    raise HumetricError(
        f"Expected a TextModel that classifies, or a TabularModel, but got "
        f"{type(extractor).__name__}: prototypes need what its last layer sees."
    )


@dataclass(frozen=True)
class PrototypeModels:
    """The prototype models of a setting, in both variants, made when somebody asks for them."""

    own: Callable[[], PrototypeModel]
    """With an extractor of its own."""
    fixed: Callable[[], PrototypeModel]
    """With the task model's extractor."""
    version: str = "own"
    """What tells these weights from others; it becomes part of the setting's version."""

    def variant(self, fixed: bool) -> PrototypeModel:
        """One of the two."""
        return self.fixed() if fixed else self.own()

    def on(self, place: Callable[[nn.Module], nn.Module]) -> PrototypeModels:
        """The same on a device: each copied there once, when it is first asked for."""

        def placed(make: Callable[[], PrototypeModel]) -> Callable[[], PrototypeModel]:
            @cache
            def moved() -> PrototypeModel:
                found = place(make())
                assert isinstance(found, PrototypeText | PrototypeTable)
                return found

            return moved

        return PrototypeModels(placed(self.own), placed(self.fixed), self.version)


def models_of(own: PrototypeModel, fixed: PrototypeModel) -> PrototypeModels:
    """Prototype models that are there already, for a setting of your own."""
    found = hashlib.sha256()
    for model in (own, fixed):
        found.update(repr(model.shown).encode())
        for value in model.state_dict().values():
            found.update(value.detach().cpu().contiguous().numpy().tobytes())
    return PrototypeModels(lambda: own, lambda: fixed, found.hexdigest()[:12])
