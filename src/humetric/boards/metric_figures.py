"""The pictures of the metric board as the contents of files, the same bytes every time."""

from __future__ import annotations

from humetric.agreement.evidence import LEVELS, Level
from humetric.agreement.report import Agreement
from humetric.boards import metric_concordance, metric_heatmap, metric_order, metric_scatter
from humetric.boards.sheet import image


def levels(found: Agreement) -> tuple[Level, ...]:
    """Levels of evidence that there is something to draw of, the nearest first."""
    shown = {cell.level for cell in metric_order.primary_cells(found)}
    return tuple(level for level in LEVELS if level in shown)


def scatter(found: Agreement, level: Level, suffix: str = ".png") -> bytes:
    """Metric values against the human measure: rows are metrics, columns cells of one level."""
    return image(metric_scatter.draw(found, level), metric_scatter.title(level), suffix)


def concordance(found: Agreement, suffix: str = ".png") -> bytes:
    """D of cells, means of studies and T of every metric on one scale, with p and verdict."""
    return image(metric_concordance.draw(found), metric_concordance.TITLE, suffix)


def heatmap(found: Agreement, suffix: str = ".png") -> bytes:
    """D of every metric (rows) in every cell (columns, by level of evidence and study)."""
    return image(metric_heatmap.draw(found), metric_heatmap.TITLE, suffix)
