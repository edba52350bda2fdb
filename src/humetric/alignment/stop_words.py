"""Words that say nothing of what a text is about, and are never a match of the hard oracle.

Prasad et al. (2021) take NLTK's English list. This one was written here, from the closed word
classes of English, and is not theirs: articles, pronouns, forms of be, have and do, modal verbs,
prepositions, conjunctions, some adverbs, and what is left of contractions when they are cut. As
in the paper "not" and "no" are among them, which costs the hard oracle the negations.
"""

from __future__ import annotations

_CLASSES = {
    "articles and determiners": "a an the this that these those each every either neither both all "
    "any some such no other another same own few more most much many several",
    "pronouns": "i me my mine myself we us our ours ourselves you your yours yourself yourselves "
    "he him his himself she her hers herself it its itself they them their theirs themselves who "
    "whom whose which what one ones",
    "be, have, do": "am is are was were be been being have has had having do does did doing done",
    "modal verbs": "can could may might must shall should will would ought",
    "prepositions": "about above across after against along among around as at before behind below "
    "beneath beside between beyond by down during for from in inside into near of off on onto out "
    "outside over past since through to toward towards under until up upon with within without",
    "conjunctions": "and or but nor so yet if because although though while when whenever where "
    "wherever than whether unless",
    "adverbs": "not only very too also just then there here now again once further how why ever "
    "never quite rather",
    "cut contractions": "s t d m o re ve ll don didn doesn isn aren wasn weren hasn haven hadn won "
    "wouldn shouldn couldn mustn needn ain",
}

STOP_WORDS = frozenset(word for words in _CLASSES.values() for word in words.split())


def is_stop(text: str) -> bool:
    """Whether a text in lower case is a stop word, a contraction of one, or has no letter in it.

    Signs count as stop words, which they do not in NLTK's list: every explanation ends with a full
    stop, and that it does tells nothing of the text that it is about.
    """
    if not any(character.isalnum() for character in text):
        return True
    parts = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split("'")
    return all(part in STOP_WORDS or not part for part in parts)
