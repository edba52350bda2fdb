"""What a record is of: everything that its numbers depend on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from humetric.cards import Card, MetricCard
from humetric.engine.questions import Answers, Questions

Context = dict[str, Any]


def context(
    setting: str,
    version: str,
    cases: Sequence[str],
    seed: int,
    device: str,
    precision: str,
    target: str = "predicted",
) -> Context:
    """What all records of one chunk of cases have in common.

    ``target`` says which output is explained: ``predicted``, the model's own, or ``gold``, the true
    one.

    Batch size is left out: in fp32 another one moves areas by about 1e-7. It is recorded instead,
    and used again when a run goes on.
    """
    return {
        "setting": setting,
        "setting_version": version,
        "cases": list(cases),
        "target": target,
        "seed": seed,
        "device": device.partition(":")[0],
        "precision": precision,
    }


def map_identity(of: Context, method: Card) -> dict[str, Any]:
    """An explanation: a map for each case."""
    return of | {"kind": "map", "method": definition(method)}


def price_identity(of_map: Mapping[str, Any]) -> dict[str, Any]:
    """What an explanation took, where the map itself was published or came from what was."""
    return {**of_map, "kind": "price"}


def score_identity(
    of: Context, method: Card, metric: MetricCard, reference: Sequence[str] = ()
) -> dict[str, Any]:
    """A metric's values and curves of a method's maps.

    ``reference`` are the setting's reference cases; they are part of what the values of a metric
    that compares depend on, and of no other's.
    """
    found = of | {"kind": "score", "method": definition(method), "metric": definition(metric)}
    return found | ({"reference": list(reference)} if metric.compares else {})


def replicates_identity(
    of: Context, method: Card, metric: MetricCard, learning: int, rivals: Mapping[str, str]
) -> dict[str, Any]:
    """Replicates of a simulated user; ``of`` has the cases of the panel.

    ``rivals`` are those of the setting, with their versions; they are part of what the replicates
    of a metric about pairs of settings depend on, and of no other's.
    """
    found = of | {"kind": "replicates", "learning": learning}
    found |= {"method": definition(method), "metric": definition(metric)}
    return found | ({"rivals": dict(rivals)} if metric.scope == "setting-pair" else {})


def answer_identity(of: Context, questions: Questions) -> dict[str, Any]:
    """Answers to questions that depend on the cases alone."""
    asked = {"kind": "answer", "key": repr(questions.key), "asked": _content(questions)}
    return of | asked | {"holds": list(Answers._fields)}


def definition(card: Card) -> dict[str, Any]:
    """The part of a card that says what is computed."""
    found = {"id": card.id, "version": card.version, "parameters": dict(card.parameters)}
    source = getattr(card, "source", "")
    return found | {"source": source} if source else found


def definition_of(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a card as plain data."""
    found = {name: plain[name] for name in ("id", "version", "parameters")}
    return found | ({"source": plain["source"]} if plain.get("source") else {})


def _content(questions: Questions) -> str:
    """A digest of what is asked, so that a key that leaves something out does no harm."""
    found = hashlib.sha256(questions.case.cpu().numpy().tobytes())
    masks = questions.masks
    parts = dict(vars(masks))
    if questions.fill is not None:
        parts["fill"] = questions.fill
    partition = parts.pop("partition", None)
    if partition is not None:
        parts["group"] = partition.group
    for name in sorted(parts):
        value = parts[name]
        if isinstance(value, torch.Tensor):
            found.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
            found.update(value.cpu().numpy().tobytes())
        else:
            found.update(f"{name} {value!r}".encode())
    return found.hexdigest()
