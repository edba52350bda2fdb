"""Finding a source: a path, the mirror, an installed package, the hub; in this order."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from humetric.data.sources import hub
from humetric.data.sources.data_sets import DATA_SETS
from humetric.data.sources.encoders import ENCODERS
from humetric.data.sources.found import Found
from humetric.data.sources.source import Source
from humetric.data.sources.weights import WEIGHTS
from humetric.errors import HumetricError, UnknownNameError

SOURCES: Mapping[str, Source] = {
    source.name: source for source in (*DATA_SETS, *WEIGHTS, *ENCODERS)
}
"""Everything that humetric uses and does not ship."""

MIRROR = "HUMETRIC_MIRROR"
"""The environment variable that names a folder with datasets/NAME and models/NAME."""


def find(
    name: str, path: Path | str | None = None, *, sources: Mapping[str, Source] = SOURCES
) -> Found:
    """A source, fetched from the hub if need be.

    ``path``, where given, is its folder or its only file, and nothing else is looked at. Else the
    first that has it counts: the folder that ``HUMETRIC_MIRROR`` names, an installed package, the
    hub at its pinned revision (what was fetched once is used again, without a network). Checksums
    of the hub's weights are verified on arrival; ``humetric sources check`` verifies all others.
    """
    source = declared(name, sources)
    found = look(source, path)
    if found is not None:
        return found
    try:
        return hub.fetch(source)
    except HumetricError as error:
        raise HumetricError(_missing(source, str(error))) from error


def look(source: Source, path: Path | str | None = None) -> Found | None:
    """Where a source is on this machine; None if it is not. Nothing is fetched."""
    if path is not None:
        if not Path(path).exists():
            raise HumetricError(
                f"Expected {source.name} at {path} but there is nothing: give its folder (with "
                f"{', '.join(part.name for part in source.parts)})."
            )
        return Found(source, "path", Path(path), source.parts)
    if (folder := mirror()) and (folder / source.folder).exists():
        return Found(source, "mirror", folder / source.folder, source.parts)
    if (folder := _installed(source)) and source.package:
        return Found(source, "package", folder, source.package.parts or source.parts)
    return hub.kept(source)


def declared(name: str, sources: Mapping[str, Source] = SOURCES) -> Source:
    """The declaration behind a name."""
    if name not in sources:
        raise UnknownNameError("source", name, sources)
    return sources[name]


def mirror() -> Path | None:
    """The folder that ``HUMETRIC_MIRROR`` names; None if it names none."""
    named = os.environ.get(MIRROR, "")
    if named and not Path(named).is_dir():
        raise HumetricError(
            f"Expected {MIRROR} to name a folder but {named!r} is none: correct it."
        )
    return Path(named) if named else None


def _installed(source: Source) -> Path | None:
    """The folder of an installed package with the source's files. Nothing is imported."""
    if source.package is None:
        return None
    specs = [find_spec(module) for module in source.package.modules]
    places = [Path(spec.origin).parent for spec in specs if spec and spec.origin]
    return places[0] / source.package.folder if len(places) == len(specs) else None


def ways(source: Source) -> list[str]:
    """How to get a source, or do without it."""
    names = [part.name for part in source.parts]
    found = [f"set {MIRROR} to a folder with {source.folder}/ ({', '.join(names)})"]
    if package := source.package:
        size = f" ({megabytes(package.size)})" if package.size else ""
        found.append(f"pip install {package.install}{size}")
    if source.hub and source.hub.revision:
        remark = f" ({source.hub.remark})" if source.hub.remark else ""
        found.append(f"let it be fetched from the hub, {source.hub.repo}{remark}")
    if source.origin:
        found.append(f"see {source.origin}")
    if source.instead:
        found.append(source.instead)
    return found


def megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def _missing(source: Source, reason: str) -> str:
    folder = mirror()
    looked = [f"it is not in {folder}" if folder else f"{MIRROR} is not set"]
    if source.package:
        looked.append(f"{' and '.join(source.package.modules)} not installed")
    kind = "weights" if source.kind == "weights" else "data"
    return (
        f"Expected the {kind} {source.name} ({source.title}, {megabytes(source.size)}) but found "
        f"none: {'; '.join([*looked, reason])}. Ways to get it: {'; or '.join(ways(source))}."
    )
