"""Whether what was found is what was declared: checksums and numbers of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from humetric.data.sources.found import Found, digest, members
from humetric.data.sources.records import PICTURES
from humetric.data.sources.source import Part, Source

State = Literal["ok", "differs", "not found"]


@dataclass(frozen=True)
class Verdict:
    """What was found of a part, or of a whole source that is nowhere."""

    source: str
    part: str
    how: str
    state: State
    said: str


def check(source: Source, found: Found | None) -> Iterator[Verdict]:
    """A verdict for each part of a source that was found, one for a source that was not.

    A part that is absent where the source was found is not found; one with another checksum or
    another number of rows than declared differs. Data from the hub have no declared checksum, so
    their rows alone are counted, and ``said`` says so.
    """
    if found is None:
        yield Verdict(source.name, "", "", "not found", "")
        return
    for part in found.parts:
        place = found.place(part)
        state, said = _verdict(part, place) if place.exists() else ("not found", f"not at {place}")
        yield Verdict(source.name, part.name, found.how, state, said)


def _verdict(part: Part, place: Path) -> tuple[State, str]:
    said = []
    if part.rows:
        try:
            rows = count(place)
        except (OSError, ValueError) as error:
            return "differs", f"cannot be read: {error}"
        if rows != part.rows:
            return "differs", f"expected {part.rows:,} rows but got {rows:,}"
        said.append(f"{rows:,} rows")
    if part.sha256:
        sha256 = digest(place)
        if sha256 != part.sha256:
            return "differs", f"expected sha256 {part.sha256[:12]}... but got {sha256[:12]}..."
        said.append("sha256")
    return "ok", " and ".join(said)


def count(place: Path) -> int:
    """Rows of a parquet file, pictures of a folder."""
    if place.is_dir():
        return sum(path.suffix.lower() in PICTURES for path in members(place))
    from pyarrow import ArrowException, parquet

    try:
        return int(parquet.read_metadata(place).num_rows)
    except ArrowException as error:
        raise ValueError(str(error)) from None
