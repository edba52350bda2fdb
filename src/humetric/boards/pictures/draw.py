"""The pictures of the metric and of the model board as files, the same bytes every time."""

from __future__ import annotations

from collections.abc import Sequence

from humetric.agreement.evidence import LEVELS, Level
from humetric.agreement.report import Agreement
from humetric.alignment.rows import Section, published_rows
from humetric.boards.pictures import alignment as models_of
from humetric.boards.pictures import concordance as lanes_of
from humetric.boards.pictures import heatmap as grid
from humetric.boards.pictures import order
from humetric.boards.pictures import scatter as panels
from humetric.boards.pictures.sheet import image
from humetric.human.study import Study


def levels(found: Agreement) -> tuple[Level, ...]:
    """Levels of evidence that there is something to draw of, the nearest first."""
    shown = {cell.level for cell in order.primary_cells(found)}
    return tuple(level for level in LEVELS if level in shown)


def scatter(found: Agreement, level: Level, suffix: str = ".png") -> bytes:
    """Metric values against the human measure: rows are metrics, columns cells of one level."""
    return image(panels.draw(found, level), panels.title(level), suffix)


def concordance(found: Agreement, suffix: str = ".png") -> bytes:
    """D of cells, means of studies and T of every metric on one scale, with p and verdict."""
    return image(lanes_of.draw(found), lanes_of.TITLE, suffix)


def heatmap(found: Agreement, suffix: str = ".png") -> bytes:
    """D of every metric (rows) in every cell (columns, by level of evidence and study)."""
    return image(grid.draw(found), grid.TITLE, suffix)


def pictures(found: Agreement) -> dict[str, bytes]:
    """File name -> content of every picture."""
    drawn = {f"metrics-scatter-{level}.png": scatter(found, level) for level in levels(found)}
    return drawn | {
        "metrics-concordance.png": concordance(found),
        "metrics-heatmap.png": heatmap(found),
    }


def model_pictures(sections: Sequence[Section], study: Study) -> dict[str, bytes]:
    """File name -> accuracy against alignment, for each data set with two models or more."""
    drawn = {}
    for report, rows in sections:
        printed = published_rows(study) if report.about["task"] == "nli" else []
        if models_of.cases_of(rows):
            figure = models_of.draw(report, rows, printed)
            drawn[f"models-{report.name}.png"] = image(figure, models_of.title(report))
    return drawn
