"""No figure moves unnoticed: each was compared with its paper when it was pinned."""

from __future__ import annotations

import hashlib

from humetric.human.read import load_studies
from humetric.human.study import Study

# From: python tests/human/test_pinned.py. A changed figure needs another version of its study.
PINNED = {
    "arora2022": (1, "c07b3bb42ac7"),
    "colin2022": (1, "f03ce9c83b57"),
    "gonzalez2021": (1, "e249d3f6ce0f"),
    "hase2020": (1, "e44e95798374"),
    "nguyen2021": (1, "9e85ebf526ec"),
    "prasad2021": (1, "9502a870251f"),
}


def numbers(study: Study) -> str:
    """A digest of all published numbers, with what they are of; words do not count."""
    rows = [
        *((f.cell, f.condition, f.measure, f.value, f.low, f.high, f.n) for f in study.figures),
        *((s.cell, s.condition, s.metric, s.value) for s in study.scores),
        *((s.cell, s.condition, s.term, s.value, s.low, s.high, s.p) for s in study.statistics),
    ]
    return hashlib.sha256("\n".join(map(repr, rows)).encode()).hexdigest()[:12]


def found() -> dict[str, tuple[int, str]]:
    return {id: (study.version, numbers(study)) for id, study in load_studies().items()}


def test_figures_are_those_that_were_checked() -> None:
    assert found() == PINNED


if __name__ == "__main__":
    for id, pin in found().items():
        print(f'    "{id}": {pin},'.replace("'", '"'))
