"""What the embedded reading passages can tell: invented names, facts and questions about them.

Written for humetric; no real person or place is meant.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from humetric.data.embedded.wording import pick, words

_PLACE_STARTS = words(
    "Vel Kor Dray Hal Or Ans Tam Mer Bel Fen Gar Il Quen Ros Sel Tor Ul Wes Yar Zel Bran Cal Dun "
    "Esk Lor Nar Pel Rin Sto Thal"
)
_PLACE_ENDS = words(
    "mora vane moor den rel wick by stead ford ness holm dale mere bury gate combe shaw thorpe "
    "leigh mouth"
)
_FIRST = words(
    "Ilra Tomas Nela Bram Odile Joren Mirela Pavo Selka Anders Runa Casimir Liese Doran Petra "
    "Yann Orla Stellan Vesna Halvar Ines Marek Tilda Corin Greta Lubin Noor Edric Salme Wim"
)
_LAST_STARTS = words("Tenn Orsk Hald Brev Kess Lund Marr Nyl Pell Quill Rask Sorr Tull Vand Wex")
_LAST_ENDS = words("er in ow a ley mann ov ic by ard")
_RIVERS = words("Ansel Brine Corrow Dell Erne Fallow Garn Hollin Isk Luth Morr Nidd Oster Pim")
_TRADES = words(
    "glass|paper|honey|bells|ropes|carpets|apples|cheese|clocks|salt|linen|pottery|candles|umbrellas"
)
_MONTHS = words("January March April May June July August September October November")
_FEASTS = words("lantern kite harvest boat song snow cherry drum")
_BUILDINGS = words("stone bridge|town hall|old library|water tower|theatre|lighthouse")
_JOBS = words(
    "clockmaker|painter|teacher|surgeon|baker|printer|sailor|gardener|weaver|judge|postman"
)
_FIELDS = words("botany law medicine music chemistry history geometry astronomy")
_SUBJECTS = words("moths clouds tides mosses bridges owls dreams maps bells rivers")
_DEVICES = words(
    "tide clock|folding ladder|rain gauge|pocket stove|reading lamp|snow plough|singing kettle"
)
_PRIZES = words("Silver Quill|Green Lantern|Golden Reed|Iron Compass|Blue Feather")


class Fact(NamedTuple):
    """A sentence about {it} with values in <slots>, and questions by slot.

    Square brackets stand about the words that a question is matched by.
    """

    text: str
    questions: dict[str, tuple[str, ...]]
    years: tuple[int, int] = (0, 1)
    """How many years after foundation or birth the <year> may lie."""


TOWN = (
    Fact(
        "{it} was [founded] in <year> by <person>",
        {
            "year": ("When was {it} founded?", "In which year was {it} founded?"),
            "person": ("Who founded {it}?", "By whom was {it} founded?"),
        },
    ),
    Fact("the [river] <river> [runs through] {it}", {"river": ("Which river runs through {it}?",)}),
    Fact("{it} is [known for] its <trade>", {"trade": ("What is {it} known for?",)}),
    Fact("the [mayor] of {it} is <person>", {"person": ("Who is the mayor of {it}?",)}),
    Fact(
        "every <month> there is a <feast> [festival] in {it}",
        {
            "month": (
                "In which month does {it} have a festival?",
                "When is the festival in {it}?",
            ),
            "feast": ("What kind of festival is there in {it}?",),
        },
    ),
    Fact("about <number> [people live] in {it}", {"number": ("How many people live in {it}?",)}),
    Fact(
        "<person> [built] the <building> in {it}",
        {
            "person": (
                "Who built the {building} in {it}?",
                "By whom was the {building} in {it} built?",
            ),
            "building": ("What was built by {person} in {it}?",),
        },
    ),
    Fact(
        "the [school] in {it} was [opened] by <person> in <year>",
        {
            "person": ("Who opened the school in {it}?",),
            "year": ("When was the school in {it} opened?",),
        },
        (40, 200),
    ),
)
PERSON = (
    Fact(
        "{it} was [born] in <place> in <year>",
        {
            "place": ("Where was {it} born?", "In which town was {it} born?"),
            "year": ("When was {it} born?", "In which year was {it} born?"),
        },
    ),
    Fact(
        "{it} [worked as] a <job>",
        {"job": ("What was the work of {it}?", "What did {it} work as?")},
    ),
    Fact(
        "{it} [studied] <field> in <place>",
        {
            "field": ("Which subject was studied by {it}?", "What was studied by {it}?"),
            "place": ("Where did {it} study {field}?",),
        },
    ),
    Fact("{it} was [married] to <person>", {"person": ("To whom was {it} married?",)}),
    Fact(
        "{it} [invented] the <device> in <year>",
        {
            "device": ("What was invented by {it}?", "Which device was invented by {it}?"),
            "year": ("When did {it} invent the {device}?",),
        },
        (20, 60),
    ),
    Fact(
        "{it} [wrote a book] about <subject>",
        {"subject": ("What did {it} write a book about?",)},
    ),
    Fact(
        "the <prize> [prize] was [won] by {it}",
        {"prize": ("Which prize was won by {it}?", "What was won by {it}?")},
    ),
    Fact(
        "{it} [moved] to <place> in <year>",
        {
            "place": ("Where did {it} move in {year}?",),
            "year": ("When did {it} move to {place}?",),
        },
        (18, 65),
    ),
)
INTROS = {
    "town": (
        "{it} is a small town in the hills.",
        "{it} is a quiet town by the sea.",
        "Travellers who cross the plain sooner or later come to {it}.",
        "Few people outside the valley have heard of {it}.",
    ),
    "person": (
        "{it} is hardly remembered today.",
        "Old letters tell us much about {it}.",
        "The museum has a room for {it}.",
        "Many stories are told about {it}.",
    ),
}


def place_name(rng: np.random.Generator) -> str:
    """A town that does not exist."""
    return pick(rng, _PLACE_STARTS) + pick(rng, _PLACE_ENDS)


def person_name(rng: np.random.Generator) -> str:
    """A first and a last name that no real person is meant by."""
    return f"{pick(rng, _FIRST)} {pick(rng, _LAST_STARTS)}{pick(rng, _LAST_ENDS)}"


def value(rng: np.random.Generator, slot: str, year: int) -> str:
    """Something that can stand in a slot."""
    if slot == "person":
        return person_name(rng)
    if slot == "place":
        return place_name(rng)
    if slot == "year":
        return str(year)
    if slot == "number":
        return f"{int(rng.integers(2, 40))},{pick(rng, ('000', '200', '400', '500', '800'))}"
    return pick(rng, LISTS[slot])


LISTS: dict[str, Sequence[str]] = {
    "river": _RIVERS,
    "trade": _TRADES,
    "month": _MONTHS,
    "feast": _FEASTS,
    "building": _BUILDINGS,
    "job": _JOBS,
    "field": _FIELDS,
    "subject": _SUBJECTS,
    "device": _DEVICES,
    "prize": _PRIZES,
}
