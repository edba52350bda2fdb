"""The store: records of a run, each in a file of its own, written whole or not at all.

A record is named by what it is of (setting, cases, method, metric, versions, parameters, seed,
precision ...). Asking for a record and writing it need nothing else, so an interrupted run goes on
where it stopped, two runs may share a folder, and a changed definition never meets old results.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from humetric.errors import HumetricError

SCHEMA = 1
"""Of records and of run.json. A change of their form raises it; see migrations.py."""

Identity = Mapping[str, Any]
"""What a record is of, as plain data. ``kind`` and ``setting`` are always there."""


@dataclass(frozen=True)
class Record:
    """Numbers, and how they were obtained."""

    tensors: Mapping[str, Tensor]
    about: Mapping[str, Any]
    """Model calls, seconds, batch size: what the identity leaves open."""


@dataclass(frozen=True)
class Store:
    """Records in a folder."""

    folder: Path
    damaged: list[Path] = field(default_factory=list)
    """Records that were found truncated or changed, and are taken as missing."""
    elsewhere: frozenset[str] = frozenset()
    """Names of records that count as there without being read: for dry runs."""

    def path(self, identity: Identity) -> Path:
        """Where a record lies: readable as far as it goes, unique by its digest."""
        who = [identity[part]["id"] for part in ("method", "metric") if part in identity]
        name = "-".join([*who, name_of(identity)])
        setting = str(identity["setting"]).replace("/", "-")
        return self.folder / "records" / setting / str(identity["kind"]) / f"{name}.safetensors"

    def has(self, identity: Identity) -> bool:
        """Whether a record seems to be there."""
        return name_of(identity) in self.elsewhere or self.path(identity).exists()

    def get(self, identity: Identity) -> Record | None:
        """A record, if it is there and whole."""
        path = self.path(identity)
        if not path.exists():
            return None
        record = read_record(path, identity)
        if record is None:
            self.damaged.append(path)
        return record

    def put(
        self, identity: Identity, tensors: Mapping[str, Tensor], about: Mapping[str, Any]
    ) -> None:
        """Write a record in one step; if somebody else wrote it meanwhile, the last one stays."""
        path = self.path(identity)
        path.parent.mkdir(parents=True, exist_ok=True)
        plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        metadata = {
            "schema": str(SCHEMA),
            "identity": canonical(identity),
            "about": canonical(about),
        }
        metadata["sha256"] = checksum(plain, metadata)
        handle, draft = tempfile.mkstemp(dir=path.parent, suffix=".draft")
        os.close(handle)
        try:
            save_file(plain, draft, metadata)
            with open(draft, "rb") as written:
                os.fsync(written.fileno())
            os.replace(draft, path)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise

    def about(self, identity: Identity) -> Mapping[str, Any]:
        """How a record was obtained, without reading its numbers; empty if it is not there."""
        try:
            with safe_open(self.path(identity), framework="pt") as file:
                found: dict[str, Any] = json.loads((file.metadata() or {})["about"])
                return found
        except (SafetensorError, OSError, ValueError, KeyError):
            return {}

    def others(self, identity: Identity) -> list[dict[str, Any]]:
        """Identities of the same kind, setting, method and metric, but otherwise different."""
        path = self.path(identity)
        stem = path.name.rpartition("-")[0]
        found = [read_identity(other) for other in sorted(path.parent.glob(f"{stem}-*"))]
        same = ("method", "metric")
        return [
            other
            for other in found
            if other is not None
            and other != json.loads(canonical(identity))
            and all(other.get(k, {}).get("id") == identity.get(k, {}).get("id") for k in same)
        ]


def read_record(path: Path, identity: Identity) -> Record | None:
    """A record if it is whole and of what it should be; None if it is not."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata: dict[str, str] = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        stated = metadata.pop("sha256", "")
        whole = stated == checksum(tensors, metadata)
        if not whole or metadata.get("identity") != canonical(identity):
            return None
        return Record(tensors, json.loads(metadata["about"]))
    except (SafetensorError, OSError, ValueError, KeyError):
        return None


def read_identity(path: Path) -> dict[str, Any] | None:
    """What a record says that it is of, without reading its numbers."""
    try:
        with safe_open(path, framework="pt") as file:
            found: dict[str, Any] = json.loads((file.metadata() or {})["identity"])
            return found
    except (SafetensorError, OSError, ValueError, KeyError):
        return None


def canonical(data: Mapping[str, Any]) -> str:
    """Plain data as text, the same for equal data."""
    try:
        return json.dumps(data, sort_keys=True, separators=(",", ":"), default=_plain)
    except TypeError as error:
        raise HumetricError(
            f"Expected parameters of plain data (numbers, texts, lists) but {error}: results are "
            f"stored under them."
        ) from None


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not")


def digest(data: Mapping[str, Any]) -> str:
    """A name for plain data."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()


def name_of(identity: Identity) -> str:
    """What tells a record from all others."""
    return digest(identity)[:16]


def checksum(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    """A digest of numbers with their names, kinds and shapes, and of what is beside them."""
    found = hashlib.sha256(canonical(metadata).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        found.update(tensor.numpy().tobytes())
    return found.hexdigest()
