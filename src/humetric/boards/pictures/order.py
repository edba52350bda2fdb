"""In which order the pictures of the metric board show metrics and cells, and what they call them.

A column is a cell of a study's primary comparison, as one setting (or the paper) has it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from humetric.agreement.cell import CellAgreement
from humetric.agreement.evidence import LEVELS, Kind, Level
from humetric.agreement.report import CAPTION, Agreement, caption
from humetric.boards.pictures.sheet import COLOURS, SHAPES, Mark

KINDS: tuple[Kind, ...] = ("metric", "baseline", "sentinel")

LEVEL_WORDS: dict[Level, str] = {
    "published": "published scores",
    "replica": "replica",
    "stand-in": "stand-in: no verdict",
    "toy": "toy: not evidence",
}


class Column(NamedTuple):
    """One cell at one level of evidence, as one setting has it."""

    level: Level
    study: str
    cell: str
    made_on: str


def primary_cells(found: Agreement) -> list[CellAgreement]:
    """Agreement with the primary measures, the only one that is drawn."""
    return [cell for cell in found.cells if cell.primary]


def columns(found: Agreement) -> dict[Column, dict[str, CellAgreement]]:
    """What each metric has in each column: by level, then in the order of studies and cells."""
    studies = list(found.studies)

    def place(column: Column) -> tuple[int, int, int, str]:
        cells = [cell.id for cell in found.studies[column.study].cells]
        return (
            LEVELS.index(column.level),
            studies.index(column.study),
            cells.index(column.cell),
            column.made_on,
        )

    table: dict[Column, dict[str, CellAgreement]] = {}
    for cell in primary_cells(found):
        key = Column(cell.level, cell.study, cell.cell, cell.made_on)
        table.setdefault(key, {})[cell.metric] = cell
    return {column: table[column] for column in sorted(table, key=place)}


def metrics(cells: Iterable[CellAgreement]) -> dict[str, Kind]:
    """Metrics, then baselines, each by name."""
    kinds = {cell.metric: cell.kind for cell in cells}
    return dict(sorted(kinds.items(), key=lambda item: (KINDS.index(item[1]), item[0])))


def method_marks(found: Agreement) -> dict[str, Mark]:
    """A mark for each method of all studies, the same in every picture.

    No two are alike, and no two methods of a study share a colour as long as there are enough.
    Studies with many methods choose first.
    """
    together = [set(study.primary.methods) for study in found.studies.values() if study.primary]
    together.sort(key=lambda some: (-len(some), sorted(some)))
    named = [method for some in together for method in sorted(some)]
    named += sorted({method for cell in found.cells for method in cell.methods})
    chosen: dict[str, Mark] = {}
    for i, name in enumerate(dict.fromkeys(named)):
        beside = {m for some in together if name in some for m in some if m in chosen}
        taken = {chosen[m].colour for m in beside}
        turn = [COLOURS[(i + k) % len(COLOURS)] for k in range(len(COLOURS))]
        turn.sort(key=lambda colour: colour in taken)
        wanted = [Mark(SHAPES[i % len(SHAPES)], colour) for colour in turn]
        free = [mark for mark in wanted if mark not in chosen.values()]
        chosen[name] = (free or wanted)[0]
    return chosen


def captions(found: Agreement, cells: Iterable[CellAgreement]) -> str:
    """What comparisons on other models or data do and do not test; empty for published scores."""
    end = CAPTION[CAPTION.index(" This tests") :]
    said = dict.fromkeys(
        caption(cell, found.studies).removesuffix(end)
        for cell in cells
        if cell.level != "published"
    )
    return " ".join(said) + end if said else ""
