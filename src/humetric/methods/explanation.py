"""An explanation: an attribution and, where a method has more to show, that too.

A method may return a bare tensor, which is an explanation with nothing more. What is more is plain
data (JSON), by kind, so that it can be stored beside the map and shown by a program that does not
know the method. Kinds in use:

- ``lime``: the features of a local linear model that people see, intercept, sum, probability
- ``rule``: conditions under which the model keeps its output, with precision and coverage
- ``path``: edits across the decision boundary, with the evidence margin after each
- ``prototype``: the most similar case, and the features that make it so
- ``cues``: for each class a list of the words that speak most for it, {"word", "weight"} and in
  pairs of texts {"segment"}
- ``student``: what a model trained to imitate the explained one is like
- ``note``: a sentence that a person who reads the results should see
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from humetric.errors import InvalidExplanationError

More = Mapping[str, Any]
"""Plain data by kind."""


@dataclass(frozen=True)
class Explanation:
    """Attributions of some cases, and what else there is to show of them."""

    attribution: Tensor
    """(cases, *features)."""
    cases: tuple[More, ...] = ()
    """What there is to show of each case (a rule, a path, a prototype); empty if nothing is."""
    setting: More = field(default_factory=dict)
    """What is the same for all cases of the setting (cue words, how good a student is)."""

    @property
    def more(self) -> dict[str, Any]:
        """What is beside the map, as it is stored; empty if nothing is."""
        found = {"cases": list(self.cases), "setting": dict(self.setting)}
        return {name: part for name, part in found.items() if part}


def from_plain(attribution: Tensor, more: Mapping[str, Any]) -> Explanation:
    """An explanation from a map and what :attr:`Explanation.more` gave."""
    return Explanation(attribution, tuple(more.get("cases", ())), more.get("setting", {}))


def joined(parts: Sequence[Explanation]) -> Explanation:
    """Explanations of several chunks of a setting's cases as one.

    Texts of a chunk are as wide as its longest, so that maps may differ in width.
    """
    if len(parts) == 1:
        return parts[0]
    shape = torch.tensor([p.attribution.shape[1:] for p in parts]).amax(0).tolist()
    maps = [
        pad(m, [n for a, b in zip(shape[::-1], m.shape[:0:-1], strict=True) for n in (0, a - b)])
        for m in (p.attribution for p in parts)
    ]
    cases = [p.cases or ({},) * len(p.attribution) for p in parts]
    some = any(p.cases for p in parts)
    flat = tuple(more for of in cases for more in of) if some else ()
    return Explanation(torch.cat(maps), flat, parts[0].setting)


def check_more(found: Explanation, cases: int, who: str) -> None:
    """Refuse what cannot be stored, or does not say to which case it belongs."""
    if found.cases and len(found.cases) != cases:
        raise InvalidExplanationError(
            f"Expected more to show of each of {cases} cases from {who} but got it of "
            f"{len(found.cases)}: give one mapping per case, empty where there is nothing."
        )
    for part in (*found.cases, found.setting):
        if not isinstance(part, Mapping) or not all(isinstance(kind, str) for kind in part):
            raise InvalidExplanationError(
                f"Expected what {who} has to show beside its map by kind but got "
                f"{type(part).__name__}: give a mapping from kinds (texts) to plain data."
            )
        try:
            json.dumps(dict(part), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InvalidExplanationError(
                f"Expected plain data beside the map of {who} but {error}: use texts, finite "
                f"numbers, lists and mappings."
            ) from None
