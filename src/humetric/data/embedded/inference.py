"""Pairs of sentences, whether the second follows from the first, and a reason in words.

The first sentence (premise) tells a small scene, the second (hypothesis) another that was made from
it by one deciding step: a hypernym, a quantifier, a negation, a detail more or less, an opposite, a
thing that excludes the other. In half of the pairs a harmless step is added that leaves the
relation as it is. A quarter of the pairs tell two scenes at once, and some are about two people, as
in the diagnostic set: there the words alone mislead, and their order counts. The reason names the
words that the step hangs on, as people's reasons do; the marks are where those words are.

In the manner of the pairs with reasons that Prasad et al. (2021) use. Written for humetric:
vocabulary and sentences come from here, licensed as the package.
"""

from dataclasses import fields
from typing import NamedTuple

import numpy as np

from humetric.data.embedded.inference_scenes import HARMLESS, Scene, scene, step, two_scenes
from humetric.data.embedded.inference_two import two_people
from humetric.data.embedded.wording import Span, chance, pick, sentence, settle, unmark

CLASSES = ("entailment", "neutral", "contradiction")
VERSION = 1


class Pair(NamedTuple):
    """Two sentences, their relation, why, and the words that it hangs on."""

    premise: str
    hypothesis: str
    label: int
    """Index into CLASSES."""
    reason: str
    premise_marks: tuple[Span, ...]
    hypothesis_marks: tuple[Span, ...]
    kind: str
    """What decides: hypernym, quantifier, negation, ..."""


def draw(index: int, split: str) -> Pair:
    """The pair at `index` of `split`; the three relations take turns.

    The premise alone decides the split: no premise of the pool is one of training.
    """
    label = index % 3
    return settle("inference", split, index, lambda rng: compose(rng, label), lambda p: p.premise)


def compose(rng: np.random.Generator, label: int) -> Pair:
    """A pair of that relation."""
    if chance(rng, 25):
        return pair(*two_scenes(rng, label))
    if chance(rng, 30) and label < 2:
        return pair(*two_people(rng, label))
    while True:
        first = scene(rng)
        made = step(rng, first, label)
        if made is None:
            continue
        second, before, after = made.scene, made.before, made.after
        if chance(rng, 50):
            second = _harmless(rng, first, second, {*before, *after})
        return pair(first.says(before), second.says(after), label, made.reason, made.name)


def _harmless(rng: np.random.Generator, first: Scene, second: Scene, decided: set[str]) -> Scene:
    """A further step on parts that the deciding one left alone, or none if it might matter."""
    further = pick(rng, HARMLESS)(rng, second)
    if further is None or first.negated or {first.quantity, second.quantity} & {"no", "all"}:
        return second
    names = [field.name for field in fields(Scene)]
    changed = {n for n in names if getattr(further.scene, n) != getattr(second, n)}
    return second if changed & decided else further.scene


def pair(premise: str, hypothesis: str, label: int, reason: str, kind: str) -> Pair:
    """A pair from sentences with bracketed marks."""
    first, first_marks = unmark(premise)
    second, second_marks = unmark(hypothesis)
    why = sentence(reason) + "."
    return Pair(first, second, label, why, first_marks, second_marks, kind)
