"""The method board of a setting: mean of each metric for each method."""

from __future__ import annotations

from dataclasses import dataclass

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
    boards = []
    for setting, scores in result.scores.groupby("setting", sort=False):
        grouped = scores.groupby(["method", "metric"])["value"]
        means, undefined = grouped.mean(), grouped.agg(lambda v: int(v.isna().sum()))
        metrics = [m for m in result.metrics if m in set(scores["metric"])]
        first = metrics[0]
        sign = 1 if result.metrics[first].direction == "lower" else -1

        def place(name: str, means=means, first=first, sign=sign) -> tuple[bool, float]:  # type: ignore[no-untyped-def]
            return result.methods[name].control, sign * float(means.get((name, first), 0.0))

        rows = []
        for name in sorted(scores["method"].unique(), key=place):
            cells = tuple(
                _cell(means.get((name, m)), int(undefined.get((name, m), 0))) for m in metrics
            )
            label = f"{name} (control)" if result.methods[name].control else str(name)
            rows.append((label, cells))
        columns = tuple(f"{m} {ARROWS[result.metrics[m].direction]}" for m in metrics)
        boards.append(
            MethodBoard(str(setting), int(scores["case"].nunique()), columns, tuple(rows))
        )
    return boards


def legend(result: Result) -> str:
    """The settings line below the boards."""
    about = result.provenance
    return (
        "Mean over cases; ↑ higher is better, ↓ lower is better; (n?) = undefined for n cases. "
        f"Seed {about['seed']}, {about['precision']} on {about['device']}. "
        "Controls know nothing of the model. "
        "Complexity and sparseness describe a map, not its quality."
    )


def _cell(mean: float | None, undefined: int) -> str:
    if mean is None:
        return "failed"
    number = "—" if mean != mean else f"{mean:.3f}"
    return f"{number} ({undefined}?)" if undefined else number
