"""A made-up mirror for the paper suite: tiny random models of the same classes, made-up data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from PIL import Image
from pyarrow import parquet
from text_support import wordpiece
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForPreTraining,
    ElectraConfig,
    ElectraForPreTraining,
    ResNetConfig,
    ResNetForImageClassification,
    RobertaConfig,
    RobertaForMaskedLM,
)

from humetric.data.sources import SOURCES
from humetric.settings.corpora import Sample
from humetric.settings.declared import Declared
from humetric.settings.images import Album, decoded, sha256

THINGS = ("film", "plot", "acting", "soup", "river", "mill", "end")
SHAPE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
         "intermediate_size": 16}  # fmt: skip


def byte_pairs() -> Tokenizer:
    """A tokenizer of RoBERTa's kind: bytes, <s> and </s>, padding that is not token 0."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *letters]
    made = Tokenizer(models.BPE({n: i for i, n in enumerate(names)}, [], unk_token="<unk>"))
    made.add_special_tokens(names[:5])
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return made


def _bert() -> Any:
    return BertForPreTraining(BertConfig(vocab_size=wordpiece().get_vocab_size(), **SHAPE))


def _electra() -> Any:
    size = wordpiece().get_vocab_size()
    return ElectraForPreTraining(ElectraConfig(vocab_size=size, embedding_size=8, **SHAPE))


def _roberta() -> Any:
    size, more = byte_pairs().get_vocab_size(), {"max_position_embeddings": 514}
    return RobertaForMaskedLM(
        RobertaConfig(vocab_size=size, type_vocab_size=1, pad_token_id=1, **more, **SHAPE)
    )


def _resnet() -> Any:
    widths = {"embedding_size": 4, "hidden_sizes": [8, 8, 8, 16], "depths": [1, 1, 1, 1]}
    return ResNetForImageClassification(ResNetConfig(num_labels=1000, **widths))


KINDS: Mapping[str, Callable[[], Any]] = {
    "bert-base-uncased": _bert,
    "bert-large-uncased": _bert,
    "tinybert-6l-768d": _bert,
    "roberta-base": _roberta,
    "roberta-large": _roberta,
    "electra-base-discriminator": _electra,
    "electra-large-discriminator": _electra,
    "resnet-50": _resnet,
}
"""A small random model of the same class as each source's."""


def write_models(root: Path) -> None:
    """Weights, as checkpoints of pretraining have them, with what goes with them."""
    for name, make in KINDS.items():
        folder = root / SOURCES[name].folder
        with torch.random.fork_rng():
            torch.manual_seed(0)
            make().save_pretrained(folder, safe_serialization=True)
        wanted = {part.name for part in SOURCES[name].parts}
        tokens = byte_pairs() if "roberta" in name else wordpiece()
        if "tokenizer.json" in wanted:
            tokens.save(str(folder / "tokenizer.json"))
        if "vocab.txt" in wanted:
            known = sorted(tokens.get_vocab().items(), key=lambda item: item[1])
            (folder / "vocab.txt").write_text("\n".join(word for word, _ in known))
    folder = root / "models" / "glove_6b_50d"
    folder.mkdir(parents=True)
    words = [*THINGS, "the", "was", "not", "slow", "good"]
    parquet.write_table(pa.table({"index": words}), folder / "glove_6B_index.parquet")
    np.save(
        folder / "glove_6B_50d_emb.npy",
        np.random.default_rng(0).normal(size=(len(words), 50)).astype(np.float32),
    )


def write_texts(root: Path) -> None:
    """A few reviews, pairs and questions in the place of each data set."""

    def put(name: str, split: str, rows: list[dict[str, Any]]) -> None:
        folder = root / "datasets" / name
        folder.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.Table.from_pylist(rows), folder / f"{split}.parquet")

    def review(i: int) -> dict[str, Any]:
        return {"text": f"the {THINGS[i % 7]} was {'good' if i % 2 else 'slow'} {i}",
                "label": i % 2, "polarity": 0}  # fmt: skip

    def pair(i: int, **more: str) -> dict[str, Any]:
        text = f"the {THINGS[i % 7]} was slow, number {i}"
        return {"uid": f"p{i}", "premise": text, "hypothesis": f"the {THINGS[i % 5]} was not good",
                "label": i % 3} | more  # fmt: skip

    def question(i: int, added: bool) -> dict[str, Any]:
        text = f"the {THINGS[i % 7]} was slow in May {i}." + " the soup was cold." * added
        answer = {"text": ["May"], "answer_start": [text.index("May")]}
        return {"id": f"q{i}-turk" if added else f"q{i}", "title": f"t{i % 9}", "context": text,
                "question": f"when was it slow, the {THINGS[i % 7]}", "answers": answer,
                "adversarial": added}  # fmt: skip

    put("hotel_reviews", "train", [review(i) for i in range(6)])
    put("hotel_reviews", "test", [review(i) for i in range(10, 16)])
    put("snli", "train", [pair(i) for i in range(100, 108)])
    for k, split in enumerate(("dev_r1", "dev_r2")):
        put("anli", split, [pair(i, reason=f"so {i}") for i in range(10 * k, 10 * k + 4)])
    told = [pair(i, explanation_1=f"since {i}", explanation_2="") for i in range(40, 46)]
    put("esnli", "validation", told)
    put("squad_v2", "train", [question(i, False) for i in range(12)])
    both = [question(i, added) for i in range(20, 24) for added in (False, True)]
    put("squad_adversarial", "test", both)


def write_pictures(root: Path) -> None:
    """Noise, bright or dark by class; the least that training and cases need."""
    rng = np.random.default_rng(0)

    def put(place: Path, shade: int) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        noise = rng.integers(0, 128, (64, 64, 3)) + 64 * shade
        Image.fromarray(noise.astype(np.uint8)).save(place)

    for k, name in enumerate(("husky", "wolf")):
        for split, count in (("train", 22), ("test", 1)):
            for i in range(count):
                put(root / "datasets/husky_wolf" / split / name / f"{i:03d}.png", k)
    for k, name in enumerate(("black_rot", "cedar_apple_rust")):
        for split, count in (("train", 6), ("test", 1)):
            for i in range(count):
                put(root / "datasets/plantvillage_apple" / split / name / f"{i:03d}.png", k)
    for k, index in enumerate((160, 170, 230, 240)):
        put(root / "datasets/imagenet_sample/test" / f"{index:04d}_dog.png", k // 2)


def write_cases(folder: Path, declared: Declared, pool: list[Sample] | Album) -> None:
    """The first rows of the pool as another model's cases."""
    if isinstance(pool, Album):
        found = list(pool.pool())[:2]
        images, labels = decoded(found)
        rows = [
            {"id": s.id, "label": int(k), "predicted": 0, "sha256": sha256(image)}
            for s, k, image in zip(found, labels, images, strict=True)
        ]
    else:
        rows = [
            {"id": s.id, "label": list(s.label) if isinstance(s.label, tuple) else s.label,
             "predicted": 0, "sha256": s.sha256}
            for s in pool[:2]
        ]  # fmt: skip
    file = folder / declared.cases / "cases.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"weights": "others", "accuracy": 0.5, "cases": rows}))
