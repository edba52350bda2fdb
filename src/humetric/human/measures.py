"""What the measures of analysed responses are: words and kind, for study.toml."""

from __future__ import annotations

import re
from typing import NamedTuple

from humetric.human.study import MeasureKind


class Meaning(NamedTuple):
    """A measure in words."""

    description: str
    kind: MeasureKind
    derived_from: tuple[str, ...] = ()
    """Patterns of measures that the same responses gave."""


MEANINGS: tuple[tuple[str, Meaning], ...] = (
    (r"accuracy-change", Meaning("Accuracy after explanations minus before.", "success")),
    (r"pre-accuracy", Meaning("Accuracy before explanations, random-effects model.", "success")),
    (r"rating", Meaning("Ratings of the explanations.", "rating")),
    (r"accuracy-model-answer", Meaning("Responses that are the model's answer.", "success")),
    (
        r"accuracy-gold-answer",
        Meaning(
            "Responses that are the true answer: belief bias.", "other", ("accuracy-model-answer",)
        ),
    ),
    (r"seconds", Meaning("Seconds per response.", "time")),
    (r"selection-accuracy", Meaning("Choices of the better of two models.", "success")),
    (
        r"utility",
        Meaning(
            "Mean accuracy over sessions, over that without explanations.",
            "success",
            (r"accuracy-\d+",),
        ),
    ),
    (r"accuracy-\d+", Meaning("Accuracy in the test of a session.", "success")),
    (r"total-time", Meaning("Sum of response times of a participant.", "time")),
    (r"simulation-accuracy", Meaning("Right guesses of the model's output.", "success")),
    (
        r"flipped-(train|test)",
        Meaning("Inputs whose output the edits changed.", "success", (r"confidence-reduced-\1",)),
    ),
    (r"confidence-reduced-(train|test)", Meaning("Confidence taken by the edits.", "success")),
    (r"highlighted-reduction", Meaning("Reduction due to edits of top 20% words.", "other")),
    (r"highlighted-.*", Meaning("Edits made on the top 20% highlighted words.", "other")),
    (r"alignment.*", Meaning("Importance alignment above a random explanation.", "other")),
)
SUFFIXES = (
    ("-all-trials", " Training trials included."),
    ("-by-test", " The same responses by kind of test."),
)


def meaning(measure: str, others: tuple[str, ...]) -> Meaning:
    """What a measure is, and which of the others come from the same responses."""
    stem, said = measure, ""
    own: tuple[str, ...] = ()
    for suffix, words in SUFFIXES:
        if measure.endswith(suffix):
            stem, said = measure.removesuffix(suffix), words
            own = tuple(name for name in others if name == stem)
    for pattern, found in MEANINGS:
        match = re.fullmatch(pattern, stem)
        if match:
            wanted = [match.expand(p) if r"\1" in p else p for p in found.derived_from]
            same = tuple(o for o in others if any(re.fullmatch(w, o) for w in wanted))
            return Meaning(found.description + said, found.kind, own or same)
    return Meaning(f"{measure}.", "other")
