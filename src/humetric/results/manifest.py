"""run.json: what the records of a folder add up to, and how they were obtained."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from humetric.errors import HumetricError
from humetric.results.files import write_whole
from humetric.results.form import check_form
from humetric.results.store import SCHEMA

Manifest = dict[str, Any]

MIGRATIONS: dict[int, Callable[[Manifest], Manifest]] = {}
"""From each schema to the next: what was written by an older version is read through these.

Records need none as long as what they are named by does not change; when it does, a migration
writes the old names into ``renamed``, or leaves the old records to be computed anew.
"""

FILE = "run.json"
MERGED = ("settings", "methods", "metrics", "batch_size", "pairs")
CONDITIONS = ("seed", "device", "precision", "chunk")


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder in today's form; None if there is none."""
    path = folder / FILE
    if folder.exists() and not folder.is_dir():
        raise HumetricError(
            f"Expected the folder of a run but {folder} is not a folder: name the folder that "
            f"{FILE} lies in."
        )
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise HumetricError(
            f"Cannot read {path}: {error}. Delete it and run again: records are kept."
        ) from None
    schema = found.get("schema", 0) if isinstance(found, dict) else 0
    if not isinstance(schema, int) or schema > SCHEMA:
        raise HumetricError(
            f"{path} has schema {schema}, and this humetric reads up to {SCHEMA}: update humetric."
        )
    while schema < SCHEMA:
        if schema not in MIGRATIONS:
            raise HumetricError(
                f"{path} has schema {schema}, which this humetric cannot read: choose another "
                f"folder with --out, or delete it."
            )
        found = MIGRATIONS[schema](found)
        schema += 1
    manifest: Manifest = found
    return manifest


def required(manifest: Manifest | None, folder: Path) -> Manifest:
    """A manifest that has to be there, in the right form."""
    if manifest is None:
        raise HumetricError(
            f"Expected the results of a run in {folder} but there is no {FILE}: "
            f"name another folder, or make one with humetric run --out {folder}."
        )
    check_form(manifest, folder / FILE)
    return manifest


def write_manifest(folder: Path, new: Mapping[str, Any]) -> Manifest:
    """Add a run to the manifest of its folder, under a lock, and return the whole.

    Settings, methods and metrics of earlier runs stay; those of the same name are replaced. A run
    under other conditions (seed, device, precision, chunk) starts the manifest anew.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        old = read_manifest(folder)
        whole: Manifest = {"schema": SCHEMA, **new}
        if old is not None and all(old.get(c) == whole.get(c) for c in CONDITIONS):
            for part in MERGED:
                whole[part] = old.get(part, {}) | whole.get(part, {})
            for name, about in old.get("settings", {}).items():  # a panel that others looked at
                if whole["settings"][name].get("version") == about.get("version"):
                    whole["settings"][name] = about | whole["settings"][name]
            tried = {(s, m) for s in new["settings"] for m in new["methods"]}
            tried |= {(s, "") for s in new["settings"]}  # metrics that were skipped
            for part in ("skips", "failures"):
                earlier = (r for r in old.get(part, []) if (r["setting"], r["method"]) not in tried)
                whole[part] = [*earlier, *whole[part]]
            if "planned" in old or "planned" in whole:
                now = whole.get("planned", [])
                whole["planned"] = [*(p for p in old.get("planned", []) if p not in now), *now]
        write_whole(folder / FILE, json.dumps(whole, indent=1) + "\n")
    return whole


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One writer at a time; the lock ends with the process, however it ends."""
    with open(folder / ".lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
