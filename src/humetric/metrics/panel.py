"""Panels: what simulated users of a setting are shown, and what they leave behind.

A panel is a fixed list of a setting's cases, whichever of them a run scores. Methods explain the
first ones, the learning cases; the others, the test cases, are never explained. Unlike Cases, a
panel knows what is true of its cases, since studies balance them by it; which of this a simulated
person may see is the protocol's to say. Nothing here names the method.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from humetric.methods.explanation import Explanation
from humetric.tasks.cases import Cases

if TYPE_CHECKING:
    from humetric.tasks.setting import Setting

LEARNING = 24
"""Cases of a panel that methods explain: the first of those that a setting declares."""


@dataclass(frozen=True)
class Panel:
    """The cases that simulated users see; questions are about these, by their number."""

    cases: Cases
    """All of them. Their explained output is what people have to predict."""
    learning: int
    """The first so many are learning cases, the others test cases."""
    label: Tensor
    """True outputs, as far as they are known; on the host."""
    right: NDArray[np.bool_]
    """(cases,): whether the explained output is the true one."""
    setting: Setting
    """What the cases are of, for protocols in which people change them."""

    def __len__(self) -> int:
        return len(self.cases)

    @property
    def test(self) -> int:
        """How many test cases there are."""
        return len(self) - self.learning

    @property
    def target(self) -> NDArray[np.int64]:
        """(cases,): the explained outputs where they are classes."""
        found: NDArray[np.int64] = self.cases.target.cpu().numpy()
        return found


@dataclass(frozen=True)
class Shown:
    """What one method shows of a panel's learning cases, without its name."""

    attribution: Tensor
    """(learning cases, features) on the host, in double precision, in the panel's features."""
    explanation: Explanation
    """The same as it was made, with rules, paths, cues and whatever else is beside the maps."""
    again: Callable[[Setting], Explanation]
    """Explains other cases by the same method: those that people changed."""
    rivals: Mapping[str, Tensor] = field(default_factory=lambda: MappingProxyType({}))
    """By setting, maps of the same learning cases for another model; see two-model-choice."""
    memo: dict[Hashable, object] = field(default_factory=dict)
    """What one simulated user leaves for another that would do the same with what this method
    shows; keys name the protocol and its parameters."""


class Replicates(NamedTuple):
    """Values of one method on a setting, one for each draw, cohort or question."""

    names: Sequence[str]
    value: Tensor
    """(replicates,) float64, NaN where undefined. Their mean is the value."""
    controls: Mapping[str, Tensor] = MappingProxyType({})
    """The same for what a person saw instead: ``none``, no explanation, and ``shuffled``, the same
    numbers on other features."""
