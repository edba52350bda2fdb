"""The embedded text sets by name, and what is written in their samples."""

import hashlib
from types import MappingProxyType, ModuleType

from humetric.data.embedded import deception, inference, reading, reviews
from humetric.data.embedded.inference import Pair
from humetric.data.embedded.reading import Question
from humetric.data.embedded.wording import Span, Text
from humetric.errors import UnknownNameError

_MODULES = {"reviews": reviews, "deception": deception, "inference": inference, "reading": reading}
TEXTS = MappingProxyType(_MODULES)
"""Each module has VERSION, draw(index, split), and CLASSES if its texts are classified."""


def text_dataset(name: str) -> ModuleType:
    """The text set of that name."""
    if name not in TEXTS:
        raise UnknownNameError("embedded text data set", name, TEXTS)
    return TEXTS[name]


def written(sample: Text | Pair | Question) -> tuple[str, ...]:
    """All that is written in a sample: the text; premise, hypothesis, reason; question, passage."""
    if isinstance(sample, Text):
        return (sample.text,)
    if isinstance(sample, Pair):
        return (sample.premise, sample.hypothesis, sample.reason)
    return (sample.question, sample.passage)


def digest(sample: Text | Pair | Question) -> str:
    """SHA-256 of all that is written in a sample, one part a line."""
    return hashlib.sha256("\n".join(written(sample)).encode()).hexdigest()


def segments_of(sample: Text | Pair | Question) -> tuple[str, ...]:
    """What a model reads of a sample: one text, or two."""
    return written(sample)[:2]


def marks_of(sample: Text | Pair | Question) -> tuple[tuple[Span, ...], ...]:
    """Where the deciding words were planted, for each segment; none are in a question."""
    if isinstance(sample, Text):
        return (sample.marks,)
    if isinstance(sample, Pair):
        return (sample.premise_marks, sample.hypothesis_marks)
    return ((), sample.marks)
