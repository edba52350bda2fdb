"""Film reviews of a few clauses: negation, contrast and several aspects, and a known label.

A review judges one to three aspects of a film; a judgement is a word of praise or blame, which may
be negated. The rule: after a contrast ("but", "although ...,") the main clause decides; without
one, all judgements agree, or two outvote one. Words are drawn by rank, so that some hardly occur in
training; remarks that judge nothing stand between. The marks are the deciding words of praise and
blame with their negations, and the word that makes the contrast.

In the manner of the sentence-long film reviews that Hase and Bansal (2020) showed to people.
Written for humetric: vocabulary and sentences come from here, licensed as the package.
"""

from typing import NamedTuple

import numpy as np

from humetric.data.embedded.wording import (
    Text,
    chance,
    pick,
    sentence,
    settle,
    several,
    unmark,
    words,
    zipf,
)

CLASSES = ("negative", "positive")
VERSION = 1

ASPECTS = words(
    "plot|story|script|dialogue|cast|lead|music|soundtrack|camera work|pacing|ending|opening|"
    "humour|direction|editing|love story|villain|final scene|set design|premise"
)
"""What a clause is about; all take a singular verb."""

PRAISE = words(
    "good great funny clever moving charming gripping lovely brilliant fresh smart warm elegant "
    "touching sharp witty graceful vivid tender inventive delightful thrilling honest polished "
    "playful luminous assured absorbing riveting masterly radiant beguiling sprightly limber "
    "piquant resonant nimble exquisite heartfelt rousing"
)
BLAME = words(
    "bad dull boring weak silly clumsy awful tedious flat stale predictable lazy messy hollow "
    "tired shallow annoying lifeless bland confused dreary wooden sloppy forgettable pointless "
    "contrived grating muddled plodding insipid vapid turgid stilted inane mawkish leaden trite "
    "ponderous cloying charmless"
)
"""Words that decide, the commonest first."""

_VERBS = ("is", "is", "is", "feels", "remains", "seems")
_HOW = ("", "", "", "", "really ", "rather ", "simply ", "quite ", "truly ")
_NOT = ("is [not] {}", "is [not] {}", "is [never] {}", "is [hardly] {}", "is [far from] {}",
        "is [anything but] {}", "does [not] feel {}", "[no longer] feels {}")  # fmt: skip
_CONTRAST = (
    "{less}, [but] {main}",
    "{less}, [but] {main}",
    "{less}, [yet] {main}",
    "[although] {less}, {main}",
    "[although] {less}, {main}",
    "{main}, [even though] {less}",
    "[despite] what people say, {main}",
    "{less}; [still], {main}",
)
_REMARKS = (
    "I saw it on a rainy Tuesday.",
    "We had seats near the front.",
    "It runs for about two hours.",
    "My sister chose the film.",
    "It is based on a novel.",
    "The cinema was half full.",
    "It was filmed on an island.",
    "I had read nothing about it.",
    "It is the second part of three.",
    "They showed it with subtitles.",
)


class _Clause(NamedTuple):
    """A judgement, its deciding words in brackets."""

    said: str
    positive: bool

    @property
    def unmarked(self) -> str:
        """The same without brackets."""
        return unmark(self.said)[0]


def draw(index: int, split: str) -> Text:
    """The review at `index` of `split`; every other one is positive."""
    label = index % 2
    return settle("reviews", split, index, lambda rng: compose(rng, label), lambda r: r.text)


def compose(rng: np.random.Generator, label: int) -> Text:
    """A review whose deciding judgement is that of `label`."""
    positive = label == 1
    aspects = several(rng, ASPECTS, 3)
    form = int(rng.integers(10))
    if form < 2:
        body = sentence(_clause(rng, aspects[0], positive).said) + "."
    elif form < 6:
        body = _contrast(rng, aspects, positive)
    elif form < 8:
        one, other = (_clause(rng, aspect, positive) for aspect in aspects[:2])
        body = sentence(f"{one.said} and {other.said}") + "."
    else:
        body = _outvoted(rng, aspects, positive)
    lines = [body]
    if chance(rng, 35):
        lines.insert(int(rng.integers(2)), pick(rng, _REMARKS))
    text, marks = unmark(" ".join(lines))
    return Text(text, label, marks)


def _clause(rng: np.random.Generator, aspect: str, positive: bool) -> _Clause:
    """A judgement of an aspect, negated in about a third."""
    negated = chance(rng, 35)
    word = zipf(rng, PRAISE if positive != negated else BLAME)
    if negated:
        return _Clause(f"the {aspect} " + pick(rng, _NOT).format(f"[{word}]"), positive)
    return _Clause(f"the {aspect} {pick(rng, _VERBS)} {pick(rng, _HOW)}[{word}]", positive)


def _contrast(rng: np.random.Generator, aspects: list[str], positive: bool) -> str:
    """Two judgements that differ; the main clause decides."""
    main = _clause(rng, aspects[0], positive)
    less = _clause(rng, aspects[1], not positive)
    return sentence(pick(rng, _CONTRAST).format(main=main.said, less=less.unmarked)) + "."


def _outvoted(rng: np.random.Generator, aspects: list[str], positive: bool) -> str:
    """Three judgements, two of which outvote the third."""
    clauses = [_clause(rng, aspect, positive).said for aspect in aspects[:2]]
    clauses.insert(int(rng.integers(3)), _clause(rng, aspects[2], not positive).unmarked)
    return sentence(f"{clauses[0]}, {clauses[1]} and {clauses[2]}") + "."
