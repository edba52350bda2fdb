"""Importance alignment on real pairs: people's reasons, and the models that have read reasons.

Only inference has reasons. They were written by people for these very pairs; the models are ours,
not the study's, and there are no marks on tokens.
"""

from __future__ import annotations

import json
from typing import Any

from humetric.alignment.accuracy import Accuracy
from humetric.alignment.informed import Informed
from humetric.alignment.marks import Marks
from humetric.models import pretrained
from humetric.settings.files import cases_file
from humetric.settings.inference import INFERENCE, explained
from humetric.settings.reasons import informed_of, six_way
from humetric.tasks.setting import Setting


def settings_with_reasons() -> list[str]:
    """Settings on real data whose models can be aligned."""
    return [declared.id for declared in INFERENCE if cases_file(declared.id).exists()]


def reasons(setting: Setting) -> Marks:
    """The first reason of each case. Where the data have several, the others are not used."""
    pool = {s.id: s.reasons for s in explained(setting.id).corpus.pool()}
    told = tuple(next(iter(pool[id]), "") for id in setting.ids)
    return Marks(told, ((),) * len(told), "reasons")


def readers(id: str) -> tuple[Any, tuple[Informed, ...]]:
    """The tokenizer of a setting, and its explanation-informed models."""
    return pretrained.tokenizer(), informed_of(explained(id))


def accuracy(id: str) -> Accuracy:
    """On the whole pool as recorded; of the informed models on pairs that they have not read."""
    recorded = json.loads(cases_file(id).read_text())["accuracy"]
    return Accuracy(recorded, six_way(explained(id), readers(id)[1]))
