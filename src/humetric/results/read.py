"""A run as its folder has it: the manifest says what belongs to it, records hold the numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from humetric.errors import HumetricError
from humetric.methods.linear_student import note_of
from humetric.results.contents import (
    Manifest,
    beside,
    cards,
    condition,
    maps,
    priced,
    replicates,
    scores,
)
from humetric.results.manifest import FILE, read_manifest, required
from humetric.results.published import Published, is_published, read_published, whole_manifest
from humetric.results.replicates import as_replicates, control_means
from humetric.results.result import COLUMNS, Failure, Result, Skip, Spent, curve_points
from humetric.results.store import Store

Source = Store | Published
"""Where records are: a run's own files, or packs."""

BESIDE = ("notes", "features", "channels", "device", "precision")
"""What is known of each setting beside its version and cases."""


def read_result(folder: Path) -> Result:
    """Everything that the runs into a folder found out, or that is published in it, without
    computing anything.

    Pairs whose records are not there (the run was interrupted, or never meant to make them) are
    left out; a record that was changed or cut short is an error.
    """
    own = read_manifest(folder)
    if own is None and is_published(folder):
        found = read_published(folder)
        return _read(whole_manifest(found, folder), found, folder)
    return _read(required(own, folder), Store(folder), folder)


def _read(manifest: Manifest, source: Source, folder: Path) -> Result:
    try:
        methods, metrics = cards(manifest)
        gathered = Gathered()
        for setting in manifest["settings"]:
            gathered.take_maps(manifest, setting, source)
            gathered.take_scores(manifest, setting, source)
        for setting in manifest["settings"]:
            gathered.take_replicates(manifest, setting, source)
        failures = tuple(Failure(**row) for row in manifest["failures"])
        skips = tuple(Skip(**row) for row in manifest["skips"])
        provenance = _provenance(manifest)
        calls = gathered.calls(manifest)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise HumetricError(
            f"{folder / FILE} is not what humetric writes ({type(error).__name__}: {error}): "
            f"delete it and run again; records are kept."
        ) from None
    if isinstance(source, Store) and source.damaged:
        raise HumetricError(
            f"{source.damaged[0].relative_to(folder)} in {folder} is damaged, and "
            f"{len(source.damaged) - 1} more: run again with the same options to compute it anew."
        )
    table = pd.DataFrame(gathered.rows, columns=COLUMNS)
    spent = gathered.spent if isinstance(source, Published) else {}
    return Result(table, gathered.curves, failures, skips, methods, metrics, provenance, calls,
                  more=gathered.more, controls=gathered.controls, spent=spent)  # fmt: skip


def _provenance(manifest: Manifest) -> dict[str, Any]:
    """How results were obtained: the manifest without what a result has places of its own for."""
    parts = ("schema", "methods", "metrics", "failures", "skips")
    found = {name: value for name, value in manifest.items() if name not in parts}
    settings = manifest["settings"]
    found["settings"] = {name: about["version"] for name, about in settings.items()}
    found["cases"] = {name: len(about["cases"]) for name, about in settings.items()}
    found["about"] = {
        name: {part: about[part] for part in BESIDE if part in about}
        for name, about in settings.items()
    }
    return found


@dataclass
class Gathered:
    """What records add up to."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    curves: dict[tuple[str, str, str, str], list[float]] = field(default_factory=dict)
    more: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    controls: dict[tuple[str, str, str], dict[str, float]] = field(default_factory=dict)
    spent: dict[str, Spent] = field(default_factory=dict)
    _priced: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def take_maps(self, manifest: Manifest, setting: str, source: Source) -> None:
        """What explanations took, and what methods show of the setting as a whole."""
        spent = self.spent.setdefault(setting, Spent())
        for own, listed in ((True, maps), (False, beside)):
            for entry in listed(manifest, setting):
                about = source.about(entry.identity) or source.about(priced(entry))
                if not about:
                    continue
                spent.add(about, gradients=entry.method.passes * len(entry.cases))
                if not own:
                    continue
                shown = about.get("more", {}).get("setting")
                if shown:
                    student = shown.get("student")
                    note = {} if student is None else {"note": note_of(student)}
                    self.more[setting, entry.method.id] = note | shown
                if about.get("asked") is not None:
                    share = about["asked"] / len(entry.cases) + entry.method.passes
                    self._priced.setdefault((setting, entry.method.id), []).append(share)

    def take_scores(self, manifest: Manifest, setting: str, source: Source) -> None:
        """Values and curves of cases."""
        for entry in scores(manifest, setting):
            record, metric = source.get(entry.identity), entry.metric
            if record is None or metric is None:
                continue
            keys = [(setting, case, entry.method.id, metric.id) for case in entry.cases]
            values = record.tensors["value"].tolist()
            self.rows += [(*key, v) for key, v in zip(keys, values, strict=True)]
            if "curve" in record.tensors:
                drawn = curve_points(record.tensors["curve"])
                self.curves.update(zip(keys, drawn, strict=True))
            self.spent[setting].add(record.about, metric.id, len(entry.cases))

    def take_replicates(self, manifest: Manifest, setting: str, source: Source) -> None:
        """Values of simulated users."""
        for entry in replicates(manifest, setting):
            record, metric = source.get(entry.identity), entry.metric
            if record is None or metric is None:
                continue
            found = as_replicates(record)
            self.rows += [
                (setting, replicate, entry.method.id, metric.id, value)
                for replicate, value in zip(found.names, found.value.tolist(), strict=True)
            ]
            self.controls[setting, entry.method.id, metric.id] = control_means(found)
            self.spent[setting].add(record.about)

    def calls(self, manifest: Manifest) -> dict[tuple[str, str], float]:
        """Model calls of a case's explanation; a price of a part of the cases is none of all."""
        found = {}
        for key, shares in self._priced.items():
            setting = key[0]
            count = len(manifest["settings"][setting]["cases"])
            if len(shares) == -(-count // condition(manifest, setting, "chunk")):
                found[key] = sum(shares) / len(shares)
        return found
