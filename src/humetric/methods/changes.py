"""Changes of a case: what its features may become, and inputs in which some of them have.

Rules and boundary paths ask about cases like the one that is explained. Words become similar words,
values other values of their column. Two distributions are drawn from:

- :meth:`Changes.nearby`, a few edits, as Hase & Bansal (2020, A.2) make them: words by
  ``tasks/edits.py``; of a row 1 to 3 columns, drawn evenly, each to a category or bin drawn evenly
  among those that it does not have.
- :meth:`Changes.holding`, everything may differ but the features that are held, as Ribeiro et al.
  (2018) draw for rules: every other word becomes a similar one with probability 1/2; a row is a
  background row with the held columns as they are, numbers anywhere within their bin.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from humetric.errors import HumetricError
from humetric.tasks.cases import Cases
from humetric.tasks.edits import changed, choices, edits_of, places_of
from humetric.tasks.neighbours import Options
from humetric.tasks.table import Table

EDITS = 3
"""Most columns of a row that change at once; of words five do (tasks/edits.py)."""

Chosen = NDArray[np.int64]
"""(rows, features): which option each feature takes; -1 leaves it as it is."""


class Held(NamedTuple):
    """Inputs drawn with some features held."""

    inputs: Tensor
    present: NDArray[np.bool_]
    """(rows, features): which conditions hold in each input, those that are held among them."""


class Changes(Protocol):
    """Of one case."""

    @property
    def features(self) -> int:
        """How many it has."""
        ...

    @property
    def free(self) -> tuple[int, ...]:
        """Features that can change at all."""
        ...

    def condition(self, feature: int) -> str:
        """What a rule says of a feature."""
        ...

    def was(self, feature: int) -> str:
        """A feature as it is."""
        ...

    def becomes(self, feature: int, option: int) -> str:
        """A feature as it would be."""
        ...

    def nearby(self, rng: np.random.Generator, count: int) -> Chosen:
        """A few edits, so many times."""
        ...

    def inputs(self, chosen: Chosen) -> Tensor:
        """The case with these options."""
        ...

    def holding(self, rng: np.random.Generator, count: int, held: Collection[int]) -> Held:
        """Anything like the case with some features as they are."""
        ...


def changes_of(cases: Cases) -> list[Changes]:
    """What each of some cases may become."""
    if cases.table is not None:
        bins = cases.table.bins(cases.table.background)
        return [RowChanges(cases.table, row, bins) for row in cases.x.cpu().double().numpy()]
    return [WordChanges(cases, i) for i in range(len(cases))]


class WordChanges:
    """A text whose words become similar ones."""

    def __init__(self, cases: Cases, case: int) -> None:
        _, texts = cases.text()
        if cases.neighbours is None:
            raise HumetricError(
                "Expected a setting with neighbours of words but it has none: give text_setting "
                "some with neighbours=."
            )
        self.words, self.raw = texts.words[case], texts.raw[case]
        self.places = places_of(texts, case)
        self.neighbours = cases.neighbours
        self.options = [self.neighbours.options(word) for word in self.words]

    @property
    def features(self) -> int:
        return len(self.words)

    @property
    def free(self) -> tuple[int, ...]:
        return tuple(i for i, o in enumerate(self.options) if o.words)

    def condition(self, feature: int) -> str:
        return self.words[feature]

    def was(self, feature: int) -> str:
        return self.words[feature]

    def becomes(self, feature: int, option: int) -> str:
        return self.options[feature].words[option]

    def nearby(self, rng: np.random.Generator, count: int) -> Chosen:
        return choices(self.options, rng, count)

    def inputs(self, chosen: Chosen) -> Tensor:
        texts = changed(self.raw, self.places, edits_of(self.options, chosen))
        return self.neighbours.encode(texts)[0]

    def holding(self, rng: np.random.Generator, count: int, held: Collection[int]) -> Held:
        edited = rng.random((count, self.features)) < 0.5
        edited[:, list(held)] = False
        which = rng.random((count, self.features))
        chosen = np.full((count, self.features), -1)
        for word in self.free:
            chosen[:, word] = np.where(edited[:, word], _drawn(self.options[word], which, word), -1)
        return Held(self.inputs(chosen), chosen < 0)


class RowChanges:
    """A row whose values become others of their columns."""

    def __init__(
        self, table: Table, row: NDArray[np.float64], background: NDArray[np.int64]
    ) -> None:
        """``background`` has the bins of the table's background rows."""
        self.table, self.row, self.known = table, row, background
        self.own = table.bins(row[None])[0]
        sizes = table.sizes()
        self.options = [
            [value for k, value in enumerate(table.typical(j)) if k != self.own[j]]
            for j in range(len(sizes))
        ]

    @property
    def features(self) -> int:
        return len(self.row)

    @property
    def free(self) -> tuple[int, ...]:
        return tuple(j for j, o in enumerate(self.options) if o)

    def condition(self, feature: int) -> str:
        return self.table.condition(feature, self.row[feature])

    def was(self, feature: int) -> str:
        return self.table.columns[feature].text(self.row[feature])

    def becomes(self, feature: int, option: int) -> str:
        return self.table.columns[feature].text(self.options[feature][option])

    def nearby(self, rng: np.random.Generator, count: int) -> Chosen:
        found = np.full((count, self.features), -1, dtype=np.int64)
        free = np.array(self.free)
        if not len(free):
            return found
        edits = rng.integers(1, 1 + min(EDITS, len(free)), count)
        rank = rng.random((count, len(free))).argsort(1).argsort(1)
        which = rng.random((count, len(free)))
        for place, j in enumerate(free):
            option = (which[:, place] * len(self.options[j])).astype(np.int64)
            found[:, j] = np.where(rank[:, place] < edits, option, -1)
        return found

    def inputs(self, chosen: Chosen) -> Tensor:
        rows = np.repeat(self.row[None], len(chosen), axis=0)
        for j in self.free:
            values = np.array(self.options[j])
            rows[:, j] = np.where(chosen[:, j] >= 0, values[chosen[:, j]], rows[:, j])
        return torch.from_numpy(rows).float()

    def holding(self, rng: np.random.Generator, count: int, held: Collection[int]) -> Held:
        known = self.table.background
        drawn = rng.integers(len(known), size=count)
        rows, present = known[drawn], self.known[drawn] == self.own
        for j in sorted(held):
            own = self.known[:, j] == self.own[j]
            like = known[own, j] if own.any() and self.table.columns[j].number else self.row[[j]]
            rows[:, j] = like[rng.integers(len(like), size=count)]
            present[:, j] = True
        return Held(torch.from_numpy(rows).float(), present)


def _drawn(options: Options, uniform: NDArray[np.float64], word: int) -> NDArray[np.int64]:
    """Options in proportion to their probability."""
    upto = options.probability.cumsum()
    return np.searchsorted(upto / upto[-1], uniform[:, word], side="right")
