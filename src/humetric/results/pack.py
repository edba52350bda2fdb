"""A pack: all results of a setting in one file, for publishing.

A run keeps a file per record, thousands of them, with maps and whatever methods have to show. A
pack holds what is published of a setting: the part of the manifest that is about it, and of every
record its numbers and how they were obtained. It is a safetensors file, compressed with xz, with
one entry of metadata; equal content gives equal bytes. Numbers are as they were stored: as float32
where that loses nothing.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from humetric.errors import HumetricError
from humetric.results.files import write_whole
from humetric.results.store import Identity, Record, canonical, checksum, name_of

SUFFIX = ".safetensors.xz"
SCHEMA = 1
KEY = "pack"
"""One entry of metadata: the order of several is not fixed."""


@dataclass(frozen=True)
class Pack:
    """What is published of a setting."""

    manifest: Mapping[str, Any]
    """In the form of run.json, of this setting alone."""
    records: Mapping[str, Record]
    """By the name of what they are of."""

    @property
    def setting(self) -> str:
        """Its name."""
        (name,) = self.manifest["settings"]
        return str(name)

    def get(self, identity: Identity) -> Record | None:
        """A record, if it is there."""
        return self.records.get(name_of(identity))


def file_of(setting: str, folder: Path) -> Path:
    """Where the pack of a setting lies."""
    return folder / f"{setting.replace('/', '-')}{SUFFIX}"


def packed(pack: Pack) -> bytes:
    """The file of a pack, the same bytes for the same content."""
    places: dict[str, int] = {}
    listed, tensors = [], {}
    for number, (name, record) in enumerate(sorted(pack.records.items())):
        about = dict(record.about)
        environment = canonical(about.pop("environment", {}))
        about["environment"] = places.setdefault(environment, len(places))
        kinds = {}
        for part, values in sorted(record.tensors.items()):
            small = _small(values)
            kinds[part] = str(values.dtype).removeprefix("torch.")
            tensors[f"{number:05}/{part}"] = small.contiguous()
        listed.append({"of": name, "about": about, "tensors": kinds})
    content = {
        "schema": SCHEMA,
        "manifest": pack.manifest,
        "environments": [json.loads(text) for text in places],
        "records": listed,
    }
    text = json.dumps(content, separators=(",", ":"))  # in order: boards have it
    metadata = canonical({"content": text, "sha256": checksum(tensors, {KEY: text})})
    return lzma.compress(save(tensors, {KEY: metadata}), preset=9)


def write_pack(pack: Pack, path: Path) -> None:
    """Write a pack, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, packed(pack))


def read_pack(path: Path) -> Pack:
    """A pack, checked."""
    try:
        data = lzma.decompress(path.read_bytes())
        tensors = load(data)
        size = int.from_bytes(data[:8], "little")
        sealed = json.loads(json.loads(data[8 : 8 + size])["__metadata__"][KEY])
        whole = sealed["sha256"] == checksum(tensors, {KEY: sealed["content"]})
        content = json.loads(sealed["content"])
        schema = content["schema"]
    except (lzma.LZMAError, SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(path, type(error).__name__) from None
    if not whole:
        raise _damaged(path, "its checksum is another")
    if schema > SCHEMA:
        raise HumetricError(
            f"{path} has schema {schema}, and this humetric reads up to {SCHEMA}: update humetric."
        )
    records = {}
    for number, entry in enumerate(content["records"]):
        about = {
            **entry["about"],
            "environment": content["environments"][entry["about"]["environment"]],
        }
        parts = {
            part: tensors[f"{number:05}/{part}"].to(getattr(torch, kind))
            for part, kind in entry["tensors"].items()
        }
        records[entry["of"]] = Record(parts, about)
    return Pack(content["manifest"], records)


def _small(values: Tensor) -> Tensor:
    """As float32 where that loses nothing."""
    small = values.float()
    return (
        small
        if torch.equal(small.to(values.dtype).nan_to_num(9e9), values.nan_to_num(9e9))
        else values
    )


def _damaged(path: Path, why: str) -> HumetricError:
    return HumetricError(
        f"{path} is not a whole pack of results ({why}): restore it (git checkout {path.name}), or "
        "publish the setting again."
    )
