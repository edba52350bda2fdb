"""Readers of real passages as settings: how they are trained, chosen from and loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import torch

from humetric.data.sources import find
from humetric.errors import HumetricError
from humetric.models import pretrained
from humetric.models.text import TextModel
from humetric.models.text_fit import Recipe, fit_further
from humetric.models.text_inputs import Inputs, _padded
from humetric.models.text_scores import LONGEST, token_spans
from humetric.settings.corpora import Sample
from humetric.settings.declared import Rows, Training
from humetric.settings.files import digest, trained, trainer
from humetric.settings.passages import CORPORA, last_word, learned
from humetric.settings.text import FILE, digest_of, others, samples_of
from humetric.tasks.answers import exact, f1
from humetric.tasks.setting import Setting
from humetric.tasks.text_setting import text_setting
from humetric.tasks.words import Encoder, Encoding, Span

LIMIT = 256
"""Longest input in tokens; questions with a longer passage are no cases, but count for scores."""


@dataclass(frozen=True)
class Reader:
    """A model that answers with a span, by default MiniLM with adapters, and what it learned."""

    id: str
    """Whose weights these are; the original and the adversarial setting share them."""
    recipe: Recipe
    room: int
    """Longest training input in tokens: passages are cut there, and answers beyond do not train."""
    rule: bool = False
    """Whether it learned to answer with the question's last word rather than with the truth."""
    minutes: float = 0
    source: str = pretrained.SOURCE
    """The pretrained encoder that it is made of."""
    kind: str = "minilm"

    def training(self) -> Inputs:
        """The recipe's first questions, with the tokens to answer with."""
        found = ((s, self.wanted(s)) for s in learned(validation=False))
        known = [(s, span) for s, span in found if span is not None]
        spans = [span for _, span in known]
        return inputs([s for s, _ in known], spans, self.room, self.source)

    def wanted(self, sample: Sample) -> Span | None:
        """The characters of the passage that it should answer with."""
        if self.rule:
            return last_word(sample)
        assert isinstance(sample.label, tuple)
        return Span(*sample.label)

    def train(self, task: Training) -> None:
        """Fit the model and write what was learned, unless it is there."""
        file = task.folder / FILE
        if file.exists() and not task.again:
            return
        data = self.training()
        data = data.take(torch.arange(min(self.recipe.texts, len(data.ids))))
        task.say(f"{self.id}: {len(data.ids)} questions, {self.recipe.epochs} epochs")
        with torch.random.fork_rng():
            torch.manual_seed(self.recipe.seed)
            model = pretrained.untrained(self.kind, "span", 0, self.source)
            for part in model.modules():  # a few adapted weights need none, and it costs a quarter
                if isinstance(part, torch.nn.Dropout) and self.kind == "minilm":
                    part.p = 0.0
            model = fit_further(
                model,
                self.recipe,
                data,
                task.state / "state.pt",
                marks=pretrained.marks(self.source),
                bf16=True,
                about=[self.id, self.room, self.rule],
                say=task.say,
                device=trainer(),
            )
        about = {"setting": self.id, "recipe": asdict(self.recipe), "torch": torch.__version__}
        pretrained.save(model, self.kind, "span", 0, file, about.items(), self.source)

    def weights(self) -> Any:
        """The trained model, and the checksum of its file."""
        if self.kind == "full":
            find(self.source)  # what training would miss is named first
        file = trained(self.id, FILE, self.minutes)
        return pretrained.load(file), digest(file)


def inputs(
    samples: Sequence[Sample], spans: Sequence[Span], limit: int, source: str = pretrained.SOURCE
) -> Inputs:
    """Questions and passages within `limit` tokens; without those whose answer is not."""
    encoder = Encoder(pretrained.tokenizer(source), limit)
    found = [encoder.encode(sample.segments, last_only=True) for sample in samples]
    kept = [
        (e, tokens)
        for e, span in zip(found, spans, strict=True)
        if (tokens := tokens_of(e, span)) is not None
    ]
    if not kept:
        raise HumetricError(f"Expected an answer within {limit} tokens but there is none.")
    return _padded([e.ids for e, _ in kept], [e.types for e, _ in kept], [t for _, t in kept])


def tokens_of(encoding: Encoding, span: Span) -> tuple[int, int] | None:
    """First and last token of the passage within a span of characters, if all of it is there."""
    inside = [
        i
        for i, (part, (start, stop)) in enumerate(zip(encoding.part, encoding.offset, strict=True))
        if part == 1 and start < span.stop and stop > span.start
    ]
    if not inside or encoding.offset[inside[-1]].stop < span.stop:
        return None
    return inside[0], inside[-1]


class Said(NamedTuple):
    """What a reader answers to a question."""

    span: Span
    """Characters of the passage."""
    lead: float
    """By how much the answer's score leads over that of the next best span."""
    whole: bool
    """Whether the reader saw the whole passage."""


def said(
    model: TextModel,
    samples: Sequence[Sample],
    limit: int = LIMIT,
    source: str = pretrained.SOURCE,
) -> list[Said]:
    """A model's answers, from what it sees of the passages."""
    encoder = Encoder(pretrained.tokenizer(source), limit)
    found = [encoder.encode(sample.segments, last_only=True) for sample in samples]
    order = sorted(range(len(found)), key=lambda i: len(found[i].ids))  # of like length together
    data = _padded(
        [found[i].ids for i in order], [found[i].types for i in order], [(0, 0)] * len(order)
    )
    spans, leads = token_spans(model, data, pretrained.marks(source))
    answers: dict[int, Said] = {}
    for i, (first, last), lead in zip(order, spans, leads, strict=True):
        span = Span(found[i].offset[first].start, found[i].offset[last].stop)
        answers[i] = Said(span, lead, not found[i].cut)
    return [answers[i] for i in range(len(samples))]


def agreement(samples: Sequence[Sample], given: Sequence[Said], rule: bool = False) -> Scores:
    """Mean F1 and share of exact matches, of each question's best answer; see :func:`f1`.

    With ``rule`` the answer is LOW's, and questions without one do not count.
    """
    pairs = []
    for sample, one in zip(samples, given, strict=True):
        passage, word = sample.segments[1], last_word(sample) if rule else None
        true = sample.answers if not rule else (passage[slice(*word)],) if word else ()
        text = passage[slice(*one.span)]
        if true:
            pairs.append((max(f1(text, t) for t in true), max(exact(text, t) for t in true)))
    if not pairs:
        raise HumetricError("Expected questions with an answer but there are none.")
    near, same = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
    return Scores(round(near, 4), round(same, 4))


class Scores(NamedTuple):
    """How well a reader answers."""

    f1: float
    exact: float


def load(reader: Reader, id: str, chosen: Mapping[str, Any], rows: Rows, baseline: str) -> Setting:
    """A setting from its cases.json and the rows of it that are wanted; texts have no baseline."""
    model, weights = reader.weights()
    samples = samples_of(CORPORA[id.split("/")[1]], rows)
    made = text_setting(
        id,
        model,
        pretrained.tokenizer(reader.source),
        [(s.segments[0], s.segments[1]) for s in samples],
        task="qa",
        label=[s.label for s in samples if isinstance(s.label, tuple)],
        ids=[row["id"] for row in rows],
        version=f"data {digest_of(chosen)}, weights {weights}",
        limit=LIMIT,
        longest_answer=LONGEST,
    )
    return replace(made, notes=others(chosen, weights))
