"""Scenes of the embedded inference set: what a sentence says, and what can be done to it.

A scene is what one sentence says, in parts: how many, of what kind, who, whether not, doing what,
with what, where. A step turns a scene into another; what is true of the second given the first is
known, and so is a reason that names the words it hangs on. Sentences are read as people read such
pairs, as about the same event.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from humetric.data.embedded.inference_words import (
    ACTIONS,
    ADJECTIVES,
    ANIMALS,
    FAMILIES,
    HYPERNYM,
    INDOORS,
    MOVES,
    OPPOSITE,
    OUTDOORS,
    PEOPLE,
    RESTS,
    plural,
)
from humetric.data.embedded.wording import chance, pick, sentence, several, zipf

ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)
QUANTITIES = ("a", "some", "all", "no", "two")


@dataclass(frozen=True)
class Scene:
    """What a sentence says."""

    quantity: str
    subject: str
    verb: str
    kind: str = ""
    thing: str = ""
    place: str = ""
    negated: bool = False

    @property
    def many(self) -> bool:
        """Whether the subject stands in the plural."""
        return self.quantity != "a"

    @property
    def who(self) -> str:
        """The subject, as one or as many."""
        return plural(self.subject) if self.many else self.subject

    @property
    def be(self) -> str:
        """The form of "to be"."""
        return "are" if self.many else "is"

    def says(self, marks: tuple[str, ...] = ()) -> str:
        """The sentence, with the parts named in `marks` in square brackets."""
        parts = {
            "quantity": self.quantity,
            "kind": self.kind,
            "subject": self.who,
            "be": self.be,
            "negated": "not" if self.negated else "",
            "verb": self.verb,
            "thing": self.thing,
            "place": self.place,
        }
        words = []
        for name, part in parts.items():
            if part:
                shown = f"[{part}]" if name in marks else part
                words.append(f"a {shown}" if name == "thing" else shown)
        return sentence(" ".join(words)) + "."


def scene(rng: np.random.Generator) -> Scene:
    """Any scene; people do things to things, animals only move and rest."""
    person = chance(rng, 75)
    subject = zipf(rng, PEOPLE if person else ANIMALS)
    quantity = pick(rng, ("a", "a", "a", "some", "all", "no", "two"))
    if person and chance(rng, 65):
        verb = pick(rng, list(ACTIONS))
        thing = zipf(rng, FAMILIES[pick(rng, ACTIONS[verb])])
    else:
        verb, thing = zipf(rng, MOVES if chance(rng, 50) else RESTS), ""
    kind = pick(rng, ADJECTIVES) if chance(rng, 50) else ""
    place = zipf(rng, OUTDOORS if chance(rng, 50) else INDOORS) if chance(rng, 60) else ""
    negated = quantity in ("a", "two") and chance(rng, 15)
    return Scene(quantity, subject, verb, kind, thing, place, negated)


@dataclass(frozen=True)
class Step:
    """Another scene, its relation to the first, why, and the parts that it hangs on."""

    scene: Scene
    label: int
    reason: str
    before: tuple[str, ...]
    """Parts of the first scene that decide."""
    after: tuple[str, ...]
    """Parts of the second."""
    name: str


Maker = Callable[[np.random.Generator, Scene], Step | None]


def _an(noun: str) -> str:
    return f"a {noun}"


def widen_subject(rng: np.random.Generator, s: Scene) -> Step | None:
    """Every farmer is a person; of no or all farmers, it would say something about other people."""
    if s.negated or s.quantity in ("no", "all") or s.subject not in HYPERNYM:
        return None
    family = HYPERNYM[s.subject]
    why = pick(rng, (f"{_an(s.subject)} is {_an(family)}", f"every {s.subject} is {_an(family)}"))
    changed = replace(s, subject=family)
    return Step(changed, ENTAILMENT, why, ("subject",), ("subject",), "hypernym")


def widen_thing(rng: np.random.Generator, s: Scene) -> Step | None:
    """Who plays a guitar plays an instrument."""
    if not s.thing or s.negated or s.quantity == "no" or s.thing not in HYPERNYM:
        return None
    family = HYPERNYM[s.thing]
    why = pick(
        rng,
        (
            f"{_an(s.thing)} is a kind of {family}",
            f"whoever is {s.verb} {_an(s.thing)} is {s.verb} {_an(family)}",
        ),
    )
    return Step(replace(s, thing=family), ENTAILMENT, why, ("thing",), ("thing",), "hypernym")


def widen_verb(rng: np.random.Generator, s: Scene) -> Step | None:
    """Who runs moves."""
    if s.verb not in MOVES or s.negated or s.quantity == "no":
        return None
    why = pick(rng, (f"{s.verb} is a way of moving", f"whoever is {s.verb} is moving"))
    return Step(replace(s, verb="moving"), ENTAILMENT, why, ("verb",), ("verb",), "hypernym")


def widen_place(rng: np.random.Generator, s: Scene) -> Step | None:
    """Who is in the park is outdoors."""
    if s.place not in (*OUTDOORS, *INDOORS) or s.negated or s.quantity == "no":
        return None
    wide = "outdoors" if s.place in OUTDOORS else "indoors"
    why = f"whoever is {s.place} is {wide}"
    return Step(replace(s, place=wide), ENTAILMENT, why, ("place",), ("place",), "hypernym")


def leave_out(rng: np.random.Generator, s: Scene) -> Step | None:
    """The sentence without its adjective or its place says less; negated, it says more."""
    parts = [part for part in ("kind", "place") if getattr(s, part)]
    if not parts or s.negated or s.quantity in ("no", "all"):
        return None
    part = pick(rng, parts)
    said = getattr(s, part)
    if part == "kind":
        why = f"{s.who} who are {said} are still {s.who}" if s.many else (
            f"{_an(said)} {s.subject} is still {_an(s.subject)}"
        )  # fmt: skip
        return Step(replace(s, kind=""), ENTAILMENT, why, ("kind", "subject"), ("subject",), "less")
    why = f"whoever is {s.verb} {said} is {s.verb}"
    return Step(replace(s, place=""), ENTAILMENT, why, ("place", "verb"), ("verb",), "less")


def fewer(rng: np.random.Generator, s: Scene) -> Step | None:
    """If all or two are, some are; if none are, some are not."""
    if s.negated or s.quantity not in ("all", "two", "no"):
        return None
    if s.quantity == "no":
        why = f"if no {s.who} are {s.verb}, they are not {s.verb}"
        changed = replace(s, quantity="some", negated=True)
        return Step(changed, ENTAILMENT, why, ("quantity",), ("quantity", "negated"), "quantifier")
    why = f"if {s.quantity} {s.who} are {s.verb}, some {s.who} are"
    changed = replace(s, quantity="some")
    return Step(changed, ENTAILMENT, why, ("quantity",), ("quantity",), "quantifier")


def none_is(rng: np.random.Generator, s: Scene) -> Step | None:
    """If it is not, it is not; said with "no" of one that is not."""
    if not s.negated or s.quantity != "a":
        return None
    opposite = replace(s, negated=False)
    why = f"the {s.subject} is not {s.verb}, so one cannot say that the {s.subject} is {s.verb}"
    return Step(opposite, CONTRADICTION, why, ("negated", "verb"), ("verb",), "negation")


def still_not(rng: np.random.Generator, s: Scene) -> Step | None:
    """Who is not running, is not running in the park; negation turns adding into entailment."""
    if not s.negated or s.place or s.quantity != "a":
        return None
    place = pick(rng, (*OUTDOORS, *INDOORS))
    why = f"who is not {s.verb} at all is not {s.verb} {place}"
    changed = replace(s, place=place)
    return Step(changed, ENTAILMENT, why, ("negated", "verb"), ("negated", "place"), "negation")


def add_kind(rng: np.random.Generator, s: Scene) -> Step | None:
    """Nobody said that the farmer is young."""
    if s.kind or s.negated or s.quantity in ("no", "all"):
        return None
    kind = pick(rng, ADJECTIVES)
    why = pick(
        rng,
        (
            f"the {s.who} need not be {kind}",
            f"nothing says that the {s.who} {s.be} {kind}",
            f"not every {s.subject} is {kind}",
        ),
    )
    return Step(replace(s, kind=kind), NEUTRAL, why, ("subject",), ("kind",), "more")


def add_place(rng: np.random.Generator, s: Scene) -> Step | None:
    """Nobody said where."""
    if s.place or s.negated or s.quantity == "no":
        return None
    place = zipf(rng, OUTDOORS if chance(rng, 50) else INDOORS)
    why = pick(
        rng,
        (
            f"the {s.who} could be {s.verb} anywhere, not only {place}",
            f"nothing says that the {s.verb} happens {place}",
        ),
    )
    return Step(replace(s, place=place), NEUTRAL, why, ("verb",), ("place",), "more")


def more(rng: np.random.Generator, s: Scene) -> Step | None:
    """Some are not all."""
    if s.negated or s.quantity not in ("some", "two"):
        return None
    why = pick(
        rng,
        (
            f"that {s.quantity} {s.who} are does not mean that all are",
            f"{s.quantity} {s.who} are not all {s.who}",
        ),
    )
    return Step(
        replace(s, quantity="all"), NEUTRAL, why, ("quantity",), ("quantity",), "quantifier"
    )


def other_kind(rng: np.random.Generator, s: Scene) -> Step | None:
    """Young excludes old."""
    if not s.kind or s.negated or s.quantity in ("no", "all"):
        return None
    kind = OPPOSITE[s.kind]
    why = pick(
        rng,
        (f"nobody is both {s.kind} and {kind}", f"{_an(s.kind)} {s.subject} is not {kind}"),
    )
    return Step(replace(s, kind=kind), CONTRADICTION, why, ("kind",), ("kind",), "antonym")


def other_thing(rng: np.random.Generator, s: Scene) -> Step | None:
    """A guitar is no violin."""
    if s.thing not in HYPERNYM or s.negated or s.quantity == "no":
        return None
    family = FAMILIES[HYPERNYM[s.thing]]
    thing = zipf(rng, [noun for noun in family if noun != s.thing])
    why = pick(
        rng, (f"{_an(s.thing)} is not {_an(thing)}", f"it is {_an(s.thing)} and not {_an(thing)}")
    )
    return Step(replace(s, thing=thing), CONTRADICTION, why, ("thing",), ("thing",), "exclusion")


def other_verb(rng: np.random.Generator, s: Scene) -> Step | None:
    """Nobody sleeps and runs."""
    if s.thing or s.negated or s.quantity == "no":
        return None
    verb = zipf(rng, RESTS if s.verb in MOVES else MOVES)
    why = pick(
        rng,
        (f"nobody can be {s.verb} and {verb} at once", f"whoever is {s.verb} is not {verb}"),
    )
    return Step(replace(s, verb=verb), CONTRADICTION, why, ("verb",), ("verb",), "exclusion")


def other_place(rng: np.random.Generator, s: Scene) -> Step | None:
    """Nobody is in two places."""
    if s.place not in (*OUTDOORS, *INDOORS) or s.negated or s.quantity == "no":
        return None
    place = zipf(rng, INDOORS if s.place in OUTDOORS else OUTDOORS)
    why = pick(
        rng,
        (f"nobody can be {s.place} and {place} at once", f"whoever is {s.place} is not {place}"),
    )
    return Step(replace(s, place=place), CONTRADICTION, why, ("place",), ("place",), "exclusion")


def deny(rng: np.random.Generator, s: Scene) -> Step | None:
    """It is, so it is wrong that it is not."""
    if s.negated or s.quantity not in ("a", "two"):
        return None
    why = f"the {s.who} {s.be} {s.verb}, so it is wrong that the {s.who} {s.be} not"
    changed = replace(s, negated=True)
    return Step(changed, CONTRADICTION, why, ("verb",), ("negated",), "negation")


def none(rng: np.random.Generator, s: Scene) -> Step | None:
    """Some are, so it is wrong that none are; and the other way round."""
    if s.negated or s.quantity == "a":
        return None
    if s.quantity == "no":
        quantity = pick(rng, ("some", "two", "all"))
        why = f"if no {s.who} are {s.verb}, then {quantity} {s.who} cannot be {s.verb}"
    else:
        quantity = "no"
        why = f"if {s.quantity} {s.who} are {s.verb}, it is wrong that no {s.who} are"
    changed = replace(s, quantity=quantity)
    return Step(changed, CONTRADICTION, why, ("quantity",), ("quantity",), "quantifier")


STEPS: dict[int, tuple[Maker, ...]] = {
    ENTAILMENT: (
        widen_subject,
        widen_thing,
        widen_verb,
        widen_place,
        leave_out,
        fewer,
        still_not,
    ),
    NEUTRAL: (add_kind, add_place, more),
    CONTRADICTION: (
        other_kind,
        other_thing,
        other_verb,
        other_place,
        deny,
        none,
        none_is,
    ),
}
HARMLESS: tuple[Maker, ...] = (widen_subject, widen_thing, leave_out, widen_place)
"""Steps that keep the relation when they follow another on parts that it left alone."""


def step(rng: np.random.Generator, first: Scene, label: int) -> Step | None:
    """A step of that relation, if the scene allows one."""
    for maker in several(rng, STEPS[label], len(STEPS[label])):
        made = maker(rng, first)
        if made is not None:
            return made
    return None


def two_scenes(rng: np.random.Generator, label: int) -> tuple[str, str, int, str, str]:
    """Somebody moves, somebody else rests, and one of them is of a kind.

    Gives premise, hypothesis, label, reason and the name of the step. The hypothesis says one of
    the two; or, contradicting, mixes up who does what; or, neutral, says of the other that it is of
    the kind. All its words are in the premise, whatever the label: what counts is which of them
    belong together.
    """
    nouns = PEOPLE if chance(rng, 60) else ANIMALS
    mover = zipf(rng, nouns)
    rester = zipf(rng, [noun for noun in nouns if noun != mover])
    does = {mover: zipf(rng, MOVES), rester: zipf(rng, RESTS)}
    kind, owner = pick(rng, ADJECTIVES), pick(rng, (mover, rester))
    who = pick(rng, (mover, rester))
    if label == NEUTRAL:
        who = rester if owner == mover else mover
    other = rester if who == mover else mover
    verb, marked = does[who], {who: ("noun", "verb"), other: ()}
    if label == CONTRADICTION:
        verb = does[other]
        why = f"it is the {other} that is {verb}, and the {who} is {does[who]}"
        marked[other] = ("noun", "verb")
    elif label == NEUTRAL:
        why = f"the {other} is {kind}, but the {who} need not be {kind}"
        marked = {who: ("noun",), other: ("kind", "noun")}
    else:
        why = f"it says that the {who} is {verb}"
    told = [
        _clause(noun, does[noun], kind if noun == owner else "", marked[noun])
        for noun in several(rng, [mover, rester], 2)
    ]
    premise = f"{told[0]} {pick(rng, ('and', 'while'))} {told[1]}"
    of_kind = label == NEUTRAL or (who == owner and chance(rng, 70))
    shown = ("kind", "noun") if label == NEUTRAL else ("noun", "verb")
    hypothesis = _clause(who, verb, kind if of_kind else "", shown)
    return sentence(premise) + ".", sentence(hypothesis) + ".", label, why, "which of two"


def _clause(noun: str, verb: str, kind: str, marks: tuple[str, ...]) -> str:
    """ "a young dog is running", with the parts named in `marks` in square brackets."""
    parts = {"kind": kind, "noun": noun, "be": "is", "verb": verb}
    shown = [f"[{part}]" if name in marks else part for name, part in parts.items() if part]
    return " ".join(["a", *shown])
