"""Records are whole or missing, and named by everything that they depend on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from humetric.errors import HumetricError
from humetric.results import manifest
from humetric.results.manifest import read_manifest, write_manifest
from humetric.results.store import SCHEMA, Store, canonical

IDENTITY = {
    "kind": "map",
    "setting": "image/a/b",
    "cases": ["one", "two"],
    "method": {"id": "lime", "version": 1, "parameters": {"samples": 4}},
}


def stored(tmp_path: Path) -> tuple[Store, Path]:
    store = Store(tmp_path)
    store.put(IDENTITY, {"map": torch.arange(6.0).view(2, 3)}, {"seconds": 1.5})
    return store, store.path(IDENTITY)


def test_what_is_put_is_got(tmp_path: Path) -> None:
    store, path = stored(tmp_path)
    record = store.get(IDENTITY)
    assert record is not None
    assert torch.equal(record.tensors["map"], torch.arange(6.0).view(2, 3))
    assert record.about == {"seconds": 1.5}
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    assert path.name.startswith("lime-")


@pytest.mark.parametrize(
    "change",
    [
        {"method": {"id": "lime", "version": 2, "parameters": {"samples": 4}}},
        {"method": {"id": "lime", "version": 1, "parameters": {"samples": 5}}},
        {"cases": ["two", "one"]},
        {"seed": 1},
    ],
)
def test_another_definition_is_another_record(tmp_path: Path, change: dict[str, object]) -> None:
    store, _ = stored(tmp_path)
    assert store.get(IDENTITY | change) is None
    assert store.others(IDENTITY | change) == [json.loads(canonical(IDENTITY))]
    assert store.others(IDENTITY) == []


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    store, path = stored(tmp_path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        assert store.get(IDENTITY) is None
    assert set(store.damaged) == {path}
    path.write_bytes(whole)
    assert store.get(IDENTITY) is not None


def test_every_flipped_byte_is_noticed(tmp_path: Path) -> None:
    store, path = stored(tmp_path)
    whole = bytearray(path.read_bytes())
    expected = store.get(IDENTITY)
    assert expected is not None
    for place in range(0, len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1
        path.write_bytes(changed)
        found = store.get(IDENTITY)
        assert found is None or (  # padding of the header may change without harm
            torch.equal(found.tensors["map"], expected.tensors["map"])
            and found.about == expected.about
        )


def test_a_record_of_something_else_is_not_taken(tmp_path: Path) -> None:
    store, path = stored(tmp_path)
    other = store.path(IDENTITY | {"seed": 1})
    other.write_bytes(path.read_bytes())
    assert store.get(IDENTITY | {"seed": 1}) is None


def test_parameters_must_be_plain() -> None:
    with pytest.raises(HumetricError, match="plain data"):
        canonical({"parameters": {"of": object()}})


BASE = {
    "seed": 0,
    "device": "cpu",
    "precision": "fp32",
    "chunk": 4,
    "settings": {"a": {"version": "1", "cases": ["x"]}},
    "methods": {"m": {"version": 1}},
    "metrics": {"d": {}},
    "batch_size": {"a": 8},
    "skips": [],
    "failures": [{"setting": "a", "method": "m", "metric": "", "message": "bad"}],
}


def test_runs_into_one_folder_add_up(tmp_path: Path) -> None:
    write_manifest(tmp_path, BASE)
    whole = write_manifest(tmp_path, BASE | {"methods": {"n": {"version": 1}}, "failures": []})
    assert list(whole["methods"]) == ["m", "n"]
    assert [f["method"] for f in whole["failures"]] == ["m"]
    whole = write_manifest(tmp_path, BASE | {"methods": {"m": {"version": 2}}, "failures": []})
    assert whole["methods"] == {"m": {"version": 2}, "n": {"version": 1}}
    assert whole["failures"] == []
    assert read_manifest(tmp_path) == whole


def test_other_conditions_start_anew(tmp_path: Path) -> None:
    write_manifest(tmp_path, BASE)
    whole = write_manifest(tmp_path, BASE | {"seed": 1, "methods": {"n": {}}})
    assert list(whole["methods"]) == ["n"]


def test_older_schemas_are_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"schema": SCHEMA - 1, "old": 3}))
    with pytest.raises(HumetricError, match="cannot read: choose another folder"):
        read_manifest(tmp_path)
    monkeypatch.setitem(manifest.MIGRATIONS, SCHEMA - 1, lambda found: {"new": found["old"]})
    assert read_manifest(tmp_path) == {"new": 3}


def test_newer_schemas_and_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"schema": SCHEMA + 1}))
    with pytest.raises(HumetricError, match="update humetric"):
        read_manifest(tmp_path)
    (tmp_path / "run.json").write_text('{"schema": 1, "metho')
    with pytest.raises(HumetricError, match="Delete it and run again"):
        read_manifest(tmp_path)
