"""What is left to do, given what a store has; and what it has of earlier definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from humetric.engine.questions import Answers, Questions
from humetric.methods import Method
from humetric.metrics import Metric
from humetric.results.identity import map_identity
from humetric.results.store import Store, canonical
from humetric.run.records import Chunk, chunk_of
from humetric.run.work import Item
from humetric.tasks.setting import PlacedSetting


class Missing(NamedTuple):
    """What an item still has to do."""

    methods: tuple[str, ...]
    """Whose maps are not there."""
    pairs: tuple[tuple[str, str], ...]
    """Of methods and metrics whose values are not there."""


def missing(
    item: Item, chunk: Chunk, methods: Mapping[str, Method], metrics: Mapping[str, Metric]
) -> Missing:
    """What a store lacks of an item. Whether the rest is intact shows when it is read.

    Scores that came from published results have no maps in the store, and need none.
    """
    pairs = tuple(
        (name, metric)
        for name in item.methods
        for metric in item.metrics
        if not chunk.has_scores(methods[name].card, metrics[metric].card)
    )
    needed = set(item.methods) if not item.metrics else {name for name, _ in pairs}
    return Missing(
        tuple(
            name
            for name in item.methods
            if not chunk.has_map(methods[name].card)
            and (name in needed or not chunk.has_price(methods[name].card))
        ),
        pairs,
    )


@dataclass(frozen=True)
class Peek:
    """A chunk's answers to read, with nothing written."""

    chunk: Chunk

    def recall(self, questions: Questions) -> Answers | None:
        """Answers that are stored."""
        return self.chunk.recall(questions)

    def remember(self, questions: Questions, answers: Answers, calls: int) -> None:
        """Nothing: a counting engine has no answers."""


def replaced(
    items: Sequence[Item],
    placed: Mapping[str, PlacedSetting],
    methods: Mapping[str, Method],
    metrics: Mapping[str, Metric],
    seed: int,
    store: Store,
) -> list[str]:
    """What a store has of an earlier definition, and what has changed since, in sentences."""
    notes: dict[str, None] = {}
    for item in items:
        if item.scope != "case":  # panels have other cases, and records of their own
            continue
        chunk = chunk_of(item, placed[item.setting], seed, store)
        todo = missing(item, chunk, methods, metrics)
        wanted = [map_identity(chunk.of, methods[name].card) for name in todo.methods]
        wanted += [
            chunk.score_identity(methods[name].card, metrics[metric].card)
            for name, metric in todo.pairs
            if name not in todo.methods
        ]
        for identity in wanted:
            for old in store.others(identity):
                changed = changes(old, identity)
                if changed:
                    who = " of ".join(
                        identity[part]["id"] for part in ("metric", "method") if part in identity
                    )
                    notes[f"{who} on {item.setting} is computed anew: {changed}"] = None
    return list(notes)


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """What differs between two identities of the same cases; empty if the cases differ."""
    if old.get("cases") != new["cases"]:
        return ""
    found = []
    for name, value in new.items():
        before = old.get(name)
        if isinstance(value, dict) and isinstance(before, dict):
            found += [
                f"{part} of {value['id']} was {before.get(part)}, is {value.get(part)}"
                for part in sorted(value.keys() | before.keys())
                if canonical({"": before.get(part)}) != canonical({"": value.get(part)})
            ]
        elif before != value:
            found.append(f"{name.replace('_', ' ')} was {before}, is {value}")
    return "; ".join(found)
