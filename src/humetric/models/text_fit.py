"""How a text model is fitted: AdamW, a one-cycle rate, batches of like length, resumable.

Words are removed by a mask when explanations are evaluated, so models must have seen masks, or the
masked inputs would be nothing they know: in a share of the rows, each token that is not special is
replaced with a probability that is itself uniform between 0 and 1, by [MASK], or for models that
have no mask token of their own by [MASK] and [UNK] in turn.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from humetric.models.stored import architecture
from humetric.models.text import TextModel
from humetric.models.text_inputs import Inputs, batches, in_order
from humetric.models.tfidf import TfIdf
from humetric.models.wordpiece import MASK, SPECIAL, UNK

KEEP = 60.0
"""Seconds of training that may be lost when it is stopped."""

HOST = torch.device("cpu")


class Marks(NamedTuple):
    """Token ids that are no words of a text, by tokenizer."""

    special: tuple[int, ...]
    """All of them, the unknown token included."""
    mask: int
    unknown: int

    def none(self, ids: Tensor) -> Tensor:
        """Where there is a word, known or not: never a special token."""
        marks = [i for i in self.special if i != self.unknown]
        return ~torch.isin(ids, torch.tensor(marks, device=ids.device))

    def words(self, ids: Tensor) -> Tensor:
        """Where there is a known word."""
        return ~torch.isin(ids, torch.tensor(self.special, device=ids.device))


EMBEDDED = Marks(tuple(range(len(SPECIAL))), MASK, UNK)
"""Those of the tokenizers trained in this repository."""


@dataclass(frozen=True)
class Recipe:
    """What is trained, on how many texts, and how."""

    architecture: str
    config: dict[str, Any]
    texts: int
    epochs: int
    rate: float = 2e-3
    batch: int = 64
    decay: float = 1e-2
    masked: float = 0.25
    """Share of rows in which tokens are masked."""
    matching: int = 0
    """Epochs at the beginning in which the answer is the question's last word (reading only): a
    small network that has learned to find a word again learns sooner what else to look for."""
    seed: int = 1


def new(recipe: Recipe, vocabulary: int, classes: int) -> TextModel:
    """The recipe's model with random weights."""
    config = dict(recipe.config)
    if recipe.architecture == "transformer":
        config |= {"vocab_size": vocabulary, "pad_token_id": 0}
        if config["head"] == "classification":
            config |= {"num_labels": classes}
    else:
        config |= {"vocabulary": vocabulary, "classes": classes}
    made: TextModel = architecture(recipe.architecture).make(config)
    return made


def fit(
    recipe: Recipe,
    data: Inputs,
    vocabulary: int,
    classes: int,
    state: Path,
    words: Inputs | None = None,
) -> TextModel:
    """A trained model; goes on from `state` where that is the same recipe's, and removes it.

    `words` are the same inputs with other targets, for the recipe's epochs of matching.
    """
    if recipe.architecture == "tfidf":
        return fit_linear(recipe, data, vocabulary, classes)
    with torch.random.fork_rng():
        torch.manual_seed(recipe.seed)
        model = new(recipe, vocabulary, classes)
        return fit_further(model, recipe, data, state, words=words, about=[vocabulary, classes])


def fit_further(
    model: TextModel,
    recipe: Recipe,
    data: Inputs,
    state: Path,
    *,
    words: Inputs | None = None,
    marks: Marks = EMBEDDED,
    bf16: bool = False,
    about: list[Any] | None = None,
    say: Callable[[str], None] = print,
    device: torch.device = HOST,
) -> TextModel:
    """A model trained from where it stands, as far as its weights ask for gradients.

    `bf16` computes products in half precision; weights and their updates stay in full. `about` is
    what else tells one training from another; draws come from torch's generator, which is the
    caller's to seed. The model computes on `device` and comes back to the host.
    """
    model.train().to(device)
    rng = np.random.default_rng(np.random.PCG64(recipe.seed))
    learned = [weights for weights in model.parameters() if weights.requires_grad]
    optimiser = torch.optim.AdamW(learned, lr=recipe.rate, weight_decay=recipe.decay)
    steps = -(-len(data.ids) // recipe.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, recipe.rate, total_steps=recipe.epochs * steps, pct_start=0.1
    )
    key = json.dumps([asdict(recipe), *(about or []), len(data.ids)], sort_keys=True)
    parts = {"model": model, "optimiser": optimiser, "schedule": schedule}
    done, ahead = _resume(state, key, parts, rng)
    pause = KEEP
    swap = (marks.mask,) if "attention" in model.reads else (marks.mask, marks.unknown)
    for epoch in range(done, recipe.epochs):
        start, total, kept = time.perf_counter(), 0.0, time.perf_counter()
        began = rng.bit_generator.state
        now = words if words is not None and epoch < recipe.matching else data
        for step, batch in enumerate(batches(now, recipe.batch, rng)):
            seen = masked(batch.ids, recipe.masked, swap, rng, marks)
            if step < ahead:  # done before it was stopped; only the draws are made again
                continue
            with torch.autocast(device.type, torch.bfloat16, enabled=bf16):
                loss = loss_of(model, seen.to(device), batch.to(device), marks)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learned, 1.0)
            optimiser.step()
            schedule.step()
            total += loss.item() / steps
            if (now_at := time.perf_counter()) - kept > pause:
                _keep(state, key, parts, began, epoch, step + 1)
                kept = time.perf_counter()
                pause = max(KEEP, 20 * (kept - now_at))  # a large model takes long to keep
                say(f"  epoch {epoch + 1}/{recipe.epochs}, step {step + 1}/{steps}")
        ahead = 0
        _keep(state, key, parts, rng.bit_generator.state, epoch + 1)
        took = time.perf_counter() - start
        say(f"  epoch {epoch + 1:2}/{recipe.epochs}: loss {total:.4f}, {took:.1f} s")
    state.unlink(missing_ok=True)
    return rounded(model.eval().to(HOST))


def fit_linear(
    recipe: Recipe, data: Inputs, vocabulary: int, classes: int, marks: Marks = EMBEDDED
) -> TextModel:
    """Logistic regression on TF-IDF values by L-BFGS, with an L2 penalty of `decay`.

    idf = 1 + log((1 + n) / (1 + texts with the token)), 0 for special tokens.
    """
    model = TfIdf(vocabulary, classes)
    there = torch.zeros(len(data.ids), vocabulary).scatter_(1, data.ids, 1.0)
    model.idf.copy_(1 + torch.log((1 + len(there)) / (1 + there.sum(0))))
    model.idf[list(marks.special)] = 0
    torch.nn.init.zeros_(model.head.weight)
    torch.nn.init.zeros_(model.head.bias)
    values = model.values(data.ids, data.attention)[0]
    optimiser = torch.optim.LBFGS(
        model.head.parameters(), max_iter=recipe.epochs, line_search_fn="strong_wolfe"
    )

    def loss() -> Tensor:
        optimiser.zero_grad()
        penalty = recipe.decay * model.head.weight.square().sum()
        total = cross_entropy(model.head(values), data.target) + penalty
        total.backward()
        return total

    optimiser.step(loss)
    return rounded(model.eval())


def rounded(model: TextModel) -> TextModel:
    """The model with its weights as float16 holds them, which is how they are stored."""
    for value in model.state_dict().values():
        if value.is_floating_point():
            value.copy_(value.half().to(value.dtype))
    return model


def masked(
    ids: Tensor,
    share: float,
    swap: tuple[int, ...],
    rng: np.random.Generator,
    marks: Marks = EMBEDDED,
) -> Tensor:
    """Token ids of which some rows have tokens replaced, each row at a rate of its own."""
    rates = np.where(rng.random(len(ids)) < share, rng.random(len(ids)), 0.0)
    hit = torch.from_numpy(rng.random(tuple(ids.shape)) < rates[:, None]) & marks.words(ids)
    by = torch.tensor([swap[i % len(swap)] for i in range(len(ids))])[:, None]
    return torch.where(hit, by.expand_as(ids), ids)


def loss_of(model: TextModel, ids: Tensor, batch: Inputs, marks: Marks = EMBEDDED) -> Tensor:
    """Cross-entropy of classes, or the mean of that of starts and of ends within the passage."""
    logits = model(ids, batch.attention, batch.types).float()
    if not model.span:
        return cross_entropy(logits, batch.target)
    logits = logits.masked_fill(~passage(batch, marks)[:, None], -1e4)
    return cross_entropy(logits.flatten(0, 1), batch.target.flatten())


def passage(batch: Inputs, marks: Marks = EMBEDDED) -> Tensor:
    """(rows, tokens): where an answer may be."""
    return (batch.types == 1) & marks.none(batch.ids)


@torch.inference_mode()
def outputs(model: TextModel, data: Inputs) -> list[Tensor]:
    """Logits of each batch of 200 rows, in order; on the device where the model is."""
    device = next((weights.device for weights in model.parameters()), HOST)
    given = (batch.to(device) for batch in in_order(data))
    return [model(b.ids, b.attention, b.types).cpu() for b in given]


def _resume(
    state: Path, key: str, parts: dict[str, Any], rng: np.random.Generator
) -> tuple[int, int]:
    """Take up an unfinished training; epochs done, and steps of the next one."""
    if not state.exists():
        return 0, 0
    kept = torch.load(state, HOST, weights_only=False)  # written by this very program
    if kept["key"] != key:
        return 0, 0
    for name, part in parts.items():
        part.load_state_dict(kept[name])
    rng.bit_generator.state = kept["numpy"]
    torch.set_rng_state(kept["torch"])
    if (drawn := kept.get("cuda")) and len(drawn) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(drawn)
    return int(kept["epoch"]), int(kept["step"])


def _keep(
    state: Path, key: str, parts: dict[str, Any], began: Any, epoch: int, step: int = 0
) -> None:
    """Put down how far it got, all at once; `began` is the generator as the epoch began."""
    kept = {name: part.state_dict() for name, part in parts.items()}
    kept |= {"key": key, "numpy": began, "epoch": epoch, "step": step}
    kept["torch"] = torch.get_rng_state()
    kept["cuda"] = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    state.parent.mkdir(parents=True, exist_ok=True)
    torch.save(kept, state.with_suffix(".part"))
    state.with_suffix(".part").replace(state)
