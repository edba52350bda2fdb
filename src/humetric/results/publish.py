"""Publishing: what a run found out about its settings, as packs that can be committed.

A setting that is published already keeps what the run does not have: methods, metrics, cases of
an earlier and longer run. Maps and what methods show beside them stay in the run; of a map only its
price is published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from humetric.errors import HumetricError
from humetric.results import guard
from humetric.results.contents import Entry, entries, priced
from humetric.results.files import write_whole
from humetric.results.gaps import gaps
from humetric.results.manifest import read_manifest, required
from humetric.results.pack import Pack, file_of, packed, read_pack
from humetric.results.published import FOLDER, OWN
from humetric.results.read import read_result
from humetric.results.store import Record, Store

TOP = (
    "seed", "device", "precision", "chunk", "suite", "suite_version", "methods", "metrics",
)  # fmt: skip
"""Of run.json, what is published as it is."""


class Outcome(NamedTuple):
    """What became of a setting."""

    setting: str
    done: str
    """``published``, ``unchanged``, or why not."""
    cases: int = 0
    records: int = 0
    size: int = 0
    """Bytes of the file."""
    uncommitted: int = 0
    """Records that were made by code that was not committed."""


def publish(
    run: Path, target: Path, settings: Iterable[str] = (), unfinished: bool = False
) -> list[Outcome]:
    """Pack the settings of a run that are finished, or all of them, into ``target/results``."""
    manifest = required(read_manifest(run), run)
    lacking = {gap.setting for gap in gaps(read_result(run))}
    wanted = list(settings) or list(manifest["settings"])
    done = []
    for name in wanted:
        if name not in manifest["settings"]:
            raise HumetricError(
                f"Expected a setting of the run in {run} but {name} is not among "
                f"{', '.join(manifest['settings'])}."
            )
        if name in lacking and not unfinished:
            done.append(Outcome(name, "not finished"))
            continue
        done.append(_publish(run, manifest, name, target))
    return done


def _publish(run: Path, manifest: Mapping[str, Any], name: str, target: Path) -> Outcome:
    path = file_of(name, target / FOLDER)
    old = read_pack(path) if path.exists() else None
    pack = made(part(manifest, name), Store(run), old)
    if not pack.records:
        return Outcome(name, "nothing scored yet")
    content = packed(pack)
    cases = len(pack.manifest["settings"][name]["cases"])
    same = path.exists() and path.read_bytes() == content
    if not same:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    done = "unchanged" if same else "published"
    revisions = [r.about["environment"].get("revision", "") for r in pack.records.values()]
    dirty = sum(revision.endswith("-dirty") for revision in revisions)
    return Outcome(name, done, cases, len(pack.records), len(content), dirty)


def part(manifest: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What of a run's manifest is about one setting, checked by the guard."""
    found: dict[str, Any] = {key: manifest[key] for key in TOP if key in manifest}
    about = dict(manifest["settings"][name])
    if name in manifest.get("batch_size", {}):
        about["batch_size"] = manifest["batch_size"][name]
    found["settings"] = {guard.name(name): guard.setting(about)}
    found["pairs"] = {n: rows for n, rows in manifest.get("pairs", {}).items() if n == name}
    found["planned"] = [row for row in manifest.get("planned", []) if row["setting"] == name]
    found["skips"] = [
        {**row, "reason": guard.sentence(row["reason"])} for row in _of(manifest, "skips", name)
    ]
    found["failures"] = [
        {**row, "message": guard.failure(row["message"])} for row in _of(manifest, "failures", name)
    ]
    return found


def _of(manifest: Mapping[str, Any], rows: str, name: str) -> list[dict[str, Any]]:
    return [row for row in manifest.get(rows, []) if row["setting"] == name]


def made(new: dict[str, Any], store: Store, old: Pack | None) -> Pack:
    """The pack of a setting from a run's records and what was published of it before."""
    (name,) = new["settings"]
    manifest = new if old is None else merged(old.manifest, new)
    about = manifest["settings"][name]
    known = {*about["cases"], *about.get("reference", ()), *about.get("panel", ())}
    records = {}
    for entry in entries(manifest, name):
        found = _record(entry, store, known)
        if found is None and old is not None:
            found = old.get(entry.identity)
        if found is not None:
            records[entry.name] = found
    if store.damaged:
        raise HumetricError(
            f"{store.damaged[0]} is damaged: run again with the same options, then publish."
        )
    return Pack(manifest, records)


def _record(entry: Entry, store: Store, known: set[str]) -> Record | None:
    """A record as it is published, by the guard."""
    kind = str(entry.identity["kind"])
    if kind == "map":
        about = store.about(entry.identity) or store.about(priced(entry))
        return Record({}, guard.about(kind, about, known)) if about else None
    found = store.get(entry.identity)
    if found is None:
        return None
    return Record(guard.tensors(kind, found.tensors), guard.about(kind, found.about, known))


def merged(old: Mapping[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Two manifests of a setting as one: the newer one's word where both have one."""
    (name,) = new["settings"]
    was, is_now = old["settings"][name], new["settings"][name]
    differ = [c for c in ("seed", *OWN[:3]) if str(old[c]) != str(new[c])]
    differ += ["version"] * (was["version"] != is_now["version"])
    if differ:
        raise HumetricError(
            f"{name} is published with another {' and '.join(differ)} than this run has. To "
            f"replace it, delete {file_of(name, Path(FOLDER))} of the published folder and "
            "publish again."
        )
    cases = max(was["cases"], is_now["cases"], key=len)
    if any(cases[: len(ids)] != ids for ids in (was["cases"], is_now["cases"])):
        raise HumetricError(
            f"Expected cases of {name} that begin as the published ones do: run the first cases of "
            "the setting, or publish in another folder."
        )
    longer = was if len(was["cases"]) > len(is_now["cases"]) else is_now
    whole = {**old, **new}
    whole["settings"] = {name: {**was, **is_now, "cases": cases}}
    if "features" in longer:
        whole["settings"][name]["features"] = longer["features"]
    for kind in ("methods", "metrics"):
        whole[kind] = {**old[kind], **new[kind]}
    whole["planned"] = [*(p for p in old["planned"] if p not in new["planned"]), *new["planned"]]
    tried = {*new["methods"], ""}
    for kind in ("skips", "failures"):
        earlier = (row for row in old[kind] if row["method"] not in tried)
        whole[kind] = [*earlier, *new[kind]]
    return whole


def offered(found: Pack) -> Iterator[tuple[dict[str, Any], Record]]:
    """Published records as a store of a run takes them: maps by their price alone."""
    for entry in entries(found.manifest, found.setting):
        record = found.get(entry.identity)
        if record is not None:
            yield (priced(entry) if entry.metric is None else entry.identity), record


def bring(found: Pack, store: Store) -> int:
    """Write published records into the store of a run that has them not; how many.

    Nobody is misled: a record is looked up by everything that it depends on.
    """
    lacking = [(of, record) for of, record in offered(found) if not store.has(of)]
    for identity, record in lacking:
        store.put(identity, record.tensors, record.about)
    return len(lacking)
