"""The reader of the edit attack: which word it takes out of a text next, and what it remembers.

With an explanation on the screen it goes by that: the most highlighted word first. Without one it
goes by what it remembers of words:

- how much more each was highlighted where the model gave this output than where it gave another
  (1 is an average word), with one case's worth of belief that it is an average word;
- what taking it out did to the odds of the output, with one try's worth of belief in what its
  highlight promises. How much a highlight promises it has from its own tries, too: a straight line
  through what each did against how much the word was highlighted, with a belief worth one highlight
  that what a word does is in proportion to it. It trusts no more than it can be sure of, the slope
  less its standard error; where highlights promise nothing, or the opposite, it does without them.

A word that took nothing off the confidence in a text is not tried there again before all others.
Equally good words are decided by a coin. It reads odds, not points of confidence, since the same
word costs few points where the model is sure of itself. It knows no language: unlike people it has
no idea which words matter before it has seen or tried them, and does not care what a text says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humetric.metrics.simulated.terms import Floats

Ints = NDArray[np.int64]

EDITS = 8
"""At most so many for each text: the study's people made 7.5 on average."""
BELIEF = 1.0
"""Cases, tries and highlights that what it believes beforehand is worth."""
NOTICED = 1e-6
"""The least reduction of confidence that is one: less is rounding."""
SURE = 1e-6
"""Odds are not told apart beyond this distance from certainty."""


class Try(NamedTuple):
    """A word that was taken out."""

    word: int
    above: float
    """How much more than the average it was highlighted, or remembered to be."""
    drop: float
    """What that took off the log odds of the output."""


@dataclass
class Sheet:
    """A text before a person who edits it."""

    case: int
    term: Ints
    """(words,)."""
    first: float
    """The model's confidence in the output before the first edit."""
    coin: Floats
    """(words,)."""
    worth: Floats
    """(words,): what the person goes by, highlights or beliefs; largest first."""
    highlight: Floats
    """(words,): highlights on the screen or remembered, 1 for an average word."""
    flipped: bool = False
    now: float = field(init=False)
    """Confidence in the output after the edits that were kept."""
    deleted: list[int] = field(default_factory=list)
    tried: list[Try] = field(default_factory=list)
    _views: Floats = field(init=False, repr=False)
    _seen: Ints = field(init=False, repr=False)
    _last: Ints = field(init=False, repr=False)
    """(words,): 1 for a word that failed elsewhere in the text, 2 for one that was tried."""

    def __post_init__(self) -> None:
        self.now = self.first
        self._last = np.zeros(len(self.term), dtype=np.int64)
        self._views, self._seen = self.highlight.copy(), np.ones(len(self.term), dtype=np.int64)

    @property
    def most(self) -> int:
        """Words that may go: the study discards texts that half of the words are deleted of.

        It also discards an edit distance above .9 of the words; deletions never get there before.
        """
        return (len(self.term) - 1) // 2

    @property
    def open(self) -> bool:
        """Whether there is another edit to make."""
        left = len(self.tried) < min(EDITS, len(self.term))
        return left and len(self.deleted) < self.most and not self.flipped

    @property
    def reduced(self) -> float:
        """The largest reduction of confidence so far; undefined where no edit is permitted."""
        return self.first - self.now if self.most and self.tried else float("nan")

    @property
    def seen(self) -> Floats:
        """(words,): how much each was highlighted, on average over what was on the screen."""
        found: Floats = self._views / self._seen
        return found

    def pick(self) -> int:
        """The word to take out next."""
        return int(np.lexsort((self.coin, -np.round(self.worth, 6), self._last))[0])

    def told(self, word: int, confidence: float, flipped: bool) -> bool:
        """What the model says without a word; whether the edit is kept."""
        self.tried.append(Try(word, self.highlight[word] - 1, odds(self.now) - odds(confidence)))
        kept = self.now - confidence > NOTICED
        if kept:
            self.deleted.append(word)
            self.now, self.flipped = confidence, flipped
        else:
            self._last[(self.term == self.term[word]) & (self._last == 0)] = 1
        self._last[word] = 2
        return kept

    def look(self, highlight: Floats, there: NDArray[np.bool_]) -> None:
        """A new explanation, of the words that are still there."""
        self.worth = self.highlight = np.where(there, highlight, 0.0)
        self._views += self.highlight
        self._seen += there


def odds(confidence: float) -> float:
    """Log odds of a probability."""
    p = min(max(confidence, SURE), 1 - SURE)
    return math.log(p / (1 - p))


class Remembered(NamedTuple):
    """What a person knows of words when it is about an output."""

    worth: Floats
    """(terms,): what taking a word out may do to the log odds."""
    highlight: Floats
    """(terms,): how much it was highlighted, 1 for an average word."""


class Memory:
    """What a person remembers of texts that it has edited."""

    def __init__(self, outputs: int, terms: int) -> None:
        shape = outputs, terms
        self.highlight, self.cases = np.zeros(shape), np.zeros(shape)
        self.drop, self.times = np.zeros(shape), np.zeros(shape)
        self.tries: list[Try] = []

    def note(self, output: int, term: Ints, highlight: Floats) -> None:
        """How much some words were highlighted where the model gave an output."""
        np.add.at(self.highlight[output], term, highlight - 1)
        np.add.at(self.cases[output], term, 1)

    def add(self, output: int, sheet: Sheet) -> None:
        """A text that was edited with an explanation on the screen."""
        self.note(output, sheet.term, sheet.seen)
        for each in sheet.tried:
            self.drop[output, sheet.term[each.word]] += each.drop
            self.times[output, sheet.term[each.word]] += 1
        self.tries += sheet.tried

    def of(self, output: int) -> Remembered:
        """What it believes of words where the model gives an output."""
        above = self._toward(output, self.highlight) / (BELIEF + self.cases.sum(0))
        promised = line(self.tries, above)
        drop = self._toward(output, self.drop)
        worth = (BELIEF * promised + drop) / (BELIEF + self.times.sum(0))
        return Remembered(worth, above + 1)

    def _toward(self, output: int, sums: Floats) -> Floats:
        """What speaks for an output, less what speaks for another."""
        own = sums[output]
        found: Floats = own - (sums.sum(0) - own) / max(1, len(sums) - 1)
        return found


def line(tries: list[Try], above: Floats) -> Floats:
    """What words do that are highlighted so much above the average, judging by some tries."""
    if not tries:
        return above
    x, drop = np.array([t.above for t in tries]), np.array([t.drop for t in tries])
    size = ((x + 1) ** 2).sum()
    prior = ((x + 1) * drop).sum() / size if size > 0 else 0.0
    apart, weight = x - x.mean(), BELIEF + ((x - x.mean()) ** 2).sum()
    slope = (BELIEF * prior + (apart * drop).sum()) / weight
    rest = drop - drop.mean() - slope * apart
    error = np.sqrt((rest**2).sum() / max(1, len(tries) - 2) / weight)
    found: Floats = drop.mean() + max(0.0, slope - error) * (above - x.mean())
    return found
