"""What a run will do: work items, skipped pairs with their reasons, model calls, expected time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from humetric.engine.batching import automatic_batch_size
from humetric.errors import HumetricError
from humetric.methods import Method
from humetric.metrics import Metric
from humetric.metrics.panel import LEARNING
from humetric.models.model import call
from humetric.results.result import Skip
from humetric.results.store import Store
from humetric.run.pending import Peek, missing
from humetric.run.records import Chunk, chunk_of
from humetric.run.work import Counter, Item, explain, items_beside, reference_items, score
from humetric.tasks.setting import PlacedSetting, Setting

BACKWARD = 3
"""A forward and backward pass takes about as long as so many forward passes."""

USES = {
    "unlabelled": "unlabelled texts",
    "neighbours": "neighbours of words",
    "prototypes": "a prototype model",
    "embeddings": "an embedding layer",
}
"""What a setting may have beside its cases and model, by the names on methods' cards."""


@dataclass(frozen=True)
class Plan:
    """Work items of a run and what is left out of it."""

    items: tuple[Item, ...]
    skips: tuple[Skip, ...]
    chunk: int

    def pairs(self) -> list[dict[str, Any]]:
        """What will be scored on each setting, as plain data: it tells what a run still lacks."""
        by: dict[str, tuple[list[str], list[str]]] = {}
        for item in self.items:
            metrics = by.setdefault(item.setting, (list(item.methods), []))[1]
            metrics += [m for m in item.metrics if m not in metrics]
        return [
            {"setting": setting, "methods": methods, "metrics": metrics}
            for setting, (methods, metrics) in by.items()
        ]


def make_plan(
    settings: Sequence[Setting],
    methods: Sequence[Method],
    metrics: Sequence[Metric],
    chunk: int,
) -> Plan:
    """One item per chunk of cases; methods that cannot run on a setting are skipped by name."""
    items, skips = [], []
    for setting in settings:
        able: list[str] = []
        for method in methods:
            reason = refusal(method, setting)
            if reason:
                skips.append(Skip(setting.id, method.card.id, reason))
            else:
                able.append(method.card.id)
        fitting: list[str] = []
        simulated: list[str] = []
        for metric in metrics:
            if setting.task.id in metric.card.tasks:
                reason = metric_refusal(metric, setting)
                if reason:
                    skips.append(Skip(setting.id, "", reason, metric.card.id))
                elif metric.card.scope == "case":
                    fitting.append(metric.card.id)
                else:
                    simulated.append(metric.card.id)
        for start in range(0, len(setting), chunk):
            stop = min(start + chunk, len(setting))
            items.append(Item(setting.id, start, stop, tuple(able), tuple(fitting)))
        if simulated and setting.panel is not None:
            count = len(setting.panel())
            items.append(Item(setting.id, 0, count, tuple(able), tuple(simulated), "setting"))
    return Plan(tuple(items), tuple(skips), chunk)


def refusal(method: Method, setting: Setting) -> str:
    """Why a method cannot run on a setting; empty if it can."""
    if setting.task.id not in method.card.tasks:
        return f"is for {', '.join(method.card.tasks)}, not for {setting.task.id}"
    refusal = setting.model.refuses(method.card.needs, method.card.reads)
    if refusal:
        return refusal
    for use, what in USES.items():
        if use in method.card.uses and not has(setting, use):
            return f"needs {what}, which {setting.id} does not have"
    return ""


def metric_refusal(metric: Metric, setting: Setting) -> str:
    """Why a metric cannot run on a setting of a task that it is for; empty if it can."""
    if metric.card.compares and setting.reference is None:
        return f"compares with reference cases, which {setting.id} does not have"
    if metric.card.scope != "case":
        return panel_refusal(metric, setting)
    return setting.model.refuses(metric.card.needs)


def panel_refusal(metric: Metric, setting: Setting) -> str:
    """Why a setting's panel is too small for a simulated user, or it has no rivals."""
    work = metric.simulation()
    count = 0 if setting.panel is None else len(setting.panel())
    if count < max(LEARNING, work.learning) or count - LEARNING < work.test:
        return (
            f"needs {LEARNING} cases that are explained and {work.test} more, and {setting.id} "
            f"has {count} in all"
        )
    if metric.card.scope == "setting-pair" and not setting.rivals:
        return f"compares a setting with its rivals, and {setting.id} has none"
    return ""


def has(setting: Setting, use: str) -> bool:
    """Whether a setting has one of USES, or has no need of it."""
    if use == "embeddings":
        return setting.texts is None or "gradient" in setting.model.gives
    if use == "neighbours" and setting.table is not None:
        return True
    return getattr(setting, use) is not None


@dataclass(frozen=True)
class Cost:
    """Expected model calls of one item."""

    item: Item
    forward: int
    """Rows that the engine asks."""
    backward: int
    """Gradient passes, row by row."""

    @property
    def effort(self) -> int:
        """In units of one forward row."""
        return self.forward + BACKWARD * self.backward


def costs(
    plan: Plan,
    placed: Mapping[str, PlacedSetting],
    methods: Mapping[str, Method],
    metrics: Mapping[str, Metric],
    seed: int,
    store: Store | None = None,
) -> Iterator[Cost]:
    """Count what each item will ask, by planning it in full with an engine that only counts.

    What a store has already is not counted. Items of one size (and, for texts, with as many words
    in each case) that lack the same have the same plans, so each is counted once per setting.
    Methods that ask in several rounds, each depending on the last, are counted as if all answers
    were 0; methods that are not built in, or that train students or replace features (``LONG``),
    are not counted, since that would mean running them. Neither is what simulated users ask: it
    depends on what they were answered. Reference cases, and learning cases that simulated users
    see, are items without metrics where they are not run for themselves.
    """
    known: dict[tuple[object, ...], Cost] = {}
    for item, where in [*_beside(plan, placed, methods, metrics, seed, store), *_own(plan, placed)]:
        chunk = chunk_of(item, where, seed, store)
        todo = missing(item, chunk, methods, metrics)
        texts = where.setting.texts
        words = () if texts is None else tuple(map(len, texts.words[item.start : item.stop]))
        same = (item.setting, item.stop - item.start, words, todo, chunk.answered())
        if same not in known:
            cases = where.cases(item.start, item.stop, seed)
            engine = Counter(cases, where.fast_module, memory=Peek(chunk))
            chosen = [methods[name] for name in todo.methods]
            explain(chosen, engine)
            blank = torch.zeros(cases.shape, device=cases.device)
            for method, metric in todo.pairs:
                if not metrics[metric].card.compares:
                    score({method: blank}, [metrics[metric]], engine)
            backward = sum(method.card.passes for method in chosen) * len(cases)
            known[same] = Cost(item, engine.rows, backward)
        yield Cost(item, known[same].forward, known[same].backward)


def _own(plan: Plan, placed: Mapping[str, PlacedSetting]) -> Iterator[tuple[Item, PlacedSetting]]:
    """The items of a plan, and what they are of."""
    for item in plan.items:
        if item.scope == "case":
            yield item, placed[item.setting]


def _beside(
    plan: Plan,
    placed: Mapping[str, PlacedSetting],
    methods: Mapping[str, Method],
    metrics: Mapping[str, Metric],
    seed: int,
    store: Store | None,
) -> Iterator[tuple[Item, PlacedSetting]]:
    """Chunks of reference and of learning cases that no item is of, with the methods whose maps of
    them will be asked."""
    comparing: dict[str, dict[str, None]] = {}
    for item, where in _own(plan, placed):
        todo = missing(item, chunk_of(item, where, seed, store), methods, metrics)
        names = [name for name, metric in todo.pairs if metrics[metric].card.compares]
        comparing.setdefault(item.setting, {}).update(dict.fromkeys(names))
    own = {(i.setting, placed[i.setting].setting.ids[i.start : i.stop]) for i in plan.items}
    for setting, asked in comparing.items():
        for item, where in reference_items(placed[setting], plan.chunk):
            ids = where.setting.ids[item.start : item.stop]
            if asked and (setting, ids) not in own:
                own.add((setting, ids))
                yield replace(item, methods=tuple(asked)), where
    for item in plan.items:
        where, panel = placed[item.setting], placed[item.setting].panel
        if item.scope == "case" or panel is None:
            continue
        seen = chunk_of(item, where.beside(panel), seed, store)
        names = [n for n in item.methods if _to_simulate(methods[n], item, where, metrics, seen)]
        for part, beside in items_beside(where, panel.first(LEARNING), plan.chunk):
            ids = beside.setting.ids[part.start : part.stop]
            if names and (item.setting, ids) not in own:
                yield replace(part, methods=tuple(names)), beside


def _to_simulate(
    method: Method, item: Item, placed: PlacedSetting, metrics: Mapping[str, Metric], seen: Chunk
) -> bool:
    """Whether a simulated user still has to see what a method shows."""
    cards = [metrics[name].card for name in item.metrics]
    pairs = any(card.scope == "setting-pair" for card in cards)
    rivals = {n: load().version for n, load in placed.setting.rivals.items()} if pairs else {}
    return not all(seen.has_replicates(method.card, card, rivals) for card in cards)


def find_batch_size(placed: PlacedSetting, wanted: str | int, declared: int = 0) -> int:
    """A batch size from the command line: a number, or ``auto``.

    ``auto`` takes the ``declared`` one on CUDA devices, if there is one, and measures otherwise.
    """
    if wanted != "auto":
        if not str(wanted).isdecimal() or int(wanted) < 1:
            raise HumetricError(
                f"Expected a batch size of at least 1, or auto, but got {wanted!r}."
            )
        return int(wanted)
    if declared and placed.placement.device.type == "cuda":
        return declared
    row = placed.setting.x[0]
    if row.is_floating_point():
        row = row.to(placed.placement.dtype)
    return automatic_batch_size(placed.fast_module, row, placed.placement.device)


def rows_per_second(placed: PlacedSetting, batch: int) -> float:
    """Measured throughput of bare forward passes: the second of two batches."""
    texts = placed.setting.texts
    at = 0 if texts is None else int(texts.tokens.counts.argsort()[len(placed.setting) // 2])
    x = placed.cases(at, at + 1).x  # a text of middling length
    x = x.to(placed.placement.dtype) if x.is_floating_point() else x
    x = x.expand(batch, *x.shape[1:])
    x = x.contiguous(memory_format=torch.channels_last) if x.ndim == 4 else x.contiguous()
    with torch.inference_mode():
        for _ in range(2):
            start = time.perf_counter()
            call(placed.fast_module, x).sum().item()
            seconds = time.perf_counter() - start
    return batch / seconds
