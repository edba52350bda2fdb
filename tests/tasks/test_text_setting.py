"""Text settings: what is explained, what is refused, and models from the hub's classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from support import engine_for
from text_support import BERT, PAIRS, QUESTIONS, REVIEWS, bert, setting, small, wordpiece
from torch import nn

from humetric import text_setting
from humetric.engine.placement import place
from humetric.errors import HumetricError, UnknownNameError
from humetric.methods import METHODS
from humetric.run.work import explain
from humetric.tasks.answers import answer_text
from humetric.tasks.text import best_span


def test_predictions_are_explained_unless_targets_are_given() -> None:
    made = setting()
    module = made.model.module
    for i in range(len(made)):
        count = int(made.texts.tokens.counts[i])  # type: ignore[union-attr]
        with torch.no_grad():
            logits = module(*made.x[i : i + 1, :, :count].unbind(1))
        assert int(logits.argmax()) == int(made.target[i])
    other = setting(target=[1] * len(REVIEWS), label=[0] * len(REVIEWS))
    assert other.target.tolist() == [1] * len(REVIEWS)
    assert not other.right.any()


def test_words_and_segments_are_kept_for_display() -> None:
    made = setting("nli")
    assert made.texts is not None
    assert made.texts.names == ("premise", "hypothesis")
    assert made.texts.words[1] == ("The", "soup", "arrived", "cold")
    assert made.texts.segment[2][:4] == (0, 0, 0, 1)
    assert made.texts.raw[0] == PAIRS[0]
    assert made.task.features == (max(map(len, made.texts.words)),)


def test_tokens_may_be_the_features() -> None:
    """A map over words is the sum of the map over tokens, where each token is its own word."""
    words, tokens = setting("nli"), setting("nli", split="tokens")
    assert torch.equal(words.x, tokens.x)
    assert words.texts is not None
    assert tokens.texts is not None
    maps = []
    for made in (words, tokens):
        engine = engine_for(made)
        found = explain([METHODS.make("integrated-gradients", {"points": 4})], engine)
        maps.append(found["integrated-gradients"])
    for i in range(len(words)):
        of_word, of_token = words.texts.tokens.word[i], tokens.texts.tokens.word[i]
        assert (of_token >= 0).tolist() == (of_word >= 0).tolist()
        total = torch.zeros_like(maps[0][i])
        for word, token in zip(of_word.tolist(), of_token.tolist(), strict=True):
            if word >= 0:
                total[word] += maps[1][i, token]
        torch.testing.assert_close(total, maps[0][i])
    assert setting(split="tokens", limit=6).texts.cut[0] > 10  # type: ignore[union-attr]


def test_chunks_are_no_wider_than_their_cases() -> None:
    placed = setting().place(place("cpu"))
    cases = placed.cases(3, 5)
    assert cases.lengths == (1, 2)
    assert cases.shape == (2, 2)
    assert cases.x.shape[2] == max(cases.text()[1].tokens.counts)
    assert cases.real(torch.ones(2, 2)).tolist() == [[1, 0], [1, 1]]


@pytest.mark.parametrize("longest", [1, 3, 30])
def test_best_span_by_enumeration(longest: int) -> None:
    draw = torch.Generator().manual_seed(longest)
    for _ in range(20):
        start, end = torch.randn(2, 9, generator=draw)
        inside = torch.rand(9, generator=draw) < 0.6
        inside[4] = True
        spans = [
            (float(start[a] + end[b]), a, b)
            for a in range(9)
            for b in range(a, min(9, a + longest))
            if inside[a] and inside[b]
        ]
        assert best_span(start, end, inside, longest) == max(spans)[1:]


def test_spans_are_in_the_passage_and_labels_are_characters() -> None:
    passage = QUESTIONS[0][1]
    at = passage.index("the mill")
    spans = [(at, at + 8), (0, 3), (0, 10)]
    made = setting("qa", label=spans)
    assert made.target.shape == (3, 2)
    assert made.texts is not None
    for i, (first, last) in enumerate(made.target.tolist()):
        assert first <= last
        assert set(made.texts.tokens.part[i, first : last + 1].tolist()) == {1}
    assert answer_text(made.texts, 0, made.label[0].tolist()) == "the mill"
    assert made.right.shape == (3,)
    truth = setting("qa", label=spans, target=made.label.tolist())
    assert truth.right.all()


def test_hub_models_and_tiny_ones_take_the_same_path(tmp_path: Path) -> None:
    """Saved and loaded as people do it with transformers; 512 positions."""
    from transformers import (
        AutoModelForSequenceClassification,
        BertConfig,
        BertForSequenceClassification,
        PreTrainedTokenizerFast,
    )

    config = BertConfig(
        **{**BERT, "max_position_embeddings": 512}, vocab_size=wordpiece().get_vocab_size()
    )
    torch.manual_seed(0)
    BertForSequenceClassification(config).save_pretrained(tmp_path)
    loaded: Any = AutoModelForSequenceClassification.from_pretrained(tmp_path)
    tokenizer: Any = PreTrainedTokenizerFast(
        tokenizer_object=wordpiece(), pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]"
    )
    long = " ".join(["the film was not good"] * 200)
    made = text_setting("sentiment/a/b", loaded, tokenizer, [long, "good"], task="sentiment")
    assert made.x.shape == (2, 3, 512)
    assert made.texts is not None
    assert made.texts.cut[0] == 1000 - len(made.texts.words[0]) > 0
    assert made.model.refuses("internals", "attention") == ""
    text = "the acting was wonderful"
    ids = tokenizer(text, return_tensors="pt")
    alone = text_setting("sentiment/a/c", loaded, tokenizer, [text], task="sentiment")
    with torch.no_grad():
        expected = loaded.eval()(**ids).logits
        found = alone.model.module(*alone.x.unbind(1))
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "poetry"}, "Unknown text task 'poetry'"),
        ({"task": "nli"}, "Expected a pair of texts but number 0"),
        ({"removal": "burn"}, "Unknown removal 'burn'"),
        ({"model": small("bilstm"), "removal": "drop"}, "needs a transformer"),
        ({"texts": []}, "Expected some texts"),
        ({"texts": ["good", "  "]}, "at least one word in case-0001"),
        ({"target": [5]}, r"targets from 0 to 1 but got \[5\]"),
        ({"target": [0, 1]}, "Expected 1 different targets but got 2"),
        ({"model": nn.Linear(2, 2)}, "subclass TextModel"),
        ({"model": bert("span")}, "gives classes for sentiment"),
        ({"task": "qa", "texts": [("a", "b")]}, "start and end logits for qa"),
        ({"split": "letters"}, "split of space, punctuation, tokens"),
    ],
)
def test_mistakes_are_explained(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"model": bert(), "texts": ["good"], "task": "sentiment"} | options
    model, texts = given.pop("model"), given.pop("texts")
    with pytest.raises((HumetricError, UnknownNameError), match=message):
        text_setting("sentiment/x/y", model, wordpiece(), texts, **given)


def test_spans_outside_and_deletion_are_refused_for_qa() -> None:
    with pytest.raises(HumetricError, match="answer within the passage"):
        setting("qa", target=[(0, 1)] * 3)
    with pytest.raises(HumetricError, match="deletion is not available for qa"):
        setting("qa", removal="delete")
    with pytest.raises(HumetricError, match="none of it is within"):
        text_setting("qa/x/y", bert("span"), wordpiece(), [("who smiled", "")], task="qa")
