"""Linear student: what a bag-of-words model says that learned to say what the model says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from humetric.errors import HumetricError
from humetric.methods import Explainer, method
from humetric.methods.explanation import Explanation
from humetric.models.model import call
from humetric.models.student import Floats, Student, fit, terms_of
from humetric.tasks.cases import Cases
from humetric.tasks.text import Texts

HELD_OUT = 5
"""Every fifth unlabelled text is for measuring how well the student imitates its teacher."""
FEWEST = 20
"""Unlabelled texts; with fewer a student and its agreement mean nothing."""
TOKENS = 8192
"""Tokens of a batch that the teacher reads: fixed, so that batches are the same in every run."""
REFERENCE = "Arora et al. 2022, arXiv:2112.09669"


@method(
    "linear-student",
    version=1,
    reference=REFERENCE,
    tasks=("sentiment", "nli"),
    uses=("unlabelled",),
)
def linear_student(
    texts: int = 2000, penalty: float = 1.0, least: int = 2, hard: bool = False
) -> Explainer:
    """Weight times TF-IDF value of each word in a linear student of the model.

    The student is a logistic regression (see models/student.py) that learns the model's
    probabilities, or with ``hard`` its predicted classes, on four of five of the setting's first
    ``texts`` unlabelled texts; on the fifth its agreement with the model is measured. (The study
    trains on predictions and does not say on which of the two.) It is trained once per setting and
    never sees a case. Towards the explained class; with the bias, words sum to the student's logit.
    A word that the student does not know (in fewer than ``least`` texts) has 0.

    It explains the student. Where the two disagree, or where the model heeds the order of words, it
    says little about the model, and all cases share one weight per word: read the agreement first.
    The time that the model takes to read the unlabelled texts is not in the price per case.
    """

    def explain(cases: Cases) -> Explanation:
        made = trained(cases, texts, penalty, least, hard)
        return Explanation(highlights(made.student, cases), setting=made.about)

    return explain


@method(
    "linear-student-global-cues",
    version=1,
    reference=REFERENCE,
    tasks=("sentiment", "nli"),
    uses=("unlabelled",),
)
def linear_student_global_cues(
    texts: int = 2000, penalty: float = 1.0, least: int = 2, hard: bool = False, cues: int = 20
) -> Explainer:
    """The highlights of linear-student, and the words that speak most for each class.

    The cues are the ``cues`` words of largest positive weight for each class, for the whole
    setting, beside the map. The map is that of linear-student: metrics of attributions cannot tell
    the two apart, people and simulated users can.
    """

    def explain(cases: Cases) -> Explanation:
        made = trained(cases, texts, penalty, least, hard)
        listed = global_cues(made.student, cases, cues)
        return Explanation(highlights(made.student, cases), setting={**made.about, "cues": listed})

    return explain


class Trained(NamedTuple):
    """A student and how well it imitates its teacher."""

    student: Student
    about: dict[str, Any]


def trained(cases: Cases, texts: int, penalty: float, least: int, hard: bool) -> Trained:
    """The student of a setting, trained when it is first needed."""
    key = ("linear-student", texts, penalty, least, hard)
    return cases.once_per_setting(key, lambda: train(cases, texts, penalty, least, hard))


def train(cases: Cases, texts: int, penalty: float, least: int, hard: bool) -> Trained:
    """Ask the teacher about the unlabelled texts, fit a student, and compare the two."""
    if cases.unlabelled is None:
        raise HumetricError(
            "Expected a setting with unlabelled texts but it has none: give text_setting some "
            "with unlabelled=, as many as you can."
        )
    x, shown = cases.unlabelled.first(texts)
    terms = [terms_of(w, s) for w, s in zip(shown.words, shown.segment, strict=True)]
    if len(terms) < FEWEST:
        raise HumetricError(
            f"Expected at least {FEWEST} unlabelled texts for a student but got {len(terms)}: "
            f"give text_setting more with unlabelled=."
        )
    answers = teacher(cases, x, shown)
    said = answers.argmax(1)
    if hard and len(set(said.tolist())) < 2:
        raise HumetricError(
            f"Expected a model that tells unlabelled texts apart but it gives all {len(terms)} the "
            f"class {said[0]}: let the student learn probabilities, hard=False."
        )
    held = np.arange(len(terms)) % HELD_OUT == HELD_OUT - 1
    learn = np.eye(answers.shape[1])[said] if hard else answers
    own, rest = np.flatnonzero(~held), np.flatnonzero(held)
    student = fit([terms[i] for i in own], learn[own], penalty, least)
    agreed = student.logits([terms[i] for i in rest]).argmax(1) == said[rest]
    common = int(np.bincount(said[own]).argmax())
    agreement, chance = float(agreed.mean()), float((said[rest] == common).mean())
    about = {
        "agreement": round(agreement, 4),
        "commonest class": round(chance, 4),
        "trained on": len(own),
        "held out": len(rest),
        "terms": len(student.terms),
    }
    return Trained(student, {"student": about, "note": note_of(about)})


def note_of(student: Mapping[str, float]) -> str:
    """What is said of a student to whoever reads its results."""
    return (
        f"the student says what the model says on {student['agreement']:.1%} of "
        f"{student['held out']} held-out texts "
        f"(always the commonest class: {student['commonest class']:.1%})."
    )


def teacher(cases: Cases, x: Tensor, shown: Texts) -> Floats:
    """(texts, classes): the model's probabilities, in batches of texts of like length."""
    counts = shown.tokens.counts
    order = torch.sort(counts, descending=True, stable=True).indices
    found, start = [], 0
    with torch.inference_mode():
        while start < len(order):
            width = int(counts[order[start]])
            rows = order[start : start + max(1, TOKENS // width)]
            batch = x[rows, :, :width].to(cases.device)
            output = call(cases.model.module, batch)
            found.append(output.cpu().double().softmax(1))
            start += len(rows)
    together = torch.cat(found)
    answers = torch.empty_like(together)
    answers[order] = together
    return answers.numpy()


def highlights(student: Student, cases: Cases) -> Tensor:
    """(cases, words): what each word adds to the student's logit of the explained class."""
    _, shown = cases.text()
    found = torch.zeros(cases.shape, dtype=torch.float64)
    for i, target in enumerate(cases.target.tolist()):
        terms = terms_of(shown.words[i], shown.segment[i])
        found[i, : len(terms)] = torch.from_numpy(student.contributions(terms, target))
    return found.to(cases.dtype).to(cases.device)


def global_cues(student: Student, cases: Cases, count: int) -> list[list[dict[str, Any]]]:
    """For each class the words of largest weight, with their segment where there are two."""
    _, shown = cases.text()
    pairs = len(shown.names) > 1
    return [
        [
            {"word": term.word, "weight": round(weight, 4)}
            | ({"segment": shown.names[term.segment]} if pairs else {})
            for term, weight in own
        ]
        for own in student.cues(count)
    ]
