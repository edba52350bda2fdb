"""The records of one chunk of cases: what is there already, and keeping what is new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from torch import Tensor

from humetric.cards import Card, MetricCard
from humetric.engine.questions import Answers, Questions
from humetric.methods.explanation import Explanation, from_plain
from humetric.metrics import Scores
from humetric.metrics.panel import LEARNING, Replicates
from humetric.results.identity import (
    Context,
    answer_identity,
    context,
    map_identity,
    price_identity,
    replicates_identity,
    score_identity,
)
from humetric.results.replicates import as_replicates, tensors_of
from humetric.results.store import Record, Store
from humetric.run.work import Item
from humetric.tasks.setting import PlacedSetting


@dataclass(frozen=True)
class Chunk:
    """Records of an item's cases. Without a store nothing is kept, and nothing is there."""

    of: Context
    store: Store | None = None
    reference: tuple[str, ...] = ()
    """The setting's reference cases."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """What is written beside every record: batch size, threads, code revision."""

    def has_map(self, method: Card) -> bool:
        """Whether a method's maps seem to be there."""
        return self._has(map_identity(self.of, method))

    def has_price(self, method: Card) -> bool:
        """Whether it is known what a method's maps took, though they may be elsewhere."""
        return self._has(price_identity(map_identity(self.of, method)))

    def has_scores(self, method: Card, metric: MetricCard) -> bool:
        """Whether a metric's values of a method seem to be there."""
        return self._has(self.score_identity(method, metric))

    def has_replicates(self, method: Card, metric: MetricCard, rivals: Mapping[str, str]) -> bool:
        """Whether replicates of a simulated user seem to be there."""
        return self._has(replicates_identity(self.of, method, metric, LEARNING, rivals))

    def score_identity(self, method: Card, metric: MetricCard) -> dict[str, Any]:
        """What a record of a metric's values of a method is of."""
        return score_identity(self.of, method, metric, self.reference)

    def answered(self) -> int:
        """How many sets of shared questions of this setting are answered."""
        if self.store is None:
            return 0
        folder = self.store.path(self.of | {"kind": "answer"}).parent
        return len(list(folder.glob("*.safetensors")))

    def map(self, method: Card) -> Explanation | None:
        """A method's maps and what is beside them, if they are known."""
        found = self._get(map_identity(self.of, method))
        if found is None:
            return None
        return from_plain(found.tensors["map"], found.about.get("more", {}))

    def keep_map(
        self, method: Card, found: Explanation, calls: int, seconds: float, asked: int
    ) -> None:
        """Keep a method's maps. ``asked`` counts questions, those answered before included."""
        identity = map_identity(self.of, method)
        about: dict[str, Any] = {"asked": asked} | ({"more": found.more} if found.more else {})
        self._put(identity, {"map": found.attribution}, calls, seconds, about)

    def scores(self, method: Card, metric: MetricCard) -> Scores | None:
        """A metric's values and curves of a method's maps, if they are known."""
        found = self._get(self.score_identity(method, metric))
        return None if found is None else as_scores(found)

    def keep_scores(
        self, method: Card, metric: MetricCard, scores: Scores, calls: int, seconds: float
    ) -> None:
        """Keep values and curves."""
        curve = {} if scores.curve is None else {"curve": scores.curve}
        identity = self.score_identity(method, metric)
        self._put(identity, {"value": scores.value, **curve}, calls, seconds)

    def replicates(
        self, method: Card, metric: MetricCard, rivals: Mapping[str, str]
    ) -> Replicates | None:
        """Replicates of a simulated user, if they are known."""
        found = self._get(replicates_identity(self.of, method, metric, LEARNING, rivals))
        return None if found is None else as_replicates(found)

    def keep_replicates(
        self,
        method: Card,
        metric: MetricCard,
        rivals: Mapping[str, str],
        found: Replicates,
        calls: int,
        seconds: float,
    ) -> None:
        """Keep replicates, their names and their controls."""
        identity = replicates_identity(self.of, method, metric, LEARNING, rivals)
        self._put(identity, tensors_of(found), calls, seconds, {"names": list(found.names)})

    def recall(self, questions: Questions) -> Answers | None:
        """Answers to shared questions, if they are known."""
        found = self._get(answer_identity(self.of, questions)) if self.store else None
        if found is None:
            return None
        return Answers(*(found.tensors[name] for name in Answers._fields))

    def remember(self, questions: Questions, answers: Answers, calls: int) -> None:
        """Keep answers to shared questions."""
        if self.store is not None:
            self._put(answer_identity(self.of, questions), answers._asdict(), calls, 0.0)

    def _has(self, identity: dict[str, Any]) -> bool:
        return self.store is not None and self.store.has(identity)

    def _get(self, identity: dict[str, Any]) -> Record | None:
        return self.store.get(identity) if self.store is not None else None

    def _put(
        self,
        identity: dict[str, Any],
        tensors: Mapping[str, Tensor],
        calls: int,
        seconds: float,
        more: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        if self.store is not None:
            about = {**self.about, "model_calls": calls, "seconds": round(seconds, 3), **more}
            self.store.put(identity, tensors, about)


def as_scores(record: Record) -> Scores:
    """A record of a metric as scores."""
    return Scores(record.tensors["value"], record.tensors.get("curve"))


def chunk_of(
    item: Item,
    placed: PlacedSetting,
    seed: int,
    store: Store | None,
    about: Mapping[str, Any] | None = None,
    target: str = "predicted",
) -> Chunk:
    """The records of an item; ``target``: which output of the model is explained."""
    setting, placement = placed.setting, placed.placement
    of = context(
        setting.id,
        setting.version,
        setting.ids[item.start : item.stop],
        seed,
        str(placement.device),
        placement.precision,
        target,
    )
    beside = () if setting.reference is None else setting.reference.ids
    return Chunk(of, store, beside, about or {})
