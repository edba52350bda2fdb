"""What belongs to a manifest: the identity of every record that it can have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from humetric.cards import Card, MethodCard, MetricCard
from humetric.metrics.panel import LEARNING
from humetric.results.identity import (
    Context,
    context,
    map_identity,
    price_identity,
    replicates_identity,
    score_identity,
)
from humetric.results.store import name_of

C = TypeVar("C", bound=Card)

Manifest = Mapping[str, Any]
Identity = dict[str, Any]


class Entry(NamedTuple):
    """A record that a manifest can have."""

    identity: Identity
    method: MethodCard
    metric: MetricCard | None
    """None for maps."""
    cases: tuple[str, ...]
    """That the record is of; the panel's for simulated users."""

    @property
    def name(self) -> str:
        """What a store and a pack call it."""
        return name_of(self.identity)


def condition(manifest: Manifest, setting: str, name: str) -> Any:
    """Device, precision or chunk of a setting: its own where settings differ (published results),
    else the run's."""
    return manifest["settings"][setting].get(name, manifest[name])


def cards(manifest: Manifest) -> tuple[dict[str, MethodCard], dict[str, MetricCard]]:
    """Methods and metrics of a manifest."""
    methods = {name: _card(MethodCard, plain) for name, plain in manifest["methods"].items()}
    return methods, {name: _card(MetricCard, plain) for name, plain in manifest["metrics"].items()}


def maps(manifest: Manifest, setting: str) -> Iterator[Entry]:
    """Explanations of a setting's cases, chunk by chunk."""
    yield from _maps(manifest, setting, manifest["settings"][setting]["cases"])


def beside(manifest: Manifest, setting: str) -> Iterator[Entry]:
    """Explanations of cases that metrics compare with and that simulated users learn from, without
    those of the setting's own chunks."""
    about = manifest["settings"][setting]
    seen = {entry.cases for entry in maps(manifest, setting)}
    for ids in (about.get("reference", []), about.get("panel", [])[:LEARNING]):
        for entry in _maps(manifest, setting, ids):
            if entry.cases not in seen:
                yield entry
        seen |= {entry.cases for entry in _maps(manifest, setting, ids)}


def scores(manifest: Manifest, setting: str) -> Iterator[Entry]:
    """Values per case, in the order of chunks, methods and metrics."""
    methods, metrics = cards(manifest)
    about = manifest["settings"][setting]
    reference = about.get("reference", [])
    for of in _chunks(manifest, setting, about["cases"]):
        for method in methods.values():
            for metric in metrics.values():
                if metric.scope == "case":
                    identity = score_identity(of, method, metric, reference)
                    yield Entry(identity, method, metric, tuple(of["cases"]))


def replicates(manifest: Manifest, setting: str) -> Iterator[Entry]:
    """Values of simulated users."""
    methods, metrics = cards(manifest)
    about = manifest["settings"][setting]
    if not about.get("panel"):
        return
    of = _context(manifest, setting, about["panel"])
    rivals = about.get("rivals", {})
    for method in methods.values():
        for metric in metrics.values():
            if metric.scope != "case":
                identity = replicates_identity(of, method, metric, LEARNING, rivals)
                yield Entry(identity, method, metric, tuple(about["panel"]))


def entries(manifest: Manifest, setting: str) -> Iterator[Entry]:
    """All of them; what became of maps that are not kept is under their price."""
    for part in (maps, beside, scores, replicates):
        yield from part(manifest, setting)


def priced(entry: Entry) -> Identity:
    """What the price of a map is stored under where the map itself is not kept."""
    return price_identity(entry.identity)


def _maps(manifest: Manifest, setting: str, ids: Sequence[str]) -> Iterator[Entry]:
    methods, _ = cards(manifest)
    for of in _chunks(manifest, setting, ids):
        for method in methods.values():
            yield Entry(map_identity(of, method), method, None, tuple(of["cases"]))


def _chunks(manifest: Manifest, setting: str, ids: Sequence[str]) -> Iterator[Context]:
    """What the records of each chunk of cases have in common."""
    size = condition(manifest, setting, "chunk")
    for start in range(0, len(ids), size):
        yield _context(manifest, setting, ids[start : start + size])


def _context(manifest: Manifest, setting: str, cases: Sequence[str]) -> Context:
    """What records of some cases of a setting have in common."""
    version = manifest["settings"][setting]["version"]
    device, precision = (condition(manifest, setting, name) for name in ("device", "precision"))
    return context(setting, version, cases, manifest["seed"], device, precision)


def _card(kind: type[C], plain: Mapping[str, Any]) -> C:
    """A card from JSON, where tuples are lists."""
    known = kind.__dataclass_fields__
    fields = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in plain.items()
        if name in known
    }
    return kind(**fields | {"parameters": MappingProxyType(plain["parameters"])})
