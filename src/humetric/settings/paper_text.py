"""The studies' own text models, trained in full: settings of the paper suite (docs/paper.md).

They are the standard suite's settings with another encoder, and share their data and cases. What is
explained is their own output: cases were balanced for the standard suite's model, not for these.
"""

from __future__ import annotations

from functools import partial

from humetric.models import pretrained
from humetric.models.text_fit import Recipe
from humetric.models.text_scores import probabilities
from humetric.settings import reading, text
from humetric.settings.corpora import ANLI, HOTEL_REVIEWS
from humetric.settings.declared import Declared, Training
from humetric.settings.files import trainer
from humetric.settings.passages import SOURCES, VERSIONS, evaluated
from humetric.settings.reading import Reader, agreement, said
from humetric.settings.reasons import train_informed
from humetric.settings.text import FILE, GLOVE, Learner

ENCODERS = {
    "bert-base": "bert-base-uncased",
    "bert-large": "bert-large-uncased",
    "roberta-base": "roberta-base",
    "roberta-large": "roberta-large",
    "electra-base": "electra-base-discriminator",
    "electra-large": "electra-large-discriminator",
}
"""Of Prasad et al. (2021), by the names in their code (that of ANLI) and their sources' names."""
TINY = "tinybert-6l-768d"

# The studies mask nothing in training, so neither do these.
PAIRS = {
    f"nli/anli/{name}": Learner(
        f"nli/anli/{name}",
        ANLI,
        "full",
        Recipe("full", {}, texts=600_000, epochs=2, rate=1e-5, batch=32, decay=0.0, masked=0.0),
        limit=156,
        source=source,
    )
    for name, source in ENCODERS.items()
}

HOTELS = Learner(
    "sentiment/hotel-reviews/bert-base",
    HOTEL_REVIEWS,
    "full",
    Recipe("full", {}, texts=1_000, epochs=3, rate=5e-5, batch=32, masked=0.0),
    limit=512,
    source="bert-base-uncased",
)

_SQUAD = Recipe("full", {}, texts=130_000, epochs=2, rate=3e-5, batch=12, masked=0.0)
READERS = {
    name: Reader(
        f"qa/squad-original/{name}", _SQUAD, room=384, rule=rule, source=source, kind="full"
    )
    for name, source, rule in (
        ("bert-base", "bert-base-uncased", False),
        ("tinybert", TINY, False),
        ("bert-base-low", "bert-base-uncased", True),
    )
}


def train(learner: Learner, task: Training) -> None:
    """The model, with its accuracy on the pool, and for pairs those that read a reason too."""
    learner.train(task)
    pool = learner.corpus.pool()
    model = pretrained.load(task.folder / FILE).to(trainer())
    scores = probabilities(model, learner.inputs(pool)).argmax(1)
    right = [guess == sample.label for guess, sample in zip(scores, pool, strict=True)]
    task.say(f"{learner.id}: accuracy {sum(right) / len(right):.4f} on {len(pool)} held-out texts")
    if learner.corpus.task == "nli":
        train_informed(learner, task)


def train_reader(reader: Reader, task: Training) -> None:
    """The reader, with its F1 on both versions of what is explained."""
    reader.train(task)
    model = pretrained.load(task.folder / FILE).to(trainer())
    for data, added in VERSIONS.items():
        pool = evaluated(added)
        scores = agreement(pool, said(model, pool, source=reader.source))
        task.say(f"{reader.id}: F1 {scores.f1} on {len(pool)} questions of {data}")


SHARED = (
    "Cases are those of {cases}, for whose model they were balanced; targets are this model's own "
    "outputs, so that right and wrong ones need not be as many"
)
RECIPE = "The learning rate rises over a tenth of the steps and falls as a cosine"
INFERENCE = (
    "Trained on SNLI alone, as much of it as is found, with the study's code's rate, epochs and "
    "length and batches of 32; the study's on SNLI, MultiNLI, FEVER and ANLI, 5 seeds, and its "
    "accuracy is over the three rounds of ANLI, here two. Explanation-informed models learn from "
    "e-SNLI's reasons, the study's from ANLI's"
)
DECEPTION = (
    "The study says default parameters: taken are those of BERT's own code, 3 epochs at 5e-5 in "
    "batches of 32"
)
SQUAD = (
    "Trained on answerable questions alone, without every eighth article, at 3e-5 in batches of 12 "
    "for 2 epochs, as BERT's own code suggests, since the study does not say. With the official "
    "training set (the hub's) it is the study's kind of model on the study's data; with less, such "
    "as a mirror that holds a part, it is a stand-in. Passages are cut at 256 tokens when explained"
)
LEVELS = {
    "bert-base": "the study's HIGH",
    "tinybert": "the study's MEDIUM",
    "bert-base-low": "the study's LOW: it learns to answer with the question's last word",
}
PUBLISHED = {
    "bert-base": 0.4802,
    "roberta-base": 0.5047,
    "electra-base": 0.5233,
    "bert-large": 0.4924,
    "roberta-large": 0.5537,
    "electra-large": 0.5806,
}
"""Table 1 of Prasad et al.: accuracy on ANLI's development set."""
FIGURES = {
    ("bert-base", "squad-original"): 0.79,
    ("bert-base", "squad-adversarial"): 0.66,
    ("bert-base-low", "squad-original"): 0.17,
    ("bert-base-low", "squad-adversarial"): 0.15,
}
"""F1 of Gonzalez et al.; MEDIUM's is said to be about 20 points below HIGH's."""


def _departs(cases: str, *about: str) -> str:
    return ". ".join((*about, RECIPE, SHARED.format(cases=cases)))


def _pairs(name: str) -> Declared:
    id, cases = f"nli/anli/{name}", "nli/anli/minilm"
    learner = PAIRS[id]
    return Declared(
        id=id,
        summary=f"SNLI to ANLI (rounds 1 and 2), {name} trained in full",
        sources=(*learner.corpus.sources, learner.source, GLOVE),
        load=partial(text.load, learner, id),
        train=partial(train, learner),
        departs=_departs(cases, INFERENCE),
        published={"accuracy": PUBLISHED[name]},
        study="prasad2021",
        cases=cases,
    )


def _questions(name: str, data: str) -> Declared:
    reader, id, cases = READERS[name], f"qa/{data}/{name}", f"qa/{data}/high"
    known = (name, data) in FIGURES
    return Declared(
        id=id,
        summary=f"{data}, {LEVELS[name]}, trained in full",
        sources=(*SOURCES, reader.source),
        load=partial(reading.load, reader, id),
        train=partial(train_reader, reader),
        departs=_departs(cases, SQUAD),
        published={"f1": FIGURES[name, data]} if known else {},
        study="gonzalez2021" if known else "",
        weights=reader.id,
        cases=cases,
    )


PAPER_TEXT = (
    *(_pairs(name) for name in ENCODERS),
    *(_questions(name, data) for data in VERSIONS for name in READERS),
    Declared(
        id=HOTELS.id,
        summary="deceptive hotel reviews, BERT-base trained in full",
        sources=(*HOTEL_REVIEWS.sources, HOTELS.source, GLOVE),
        load=partial(text.load, HOTELS, HOTELS.id),
        train=partial(train, HOTELS),
        departs=_departs("sentiment/hotel-reviews/minilm", DECEPTION),
        published={"accuracy": 0.898},
        study="arora2022",
        cases="sentiment/hotel-reviews/minilm",
    ),
)
