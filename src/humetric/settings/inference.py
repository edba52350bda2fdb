"""Natural language inference: SNLI trains, e-SNLI and adversarial inference (ANLI) are explained.

Each model is trained once and explained on both. All models of one data set have the same cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from humetric.errors import HumetricError
from humetric.models.text_cases import CASES, choose_shared
from humetric.models.text_fit import Recipe
from humetric.models.text_scores import probabilities
from humetric.settings.corpora import ANLI, ESNLI, Sample
from humetric.settings.declared import Declared, Training
from humetric.settings.reasons import apart, train_informed
from humetric.settings.text import GLOVE, Learner, listed, load, write_cases

MINILM = "all-MiniLM-L6-v2"

LEARNERS = {
    "minilm": Learner(
        "nli/esnli/minilm",
        ESNLI,
        "minilm",
        Recipe("minilm", {}, texts=24_000, epochs=1, rate=1e-3, batch=32, masked=0.15),
        limit=256,
        minutes=12,
    ),
    "bilstm": Learner(
        "nli/esnli/bilstm",
        ESNLI,
        "bilstm",
        Recipe("bilstm", {}, texts=60_000, epochs=3, rate=2e-3, batch=64, masked=0.15),
        limit=256,
        minutes=10,
    ),
    "bow": Learner(
        "nli/esnli/bow",
        ESNLI,
        "bow",
        Recipe("bow", {}, texts=60_000, epochs=6, rate=2e-3, batch=64, masked=0.15),
        limit=256,
        minutes=2,
    ),
}
BALANCED = "minilm"
"""The model for which the cases are half right and half wrong."""
EACH = {"minilm": "MiniLM with adapters", "bilstm": "BiLSTM", "bow": "bag of words"}


def train(kind: str, task: Training) -> None:
    """The model, then those that read a reason too."""
    LEARNERS[kind].train(task)
    train_informed(LEARNERS[kind], task)


def accuracies(pool: Sequence[Sample], right: np.ndarray) -> dict[str, float]:
    """On the whole pool, and on each of its parts where it has several."""
    splits = np.array([sample.split for sample in pool])
    parts = list(dict.fromkeys(splits.tolist()))
    found = {f"accuracy {part}": right[splits == part] for part in parts if len(parts) > 1}
    return {
        name: round(float(hit.mean()), 4) for name, hit in ({"accuracy": right} | found).items()
    }


def choose_cases(data: str, task: Training) -> None:
    """The cases of all three models, since they share them; written for each.

    Balanced over the output of MiniLM and whether it is right, the errors that most models share
    first (see models/text_cases.py); every run of six is balanced.
    """
    learners = {f"nli/{data}/{kind}": learner for kind, learner in of(data).items()}
    corpus = learners[f"nli/{data}/{BALANCED}"].corpus
    pool = corpus.pool()
    labels = np.array([sample.label for sample in pool])
    models = {id: learner.weights() for id, learner in learners.items()}
    scores = {id: probabilities(models[id][0], own.inputs(pool)) for id, own in learners.items()}
    may, best = apart(corpus), list(of(data)).index(BALANCED)
    found = _shared(labels[may], [score[may] for score in scores.values()], best, task)
    picked = [may[i] for i in found]
    for id, score in scores.items():
        known = accuracies(pool, score.argmax(1) == labels)
        task.say(f"{id}: {known} on {len(pool)} held-out pairs")
        about = known | {"pool": len(pool), "weights": models[id][1]}
        write_cases(id, about, listed(pool, score, picked))


def _shared(
    labels: np.ndarray, scores: Sequence[np.ndarray], best: int, task: Training
) -> list[int]:
    for count in range(CASES, 0, -6):
        try:
            return choose_shared(labels, scores, best, count)
        except HumetricError as error:  # it errs less often than that
            task.say(f"  {error}")
    raise HumetricError(f"Expected some errors of each output of {BALANCED}: there are none.")


def of(data: str) -> dict[str, Learner]:
    """The models as they are explained on one of the data sets."""
    corpus = {"esnli": ESNLI, "anli": ANLI}[data]
    return {kind: replace(learner, corpus=corpus) for kind, learner in LEARNERS.items()}


def explained(id: str) -> Learner:
    """The model of a setting by the setting's name."""
    _, data, kind = id.split("/")
    return of(data)[kind]


SEEN = {
    "minilm": "MiniLM's makers trained it on SNLI and MultiNLI pairs among others: it has seen "
    "texts of this kind with their labels' meaning, and results are no test of a model that has "
    "not.",
    "bilstm": "Its word vectors are those of MiniLM, whose makers trained it on SNLI and MultiNLI "
    "among others; the rest of the model has not seen these.",
}
SEEN["bow"] = SEEN["bilstm"]

TRAINED = (
    "Trained on at most {texts:,} pairs of SNLI alone; the study's models on SNLI, MultiNLI, FEVER "
    "and ANLI, 5 seeds, and their accuracy is over the three rounds of ANLI, here two."
)
STUDY = {
    "minilm": "The study's nearest model is BERT-base, of which MiniLM is a small distilled "
    "relative.",
    "bilstm": "The study's BInferSent has 3 layers on BERT's token embeddings; here 2 of 64 units "
    "on MiniLM's word vectors.",
    "bow": "The study's BOW has the maximum of BERT's token embeddings; here the mean of MiniLM's "
    "word vectors, in each sentence.",
}
CHOSEN = (
    "Cases are shared by the three models: half right and half wrong for MiniLM, the errors that "
    "most models share first; the study takes all that a model gets wrong."
)
EXTENSION = (
    "An extension: the study does not use e-SNLI, whose reasons explain the gold label only and "
    "not what fooled a model."
)
INFORMED = (
    "Explanation-informed models learn from the first pairs of e-SNLI's validation set, whose "
    "premises no case has; the study's from ANLI's training reasons, which are not at hand."
)
PUBLISHED = {"minilm": 0.4802, "bilstm": 0.40, "bow": 0.3582}
"""Table 1 of Prasad et al.: BERT-Base, BInferSent, BOW on ANLI's development set."""


def _declared(data: str, kind: str, learner: Learner) -> Declared:
    anli = data == "anli"
    id = f"nli/{data}/{kind}"
    trained = TRAINED.format(texts=learner.recipe.texts)
    about = (trained, STUDY[kind]) if anli else (EXTENSION,)
    return Declared(
        id=id,
        summary=f"SNLI to {'ANLI (rounds 1 and 2)' if anli else 'e-SNLI'}, {EACH[kind]}",
        sources=(*learner.corpus.sources, MINILM, GLOVE),
        load=partial(load, learner, id),
        train=partial(train, kind),
        choose=partial(choose_cases, data),
        minutes=learner.minutes,
        ships=True,
        departs=" ".join((*about, CHOSEN, INFORMED)),
        seen=SEEN[kind],
        published={"accuracy": PUBLISHED[kind]} if anli else {},
        study="prasad2021" if anli else "",
        weights="" if learner.id == id else learner.id,
    )


INFERENCE = tuple(
    _declared(data, kind, learner)
    for data in ("esnli", "anli")
    for kind, learner in of(data).items()
)
