"""Looks at small text cases, for the tests of what is shown of them."""

from __future__ import annotations

from typing import Any

from text_support import bag, bert, setting, wordpiece

from humetric.methods import METHODS
from humetric.metrics import METRICS
from humetric.run.look import Look, look
from humetric.run.shown_text import ShownText, shown_text
from humetric.tasks.setting import Setting
from humetric.tasks.text_setting import text_setting

NAMES = ("saliency", "integrated-gradients", "occlusion", "random")
MEASURES = ("deletion", "insertion", "mu-fidelity", "complexity", "comprehensiveness")
FEW: dict[str, dict[str, Any]] = {"integrated-gradients": {"points": 4}}

SPANS = [(18, 26), (4, 10), (37, 41)]
"""True answers of the small questions, in characters: "the mill", "waiter", "soup" and a bit."""


def looked(
    made: Setting, case: int = 1, names: tuple[str, ...] = NAMES, precision: str = "fp32"
) -> Look[ShownText]:
    """A case of a setting with some methods and metrics."""
    return look(
        made,
        case,
        [METHODS.make(name, FEW.get(name)) for name in names],
        [METRICS.make(name) for name in MEASURES],
        shown_text,
        device="cpu",
        precision=precision,
    )


def small(task: str = "sentiment", **options: Any) -> Setting:
    """A small setting; questions have true answers."""
    return setting(task, **({"label": SPANS} if task == "qa" else {}), **options)


def of_one(text: str, **options: Any) -> Setting:
    """A setting of a single text, read by a bag of words, which takes any length."""
    return text_setting(
        "sentiment/one/bag", bag(), wordpiece(), [text], task="sentiment", **options
    )


def cut_short(text: str) -> Setting:
    """The same, read by a BERT of 48 positions."""
    return text_setting("sentiment/one/bert", bert(), wordpiece(), [text], task="sentiment")
