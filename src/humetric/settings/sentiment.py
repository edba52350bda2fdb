"""Rotten Tomatoes and deceptive hotel reviews."""

from __future__ import annotations

from functools import partial

from humetric.models import prototype_fit
from humetric.models.text_fit import Recipe
from humetric.settings.corpora import HOTEL_REVIEWS, ROTTEN_TOMATOES
from humetric.settings.declared import Declared
from humetric.settings.prototypes import equipped, of_texts
from humetric.settings.text import GLOVE, Learner, chosen_cases, load

MINILM = "all-MiniLM-L6-v2"

TOMATOES = Learner(
    "sentiment/rotten-tomatoes/minilm",
    ROTTEN_TOMATOES,
    "minilm",
    Recipe("minilm", {}, texts=10_000, epochs=3, rate=1e-3, batch=32, masked=0.15),
    limit=128,
    minutes=12,
)

TOMATOES_BILSTM = Learner(
    "sentiment/rotten-tomatoes/bilstm",
    ROTTEN_TOMATOES,
    "lstm",
    Recipe("lstm", {}, texts=10_000, epochs=4, rate=2e-3, batch=32, masked=0.15),
    limit=128,
    minutes=4,
)

HOTELS = Learner(
    "sentiment/hotel-reviews/minilm",
    HOTEL_REVIEWS,
    "minilm",
    Recipe("minilm", {}, texts=1_000, epochs=5, rate=1e-3, batch=16, masked=0.15),
    limit=256,
    minutes=12,
)

HOTELS_TFIDF = Learner(
    "sentiment/hotel-reviews/tfidf",
    HOTEL_REVIEWS,
    "tfidf",
    Recipe("tfidf", {}, texts=1_000, epochs=200, decay=1e-4),
    limit=512,
    minutes=0.2,
)

PROTOTYPES = prototype_fit.Recipe(40, epochs=3)
"""Of each class as many as in the study; the embedded ones' recipe."""


def _declared(
    learner: Learner,
    summary: str,
    ships: bool,
    departs: str,
    published: dict[str, float],
    study: str,
) -> Declared:
    return Declared(
        id=learner.id,
        summary=summary,
        sources=(*learner.corpus.sources, MINILM, GLOVE),
        load=partial(load, learner, learner.id),
        train=learner.train,
        choose=partial(chosen_cases, learner, learner.id),
        minutes=learner.minutes,
        ships=ships,
        departs=departs,
        published=published,
        study=study,
    )


SENTIMENT = (
    equipped(
        _declared(
            TOMATOES_BILSTM,
            "Rotten Tomatoes sentences, bidirectional LSTM with attention",
            ships=True,
            departs="Word vectors are those of MiniLM's embedding layer, frozen; the study trains "
            "its own. Tokens are word pieces. The prototype model's own extractor has the task "
            "model's input weights: its recurrent and attention weights were trained further.",
            published={"accuracy": 0.809, "prototype_accuracy": 0.806},
            study="hase2020",
        ),
        # Without its input weights, four fifths of it, the file is small enough to ship.
        of_texts(TOMATOES_BILSTM, PROTOTYPES, 3, frozen="weight_ih"),
    ),
    equipped(
        _declared(
            TOMATOES,
            "Rotten Tomatoes sentences, MiniLM with adapters",
            ships=True,
            departs="The study's model is a bidirectional LSTM with attention on the same data and "
            "split; this is a pretrained transformer. Prototype models were made of 2,000 training "
            "texts; the own extractor was trained further in its last three layers' adapters.",
            published={"accuracy": 0.809, "prototype_accuracy": 0.806},
            study="hase2020",
        ),
        of_texts(TOMATOES, PROTOTYPES, 5, texts=2_000, frozen=r"pooler|layer\.[012]\."),
    ),
    _declared(
        HOTELS,
        "deceptive hotel reviews, MiniLM with adapters",
        ships=False,
        departs="The study's model is BERT-base, of which MiniLM is a small distilled relative; "
        "texts are cut at 256 tokens.",
        published={"accuracy": 0.898},
        study="arora2022",
    ),
    _declared(
        HOTELS_TFIDF,
        "deceptive hotel reviews, logistic regression on TF-IDF",
        ships=False,
        departs="Tokens are MiniLM's word pieces, not words.",
        published={"accuracy": 0.878},
        study="arora2022",
    ),
)
