"""Rows of every kind as plain records, of a made-up mirror and of the real one."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from sources_support import PEOPLE, declare, table, write

from humetric.data.sources import SOURCES, Source, rows
from humetric.errors import HumetricError, UnknownNameError

ROOT = Path(__file__).resolve().parents[3]
MIRROR = Path(os.environ.get("HUMETRIC_MIRROR", ROOT.parent / "shared" / "mirror"))

needs_mirror = pytest.mark.skipif(
    not (MIRROR / "datasets").is_dir(), reason=f"no data sets in {MIRROR}; set HUMETRIC_MIRROR"
)


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Source]:
    monkeypatch.setenv("HUMETRIC_MIRROR", str(write(tmp_path)))
    return declare(tmp_path)


def test_classification(made_up: dict[str, Source]) -> None:
    assert rows("reviews", "train", sources=made_up) == [
        {"id": "train-000000", "text": "good", "label": 1},
        {"id": "train-000001", "text": "bad", "label": 0},
        {"id": "train-000002", "text": "so so", "label": 0},
    ]


def test_nli_with_the_reasons_that_are_there(made_up: dict[str, Source]) -> None:
    first, second = rows("pairs", "test", sources=made_up)
    assert first == {
        "id": "a",
        "premise": "It rains.",
        "hypothesis": "It is wet.",
        "label": 0,
        "reasons": ["Rain is wet."],
    }
    assert second["reasons"] == ["Snow is cold.", "Hot is not cold."]


def test_nli_as_the_hub_has_it(made_up: dict[str, Source], tmp_path: Path) -> None:
    """No ids, and -1 where annotators did not agree; numbers stay those of the file."""
    columns = {"premise": ["p", "q", "r"], "hypothesis": ["h", "i", "j"], "label": [-1, 2, 1]}
    file = tmp_path / "test.parquet"
    file.write_bytes(table(columns))
    found = rows("pairs", "test", file, sources=made_up)
    assert [(r["id"], r["label"], r["reasons"]) for r in found] == [
        ("test-000001", 2, []),
        ("test-000002", 1, []),
    ]


def test_questions(made_up: dict[str, Source]) -> None:
    first, second = rows("questions", "test", sources=made_up)
    assert first["answers"] == ["in May", "May"]
    assert all(
        first["context"][s:].startswith(a)
        for s, a in zip(first["starts"], first["answers"], strict=True)
    )
    assert (first["adversarial"], second["adversarial"]) == (False, True)
    assert (second["id"], second["answers"], second["starts"]) == ("q1-added", [], [])


def test_tables_keep_what_is_missing(made_up: dict[str, Source]) -> None:
    first, second = rows("people", "train", sources=made_up)
    assert first == {"id": "train-000000", "values": {"age": 30, "job": "cook"}, "label": 0}
    assert (second["values"]["job"], second["label"]) == (None, 1)


def test_images_in_folders_of_classes_and_by_index(made_up: dict[str, Source]) -> None:
    found = rows("animals", "train", sources=made_up)
    assert [(r["id"], r["label"], r["class"]) for r in found] == [
        ("train/cat/a", 0, "cat"),
        ("train/cat/b", 0, "cat"),
        ("train/dog/a", 1, "dog"),
    ]
    (owl,) = rows("named", "test", sources=made_up)
    assert (owl["id"], owl["label"], owl["class"]) == ("test/0007_owl", 7, "owl")
    assert owl["path"].name == "0007_owl.png"


def test_what_cannot_be_read_is_named(made_up: dict[str, Source], tmp_path: Path) -> None:
    with pytest.raises(HumetricError, match="tiny are weights, which have no rows"):
        rows("tiny", "train", sources=made_up)
    with pytest.raises(UnknownNameError, match="part of reviews 'test'"):
        rows("reviews", "test", sources=made_up)
    file = tmp_path / "train.parquet"
    file.write_bytes(table(PEOPLE))
    with pytest.raises(HumetricError, match="Expected a column 'text'"):
        rows("reviews", "train", file, sources=made_up)
    file.write_text("no parquet")
    with pytest.raises(HumetricError, match="Expected a parquet file but cannot read"):
        rows("reviews", "train", file, sources=made_up)
    loose = tmp_path / "datasets" / "named" / "test" / "owl.png"
    loose.write_bytes(b"")
    with pytest.raises(HumetricError, match=r"INDEX_CLASS but got owl.png"):
        rows("named", "test", sources=made_up)


@needs_mirror
@pytest.mark.parametrize("name", [n for n, s in SOURCES.items() if s.kind != "weights"])
def test_the_mirror_has_the_rows_declared(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as declared, each with an id of its own over all splits and no label missing."""
    monkeypatch.setenv("HUMETRIC_MIRROR", str(MIRROR))
    source, ids = SOURCES[name], []
    for part in source.parts:
        if part.rows:
            found = rows(name, part.split)
            assert len(found) == part.rows
            assert len({frozenset(row) for row in found}) == 1
            if source.kind != "qa":
                labels = {row["label"] for row in found}
                assert labels == set(range(min(labels), max(labels) + 1))
            ids += [row["id"] for row in found]
    assert len(set(ids)) == len(ids) == sum(part.rows for part in source.parts)


@needs_mirror
@pytest.mark.parametrize(("name", "split"), [("squad_v2", "train"), ("squad_adversarial", "test")])
def test_answers_stand_where_they_are_said_to(
    name: str, split: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUMETRIC_MIRROR", str(MIRROR))
    found = rows(name, split)
    for row in found:
        for answer, start in zip(row["answers"], row["starts"], strict=True):
            assert row["context"][start : start + len(answer)] == answer, row["id"]
    answerable = sum(bool(row["answers"]) for row in found)
    adversarial = sum(row["adversarial"] for row in found)
    assert (answerable, adversarial) == {"train": (2_910, 0), "test": (2_535, 1_832)}[split]


@needs_mirror
def test_image_names_are_the_classes_of_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUMETRIC_MIRROR", str(MIRROR))
    classes = (MIRROR / "datasets/imagenet_sample/classes.txt").read_text().splitlines()
    found = rows("imagenet_sample", "test")
    assert [row["label"] for row in found] == list(range(151, 294))
    assert all(classes[row["label"]] == row["class"] for row in found)


def test_a_file_for_a_source_of_several_parts_must_have_a_parts_name(
    made_up: dict[str, Source], tmp_path: Path
) -> None:
    reviews = made_up["reviews"]
    two = replace(reviews, parts=(*reviews.parts, replace(reviews.parts[0], name="test.parquet")))
    file = tmp_path / "datasets" / "reviews" / "train.parquet"
    assert len(rows("reviews", "train", file, sources={"reviews": two})) == 3
    with pytest.raises(HumetricError, match="not there"):
        rows("reviews", "test", file, sources={"reviews": two})
