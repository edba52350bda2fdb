"""Small text settings: a tokenizer of few pieces, tiny models with random weights."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from torch import nn

from humetric.models.stored import architecture
from humetric.models.text import TextModel
from humetric.tasks.setting import Setting
from humetric.tasks.text_setting import text_setting

SENTENCES = (
    "the film was not good but the acting was wonderful",
    "a slow and tedious plot with a surprisingly moving end",
    "nobody would call this picture boring",
    "the soup arrived cold and the waiter never smiled",
    "an unforgettable performance by everyone involved",
    "where did the river flood in spring",
    "the river flooded the mill in the spring of that year",
)

REVIEWS = (
    "Nobody would call this unforgettable picture boring , and the acting was wonderful .",
    "cold soup",
    "The film was slow and tedious but surprisingly moving in the end",
    "boring",
    "not good",
    "a wonderful , moving , unforgettable performance by the waiter",
)

PAIRS = (
    ("The waiter never smiled .", "Nobody smiled ."),
    ("The soup arrived cold", ""),
    ("a moving end", "the plot was slow and the end was moving and unforgettable"),
    ("river", "mill"),
)

UNLABELLED = tuple(
    " ".join(words)
    for words in np.random.default_rng(3).choice(" ".join(SENTENCES).split(), (60, 7)).tolist()
)
"""Words of the sentences at random: texts for students."""

QUESTIONS = (
    ("where did the river flood", "the river flooded the mill in the spring of that year"),
    ("who smiled", "the waiter never smiled"),
    ("what was cold", "the acting was wonderful but the soup arrived cold and tedious"),
)

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


@cache
def wordpiece() -> Tokenizer:
    """A WordPiece tokenizer like BERT's with few pieces, so that many words are split.

    The pieces are listed, not trained: of pairs that are equally common the trainer merges another
    one in each run.
    """
    words = ["the", "film", "was", "not", "good", "but", "acting", "slow", "and", "plot", "end"]
    words += ["this", "soup", "river", "in", "mill"]
    ends = ["ing", "ed", "er", "ly", "ious", "able", "ful", "ance"]
    letters = "abcdefghijklmnopqrstuvwxyz,.!"
    pieces = [*SPECIAL, *letters, *(f"##{x}" for x in letters[:26]), *words]
    pieces += [f"##{x}" for x in ends]
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    return tokenizer


@cache
def byte_pairs() -> Tokenizer:
    """Byte-level pairs like RoBERTa's: spaces belong to tokens, and there are no token types."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", tokenizer.token_to_id("</s>")), ("<s>", tokenizer.token_to_id("<s>"))
    )
    return tokenizer


BERT = {
    "model_type": "bert",
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 48,
}


def bert(head: str = "classification", positions: int = 48, classes: int = 2) -> TextModel:
    """A BERT of two layers whose outputs move when words are removed."""
    torch.manual_seed(0)
    config: dict[str, Any] = {
        **BERT,
        "head": head,
        "vocab_size": wordpiece().get_vocab_size(),
        "max_position_embeddings": positions,
    }
    if head == "classification":
        config["num_labels"] = classes
    return loud(architecture("transformer").make(config))


def small(name: str, **config: Any) -> TextModel:
    """Another architecture with random weights."""
    torch.manual_seed(1)
    made = architecture(name).make({"vocabulary": wordpiece().get_vocab_size(), **config})
    if hasattr(made, "idf"):
        made.idf.copy_(torch.rand(len(made.idf)) + 0.5)
        made.idf[:5] = 0
    return made.eval()


def loud(model: TextModel) -> TextModel:
    """Weights large enough that logits differ by about one."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter *= 6
    return model.eval()


def bag(classes: int = 2) -> TextModel:
    """A bag of words whose logits are linear in the embeddings."""
    return small("bag-of-words", classes=classes, embedding=8, hidden=0, pairs=False)


def setting(task: str = "sentiment", model: nn.Module | None = None, **options: Any) -> Setting:
    """A setting of a task with a small BERT, or with another model."""
    texts = {"sentiment": REVIEWS, "nli": PAIRS, "qa": QUESTIONS}[task]
    if task != "qa":
        pairs = [(one, other[:20]) for one, other in itertools.pairwise(UNLABELLED)]
        options = {"unlabelled": UNLABELLED if task == "sentiment" else pairs} | options
    if model is None:
        model = bert("span" if task == "qa" else "classification", classes=3 - (task != "nli"))
    return text_setting(f"{task}/tiny/test", model, wordpiece(), texts, task=task, **options)


def reordered(made: Setting, order: list[int]) -> Setting:
    """The same cases in another order, or fewer of them."""
    assert made.texts is not None
    texts = made.texts.take(order)
    tokens = texts.tokens.word.shape[1]
    return replace(
        made,
        ids=tuple(made.ids[i] for i in order),
        x=made.x[order][..., :tokens],
        baseline=made.baseline[order][..., :tokens],
        target=made.target[order],
        label=made.label[order],
        texts=texts,
    )
