"""Which words of a text may be replaced: parts of speech by a small lexicon of English.

Hase and Bansal (2020, A.2) let nouns, verbs, adjectives, adverbs and adpositions be edited. A
tagger would read the sentence; this reads the word alone, from lists that were written here. Words
of the closed classes are listed and stay, adpositions are listed and may be replaced by each other,
and every other word is taken to be of an open class. Where that misleads:

- nouns, verbs, adjectives and adverbs are not told apart, so a noun may be replaced by a verb;
- names are open words, though a tagger would call them proper nouns and the study keep them;
- a word of several classes has one here: forms of *have* and *do* always count as auxiliaries,
  *to*, *as* and *than* as particles or conjunctions, *before* and *since* as adpositions, *like* as
  open;
- negations (*never*, *hardly*) are a class of their own, though taggers call some of them adverbs.
"""

from __future__ import annotations

from typing import Literal

Kind = Literal["open", "adposition", "closed"]

_CLOSED = {
    "determiners": "a an the this that these those each every either both all any some such many "
    "another much few fewer more most less least several enough half own same",
    "pronouns": "i me my mine myself we us our ours ourselves you your yours yourself yourselves "
    "he him his himself she her hers herself it its itself they them their theirs themselves one "
    "oneself ones there other others someone somebody something anyone anybody anything everyone "
    "everybody everything",
    "conjunctions": "and or but so yet if because although though unless while whereas whether "
    "as than lest",
    "auxiliaries": "am is are was were be been being have has had having do does did can could may "
    "might must shall should will would ought gonna",
    "negations and particles": "not no never neither nor none nothing nobody nowhere cannot "
    "hardly scarcely barely to",
    "wh-words": "who whom whose which what when where why how whoever whomever whichever whatever "
    "whenever wherever",
    "interjections": "oh ah aha alas wow hey hi hello ugh oops hmm yes yeah yep nope okay ok "
    "please thanks bye hooray huh",
    "numerals": "zero two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty "
    "ninety hundred thousand million billion trillion",
    "cut contractions": "s t d m re ve ll don didn doesn isn aren wasn weren hasn haven hadn won "
    "wouldn shouldn couldn mustn needn ain",
}

CLOSED_WORDS = frozenset(word for words in _CLOSED.values() for word in words.split())

_ADPOSITIONS = (
    "about above across after against along amid among amongst around at before behind below "
    "beneath beside besides between beyond by despite down during except for from in inside into "
    "near of off on onto out outside over past per since through throughout till toward towards "
    "under underneath until up upon via with within without"
)

ADPOSITIONS = frozenset(_ADPOSITIONS.split())


def kind_of(word: str) -> Kind:
    """The kind of a word without signs around it, whatever its capitals.

    What has no letter or has a digit is closed, as numerals are. A contraction is closed ("isn't",
    "they're", "it's") unless it is a word with a possessive "'s" ("film's").
    """
    plain = word.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    if not any(c.isalpha() for c in plain) or any(c.isdigit() for c in plain):
        return "closed"
    first, *rest = plain.split("'")
    if plain in CLOSED_WORDS or first in CLOSED_WORDS or (rest and rest != ["s"]):
        return "closed"
    return "adposition" if plain in ADPOSITIONS else "open"
