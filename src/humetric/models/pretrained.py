"""Text models on all-MiniLM-L6-v2: the encoder with adapters and a head, or its word vectors alone.

=============== =================================================================================
kind            what is trained
=============== =================================================================================
minilm          adapters of the encoder's linear layers, and the head
bilstm          for pairs: two bidirectional layers over the frozen word vectors, as InferSent has
lstm            for single texts: one bidirectional layer over them, with attention to its states
bow             a head over mean frozen word vectors, in both sentences
tfidf           logistic regression on TF-IDF values of the same tokens
=============== =================================================================================

A file of trained weights holds only what was learned, in half precision; the encoder comes from its
own source, whose checksum stands in the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from humetric.data.sources import find
from humetric.errors import HumetricError
from humetric.models.adapters import adapt, learned, merge, restore
from humetric.models.bag_of_words import BagOfWords
from humetric.models.bilstm import BiLSTM
from humetric.models.infersent import InferSent
from humetric.models.text import TextModel
from humetric.models.text_fit import Marks
from humetric.models.tfidf import TfIdf
from humetric.models.training import _settled
from humetric.models.transformer import Transformer

SOURCE = "all-MiniLM-L6-v2"
RANK = 8
WIDTH = 384
KINDS = ("minilm", "bilstm", "lstm", "bow", "tfidf")


@cache
def tokenizer() -> Any:
    """The encoder's tokenizer, a fast one of ``transformers``."""
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_file=str(find(SOURCE).file("tokenizer.json")),
        model_max_length=512,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def marks() -> Marks:
    """Its tokens that are no words."""
    made = tokenizer()
    return Marks(tuple(made.all_special_ids), made.mask_token_id, made.unk_token_id)


def untrained(kind: str, head: str, classes: int) -> TextModel:
    """A model whose head and adapters are random; draws come from torch's generator.

    ``head`` is ``classification`` or ``span``; ``classes`` is for the first.
    """
    if kind == "minilm":
        return _encoder(head, classes)
    words = len(tokenizer())
    if kind == "tfidf":
        return TfIdf(words, classes)
    if kind not in KINDS:
        raise HumetricError(f"Expected a model of {', '.join(KINDS)} but got {kind!r}.")
    made: BagOfWords | InferSent | BiLSTM
    if kind == "bow":
        made = BagOfWords(words, classes, WIDTH, hidden=128)
    elif kind == "lstm":
        made = BiLSTM(words, classes, WIDTH, width=96)
    else:
        made = InferSent(words, classes, WIDTH, width=64, layers=2, hidden=128)
    with safe_open(find(SOURCE).file("model.safetensors"), framework="pt") as file:
        vectors = file.get_tensor("embeddings.word_embeddings.weight")
    # About 1 on average in each dimension, as layers start from.
    made.embedding.weight.data.copy_(vectors / vectors.std())
    made.embedding.requires_grad_(False)
    return made


def _encoder(head: str, classes: int) -> Transformer:
    """MiniLM with a head: pooler and classifier, or start and end of a span."""
    from transformers import BertConfig, BertForQuestionAnswering, BertForSequenceClassification

    found = find(SOURCE)
    plain = json.loads(found.file("config.json").read_text())
    config = BertConfig(**{k: v for k, v in plain.items() if k not in ("architectures",)})
    config.num_labels = classes if head == "classification" else 2
    model: Any = (
        BertForSequenceClassification(config)
        if head == "classification"
        else BertForQuestionAnswering(config)
    )
    with safe_open(found.file("model.safetensors"), framework="pt") as file:
        held = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    held.pop("embeddings.position_ids", None)
    if model.bert.pooler is None:
        held = {name: value for name, value in held.items() if not name.startswith("pooler.")}
    model.bert.load_state_dict(held, strict=False)
    adapt(model, model.bert.encoder, RANK)
    model.bert.embeddings.requires_grad_(False)
    return Transformer(model)


def save(model: TextModel, kind: str, head: str, classes: int, file: Path, about: Any) -> None:
    """Write what was learned, and how it came about."""
    tensors = {name: value.half().contiguous() for name, value in learned(model).items()}
    metadata = {
        "architecture": f"{SOURCE}/{kind}",
        "config": json.dumps({"kind": kind, "head": head, "classes": classes}, sort_keys=True),
        "base": _base(),
        **{name: v if isinstance(v, str) else json.dumps(v, sort_keys=True) for name, v in about},
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".draft")
    save_file(tensors, draft, metadata)
    draft.write_bytes(_settled(draft.read_bytes()))
    draft.replace(file)


def load(file: Path, merged: bool = True) -> TextModel:
    """The trained model, adapters merged, ready for inference.

    Not ``merged``: as it was trained, to be trained further.
    """
    with safe_open(file, framework="pt") as weights:
        about: Mapping[str, str] = weights.metadata() or {}
        tensors = {name: weights.get_tensor(name).float() for name in weights.keys()}  # noqa: SIM118
    if "config" not in about or "base" not in about:
        raise HumetricError(f"Expected weights that humetric train wrote but {file} holds others.")
    if about["base"] != _base():
        raise HumetricError(
            f"Expected {SOURCE} with the checksum {about['base'][:12]}..., which {file.name} was "
            f"trained on, but it has {_base()[:12]}...: get the declared one (humetric sources)."
        )
    with torch.random.fork_rng():
        model = untrained(**json.loads(about["config"]))
    restore(model, tensors)
    if not merged:
        return model.eval()
    merge(model)
    return model.requires_grad_(False).eval()


def _base() -> str:
    """Checksum of the encoder's weights."""
    return _digest(find(SOURCE).file("model.safetensors"))


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
