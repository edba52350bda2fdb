"""Questions about passages on invented towns and people, each with an adversarial version.

A passage tells four or five facts about a town or a person, and sometimes one about another. The
question asks for one fact; its answer is a span of the passage. Names are put together from
syllables, so that a reader meets most of them for the first time, in pieces it knows; no real
person or place is meant. In the adversarial version, which has the same id, a last sentence answers
the same question about somebody or something else, as in Jia and Liang (2017), whose distractors
Gonzalez et al. (2021) showed to people. The question's last word always occurs in the passage,
because a LOW model must be able to answer with it.

Written for humetric: all names, facts and sentences are invented here, licensed as the package.
"""

import re
from typing import NamedTuple

import numpy as np

from humetric.data.embedded.reading_facts import (
    INTROS,
    PERSON,
    TOWN,
    Fact,
    person_name,
    place_name,
    value,
)
from humetric.data.embedded.wording import Span, chance, pick, sentence, settle, several, unmark

VERSION = 1
NAMED_IN_QUESTIONS = ("building", "field", "device")
"""Slots whose value a question may name; the distractor repeats it, to resemble the question."""


class Question(NamedTuple):
    """A question about a passage, the span that answers it, and what was planted."""

    id: str
    """The same for the original and the adversarial version."""
    question: str
    passage: str
    answer: str
    span: Span
    """Where the answer is."""
    marks: tuple[Span, ...]
    """The answer, and the words beside it that say that it answers the question."""
    distractor: Span | None
    """Where the misleading sentence is; None in the original version."""


def draw(index: int, split: str) -> Question:
    """The original version of the question at `index` of `split`."""
    return versions(index, split)[0]


def draw_adversarial(index: int, split: str) -> Question:
    """The adversarial version of the question at `index` of `split`."""
    return versions(index, split)[1]


def versions(index: int, split: str) -> tuple[Question, Question]:
    """Both versions, under one id."""
    name = f"reading-{split}-{index}"
    return settle(
        "reading", split, index, lambda rng: compose(rng, name), lambda both: both[0].passage
    )


def last_word(question: Question) -> Span:
    """Where the question's last word first occurs in the passage: the answer of LOW."""
    word = re.findall(r"[\w,]+", question.question)[-1]
    found = re.search(rf"\b{re.escape(word)}\b", question.passage, re.IGNORECASE)
    if found is None:
        raise ValueError(f"Expected {word!r} in the passage of {question.id}.")
    return found.span()


def compose(rng: np.random.Generator, id: str) -> tuple[Question, Question]:
    """A passage, a question about it, and the same with a distractor at the end."""
    kind = pick(rng, ("town", "person"))
    facts = TOWN if kind == "town" else PERSON
    names = _names(rng, kind, 3)
    told = several(rng, facts, 5)
    asked, spare = told[0], told.pop()
    slot = pick(rng, sorted(asked.questions))
    year = _beginning(rng)
    values = [_values(rng, fact, year) for fact in told]
    question = pick(rng, asked.questions[slot]).format(it=names[0], **values[0])
    lines = [
        _tell(fact, filled, _mention(rng, kind, names[0]), slot if fact is asked else "")
        for fact, filled in zip(told, values, strict=True)
    ]
    if chance(rng, 45):
        beside = asked if chance(rng, 30) else spare
        lines.append(_tell(beside, _values(rng, beside, _beginning(rng)), names[1]))
    lines = [pick(rng, INTROS[kind]).format(it=names[0]), *several(rng, lines, len(lines))]
    passage, marks = unmark(" ".join(lines))
    answer = values[0][slot]
    span = next(place for place in marks if passage[place[0] : place[1]] == answer)
    plain = Question(id, question, passage, answer, span, marks, None)

    false = _values(rng, asked, _beginning(rng))
    while false[slot] == answer:
        false = _values(rng, asked, _beginning(rng))
    false |= {key: values[0][key] for key in NAMED_IN_QUESTIONS if key in false and key != slot}
    longer = f"{passage} {_tell(asked, false, names[2])}"
    return plain, plain._replace(passage=longer, distractor=(len(passage) + 1, len(longer)))


def _names(rng: np.random.Generator, kind: str, count: int) -> list[str]:
    """Names that have no word in common."""
    name = place_name if kind == "town" else person_name
    names: list[str] = []
    while len(names) < count:
        new = name(rng)
        if not any(set(new.split()) & set(old.split()) for old in names):
            names.append(new)
    return names


def _beginning(rng: np.random.Generator) -> int:
    """The year of a foundation or a birth."""
    return int(rng.integers(1640, 1880))


def _values(rng: np.random.Generator, fact: Fact, beginning: int) -> dict[str, str]:
    """Something for every slot of a fact."""
    year = beginning + int(rng.integers(*fact.years))
    return {slot: value(rng, slot, year) for slot in re.findall(r"<(\w+)>", fact.text)}


def _mention(rng: np.random.Generator, kind: str, name: str) -> str:
    """The name, or "the town", or the first name, which the first sentence has made clear."""
    if chance(rng, 35):
        return "the town" if kind == "town" else name.split()[0]
    return name


def _tell(fact: Fact, values: dict[str, str], name: str, answer: str = "") -> str:
    """The sentence of a fact; the words that decide are bracketed if `answer` names a slot."""
    text = fact.text.replace("{it}", name)
    if not answer:
        text = text.replace("[", "").replace("]", "")
    for slot, filled in values.items():
        text = text.replace(f"<{slot}>", f"[{filled}]" if slot == answer else filled)
    return sentence(text) + "."
