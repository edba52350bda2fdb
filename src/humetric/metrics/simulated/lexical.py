"""Questions as a lexical reader sees them, who knows words and nothing of what they mean.

It knows content words (all but the stop words of alignment/stop_words.py), sentences, and which
words of the passage are in the question, too: the same letters, whatever the capitals, signs around
them or a possessive "'s"; it knows no other forms of a word, and no synonyms. Its *belief* is that
the sentence with most of the question's content words answers the question; of several such
sentences the one with words that fewer sentences have, then the first.

Of a map it sees what people saw in Gonzalez et al. (2021): the ten words of highest attribution, in
question and passage, as dark as they are important; nothing else. Where fewer are positive, fewer
are shown, and of a map that is the same everywhere none: there is nothing to see in it. Ties are
broken by the permutation that belongs to the case (metrics/ranking.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad

from humetric.alignment.stop_words import is_stop
from humetric.metrics.panel import Panel
from humetric.metrics.ranking import ranks
from humetric.tasks.text import PASSAGE
from humetric.tasks.words import bare

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TOP = 10
"""Words that are highlighted, as in the study."""


class Reading(NamedTuple):
    """What the words of a question and its passage are to the reader; one number for each."""

    sentence: Ints
    """Of the passage, from 0; -1 in the question."""
    content: Bools
    repeated: Bools
    """Content words of the passage that are in the question, too."""
    belief: int
    """The sentence that is believed to hold the answer; -1 if none has a word of the question."""

    @property
    def relevant(self) -> Bools:
        """Content words of the question and of the belief sentence."""
        found: Bools = self.content & ((self.sentence < 0) | (self.sentence == self.belief))
        return found

    @property
    def expected(self) -> Bools:
        """Words that may be the answer: content words of the belief sentence that are not in the
        question; of the whole passage, where there are none."""
        new: Bools = self.content & ~self.repeated & (self.sentence >= 0)
        inside: Bools = new & (self.sentence == self.belief)
        return inside if inside.any() else new


def reading(words: Sequence[str], segment: Sequence[int]) -> Reading:
    """A question with its passage as the reader sees it."""
    plain = [_plain(word) for word in words]
    passage = np.array(segment) == PASSAGE
    content = np.array([not is_stop(word) for word in plain])
    asked = {w for w, c, p in zip(plain, content, passage, strict=True) if c and not p}
    repeated = np.array([word in asked for word in plain]) & passage
    sentence = np.full(len(plain), -1)
    sentence[passage] = sentences([w for w, p in zip(words, passage, strict=True) if p])
    return Reading(sentence, content, repeated, _belief(plain, sentence, repeated))


def readings(panel: Panel) -> list[Reading]:
    """The learning cases of a panel as the reader sees them."""

    def make() -> list[Reading]:
        _, texts = panel.cases.text()
        pairs = zip(texts.words, texts.segment, strict=True)
        return [reading(*pair) for pair, _ in zip(pairs, range(panel.learning), strict=False)]

    return panel.cases.once(("readings", panel.learning), make)


def sentences(words: Sequence[str]) -> list[int]:
    """The sentence of each word, from 0.

    One ends with a word that ends with . ! or ?, quotes and brackets aside, unless the word is an
    initial ("J.") or the next one begins with a small letter.
    """
    found, number = [], 0
    for word, after in zip(words, [*words[1:], ""], strict=True):
        found.append(number)
        end = word.rstrip("\"')]\N{RIGHT SINGLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}")
        initial = len(end) == 2 and end[0].isupper()
        number += end.endswith((".", "!", "?")) and not initial and not after[:1].islower()
    return found


def _plain(word: str) -> str:
    """A word in lower case without signs around it and without a possessive "'s"."""
    lower = bare(word).lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return lower.removesuffix("'s")


def _belief(plain: Sequence[str], sentence: Ints, repeated: Bools) -> int:
    """The sentence with most of the question's words; -1 if none has any."""
    has: dict[int, set[str]] = {}
    for i in np.flatnonzero(repeated):
        has.setdefault(int(sentence[i]), set()).add(plain[i])
    if not has:
        return -1
    rare = {
        word: 1 / sum(word in other for other in has.values())
        for own in has.values()
        for word in own
    }
    return max(has, key=lambda s: (len(has[s]), round(sum(rare[word] for word in has[s]), 9), -s))


def shades(attribution: Tensor, panel: Panel) -> list[Floats]:
    """What is highlighted of each learning case: a number per word, 1 for the darkest, 0 for none.

    attribution: (learning cases, features) as in Shown.
    """
    cases = panel.cases
    every = pad(attribution, (0, 0, 0, len(cases) - len(attribution)))
    rank = ranks(every.to(cases.device), cases).cpu().numpy()
    found = []
    for own, place, n in zip(attribution.numpy(), rank, cases.lengths, strict=False):
        own, place = own[:n], place[:n]
        shown = (place < TOP) & (own > 0) & (own.max() > own.min())
        found.append(np.where(shown, own, 0.0) / (own.max() if shown.any() else 1.0))
    return found
