"""A model as the rest of humetric sees it: a module, and what it gives access to."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from humetric.cards import Access

OPEN: frozenset[Access] = frozenset(("predict", "gradient", "internals"))
"""A differentiable torch module whose layers may be looked at."""


@dataclass(frozen=True)
class Model:
    """A module from inputs to logits, what it gives access to, and the layer grad-cam reads."""

    id: str
    module: nn.Module
    gives: frozenset[Access] = OPEN
    layer: str = ""
    """Name of the last convolution within the module; empty where there is none."""
    reads: frozenset[str] = frozenset()
    """Internals of a text model: ``attention``, ``coefficients``."""

    def refuses(self, needs: Access, reads: str = "") -> str:
        """Why a method with these needs cannot run on this model; empty if it can."""
        if needs not in self.gives:
            return f"needs {needs} access, but {self.id} gives only {', '.join(sorted(self.gives))}"
        if needs == "internals" and not reads and not self.layer:
            return f"needs a named layer, but {self.id} declares none"
        if reads and reads not in self.reads:
            return f"needs {reads}, which {self.id} does not have"
        return ""


def call(module: nn.Module, x: Tensor) -> Tensor:
    """Outputs of a module for inputs as a setting keeps them.

    Texts are (rows, 3, tokens) of whole numbers, and their models take the three apart.
    """
    output: Tensor = module(x) if x.is_floating_point() else module(*x.unbind(1))
    return output
