"""Readers of passages, with the embedded tokenizer and reader in MiniLM's place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from humetric.data.embedded import reading as embedded
from humetric.errors import HumetricError
from humetric.models import pretrained, stored, wordpiece
from humetric.models.convnet import WEIGHTS
from humetric.models.text_fit import EMBEDDED, Recipe
from humetric.settings import reading
from humetric.settings.corpora import Sample
from humetric.settings.declared import Training
from humetric.settings.reading import Reader, Said, agreement, inputs, said
from humetric.tasks.words import Span

TOKENIZER = WEIGHTS / "qa" / "reading" / "tokenizer.json"


@pytest.fixture(autouse=True)
def tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretrained, "tokenizer", lambda *_: wordpiece.load(TOKENIZER, 160))
    monkeypatch.setattr(pretrained, "marks", lambda *_: EMBEDDED)


def samples(count: int) -> list[Sample]:
    drawn = [embedded.draw(i, "pool") for i in range(count)]
    return [Sample(q.id, (q.question, q.passage), q.span, answers=(q.answer,)) for q in drawn]


def test_inputs_name_the_tokens_of_the_answer() -> None:
    given = samples(12)
    data = inputs(given, [Span(*s.label) for s in given if isinstance(s.label, tuple)], 160)
    assert len(data.ids) == 12
    backend = wordpiece.load(TOKENIZER, 160)
    for sample, ids, (first, last) in zip(given, data.ids, data.target.tolist(), strict=True):
        told = backend.decode(ids[first : last + 1].tolist()).replace(" ", "")
        assert told.lower() == sample.answers[0].replace(" ", "").lower()


def test_answers_beyond_the_limit_do_not_train() -> None:
    """Of an answer that is cut in two, neither half does."""
    given = samples(12)
    spans = [Span(*s.label) for s in given if isinstance(s.label, tuple)]
    short = inputs(given, spans, 40)
    assert 0 < len(short.ids) < 12
    assert short.ids.shape[1] == 40
    assert int(short.target.max()) < 39
    with pytest.raises(HumetricError, match="within 40 tokens"):
        inputs(given[:1], [Span(0, len(given[0].segments[1]))], 40)


def test_answers_do_not_depend_on_their_company() -> None:
    """Passages go through the model in order of length, and come back in the order given."""
    model, given = stored.load(WEIGHTS / "qa/reading/high/model.safetensors"), samples(20)
    found = said(model, given, 160)
    alone = [said(model, [sample], 160)[0] for sample in given]
    assert [one.span for one in found] == [one.span for one in alone]
    assert all(one.whole for one in found)
    cases = json.loads((WEIGHTS / "qa/original/high/cases.json").read_text())["cases"]
    known = {row["index"]: Span(*row["predicted"]) for row in cases if row["index"] < 20}
    assert known
    assert all(found[index].span == span for index, span in known.items())
    assert not all(one.whole for one in said(model, given, 60))


def test_agreement_is_with_the_nearest_answer() -> None:
    one = Sample(
        "a", ("When?", "It was in early May or so"), (7, 19), answers=("in early May", "May")
    )
    two = one._replace(id="b", answers=("so",))
    may, early = Said(Span(16, 19), 1.0, True), Said(Span(10, 19), 1.0, True)
    assert agreement([one], [may]) == (1.0, 1.0)
    assert agreement([one], [early]) == (0.8, 0.0)
    assert agreement([one, two], [may, may]) == (0.5, 0.5)


def test_agreement_with_the_rule_leaves_out_where_it_says_nothing() -> None:
    one = Sample("a", ("When was May?", "It was in early May"), (0, 2), answers=("It",))
    two = one._replace(id="b", segments=("When was June?", "It was in early May"))
    may = Said(Span(16, 19), 1.0, True)
    assert agreement([one, two], [may, may], rule=True) == (1.0, 1.0)
    assert agreement([one, two], [may, may]) == (0.0, 0.0)


def test_training_follows_the_rule_and_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tiny model in MiniLM's place: what is trained is written once, with its recipe."""
    given = samples(8)
    monkeypatch.setattr(reading, "learned", lambda validation: given)
    recipe = Recipe("minilm", {}, texts=6, epochs=1, batch=3)
    reader = Reader("qa/made-up/low", recipe, room=160, rule=True)
    assert reader.wanted(given[0]) == embedded.last_word(embedded.draw(0, "pool"))
    made = stored.load(WEIGHTS / "qa/reading/low/model.safetensors")
    monkeypatch.setattr(pretrained, "untrained", lambda *_: made)
    kept: list[Path] = []

    def save(*arguments: object) -> None:
        file = arguments[4]
        assert isinstance(file, Path)
        file.write_bytes(b"weights")
        kept.append(file)

    monkeypatch.setattr(pretrained, "save", save)
    said: list[str] = []
    task = Training(reader.id, tmp_path, tmp_path, say=said.append)
    reader.train(task)
    reader.train(task)
    assert kept == [tmp_path / "trained.safetensors"]
    assert said[0] == "qa/made-up/low: 6 questions, 1 epochs"
    assert not any(isinstance(m, torch.nn.Dropout) and m.p for m in made.modules())
