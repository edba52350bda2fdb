"""How often the models of the model board are right: on the pool, on the diagnostic set."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import numpy as np

INFORMED_PAIRS = 600
"""Pairs of the pool that explanation-informed models are measured on, each with two reasons."""


@dataclass(frozen=True)
class Accuracy:
    """Shares from 0 to 1. NaN: not measured."""

    pool: float = np.nan
    """On the whole pool, of which the cases were chosen; for QA, F1."""
    informed: float = np.nan
    """Of the explanation-informed models at label x matched, mean over seeds."""
    diagnostic: dict[str, float] = field(default_factory=dict)
    """By heuristic, on entailed and not entailed cases alike; ``all``: all of them."""
    misled: dict[str, float] = field(default_factory=dict)
    """The same where the heuristic misleads (not entailed)."""


def embedded_accuracy(setting: str) -> Accuracy:
    """Accuracy of an embedded model; the diagnostic set is for inference only.

    The pool's is the one recorded when the cases were chosen: ``humetric models`` measures it anew.
    """
    from humetric.models.convnet import WEIGHTS

    chosen = json.loads((WEIGHTS / setting / "cases.json").read_text())
    pool = float(chosen.get("pool_accuracy", chosen.get("pool_f1", np.nan)))
    if chosen.get("data") != "inference":
        return Accuracy(pool)
    from tokenizers import Tokenizer

    from humetric.data.embedded.inference import draw
    from humetric.data.embedded.inference_two import DIAGNOSTIC, HEURISTICS, diagnostic
    from humetric.models import stored, text_inputs
    from humetric.models.text_scores import probabilities

    tokenizer = Tokenizer.from_file(str(WEIGHTS / chosen["tokenizer"]))
    model = stored.load(WEIGHTS / chosen["weights"])
    cases = [diagnostic(i) for i in range(DIAGNOSTIC)]
    pairs = [(c.premise, c.hypothesis) for c in cases]
    given = text_inputs.of_pairs(tokenizer, pairs, [0] * len(pairs))
    entailed = probabilities(model, given).argmax(1) == 0
    truth = np.array([c.entailed for c in cases])
    kind = np.array([c.heuristic for c in cases])
    hit = entailed == truth
    shares = {"all": float(hit.mean())} | {h: float(hit[kind == h].mean()) for h in HEURISTICS}
    misled = {"all": float(hit[~truth].mean())} | {
        h: float(hit[~truth & (kind == h)].mean()) for h in HEURISTICS
    }
    files = sorted((WEIGHTS / setting).glob("explained-*.safetensors"))
    informed = np.nan
    if files:
        some = [draw(i, "pool") for i in range(INFORMED_PAIRS)]
        both = text_inputs.matched_and_not(some, "inference/explained/pool")
        told = text_inputs.explained(tokenizer, *both)
        wanted = told.target.numpy()
        found = [probabilities(stored.load(file), told).argmax(1) == wanted for file in files]
        informed = float(np.mean(found))
    return Accuracy(pool, informed, shares, misled)
