"""Checksums and numbers of rows."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest
from sources_support import REVIEWS, declare, table, write

from humetric.data.sources import SOURCES, Found, Source, digest, look
from humetric.data.sources.check import check, count

ROOT = Path(__file__).resolve().parents[3]
MIRROR = Path(os.environ.get("HUMETRIC_MIRROR", ROOT.parent / "shared" / "mirror"))


@pytest.fixture
def made_up(tmp_path: Path) -> dict[str, Source]:
    return declare(write(tmp_path))


def states(source: Source, root: Path) -> list[tuple[str, str, str]]:
    found = Found(source, "mirror", root / source.folder, source.parts)
    return [(v.part, v.state, v.said) for v in check(source, found)]


def test_digest_of_a_file_and_of_a_folder(tmp_path: Path) -> None:
    """A folder's is that of the list which sha256sum prints, by path, whatever made the files."""
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x").write_bytes(b"one")
    (tmp_path / "a.txt").write_bytes(b"two")
    one, two = (hashlib.sha256(content).hexdigest() for content in (b"one", b"two"))
    assert digest(tmp_path / "a.txt") == two
    listed = f"{two}  a.txt\n{one}  b/x\n"
    assert digest(tmp_path) == hashlib.sha256(listed.encode()).hexdigest()
    (tmp_path / "b" / "x").rename(tmp_path / "b" / "y")
    assert digest(tmp_path) != hashlib.sha256(listed.encode()).hexdigest()


def test_what_was_declared_is_ok(made_up: dict[str, Source], tmp_path: Path) -> None:
    assert states(made_up["reviews"], tmp_path) == [("train.parquet", "ok", "3 rows and sha256")]
    assert states(made_up["named"], tmp_path) == [
        ("test", "ok", "1 rows and sha256"),
        ("classes.txt", "ok", "sha256"),
    ]
    for source in made_up.values():
        assert {state for _, state, _ in states(source, tmp_path)} == {"ok"}


def test_what_changed_differs(made_up: dict[str, Source], tmp_path: Path) -> None:
    file = tmp_path / "datasets" / "reviews" / "train.parquet"
    file.write_bytes(table(REVIEWS | {"label": [1, 0, 1]}))
    ((_, state, said),) = states(made_up["reviews"], tmp_path)
    assert state == "differs"
    assert said.startswith("expected sha256 ")
    file.write_bytes(table({"text": ["good"], "label": [1]}))
    assert states(made_up["reviews"], tmp_path)[0][1:] == ("differs", "expected 3 rows but got 1")
    file.write_text("no parquet")
    ((_, state, said),) = states(made_up["reviews"], tmp_path)
    assert state == "differs"
    assert said.startswith("cannot be read: ")
    picture = tmp_path / "datasets" / "animals" / "train" / "dog" / "a.png"
    picture.write_bytes(picture.read_bytes() + b"\0")
    assert states(made_up["animals"], tmp_path)[0][1] == "differs"
    picture.unlink()
    assert states(made_up["animals"], tmp_path)[0][2] == "expected 3 rows but got 2"


def test_what_is_not_there_is_not_found(made_up: dict[str, Source], tmp_path: Path) -> None:
    (tmp_path / "models" / "tiny" / "config.json").unlink()
    assert [state for _, state, _ in states(made_up["tiny"], tmp_path)] == ["ok", "not found"]
    assert [v.state for v in check(made_up["tiny"], None)] == ["not found"]


def test_rows_alone_are_checked_where_no_checksum_is_known(
    made_up: dict[str, Source], tmp_path: Path
) -> None:
    source = made_up["reviews"]
    loose = replace(source, parts=tuple(replace(part, sha256="") for part in source.parts))
    assert states(loose, tmp_path) == [("train.parquet", "ok", "3 rows")]


def test_count(tmp_path: Path) -> None:
    write(tmp_path)
    assert count(tmp_path / "datasets/animals/train") == 3
    assert count(tmp_path / "datasets/people/train.parquet") == 2


@pytest.mark.skipif(
    not (MIRROR / "datasets").is_dir(), reason=f"no data sets in {MIRROR}; set HUMETRIC_MIRROR"
)
@pytest.mark.parametrize("name", SOURCES)
def test_the_mirror_is_as_declared(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUMETRIC_MIRROR", str(MIRROR))
    found = look(SOURCES[name])
    if found is None:
        pytest.skip(f"{name} is not on this machine")
    assert {verdict.state for verdict in check(SOURCES[name], found)} == {"ok"}
