"""A made-up mirror with made-up declarations: a data set of each kind and weights."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from hub_standin import COMMIT
from PIL import Image
from pyarrow import parquet
from safetensors.torch import save

from humetric.data.sources import Hub, Part, Source, digest
from humetric.data.sources.source import Kind

REVIEWS = {"text": ["good", "bad", "so so"], "label": [1, 0, 0]}
PAIRS = {
    "uid": ["a", "b"],
    "premise": ["It rains.", "It snows."],
    "hypothesis": ["It is wet.", "It is hot."],
    "label": [0, 2],
    "explanation_1": ["Rain is wet.", "Snow is cold."],
    "explanation_2": ["", "Hot is not cold."],
}
QUESTIONS = {
    "id": ["q1", "q1-added"],
    "title": ["Rain", "Rain"],
    "context": ["It rains in May.", "It rains in May. It snows in June."],
    "question": ["When does it rain?", "When does it hail?"],
    "answers": [
        {"text": ["in May", "May"], "answer_start": [9, 12]},
        {"text": [], "answer_start": []},
    ],
    "adversarial": [False, True],
}
PEOPLE = {"age": [30, 41], "job": ["cook", None], "income": [0, 1]}


def table(columns: Mapping[str, list[Any]]) -> bytes:
    """A parquet file."""
    stream = io.BytesIO()
    parquet.write_table(pa.table(dict(columns)), stream)
    return stream.getvalue()


def picture(shade: int) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(np.full((4, 4, 3), shade, np.uint8)).save(stream, "PNG")
    return stream.getvalue()


def weights() -> bytes:
    return save({"w": torch.arange(6.0).reshape(2, 3)})


FILES: dict[str, dict[str, bytes]] = {
    "datasets/reviews": {"train.parquet": table(REVIEWS)},
    "datasets/pairs": {"test.parquet": table(PAIRS)},
    "datasets/questions": {"test.parquet": table(QUESTIONS)},
    "datasets/people": {"train.parquet": table(PEOPLE)},
    "datasets/animals": {
        "train/cat/b.png": picture(1),
        "train/cat/a.png": picture(2),
        "train/dog/a.png": picture(3),
    },
    "datasets/named": {"test/0007_owl.png": picture(4), "classes.txt": b"ant\nbee\n"},
    "models/tiny": {"model.safetensors": weights(), "config.json": b"{}"},
}
"""By folder of a mirror."""

PARTS: dict[str, tuple[Kind, dict[str, int]]] = {
    "reviews": ("classification", {"train.parquet": 3}),
    "pairs": ("nli", {"test.parquet": 2}),
    "questions": ("qa", {"test.parquet": 2}),
    "people": ("table", {"train.parquet": 2}),
    "animals": ("images", {"train": 3}),
    "named": ("images", {"test": 1, "classes.txt": 0}),
    "tiny": ("weights", {"model.safetensors": 0, "config.json": 0}),
}


def write(root: Path) -> Path:
    """The made-up mirror below a folder."""
    for folder, files in FILES.items():
        for name, content in files.items():
            place = root / folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
    return root


def declare(root: Path) -> dict[str, Source]:
    """What :func:`write` wrote, declared as it is."""
    made = {}
    for name, (kind, rows) in PARTS.items():
        bare = Source(name, kind, f"Made-up {name}", "Apache-2.0", "nobody 2000", ())
        parts = []
        for part, count in rows.items():
            place = root / bare.folder / part
            files = [place] if place.is_file() else [p for p in place.rglob("*") if p.is_file()]
            size = sum(file.stat().st_size for file in files)
            parts.append(Part(part, size, digest(place), count))
        made[name] = replace(bare, parts=tuple(parts))
    return made


def on_the_hub(sources: Mapping[str, Source]) -> dict[str, Source]:
    """Reviews and weights with a place on the stand-in for the hub."""
    reviews = Hub("org/reviews", COMMIT, {"train": "plain/train-*.parquet"}, {"train": 3})
    return {
        "reviews": replace(sources["reviews"], hub=reviews),
        "tiny": replace(sources["tiny"], hub=Hub("org/tiny", COMMIT)),
    }


REPOSITORIES: dict[str, dict[str, bytes]] = {
    "datasets/org/reviews": {
        "README.md": b"# Reviews\n",
        "plain/train-00000-of-00001.parquet": table(REVIEWS),
        "plain/test-00000-of-00001.parquet": table(REVIEWS),
    },
    "models/org/tiny": FILES["models/tiny"] | {"pytorch_model.bin": b"a pickle", "run.py": b"1/0"},
}
"""For the stand-in."""
