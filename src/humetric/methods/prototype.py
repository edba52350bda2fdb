"""Prototype: the training case that a case resembles most, and the features that make it so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

from humetric.engine.questions import Program, View
from humetric.errors import HumetricError
from humetric.methods import Explainer, method
from humetric.methods.explanation import Explanation
from humetric.methods.omitting import losses, zeroed
from humetric.models.prototypes import PrototypeModel, PrototypeText, Shown
from humetric.tasks.cases import Cases

SHOWN, THRESHOLD = 6, 0.1
"""Features that people see at most, and the least importance (of ten) of one."""

TEN = 10.0
"""Similarities and importances are shown on a scale of 0 to 10, as in the study's figure 2."""


@dataclass(frozen=True)
class Found:
    """What a prototype model says of some cases, and why."""

    importance: Tensor
    """(cases, features), on the scale of ten."""
    similarity: Tensor
    """(cases,): to the most similar prototype of the predicted class, on the scale of ten."""
    prediction: Tensor
    """(cases,): the prototype model's own."""
    nearest: Tensor
    """(cases,): the most similar prototype."""
    shown: tuple[Shown, ...]


@method(
    "prototype",
    version=1,
    reference="Hase & Bansal 2020, arXiv:2005.01831, sections 3.3 and A.1",
    tasks=("sentiment", "nli", "tabular"),
    uses=("prototypes",),
)
def prototype(shown: int = SHOWN, threshold: float = THRESHOLD, fixed: bool = False) -> Explainer:
    """What the similarity (0 to 10) to the most similar training case loses without each feature.

    A prototype model (models/prototypes.py) predicts the class of the prototype that a case
    resembles most. Prototypes are training cases: the one is shown, and at most ``shown`` features
    whose importance, 10 (a(x, p) - a(x without the feature, p)), reaches ``threshold`` in size.
    (The study says "a small threshold".) A word is left out by embeddings of zero, a column by its
    expectation given the others (methods/omitting.py). ``fixed`` takes the model that shares the
    task model's extractor, as the study's composite does; else it has one of its own.

    The importances are about a similarity in another model. Metrics ask the explained model about
    them all the same: where the two models predict different classes, which ``prediction`` beside
    the map shows, the map speaks for another class than the one that is explained; and a feature
    that sets a case apart from its prototype counts as negative, whatever class it speaks for.
    """

    def explain(cases: Cases) -> Program[Explanation]:
        found = yield from compared(cases, fixed)
        told = tuple(told_of(cases, found, i, shown, threshold, fixed) for i in range(len(cases)))
        return Explanation(found.importance, told)

    return explain


def compared(cases: Cases, fixed: bool) -> Program[Found]:
    """Cases beside their prototypes, and what the similarity loses without each feature."""
    if cases.prototypes is None:
        raise HumetricError(
            "Expected a setting with prototype models but it has none: give the setting some with "
            "prototypes=."
        )
    model = cases.prototypes.variant(fixed)
    activations = torch.cat([_activations(model, cases, i) for i in range(len(cases))])
    scores = model.scores(activations)
    prediction = scores.argmax(1)
    other = model.layer.owner != prediction[:, None]
    top, nearest = activations.masked_fill(other, -1).max(1)
    view = (
        zeroed(cases, model, nearest)
        if isinstance(model, PrototypeText)
        else View(model, cases.task, nearest)
    )
    importance = yield from losses(cases, view, lambda answers: answers.logit)
    host = [t.cpu() for t in (top.double(), prediction, nearest)]
    return Found(TEN * importance, TEN * host[0], host[1], host[2], model.shown)


@torch.no_grad()
def _activations(model: PrototypeModel, cases: Cases, case: int) -> Tensor:
    """(1, prototypes): of one case at its own length, so that no other case matters."""
    x = cases.x[case : case + 1]
    if cases.texts is None:
        found: Tensor = model(x)
        return found
    found = model(*x[:, :, : int(cases.texts.tokens.counts[case])].unbind(1))
    return found


def told_of(
    cases: Cases, found: Found, case: int, shown: int, threshold: float, fixed: bool
) -> dict[str, Any]:
    """What people see of one case."""
    place = int(found.nearest[case])
    like = found.shown[place]
    values = found.importance[case, : cases.lengths[case]]
    order = values.abs().argsort(descending=True, stable=True).tolist()
    names = names_of(cases, case)
    return {
        "prototype": {
            "similarity": float(found.similarity[case]),
            "class": int(found.prediction[case]),
            "case": content(cases, like),
            "label": like.label,
            "importances": [
                {"feature": names[j], "index": j, "importance": float(values[j])}
                for j in order[: max(0, shown)]
                if abs(float(values[j])) >= threshold
            ],
            "threshold": float(threshold),
            "fixed": fixed,
            "prediction": int(found.prediction[case]),
        }
    }


def names_of(cases: Cases, case: int) -> tuple[str, ...]:
    """Words of a text, or names of columns."""
    return cases.rows().names if cases.texts is None else cases.texts.words[case]


def content(cases: Cases, like: Shown) -> str | list[list[str]]:
    """A prototype as people read it: a text, or pairs of a column or segment and what it holds."""
    if cases.texts is None:
        columns, values = cases.rows().columns, cast(tuple[float, ...], like.content)
        return [[c.name, c.text(v)] for c, v in zip(columns, values, strict=True)]
    if len(like.content) == 1:
        return str(like.content[0])
    return [[n, str(s)] for n, s in zip(cases.texts.names, like.content, strict=True)]
