"""A source on this machine: where it was found, and its files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from humetric.data.sources.source import Part, Source
from humetric.errors import HumetricError, UnknownNameError

How = Literal["path", "mirror", "package", "hub"]


@dataclass(frozen=True)
class Found:
    """Where a source was found, how, and what is expected there."""

    source: Source
    how: How
    path: Path
    """Its folder, or the one file that was named."""
    parts: tuple[Part, ...]
    """As declared for this place: the hub's splits of data are not the mirror's."""

    @property
    def checksums(self) -> Mapping[str, str]:
        """Expected SHA-256 by part; empty where none is known (data from the hub)."""
        return {part.name: part.sha256 for part in self.parts}

    @property
    def splits(self) -> tuple[str, ...]:
        """Those that are there."""
        return tuple(p.split for p in self.parts if p.rows and self.place(p).exists())

    def place(self, part: Part) -> Path:
        """Where a part is, or would be."""
        named = self.path.is_file() and (len(self.parts) == 1 or self.path.name == part.name)
        return self.path if named else self.path / part.name

    def file(self, name: str) -> Path:
        """A part by its name or split: a file, or a folder of files."""
        known = {key: part for part in self.parts for key in (part.name, part.split)}
        if name not in known:
            raise UnknownNameError(
                f"part of {self.source.name}", name, {p.name for p in self.parts}
            )
        place = self.place(known[name])
        if not place.exists():
            raise HumetricError(
                f"Expected {known[name].name} of {self.source.name} in {self.path} ({self.how}) "
                f"but it is not there: complete that folder, or take it away to have the source "
                f"looked for elsewhere."
            )
        return place

    def files(self, split: str) -> tuple[Path, ...]:
        """The files of a split in the order of their names."""
        place = self.file(split)
        return (place,) if place.is_file() else tuple(members(place))


def members(folder: Path) -> list[Path]:
    """The files below a folder, in the order of their paths."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(files, key=lambda path: path.relative_to(folder).as_posix())


def digest(place: Path) -> str:
    """SHA-256 of a file; of a folder, that of the list ``sha256sum`` prints for its files by path.

    From a shell: ``find . -type f | sed 's#^./##' | LC_ALL=C sort | xargs sha256sum | sha256sum``.
    """
    if place.is_file():
        with place.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    lines = (f"{digest(p)}  {p.relative_to(place).as_posix()}\n" for p in members(place))
    return hashlib.sha256("".join(lines).encode()).hexdigest()
