"""What explanations speak about: the case that is shown, with its words or columns by number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from humetric.boards.pieces import pieces
from humetric.run.look import Look, class_name
from humetric.run.shown_table import ShownTable
from humetric.run.shown_text import ShownText


class Letters(NamedTuple):
    """A stretch of text that is one word, or lies between words."""

    text: str
    word: int | None


@dataclass(frozen=True)
class Subject:
    """A case as the kinds of explanations refer to it."""

    target: str
    """The explained class, or the explained answer."""
    probability: float
    classes: tuple[str, ...]
    answers: bool = False
    """Whether outputs are answers, which have no class number."""
    one: str = "feature"
    many: str = "features"
    inputs: str = "inputs"
    names: tuple[str, ...] = ()
    """Words or columns by their number."""
    values: tuple[str, ...] = ()
    """What stands in the columns; none for texts."""
    written: tuple[tuple[str, tuple[Letters, ...]], ...] = ()
    """Name and letters of each text; none for tables."""

    def output(self, index: object) -> str:
        """A class number in words; an answer has no other name than its words."""
        if self.answers or not isinstance(index, int):
            return self.target
        return class_name(self.classes, index)

    def named(self, feature: str, index: int) -> str:
        """A feature so that it can be told from the others: a word by its place if it comes twice.

        A column stands with its value, unless the method already says more than its name.
        """
        if not 0 <= index < len(self.names) or feature != self.names[index]:
            return feature
        if self.values:
            return f"{feature} = {self.values[index]}"
        again = self.names.count(feature) > 1
        return f"{feature} ({self.one} {index + 1})" if again else feature

    def name(self, feature: str, index: int) -> str:
        """A word, or a column's name alone, where what a method calls it says its value as well."""
        return self.names[index] if 0 <= index < len(self.names) else feature


def of_text(look: Look[ShownText]) -> Subject:
    """A text case."""
    shown = look.shown
    return Subject(
        target=look.target,
        probability=look.probability,
        classes=look.classes,
        answers=shown.answer is not None,
        one="word",
        many="words",
        inputs="texts",
        names=shown.words,
        written=tuple(
            (s.name, tuple(Letters(p.text, p.word) for p in pieces(shown, i, answers=False)))
            for i, s in enumerate(shown.segments)
        ),
    )


def of_table(look: Look[ShownTable]) -> Subject:
    """A row of a table."""
    return Subject(
        target=look.target,
        probability=look.probability,
        classes=look.classes,
        one="column",
        many="columns",
        inputs="rows",
        names=look.shown.columns,
        values=look.shown.values,
    )


def of_any(look: Look[object]) -> Subject:
    """A case whose features have no names, as an image's."""
    return Subject(look.target, look.probability, look.classes)
