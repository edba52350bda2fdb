"""A run as its folder has it: the manifest says what belongs to it, records hold the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import pandas as pd

from humetric.cards import Card, MethodCard, MetricCard
from humetric.errors import HumetricError
from humetric.metrics.panel import LEARNING, Replicates
from humetric.results.form import check_form
from humetric.results.identity import (
    Context,
    context,
    map_identity,
    replicates_identity,
    score_identity,
)
from humetric.results.manifest import FILE, Manifest, read_manifest
from humetric.results.replicates import as_replicates, control_means
from humetric.results.result import COLUMNS, Failure, Result, Skip, curve_points
from humetric.results.store import Store

C = TypeVar("C", bound=Card)


def read_result(folder: Path) -> Result:
    """Everything that the runs into a folder found out, without computing anything.

    Pairs whose records are not there (the run was interrupted, or never meant to make them) are
    left out; a record that was changed or cut short is an error.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        raise HumetricError(
            f"Expected the results of a run in {folder} but there is no {FILE}: "
            f"name another folder, or make one with humetric run --out {folder}."
        )
    check_form(manifest, folder / FILE)
    try:
        methods = {name: _card(MethodCard, d) for name, d in manifest["methods"].items()}
        metrics = {name: _card(MetricCard, d) for name, d in manifest["metrics"].items()}
        rows: list[tuple[Any, ...]] = []
        curves: dict[tuple[str, str, str, str], list[float]] = {}
        priced: dict[tuple[str, str], list[float]] = {}
        more: dict[tuple[str, str], dict[str, Any]] = {}
        store = Store(folder)
        for of in _chunks(manifest):
            beside = manifest["settings"][of["setting"]].get("reference", [])
            for method in methods.values():
                about = store.about(map_identity(of, method))
                asked, shown = about.get("asked"), about.get("more", {}).get("setting")
                if shown:
                    more[of["setting"], method.id] = shown
                if asked is not None:
                    share = asked / len(of["cases"]) + method.passes
                    priced.setdefault((of["setting"], method.id), []).append(share)
                for metric in metrics.values():
                    if metric.scope != "case":
                        continue
                    record = store.get(score_identity(of, method, metric, beside))
                    if record is None:
                        continue
                    keys = [(of["setting"], case, method.id, metric.id) for case in of["cases"]]
                    values = record.tensors["value"].tolist()
                    rows += [(*key, v) for key, v in zip(keys, values, strict=True)]
                    if "curve" in record.tensors:
                        drawn = curve_points(record.tensors["curve"])
                        curves.update(zip(keys, drawn, strict=True))
        met = dict(_simulated(manifest, methods, metrics, store))
        for key, found in met.items():
            setting, method_id, metric_id = key
            rows += [
                (setting, replicate, method_id, metric_id, value)
                for replicate, value in zip(found.names, found.value.tolist(), strict=True)
            ]
        controls = {key: control_means(found) for key, found in met.items()}
        failures = tuple(Failure(**row) for row in manifest["failures"])
        skips = tuple(Skip(**row) for row in manifest["skips"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise HumetricError(
            f"{folder / FILE} is not what humetric writes ({type(error).__name__}: {error}): "
            f"delete it and run again; records are kept."
        ) from None
    if store.damaged:
        raise HumetricError(
            f"{store.damaged[0].relative_to(folder)} in {folder} is damaged, and "
            f"{len(store.damaged) - 1} more: run again with the same options to compute it anew."
        )
    parts = ("schema", "methods", "metrics", "failures", "skips")
    provenance = {name: value for name, value in manifest.items() if name not in parts}
    settings = manifest["settings"]
    provenance["settings"] = {name: about["version"] for name, about in settings.items()}
    provenance["cases"] = {name: len(about["cases"]) for name, about in settings.items()}
    table = pd.DataFrame(rows, columns=COLUMNS)
    chunks = {name: -(-count // manifest["chunk"]) for name, count in provenance["cases"].items()}
    calls = {
        key: sum(shares) / len(shares)
        for key, shares in priced.items()
        if len(shares) == chunks[key[0]]  # a price of a part of the cases is none of all
    }
    return Result(table, curves, failures, skips, methods, metrics, provenance, calls, more=more,
                  controls=controls)  # fmt: skip


def _simulated(
    manifest: Manifest,
    methods: Mapping[str, MethodCard],
    metrics: Mapping[str, MetricCard],
    store: Store,
) -> Iterator[tuple[tuple[str, str, str], Replicates]]:
    """Replicates by (setting, method, metric)."""
    for name, about in manifest["settings"].items():
        if not about.get("panel"):
            continue
        of = _context(manifest, name, about["panel"])
        rivals = about.get("rivals", {})
        for method in methods.values():
            for metric in metrics.values():
                if metric.scope == "case":
                    continue
                record = store.get(replicates_identity(of, method, metric, LEARNING, rivals))
                if record is not None:
                    yield (name, method.id, metric.id), as_replicates(record)


def _context(manifest: Manifest, setting: str, cases: Sequence[str]) -> Context:
    """What records of some cases of a setting have in common."""
    version = manifest["settings"][setting]["version"]
    conditions = (manifest[name] for name in ("seed", "device", "precision"))
    return context(setting, version, cases, *conditions)


def _chunks(manifest: Manifest) -> Iterator[Context]:
    """What the records of each chunk of cases have in common."""
    for name, about in manifest["settings"].items():
        ids, size = about["cases"], manifest["chunk"]
        for start in range(0, len(ids), size):
            yield _context(manifest, name, ids[start : start + size])


def _card(kind: type[C], plain: dict[str, Any]) -> C:
    """A card from JSON, where tuples are lists."""
    known = kind.__dataclass_fields__
    fields = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in plain.items()
        if name in known
    }
    return kind(**fields | {"parameters": MappingProxyType(plain["parameters"])})
