"""A text case as people see it: its segments, its words, answers, and the top-10 highlights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from humetric.engine.engine import Engine
from humetric.metrics.ranking import ranks
from humetric.models.model import call
from humetric.run.look import Scene
from humetric.run.work import explain
from humetric.tasks.cases import Cases
from humetric.tasks.text import PASSAGE
from humetric.tasks.text_setting import predicted_spans
from humetric.tasks.words import Span

TOP = 10
"""Words that are highlighted, as in Gonzalez et al. 2021, section 5 (tokens there)."""

Top = tuple[int, ...]
"""Words by their number, highest attribution first."""


@dataclass(frozen=True)
class Segment:
    """A text, or one of a pair, and where its words are."""

    name: str
    text: str
    words: tuple[Span, ...]
    """Characters of each word. What lies between them is space, or what the model did not read."""
    first: int
    """Number of its first word among the words of all segments."""


@dataclass(frozen=True)
class ShownText:
    """The text as it came, answers in it, and what highlights people would have seen."""

    segments: tuple[Segment, ...]
    answer: Span | None
    """Characters of the passage that the explained answer is; None where it is a class."""
    gold: Span | None
    """Characters of the passage that the true answer is; None where it is a class or not known."""
    predicted: bool
    """Whether the explained output is the one that the model gives, not another one asked for."""
    cut: int
    """Words that are no features: beyond the model's longest input, or without a token."""
    top: Mapping[str, tuple[Top, ...]]
    """By method: the top words; for answers those of the start's map and those of the end's."""

    @property
    def words(self) -> tuple[str, ...]:
        """Words of all segments in order."""
        return tuple(s.text[a:b] for s in self.segments for a, b in s.words)


def shown_text(scene: Scene) -> ShownText:
    """What is shown of a text case."""
    setting, row, cases = scene.setting, scene.row, scene.engine.cases
    task, texts = cases.text()
    answer = gold = None
    if task.span:
        answer, gold = (_characters(cases, span[row]) for span in (setting.target, setting.label))
    return ShownText(
        segments=segments_of(texts.names, texts.raw[0], texts.words[0], texts.segment[0]),
        answer=answer,
        gold=gold,
        predicted=_predicted(cases),
        cut=texts.cut[0],
        top=_tops(scene),
    )


def segments_of(
    names: Sequence[str], raw: Sequence[str], words: Sequence[str], owner: Sequence[int]
) -> tuple[Segment, ...]:
    """Segments with the places of their words; ``owner`` is the segment of each word.

    Words are found from left to right. A word that is no feature cannot be taken for one: it lies
    behind all features, or else has no token, as no word of the same letters has.
    """
    found, first = [], 0
    for i, (name, text) in enumerate(zip(names, raw, strict=True)):
        spans, at = [], 0
        for word in (w for w, s in zip(words, owner, strict=True) if s == i):
            start = text.index(word, at)
            at = start + len(word)
            spans.append(Span(start, at))
        found.append(Segment(name, text, tuple(spans), first))
        first += len(spans)
    return tuple(found)


def _characters(cases: Cases, tokens: Tensor) -> Span | None:
    """Characters of the passage that a pair of tokens stands for."""
    _, texts = cases.text()
    first, last = tokens.tolist()
    if first < 0:
        return None
    assert int(texts.tokens.part[0, first]) == PASSAGE
    return Span(int(texts.offset[0, first, 0]), int(texts.offset[0, last, 1]))


def _predicted(cases: Cases) -> bool:
    """Whether the model's own output is the explained one."""
    task, texts = cases.text()
    with torch.inference_mode():
        output = call(cases.model.module, cases.x).cpu()
    if task.span:
        tokens = texts.tokens.to(torch.device("cpu"))
        own = predicted_spans(output, tokens)
    else:
        own = output.argmax(1)
    return bool((own == cases.target.cpu()).all())


def _tops(scene: Scene) -> dict[str, tuple[Top, ...]]:
    """Top words by method. A span has two maps for them: one of its start, one of its end.

    Ties are broken as in the metrics; words that a method gives 0 are not highlighted. A method
    that has a map of the whole answer but fails on one of its ends has no highlight.
    """
    engine = scene.engine
    task, _ = engine.cases.text()
    if not task.span:
        return {name: (_top(found, engine.cases),) for name, found in scene.maps.items()}
    ends: list[dict[str, Top]] = []
    for end in (0, 1):
        cases = replace(engine.cases, task=replace(task, ends=(end,)))
        asked = Engine(cases, engine.module, engine.dtype, engine.batch_size)
        maps = explain(scene.methods, asked)
        ends.append({n: _top(m, cases) for n, m in maps.items() if isinstance(m, Tensor)})
    start, stop = ends
    return {name: (start[name], stop[name]) for name in start if name in stop}


def _top(attribution: Tensor, cases: Cases) -> Top:
    order = ranks(attribution.to(cases.device), cases)[0].argsort()[: cases.lengths[0]].tolist()
    values = attribution[0].tolist()
    return tuple([word for word in order if values[word] != 0][:TOP])
