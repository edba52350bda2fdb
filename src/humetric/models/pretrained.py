"""Text models on a pretrained encoder: trained in full, by adapters, or its word vectors alone.

=============== =================================================================================
kind            what is trained
=============== =================================================================================
full            the encoder and the head
minilm          adapters of the encoder's linear layers, and the head
bilstm          for pairs: two bidirectional layers over the frozen word vectors, as InferSent has
lstm            for single texts: one bidirectional layer over them, with attention to its states
bow             a head over mean frozen word vectors, in both sentences
tfidf           logistic regression on TF-IDF values of the same tokens
=============== =================================================================================

The encoder is any source of weights with a config.json, all-MiniLM-L6-v2 unless another is named;
all kinds but ``full`` are made for that one. A file of trained weights holds only what was learned,
in half precision; the encoder comes from its own source, whose checksum stands in the file.
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

from humetric.data.sources import Found, find
from humetric.errors import HumetricError
from humetric.models.adapters import adapt, learned, merge, restore
from humetric.models.bag_of_words import BagOfWords
from humetric.models.bilstm import BiLSTM
from humetric.models.infersent import InferSent
from humetric.models.text import TextModel
from humetric.models.text_fit import Marks
from humetric.models.tfidf import TfIdf
from humetric.models.training import _settled
from humetric.models.transformer import VOLATILE, Transformer

SOURCE = "all-MiniLM-L6-v2"
RANK = 8
WIDTH = 384
KINDS = ("full", "minilm", "bilstm", "lstm", "bow", "tfidf")


SPECIAL = (
    {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"},
    {"pad": "<pad>", "unk": "<unk>", "cls": "<s>", "sep": "</s>", "mask": "<mask>"},
)
"""Special tokens as BERT and ELECTRA write them, and as RoBERTa does."""


@cache
def tokenizer(source: str = SOURCE) -> Any:
    """The encoder's tokenizer, a fast one of ``transformers``; in lower case if made of vocab.txt.

    It is made of vocab.txt where the source declares no tokenizer.json.
    """
    from tokenizers import BertWordPieceTokenizer, Tokenizer
    from transformers import PreTrainedTokenizerFast

    found = find(source)
    if "tokenizer.json" in {part.name for part in found.parts}:
        backend = Tokenizer.from_file(str(found.file("tokenizer.json")))
    else:
        made = BertWordPieceTokenizer(str(found.file("vocab.txt")), lowercase=True)
        backend = Tokenizer.from_str(made.to_str())
    names = next((n for n in SPECIAL if backend.token_to_id(n["mask"]) is not None), None)
    if names is None:
        raise HumetricError(
            f"Expected a tokenizer with [MASK] or <mask> but that of {source} has neither."
        )
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=backend,
        model_max_length=512,
        **{f"{name}_token": token for name, token in names.items()},
    )


def marks(source: str = SOURCE) -> Marks:
    """Its tokens that are no words."""
    made = tokenizer(source)
    return Marks(tuple(made.all_special_ids), made.mask_token_id, made.unk_token_id)


def untrained(kind: str, head: str, classes: int, source: str = SOURCE) -> TextModel:
    """A model whose head and adapters are random; draws come from torch's generator.

    ``head`` is ``classification`` or ``span``; ``classes`` is for the first.
    """
    if kind == "full":
        return _whole(find(source), head, classes)
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


def _whole(found: Found, head: str, classes: int, blank: bool = False) -> Transformer:
    """An encoder with a new head, as ``transformers`` has it; ``blank``: with random weights."""
    from transformers import (
        AutoConfig,
        AutoModelForQuestionAnswering,
        AutoModelForSequenceClassification,
    )

    plain = json.loads(found.file("config.json").read_text())
    config = AutoConfig.for_model(**{k: v for k, v in plain.items() if k not in VOLATILE})
    config.num_labels = classes if head == "classification" else 2
    heads: dict[str, Any] = {
        "classification": AutoModelForSequenceClassification,
        "span": AutoModelForQuestionAnswering,
    }
    if blank:
        return Transformer(heads[head].from_config(config))
    model, told = heads[head].from_pretrained(
        found.file("model.safetensors").parent,
        config=config,
        dtype=torch.float32,
        use_safetensors=True,
        trust_remote_code=False,
        local_files_only=True,
        output_loading_info=True,
    )
    inside = f"{model.base_model_prefix}."
    lacking = sorted(name for name in told["missing_keys"] if name.startswith(inside))
    if lacking:
        raise HumetricError(
            f"Expected the weights of {found.source.name} in {found.path} but {len(lacking)} are "
            f"missing, among them {lacking[0]}: get that folder anew."
        )
    return Transformer(model)


def save(
    model: TextModel,
    kind: str,
    head: str,
    classes: int,
    file: Path,
    about: Any,
    source: str = SOURCE,
) -> None:
    """Write what was learned, and how it came about."""
    tensors = {name: value.half().contiguous() for name, value in learned(model).items()}
    config = {"kind": kind, "head": head, "classes": classes}
    config |= {} if source == SOURCE else {"source": source}
    metadata = {
        "architecture": f"{source}/{kind}",
        "config": json.dumps(config, sort_keys=True),
        "base": _base(source),
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
    config = json.loads(about["config"])
    source = config.get("source", SOURCE)
    if about["base"] != _base(source):
        raise HumetricError(
            f"Expected {source} with the checksum {about['base'][:12]}..., which {file.name} was "
            f"trained on, but it has {_base(source)[:12]}...: get the declared one (humetric "
            f"sources)."
        )
    with torch.random.fork_rng():
        model = (
            _whole(find(source), config["head"], config["classes"], blank=True)
            if config["kind"] == "full"
            else untrained(**config)
        )
    restore(model, tensors)
    if not merged:
        return model.eval()
    merge(model)
    return model.requires_grad_(False).eval()


def _base(source: str = SOURCE) -> str:
    """Checksum of the encoder's weights."""
    return _digest(find(source).file("model.safetensors"))


@cache
def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
