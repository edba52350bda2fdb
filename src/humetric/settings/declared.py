"""What is declared of a setting on real data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from humetric.tasks.setting import Setting

Rows = Sequence[Mapping[str, Any]]

Load = Callable[[Mapping[str, Any], Rows, str], Setting]
"""(cases.json, the rows of it that are wanted, baseline of images) -> setting."""


@dataclass(frozen=True)
class Declared:
    """A setting on real data."""

    id: str
    summary: str
    """Data and model in a few words."""
    sources: tuple[str, ...]
    """Data and weights that it needs, by their names in ``humetric.data.sources``."""
    load: Load
    train: Callable[[Training], None] | None = None
    """Makes its weights; None where there is nothing to train."""
    choose: Callable[[Training], None] | None = None
    """Chooses its cases, which happened once; see ``humetric train --choose``."""
    minutes: float = 0
    """What training takes on two cores."""
    ships: bool = False
    """Whether trained weights may be shipped, by the licence of what they were trained on."""
    departs: str = ""
    """Where it departs from the study that it is paired with."""
    seen: str = ""
    """What of the data the model's makers trained it on; shown wherever its results are."""
    published: Mapping[str, float] = field(default_factory=dict)
    """What the study's own model reached, by the name of the score in cases.json."""
    study: str = ""
    """Whose figures these are."""
    weights: str = ""
    """The setting whose trained weights it shares; empty: its own."""
    cases: str = ""
    """The setting whose cases it has, with its own model's outputs; empty: its own."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its results must know."""
        return tuple(note for note in (self.seen, self.departs) if note)


@dataclass(frozen=True)
class Training:
    """Where a training writes, and what it was asked to do."""

    id: str
    folder: Path
    """Where weights go."""
    state: Path
    """Where an unfinished training is kept."""
    again: bool = False
    """Whether to train what is there."""
    say: Callable[[str], None] = print
