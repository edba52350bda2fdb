"""Published results: a folder of packs, read as if it were the folder of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humetric.errors import HumetricError
from humetric.results.identity import definition_of
from humetric.results.pack import SUFFIX, Pack, read_pack
from humetric.results.store import SCHEMA, Identity, Record, canonical

FOLDER = "results"
"""Of packs, in a published folder."""

OWN = ("device", "precision", "chunk", "batch_size")
"""Conditions that settings may differ in; the seed is one for all."""


@dataclass(frozen=True)
class Published:
    """Packs of a folder, by setting."""

    packs: Mapping[str, Pack]

    def get(self, identity: Identity) -> Record | None:
        """A record, if it is published."""
        pack = self.packs.get(str(identity["setting"]))
        return None if pack is None else pack.get(identity)

    def about(self, identity: Identity) -> Mapping[str, Any]:
        """How a record was obtained; empty if it is not published."""
        record = self.get(identity)
        return {} if record is None else record.about


def leaderboards() -> Path | None:
    """The folder of published results in a source tree; an installed package has none."""
    found = Path(__file__).parents[3] / "leaderboards"
    return found if found.is_dir() else None


def is_published(folder: Path) -> bool:
    """Whether results in a folder are packs."""
    return any((folder / FOLDER).glob(f"*{SUFFIX}"))


def published_suites(folder: Path) -> list[Path]:
    """Published folders in a folder, by name."""
    return sorted(path for path in folder.glob("*") if is_published(path))


def read_published(folder: Path) -> Published:
    """All packs of a folder."""
    packs = [read_pack(path) for path in sorted((folder / FOLDER).glob(f"*{SUFFIX}"))]
    return Published({pack.setting: pack for pack in packs})


def whole_manifest(found: Published, folder: Path) -> dict[str, Any]:
    """One manifest of all packs. A method or metric that settings have in two versions counts in
    its newest; results of the older one are kept and count as missing."""
    parts = [pack.manifest for pack in found.packs.values()]
    seeds = sorted({part["seed"] for part in parts})
    if len(seeds) > 1:
        raise HumetricError(
            f"Expected results of one seed in {folder} but they are of {seeds}: publish those of "
            "another seed in a folder of their own."
        )
    whole: dict[str, Any] = {"schema": SCHEMA, "seed": seeds[0]}
    for name in ("suite", "suite_version", "device", "precision"):
        values = sorted({str(part[name]) for part in parts if name in part})
        if values:
            whole[name] = " and ".join(values)
    whole["chunk"] = parts[0]["chunk"]
    whole["environment"] = _environments(found)
    settings: dict[str, dict[str, Any]] = {}
    for part in parts:
        own = {name: part[name] for name in OWN if name in part and name != "batch_size"}
        settings |= {name: {**about, **own} for name, about in part["settings"].items()}
    whole["settings"] = settings
    for kind in ("methods", "metrics"):
        whole[kind] = {}
        for part in parts:
            for name, card in part[kind].items():
                whole[kind][name] = _newer(whole[kind].get(name, card), card, folder)
    for kind in ("failures", "skips", "planned"):
        whole[kind] = [row for part in parts for row in part.get(kind, [])]
    whole["pairs"] = {name: rows for part in parts for name, rows in part.get("pairs", {}).items()}
    return whole


def _newer(one: Mapping[str, Any], other: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """The newer of two cards of one name; of one version they must define the same."""
    if one["version"] != other["version"]:
        return max(one, other, key=lambda card: int(card["version"]))
    if canonical(definition_of(one)) != canonical(definition_of(other)):
        raise HumetricError(
            f"Expected {one['id']} version {one['version']} with the same parameters in all "
            f"results in {folder} but it has {dict(one['parameters'])} and "
            f"{dict(other['parameters'])}: publish both settings with the same, or "
            "the others in a folder of their own."
        )
    return one


def _environments(found: Published) -> dict[str, str]:
    """What records were made with; where they differ, all of it."""
    listed: dict[str, set[str]] = {}
    for pack in found.packs.values():
        for record in pack.records.values():
            for name, value in record.about.get("environment", {}).items():
                if name in ("humetric", "revision"):
                    listed.setdefault(name, set()).add(value)
    return {name: _joined(sorted(values)) for name, values in sorted(listed.items())}


def _joined(values: Sequence[str]) -> str:
    return ", ".join(values)


def sizes(packs: Sequence[Pack]) -> dict[str, int]:
    """Batch sizes that published settings were run with."""
    listed = {pack.setting: pack.manifest["settings"][pack.setting] for pack in packs}
    return {name: about["batch_size"] for name, about in listed.items() if "batch_size" in about}
