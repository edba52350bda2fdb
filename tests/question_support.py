"""Questions about passages, as panels of which simulated users see explanations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import text_support
import torch
from torch import Tensor

from humetric.data.embedded import reading
from humetric.engine.placement import place
from humetric.methods.explanation import Explanation
from humetric.metrics import METRICS
from humetric.metrics.panel import Panel, Replicates, Shown
from humetric.tasks.text_setting import text_setting

EMBEDDED = 24


def panel_of(
    texts: Sequence[tuple[str, str]],
    said: Sequence[tuple[int, int]],
    true: Sequence[tuple[int, int]] | None = None,
    seed: int = 0,
) -> Panel:
    """A panel of learning cases; ``said`` and ``true`` are characters of the answers."""
    model = text_support.bert("span", positions=512)

    def made(spans: Sequence[tuple[int, int]] | None) -> Any:
        return text_setting(
            "qa/tiny/test", model, text_support.wordpiece(), texts, task="qa", label=spans
        )

    setting = made(true)
    setting = replace(setting, target=made(said).label)
    cases = setting.place(place("cpu", "fp32")).cases(0, len(setting), seed)
    return Panel(cases, len(setting), setting.label, setting.right.numpy(), setting)


def embedded(answers: str = "false", seed: int = 0) -> Panel:
    """Embedded questions; the model's answer is the true one, the last word of the question, or
    ``false``: two other words."""
    rows = [reading.draw(i, "pool") for i in range(EMBEDDED)]
    said = {"true": [r.span for r in rows], "last word": [reading.last_word(r) for r in rows]}
    said["false"] = [elsewhere(r) for r in rows]
    texts = [(r.question, r.passage) for r in rows]
    return panel_of(texts, said[answers], [r.span for r in rows], seed)


def elsewhere(row: reading.Question) -> tuple[int, int]:
    """The last two words in a row, within a sentence, that have none in common with the answer."""
    answer = set(row.answer.split())
    pairs = re.finditer(r"(?=\b([\w,]+) ([\w,]+))", row.passage)
    return [p.span(1)[:1] + p.span(2)[1:] for p in pairs if not answer & set(p.groups())][-1]


def perfect(panel: Panel) -> Tensor:
    """Maps that highlight the words of the model's answer and no other."""
    _, texts = panel.cases.text()
    maps = torch.zeros(panel.learning, panel.cases.features, dtype=torch.float64)
    for row, word, (first, last) in zip(
        maps, texts.tokens.word, panel.cases.target.tolist(), strict=True
    ):
        row[word[first : last + 1]] = 1.0
    return maps


def noise(panel: Panel, seed: int) -> Tensor:
    """Maps that know nothing, with more than ten positive numbers in each."""
    drawn = np.random.default_rng(seed).random((panel.learning, panel.cases.features))
    return panel.cases.real(torch.from_numpy(drawn))


def show(attribution: Tensor, **rivals: Tensor) -> Shown:
    """What a method with these maps shows; who looks at anything else is caught."""
    return Shown(attribution, _Nothing(), _nobody, rivals)


def run(user: str, panel: Panel, shown: Shown) -> Replicates:
    """What a simulated user does, who may not question the model."""
    work = METRICS.make(user).simulation().simulate(panel, shown)
    try:
        next(work)
    except StopIteration as done:
        found: Replicates = done.value
        return found
    raise AssertionError("this simulated user may not question the model")


class _Nothing(Explanation):
    """An explanation that may not be looked at."""

    def __init__(self) -> None: ...

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"this simulated user may not look at {name} of an explanation")


def _nobody(setting: object) -> Explanation:
    raise AssertionError("this simulated user may not ask for another explanation")
