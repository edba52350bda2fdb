"""SQuAD: questions about passages that train, validate and are explained.

Models learn from answerable questions of SQuAD 2.0 alone, since the study asked only these; what is
explained is adversarial SQuAD (Jia & Liang 2017), in which a sentence that answers nothing is added
to a passage. None of its articles trains a model.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from humetric.data.sources import rows
from humetric.settings.corpora import Corpus, Sample
from humetric.tasks.words import Span

SOURCES = ("squad_v2", "squad_adversarial")
VERSIONS = {"squad-original": False, "squad-adversarial": True}
"""Data of the settings, and whether a sentence is added."""
HELD = 8
"""Every so many-th article by name is for validation: recipes are chosen on it."""


def questions(source: str, split: str) -> list[tuple[str, bool, Sample]]:
    """Answerable questions, with the title of their article and whether a sentence was added."""
    return [
        (
            r["title"],
            r["adversarial"],
            Sample(
                r["id"],
                (r["question"], r["context"]),
                (r["starts"][0], r["starts"][0] + len(r["answers"][0])),
                answers=tuple(r["answers"]),
            ),
        )
        for r in rows(source, split)
        if r["answers"]
    ]


def learned(validation: bool) -> list[Sample]:
    """Training questions in an order of their own, or those of the articles held out of them.

    The order is by a hash of the id, so that the first so many are of all articles.
    """
    found = questions("squad_v2", "train")
    held = set(sorted({title for title, _, _ in found})[::HELD])
    kept = [sample for title, _, sample in found if (title in held) == validation]
    return sorted(kept, key=lambda s: hashlib.sha256(s.id.encode()).hexdigest())


def evaluated(adversarial: bool) -> list[Sample]:
    """All questions of one version of adversarial SQuAD."""
    return [s for _, added, s in questions("squad_adversarial", "test") if added == adversarial]


def corpus(data: str) -> Corpus:
    """SQuAD with one version of what is explained."""
    return Corpus(
        data,
        "qa",
        SOURCES,
        (),
        train=lambda: learned(validation=False),
        pool=lambda: evaluated(VERSIONS[data]),
    )


CORPORA = {data: corpus(data) for data in VERSIONS}


def both(originals: Sequence[Sample], added: Sequence[Sample]) -> list[tuple[Sample, Sample]]:
    """Each question that has an adversarial version, with the first of them in the file.

    An adversarial version's id is the original's with ``-...`` after it.
    """
    first: dict[str, Sample] = {}
    for sample in added:
        first.setdefault(sample.id.split("-")[0], sample)
    return [(sample, first[sample.id]) for sample in originals if sample.id in first]


def last_word(sample: Sample) -> Span | None:
    """Where the question's last word first occurs in the passage, whatever its case: LOW's answer.

    None where it does not occur: then the rule says nothing.
    """
    question, passage = sample.segments
    words = re.findall(r"\w(?:[^\s]*\w)?", question)
    if not words:
        return None
    found = re.search(rf"(?<!\w){re.escape(words[-1])}(?!\w)", passage, re.IGNORECASE)
    return Span(*found.span()) if found else None
