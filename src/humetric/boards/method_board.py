"""The method board of a setting: mean of each metric for each method."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean

import pandas as pd
from rich import box
from rich.table import Table

from humetric.results.result import Result

ARROWS = {"higher": "↑", "lower": "↓"}


@dataclass(frozen=True)
class MethodBoard:
    """Rows are methods, columns metrics; cells a mean and how many cases are undefined."""

    setting: str
    cases: int
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]

    def markdown(self) -> str:
        """The board as a Markdown table."""
        lines = [
            f"### {self.setting} ({self.cases} cases)",
            "",
            f"| method | {' | '.join(self.columns)} |",
            f"|---|{'---:|' * len(self.columns)}",
            *(f"| {name} | {' | '.join(cells)} |" for name, cells in self.rows),
        ]
        return "\n".join(lines) + "\n"

    def table(self) -> Table:
        """The board for a terminal."""
        title = f"{self.setting} ({self.cases} cases)"
        table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
        table.add_column("method", no_wrap=True)
        for column in self.columns:
            table.add_column(column, justify="right")
        for name, cells in self.rows:
            table.add_row(name, *cells)
        return table


def method_boards(result: Result) -> list[MethodBoard]:
    """One board per setting. Methods in order of their first metric, controls below, no ranking."""
    found = result.scores.groupby("setting", sort=False)
    return [_board(str(setting), scores, result) for setting, scores in found]


def _board(setting: str, scores: pd.DataFrame, result: Result) -> MethodBoard:
    metrics = [m for m in result.metrics if m in set(scores["metric"])]
    failed = {f.method for f in result.failures if f.setting == setting}
    methods = [m for m in result.methods if m in failed | set(scores["method"])]
    cases = int(scores["case"].nunique())
    values = {
        (str(method), str(metric)): list(group)
        for (method, metric), group in scores.groupby(["method", "metric"])["value"]
    }

    def place(name: str) -> tuple[bool, float]:
        mean = fmean(values.get((name, metrics[0]), [math.nan]))
        better = mean if result.metrics[metrics[0]].direction == "lower" else -mean
        return result.methods[name].control, math.inf if math.isnan(better) else better

    rows = tuple(
        (
            f"{name} (control)" if result.methods[name].control else name,
            tuple(_cell(values.get((name, metric), []), cases) for metric in metrics),
        )
        for name in sorted(methods, key=place)
    )
    columns = tuple(f"{m} {ARROWS[result.metrics[m].direction]}" for m in metrics)
    return MethodBoard(setting, cases, columns, rows)


def legend(result: Result) -> str:
    """The settings line below the boards."""
    about = result.provenance
    return (
        "Mean over cases; ↑ higher is better, ↓ lower is better; (n?) = undefined for n cases. "
        f"Seed {about['seed']}, {about['precision']} on {about['device']}. "
        "Controls know nothing of the model. "
        "Complexity and sparseness describe a map, not its quality."
    )


def _cell(values: list[float], cases: int) -> str:
    """A mean over all cases; one over some of them, because the rest failed, is not shown."""
    if len(values) < cases:
        return "failed"
    defined = [v for v in values if not math.isnan(v)]
    number = f"{fmean(defined):.3f}" if defined else "—"
    undefined = len(values) - len(defined)
    return f"{number} ({undefined}?)" if undefined else number
