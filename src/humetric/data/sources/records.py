"""Rows of a data set as plain records, of one form per kind.

=============== ==================================================================================
kind            keys beside ``id``
=============== ==================================================================================
classification  text, label; other columns as they are (polarity of hotel reviews)
nli             premise, hypothesis, label (0 entailment, 1 neutral, 2 contradiction), reasons
qa              title, context, question, answers, starts, adversarial; no answers: unanswerable
table           values (column to value, None where missing), label
images          path, label, class
=============== ==================================================================================

Ids are the data's own, else ``SPLIT-NUMBER`` by the order of the file; images have their path from
the split on (``test/husky/003``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from humetric.data.sources.found import Found
from humetric.data.sources.lookup import SOURCES, find
from humetric.data.sources.source import Source
from humetric.errors import HumetricError

Row = dict[str, Any]

PICTURES = {".jpg", ".jpeg", ".png"}


def rows(
    name: str,
    split: str,
    path: Path | str | None = None,
    *,
    sources: Mapping[str, Source] = SOURCES,
) -> list[Row]:
    """All rows of a split in the order of the file; see the module for their keys."""
    found = find(name, path, sources=sources)
    if found.source.kind == "images":
        return _images(found, split)
    if found.source.kind == "weights":
        raise HumetricError(f"Expected a data set but {name} are weights, which have no rows.")
    read = READERS[found.source.kind]
    try:
        return list(read(_columns(found.file(split)), split))
    except KeyError as error:
        raise HumetricError(
            f"Expected a column {error} in {found.file(split)} but there is none: get {name} anew."
        ) from None


def _columns(file: Path) -> list[Row]:
    """The rows of a parquet file by column."""
    from pyarrow import ArrowException, parquet

    try:
        plain: list[Row] = parquet.read_table(file).to_pylist()
    except (OSError, ArrowException) as error:
        raise HumetricError(f"Expected a parquet file but cannot read {file}: {error}.") from None
    return plain


def _number(split: str, i: int) -> str:
    return f"{split}-{i:06d}"


def _classification(plain: list[Row], split: str) -> Iterable[Row]:
    for i, row in enumerate(plain):
        yield {"id": _number(split, i)} | row | {"text": row["text"], "label": int(row["label"])}


def _nli(plain: list[Row], split: str) -> Iterable[Row]:
    """Pairs without a gold label (-1 on the hub) are left out; numbers count them all the same."""
    for i, row in enumerate(plain):
        if row["label"] in (0, 1, 2):
            reasons = [row[key] for key in row if key.startswith(("reason", "explanation_"))]
            yield {
                "id": str(row.get("uid") or _number(split, i)),
                "premise": row["premise"],
                "hypothesis": row["hypothesis"],
                "label": int(row["label"]),
                "reasons": [reason for reason in reasons if reason],
            }


def _qa(plain: list[Row], split: str) -> Iterable[Row]:
    for row in plain:
        yield {
            "id": row["id"],
            "title": row["title"],
            "context": row["context"],
            "question": row["question"],
            "answers": list(row["answers"]["text"]),
            "starts": list(row["answers"]["answer_start"]),
            "adversarial": bool(row.get("adversarial", False)),
        }


def _table(plain: list[Row], split: str) -> Iterable[Row]:
    for i, row in enumerate(plain):
        values = {key: value for key, value in row.items() if key != "income"}
        yield {"id": _number(split, i), "values": values, "label": int(row["income"])}


READERS: Mapping[str, Callable[[list[Row], str], Iterable[Row]]] = {
    "classification": _classification,
    "nli": _nli,
    "qa": _qa,
    "table": _table,
}


def _images(found: Found, split: str) -> list[Row]:
    """Pictures in folders named for their class, or in one folder as INDEX_NAME."""
    folder = found.file(split)
    pictures = [path for path in found.files(split) if path.suffix.lower() in PICTURES]
    classes = sorted({path.parent.name for path in pictures if path.parent != folder})
    made: list[Row] = []
    for path in pictures:
        if path.parent == folder:
            index, _, name = path.stem.partition("_")
            if not index.isdigit():
                raise HumetricError(
                    f"Expected pictures of {found.source.name} in folders of classes or named "
                    f"INDEX_CLASS but got {path.name}: rename it."
                )
            label = int(index)
        else:
            name, label = path.parent.name, classes.index(path.parent.name)
        made.append(
            {
                "id": path.relative_to(folder.parent).with_suffix("").as_posix(),
                "path": path,
                "label": label,
                "class": name,
            }
        )
    return made
