"""Oracles: where people expect a model to look, as a number per feature.

hard (equation 2): 1 where a feature that is no stop word occurs in the explanation, else 0;
expert (equation 4): the share of annotators who marked the feature. With another case's
explanation: hard looks into that; expert takes the share of that case's annotators among whose
marked features this one is (the paper leaves it open). The soft oracle is in ``informed``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humetric.alignment.arithmetic import Values
from humetric.alignment.features import Feature, spans_marked
from humetric.alignment.marks import Annotator

ORACLES = ("hard", "soft", "expert")


def hard(listed: Sequence[Feature], said: frozenset[str]) -> Values:
    """1 where a feature that is no stop word is among those of an explanation; 0 or 1.

    Synonyms, pronouns and paraphrases do not count.
    """
    return np.array([float(f.text in said and not f.stop_word) for f in listed])


def expert(listed: Sequence[Feature], annotators: Sequence[Annotator]) -> Values:
    """The share of annotators who marked a feature, or a part of it: 0 to 1."""
    marked = [spans_marked(listed, spans) for spans in annotators]
    table = np.array(marked, dtype=np.float64).reshape(-1, len(listed))
    share: Values = table.mean(0)
    return share


def marked_texts(
    listed: Sequence[Feature], annotators: Sequence[Annotator]
) -> tuple[frozenset[str], ...]:
    """What each annotator marked, as texts of features."""
    return tuple(
        frozenset(f.text for f, hit in zip(listed, spans_marked(listed, spans), strict=True) if hit)
        - {""}
        for spans in annotators
    )


def expert_of_another(listed: Sequence[Feature], marked: Sequence[frozenset[str]]) -> Values:
    """The share of another case's annotators who marked a feature of the same text there."""
    return np.array([sum(f.text in texts for texts in marked) / len(marked) for f in listed])
