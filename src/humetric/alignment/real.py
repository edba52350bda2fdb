"""Importance alignment on real pairs: people's reasons, and the models that have read reasons.

Only inference has reasons. They were written by people for these very pairs; the models are ours,
not the study's, and there are no marks on tokens.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from humetric.alignment.accuracy import Accuracy
from humetric.alignment.informed import Informed
from humetric.alignment.marks import Marks
from humetric.models import pretrained
from humetric.settings.files import cases_file, recorded, trained_here
from humetric.settings.inference import INFERENCE, explained
from humetric.settings.paper_text import PAIRS
from humetric.settings.reasons import informed_of, six_way
from humetric.settings.text import FILE, Learner
from humetric.tasks.setting import Setting


def settings_with_reasons() -> list[str]:
    """Settings on real data whose models can be aligned; the paper suite's if trained here."""
    own = [declared.id for declared in INFERENCE if cases_file(declared.id).exists()]
    return [*own, *(id for id in PAIRS if (trained_here(id) / FILE).exists())]


def learner_of(id: str) -> Learner:
    """The model of a setting by the setting's name."""
    return PAIRS[id] if id in PAIRS else explained(id)


def reasons(setting: Setting) -> Marks:
    """The first reason of each case. Where the data have several, the others are not used."""
    pool = {s.id: s.reasons for s in learner_of(setting.id).corpus.pool()}
    told = tuple(next(iter(pool[id]), "") for id in setting.ids)
    return Marks(told, ((),) * len(told), "reasons")


def readers(id: str) -> tuple[Any, tuple[Informed, ...]]:
    """The tokenizer of a setting, and its explanation-informed models."""
    learner = learner_of(id)
    return pretrained.tokenizer(learner.source), informed_of(learner)


def accuracy(id: str) -> Accuracy:
    """On the whole pool as recorded; of the informed models on pairs that they have not read.

    Of the paper suite's models none is recorded: `humetric train` says it.
    """
    own = recorded(id).get("accuracy", np.nan)
    return Accuracy(own, six_way(learner_of(id), readers(id)[1]))
