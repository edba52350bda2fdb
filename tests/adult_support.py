"""A made-up mirror with people of Adult's columns, whose classes follow a rule with noise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sources_support import table

ROOT = Path(__file__).resolve().parents[1]
MIRROR = Path(os.environ.get("HUMETRIC_MIRROR", ROOT.parent / "shared" / "mirror"))

needs_adult = pytest.mark.skipif(
    not (MIRROR / "datasets" / "adult").is_dir(), reason=f"no Adult in {MIRROR}; see its README"
)

JOBS = ("baker", "clerk", "judge", None)
ODD = "lighthouse"
"""A job that only one person in the training rows has."""


def people(count: int, seed: int) -> dict[str, list[Any]]:
    """Columns of a split."""
    rng = np.random.default_rng(seed)
    age, hours = rng.integers(18, 80, count), rng.integers(10, 60, count)
    job, gain = rng.integers(0, 4, count), rng.integers(1, 100, count) * (rng.random(count) < 0.2)
    points = age - 45 + 12.0 * job + gain / 2 + rng.normal(0, 22, count) - 25
    return {
        "age": age.tolist(),
        "fnlwgt": rng.integers(0, 10**6, count).tolist(),
        "job": [JOBS[j] for j in job],
        "education_num": rng.integers(0, 16, count).tolist(),
        "capital_gain": gain.tolist(),
        "hours": hours.tolist(),
        "income": (points > 0).astype(int).tolist(),
    }


def write(root: Path) -> dict[str, dict[str, list[Any]]]:
    """The mirror below a folder; some training people are test people again."""
    made = {"train": people(900, 1), "test": people(400, 2)}
    made["train"]["job"][5] = ODD
    for name, values in made["train"].items():
        values[100:200] = made["test"][name][:100]
    folder = root / "datasets" / "adult"
    folder.mkdir(parents=True)
    for split, columns in made.items():
        (folder / f"{split}.parquet").write_bytes(table(columns))
    return made
