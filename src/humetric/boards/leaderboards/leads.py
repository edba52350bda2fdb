"""Which methods lead where: nobody is significantly better, and few are not told from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from humetric.agreement.families import family_of
from humetric.boards.metric_board import markdown_table
from humetric.boards.task_board import TaskBoard
from humetric.results.result import Result

FEW = 3
"""Methods that may share the lead; more are undecided."""


class Lead(NamedTuple):
    """The head of a column of a task's board."""

    task: str
    metric: str
    methods: tuple[str, ...]
    """Those that nobody is significantly better than, the best mean first."""
    ranked: int
    controls: tuple[str, ...]
    """Controls among them: what knows nothing of the model is not told from the best."""

    @property
    def decided(self) -> bool:
        """Whether few methods lead, and no control with them."""
        return bool(self.methods) and len(self.methods) <= FEW and not self.controls


def leads(boards: Sequence[TaskBoard], result: Result) -> list[Lead]:
    """Of every task and every metric that claims something; baselines only describe a map."""
    found = []
    for board in boards:
        for i, column in enumerate(board.columns):
            if family_of(column.metric, result.metrics) == "baseline":
                continue
            ranked = [(row, row.cells[i]) for row in board.rows if row.cells[i].rank is not None]
            best = [(row, cell) for row, cell in ranked if cell.rank and cell.rank.best == 1]
            sign = 1 if column.direction == "lower" else -1
            best.sort(key=lambda pair: (sign * round(pair[1].mean, 9), pair[0].method))
            names = tuple(row.method for row, _ in best)
            controls = tuple(row.method for row, _ in best if row.control)
            found.append(Lead(board.task, column.metric, names, len(ranked), controls))
    return found


def table(found: Sequence[Lead]) -> list[str]:
    """Metrics in lines, tasks in columns; metrics by which nothing leads anywhere are left out."""
    tasks = sorted({lead.task for lead in found})
    lines = []
    for metric in dict.fromkeys(lead.metric for lead in found):
        row = {lead.task: lead for lead in found if lead.metric == metric}
        if any(lead.decided for lead in row.values()):
            lines.append([metric, *(_cell(row[t]) if t in row else "" for t in tasks)])
    return markdown_table(["metric", *tasks], lines) if lines else []


def _cell(lead: Lead) -> str:
    if not lead.methods:
        return "nothing ranked"
    if lead.decided:
        return "**" + ", ".join(lead.methods) + "**"
    return f"{len(lead.methods)} of {lead.ranked}" + " ∅" * bool(lead.controls)


def undecided(found: Sequence[Lead]) -> list[str]:
    """Metrics by which no method leads in any task."""
    names = dict.fromkeys(lead.metric for lead in found)
    return [n for n in names if not any(x.decided for x in found if x.metric == n)]
