"""Fetching from the Hugging Face hub, at a pinned revision and never with remote code.

Data come through ``datasets``, restricted to the declared parquet files, so that a script in the
repository is not even looked at. They are kept in the layout of a mirror, below the folder that
``HUMETRIC_CACHE`` names (by default ``~/.cache/humetric``), and are used from there ever after.
Weights are the declared files only, safetensors among them, in the hub's own cache; each must have
its declared checksum, where there is one: else the commit alone says what it is. No token is sent.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from humetric.data.sources.found import Found, digest
from humetric.data.sources.source import Hub, Part, Source
from humetric.errors import HumetricError

TIMEOUT = 10.0
"""Seconds that the hub has for its first answer."""

COMMIT = re.compile(r"[0-9a-f]{40}")


def fetch(source: Source) -> Found:
    """The source from the hub; an error in one sentence where that cannot be."""
    hub = source.hub
    if hub is None:
        raise HumetricError("no place on the hub is declared for it")
    if not COMMIT.fullmatch(hub.revision):
        raise HumetricError(
            f"the hub's {hub.repo} is not fetched, as no commit to pin it to is known"
        )
    try:
        _reach(source, hub)
        found = _weights(source, hub) if source.kind == "weights" else _data(source, hub)
    except HumetricError:
        raise
    except Exception as error:  # two libraries and their network stack raise what they like
        said = " ".join(str(error).split())[:200]
        raise HumetricError(
            f"the hub did not give {hub.repo} at {hub.revision[:12]} "
            f"({type(error).__name__}: {said})"
        ) from error
    return found


def kept(source: Source) -> Found | None:
    """What was fetched before, if all of it is still there and, of weights, as declared."""
    if source.hub is None or not COMMIT.fullmatch(source.hub.revision):
        return None
    if source.kind != "weights":
        found = Found(source, "hub", _folder(source, source.hub), _parts(source.hub))
        return found if all(found.place(part).is_file() for part in found.parts) else None
    from huggingface_hub import try_to_load_from_cache

    places = [
        try_to_load_from_cache(source.hub.repo, part.name, revision=source.hub.revision)
        for part in source.parts
    ]
    if not all(
        isinstance(place, str) and part.sha256 in ("", digest(Path(place)))
        for part, place in zip(source.parts, places, strict=True)
    ):
        return None
    return Found(source, "hub", _above(str(places[0]), source.parts[0]), source.parts)


def _reach(source: Source, hub: Hub) -> None:
    """Ask once, so that a machine without a network hears of it now and not after five tries."""
    from huggingface_hub import HfApi

    kind = "model" if source.kind == "weights" else "dataset"
    info = HfApi().repo_info(
        hub.repo, revision=hub.revision, repo_type=kind, timeout=TIMEOUT, token=False
    )
    if info.sha != hub.revision:
        raise HumetricError(f"the hub's {hub.repo} is at {info.sha} and not at {hub.revision}")


def _weights(source: Source, hub: Hub) -> Found:
    from huggingface_hub import hf_hub_download

    for part in source.parts:
        place = Path(hf_hub_download(hub.repo, part.name, revision=hub.revision, token=False))
        if part.sha256 not in ("", digest(place)):
            raise HumetricError(
                f"the hub's {part.name} of {hub.repo} at {hub.revision[:12]} has another checksum "
                f"than declared ({part.sha256[:12]}...), so it is not used: remove {place} and "
                f"fetch it anew"
            )
    return Found(source, "hub", _above(str(place), part), source.parts)


def _data(source: Source, hub: Hub) -> Found:
    from datasets import load_dataset

    folder = _folder(source, hub)
    folder.mkdir(parents=True, exist_ok=True)
    for part in _parts(hub):
        pattern = {part.split: hub.files[part.split]}
        rows = load_dataset(
            hub.repo, data_files=pattern, revision=hub.revision, split=part.split, token=False
        )
        if len(rows) != part.rows:
            raise HumetricError(
                f"the hub's {part.split} of {hub.repo} at {hub.revision[:12]} has {len(rows):,} "
                f"rows and not the {part.rows:,} declared, so it is not used"
            )
        draft = folder / f".{part.name}.{os.getpid()}"
        try:
            rows.to_parquet(draft)
            os.replace(draft, folder / part.name)
        finally:
            draft.unlink(missing_ok=True)
    return Found(source, "hub", folder, _parts(hub))


def _parts(hub: Hub) -> tuple[Part, ...]:
    """What is kept of the hub's data: a file per split, of which the rows alone are known."""
    return tuple(Part(f"{split}.parquet", rows=hub.rows[split]) for split in hub.files)


def _folder(source: Source, hub: Hub) -> Path:
    root = os.environ.get("HUMETRIC_CACHE", "") or Path.home() / ".cache" / "humetric"
    return Path(root) / source.folder / hub.revision


def _above(place: str, part: Part) -> Path:
    """The folder that a part's name starts from."""
    return Path(place).parents[len(Path(part.name).parts) - 1]
