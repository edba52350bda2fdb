"""What the paper suite costs on a card of 24 GB: an estimate, from counts and not from a run.

    python -m humetric.settings.paper_costs    # the table of docs/paper.md

Model calls are counted by the planner of ``humetric run --dry-run`` on made-up inputs of a typical
length with a tiny model of the same class. Operations of one call are counted on the model at full
size without weights. Hours are these over what a card is assumed to do; nothing was timed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from transformers import ResNetConfig

from humetric.engine.placement import place
from humetric.models import resnet
from humetric.models.model import call
from humetric.models.resnet_network import shaped
from humetric.models.text_recipes import SEEDS
from humetric.models.text_table import Table
from humetric.models.transformer import Transformer
from humetric.run.plan import costs, make_plan
from humetric.settings.paper_text import HOTELS, PAIRS, READERS, TINY
from humetric.settings.reasons import RECIPES
from humetric.suites import Suite, load_suite
from humetric.tasks.image_setting import image_setting
from humetric.tasks.setting import Setting
from humetric.tasks.text_setting import text_setting

SPEED, FULL, USE = 100e12, 30e12, 0.3
"""Operations a second in bf16 and in full precision (gradients), and the share that is reached."""

_LARGE = {
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
}
_ROBERTA = {
    "model_type": "roberta",
    "vocab_size": 50_265,
    "max_position_embeddings": 514,
    "type_vocab_size": 1,
}
_ELECTRA = {"model_type": "electra", "hidden_size": 768, "embedding_size": 768}
SHAPES: Mapping[str, dict[str, Any]] = {
    "bert-base-uncased": {"model_type": "bert"},
    "bert-large-uncased": {"model_type": "bert", **_LARGE},
    "roberta-base": _ROBERTA,
    "roberta-large": {**_ROBERTA, **_LARGE},
    "electra-base-discriminator": {
        **_ELECTRA,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
    },
    "electra-large-discriminator": {**_ELECTRA, **_LARGE, "embedding_size": 1024},
    TINY: {"model_type": "bert", "num_hidden_layers": 6},
}
"""What differs from the defaults of ``transformers``, as the models' makers published it."""


@dataclass(frozen=True)
class Typical:
    """How long inputs are: words of each segment and tokens, rounded means of the data."""

    words: tuple[int, ...]
    tokens: int


LENGTHS = {
    "hotel-reviews": Typical((152,), 184),
    "anli": Typical((54, 11), 91),
    "squad-original": Typical((10, 120), 176),
    "squad-adversarial": Typical((11, 130), 190),
}


@cache
def whole(source: str, span: bool) -> nn.Module:
    """A model at full size, without weights."""
    with torch.device("meta"):
        if source == resnet.SOURCE:
            found: nn.Module = shaped(ResNetConfig(), 1000)
            return found.eval()
        head = {"head": "span"} if span else {"head": "classification", "num_labels": 3}
        return Transformer.make({**SHAPES[source], **head}).eval()


def row(source: str, tokens: int) -> torch.Tensor:
    """An input of it without values."""
    if source == resnet.SOURCE:
        return torch.empty(3, 224, 224, device="meta")
    return torch.ones(3, tokens, dtype=torch.long, device="meta")


@cache
def operations(source: str, tokens: int, span: bool = False) -> int:
    """Multiplications and additions of one forward call."""
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        call(whole(source, span), row(source, tokens)[None])
    return counter.get_total_flops()


def stand_in(id: str) -> Setting:
    """One made-up case of a setting's size, with a tiny model."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    task, data, _ = id.split("/")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        if task == "image":
            tiny = nn.Sequential(
                nn.Conv2d(3, 2, 7, 32), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 2)
            )
            picture = np.random.default_rng(0).integers(0, 256, (1, 224, 224, 3), np.uint8)
            return image_setting(id, tiny, picture, mean=[0.5] * 3, std=[0.25] * 3, layer="0")
        shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
        head = {"head": "span"} if task == "qa" else {"head": "classification", "num_labels": 2}
        model = Transformer.make(
            {"model_type": "bert", "vocab_size": 300, "intermediate_size": 8, **shape, **head}
        )
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{i}" for i in range(256))]
    words = Tokenizer(models.WordLevel({name: i for i, name in enumerate(names)}, "[UNK]"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    _with_ends(words)
    segments = [" ".join(f"w{i}" for i in range(n)) for n in LENGTHS[data].words]
    given: Any = segments[0] if len(segments) == 1 else tuple(segments)
    return text_setting(id, model, words, [given], task=task)


def _with_ends(words: Any) -> None:
    from tokenizers import processors

    words.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )


@cache
def calls(task: str, data: str) -> tuple[int, int]:
    """Forward and gradient calls of one case, of methods and metrics that can be counted."""
    suite, made = load_suite("paper"), stand_in(f"{task}/{data}/tiny")
    methods = {name: suite.method(name) for name in suite.methods}
    metrics = {name: suite.metric(name) for name in suite.current_metrics()}
    plan = make_plan([made], list(methods.values()), list(metrics.values()), suite.chunk)
    placed = {made.id: made.place(place("cpu", "fp32"))}
    found = list(costs(plan, placed, methods, metrics, suite.seed))
    return sum(cost.forward for cost in found), sum(cost.backward for cost in found)


@dataclass(frozen=True)
class Estimate:
    """What a setting is expected to ask of a card."""

    setting: str
    batch: int
    forward: int
    gradient: int
    hours: float
    training: float
    """Hours of training; 0 where the weights are another setting's, or a head takes no time."""


def estimate(id: str, batch: int, cases: int) -> Estimate:
    """Of one setting of the paper suite."""
    task, data, name = id.split("/")
    forward, gradient = (cases * count for count in calls(task, data))
    if task == "image":
        each, training = operations(resnet.SOURCE, 0), 0.0
    else:
        made = READERS[name] if task == "qa" else PAIRS.get(id, HOTELS)
        tokens = LENGTHS[data].tokens
        each = operations(made.source, tokens, task == "qa")
        texts = {"qa": 87_000, "nli": 549_000, "sentiment": 1_000}[task] * made.recipe.epochs
        if task == "nli":
            more = RECIPES["full"]
            texts += 2 * more.texts * more.epochs * len(SEEDS)
        training = 3 * texts * each / (SPEED * USE) / 3600 if made.id == id else 0.0
    seconds = each * (forward / SPEED + 3 * gradient / FULL) / USE
    return Estimate(id, batch, forward, gradient, seconds / 3600, training)


def estimates(suite: Suite | None = None) -> list[Estimate]:
    """Of all settings of the paper suite."""
    chosen = suite or load_suite("paper")
    return [estimate(s.id, s.batch_size, chosen.cases) for s in chosen.settings]


def table() -> Table:
    """A row for each setting."""
    rows = [
        (
            e.setting,
            f"{e.batch}",
            f"{e.forward:,}",
            f"{e.gradient:,}",
            f"{e.hours:.2f}",
            "" if not e.training else f"{e.training:.2f}" if e.training >= 0.005 else "< 0.01",
        )
        for e in estimates()
    ]
    return Table(
        "Expected cost",
        f"Estimates: {SPEED / 1e12:.0f} TFLOP/s in bf16 and {FULL / 1e12:.0f} in full precision "
        f"(gradients), of which {USE:.0%} are reached; typical lengths; {load_suite('paper').cases}"
        " cases. Students, searches that replace words and simulated users are not counted.",
        ("setting", "batch", "forward calls", "gradient calls", "hours", "hours of training"),
        tuple(rows),
    )


if __name__ == "__main__":
    print(table().markdown())
