"""Pairs about two people whose words are the same and whose meanings may not be.

For each of three heuristics of McCoy et al. (2019) there are templates where it is right and
templates where it misleads: lexical overlap (all words of the hypothesis are in the premise),
subsequence (they stand there in a row) and constituent (they are a clause of it). The diagnostic
set, in the manner of their HANS, takes all templates alike; training sees few that mislead, and
some of them never.
"""

from typing import NamedTuple

import numpy as np

from humetric.data.embedded.inference_words import PEOPLE
from humetric.data.embedded.wording import pick, seeded, several, split_of, unmark, words

HEURISTICS = ("lexical overlap", "subsequence", "constituent")
TRAINING = "none"
"""In place of a heuristic: templates for training only, which no bag of words can tell apart."""
DIAGNOSTIC = 600
"""Cases of the diagnostic set."""

_DO = words("helped thanked called followed greeted warned praised paid")
_REST = words("slept danced waited laughed sang left")
_BY = words("near behind beside")


class Template(NamedTuple):
    """A premise and a hypothesis over {a}, {b}, {c} (people), {do}, {rest} and {other} (verbs)."""

    heuristic: str
    entailed: bool
    name: str
    premise: str
    hypothesis: str
    reason: str
    training: int = 0
    """Weight in training; 0 where training never sees it."""


TEMPLATES = (
    Template("lexical overlap", True, "passive", "The [{a}] {do} the [{b}].",
             "The [{b}] [was {do} by] the [{a}].",
             "if the {a} {do} the {b}, then the {b} was {do} by the {a}", 3),
    Template("lexical overlap", True, "one of two doers",
             "The [{a}] [and] the {c} {do} the {b}.", "The [{a}] {do} the {b}.",
             "both the {a} and the {c} {do} the {b}", 3),
    Template("lexical overlap", False, "swapped", "The [{a}] [{do}] the [{b}].",
             "The [{b}] [{do}] the [{a}].",
             "that the {a} {do} the {b} does not mean that the {b} {do} the {a}", 2),
    Template(TRAINING, False, "passive swapped", "The [{a}] [{do}] the [{b}].",
             "The [{a}] [was {do} by] the [{b}].",
             "the {a} {do} the {b}, which does not mean that the {a} was {do} by the {b}", 3),
    Template("lexical overlap", False, "passive turned",
             "The [{a}] [was {do} by] the [{b}].", "The [{a}] {do} the [{b}].",
             "the {a} was {do} by the {b}, and not the other way round"),
    Template("subsequence", True, "one of two", "The {a} [and] the [{b}] [{rest}].",
             "The [{b}] [{rest}].", "if both {rest}, the {b} {rest}", 3),
    Template("subsequence", True, "place left out", "The [{a}] [{do}] the {b} in the park.",
             "The [{a}] [{do}] the {b}.",
             "whoever {do} the {b} in the park {do} the {b}", 2),
    Template("subsequence", False, "beside", "The [{a}] [{by}] the [{b}] [{rest}].",
             "The [{b}] [{rest}].", "the {a} {rest}, and the {b} was only {by} the {a}", 2),
    Template(TRAINING, True, "who was beside", "The [{a}] {by} the {b} [{rest}].",
             "The [{a}] [{rest}].", "the {a} who was {by} the {b} {rest}", 3),
    Template("subsequence", False, "relative clause", "The [{a}] [who] {do} the [{b}] [{rest}].",
             "The [{b}] [{rest}].", "the {a} {rest}, and the {b} may not have"),
    Template("constituent", True, "because", "[Because] the [{a}] [{rest}], the {b} {other}.",
             "The [{a}] [{rest}].", "it says why the {b} {other}: the {a} {rest}", 2),
    Template("constituent", True, "after", "The {b} {other} [after] the [{a}] [{rest}].",
             "The [{a}] [{rest}].", "first the {a} {rest}, and after that the {b} {other}", 2),
    Template("constituent", False, "if", "[If] the [{a}] [{rest}], the {b} {other}.",
             "The [{a}] [{rest}].", "we only know what happened if the {a} {rest}"),
    Template("constituent", False, "believed", "The {b} [believed] that the [{a}] [{rest}].",
             "The [{a}] [{rest}].", "what the {b} believed about the {a} need not be true"),
)  # fmt: skip


class Diagnostic(NamedTuple):
    """One case of the diagnostic set."""

    premise: str
    hypothesis: str
    entailed: bool
    heuristic: str
    template: str


def diagnostic(index: int) -> Diagnostic:
    """The case at `index`: heuristics take turns, and so do entailed and not entailed."""
    if not 0 <= index < DIAGNOSTIC:
        raise IndexError(f"Expected an index in 0..{DIAGNOSTIC - 1} but got {index}.")
    heuristic, entailed = HEURISTICS[index % 3], index // 3 % 2 == 0
    fitting = [t for t in TEMPLATES if (t.heuristic, t.entailed) == (heuristic, entailed)]
    rng = seeded(f"inference/diagnostic/{index}")
    while True:
        chosen = pick(rng, fitting)
        premise, hypothesis = (unmark(text)[0] for text in _fill(rng, chosen)[:2])
        if split_of(premise) == "pool":
            return Diagnostic(premise, hypothesis, entailed, heuristic, chosen.name)


def two_people(rng: np.random.Generator, label: int) -> tuple[str, str, int, str, str]:
    """Premise, hypothesis, label, reason and kind of a training pair; label 0 is entailment."""
    wanted = [t for t in TEMPLATES if t.entailed == (label == 0) for _ in range(t.training)]
    chosen = pick(rng, wanted)
    premise, hypothesis, reason = _fill(rng, chosen)
    return premise, hypothesis, label, reason, chosen.name


def _fill(rng: np.random.Generator, template: Template) -> tuple[str, str, str]:
    """Premise, hypothesis and reason about some people."""
    a, b, c = several(rng, PEOPLE, 3)
    rest, other = several(rng, _REST, 2)
    do, by = pick(rng, _DO), pick(rng, _BY)
    texts = (
        text.format(a=a, b=b, c=c, do=do, rest=rest, other=other, by=by).replace(
            "was saw", "was seen"
        )
        for text in (template.premise, template.hypothesis, template.reason)
    )
    premise, hypothesis, reason = texts
    return premise, hypothesis, reason
