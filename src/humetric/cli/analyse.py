"""``humetric human analyse``: from a file of raw responses to estimates and a study folder."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from humetric.cli.app import err, out, print_json
from humetric.cli.human import human
from humetric.errors import HumetricError

if TYPE_CHECKING:
    from humetric.human.analysis import Analysis


@human.command()
def analyse(
    file: Annotated[Path, typer.Argument(help="Responses: .csv, .csv.gz or .parquet.")],
    protocol: Annotated[str, typer.Option(help="How to analyse them, e.g. colin2022.")],
    exclusions: Annotated[
        Path | None, typer.Option(help="TOML file of exclusion rules, in place of the protocol's.")
    ] = None,
    study: Annotated[
        str | None, typer.Option(help="Id of the study to write; default: the file's name.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--out", help="Write a study folder into this folder; default: write none."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the files of a study folder that is there.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.", min=0)] = 0,
    resamples: Annotated[int, typer.Option(help="Of the bootstrap.", min=99)] = 9_999,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Analyse raw responses by a study's protocol; docs/responses.md has the columns."""
    from datetime import UTC, datetime

    from humetric.human.analyse import analyse_file
    from humetric.human.read import bundled_folder
    from humetric.human.write import write_study

    name = study or file.name.split(".")[0].lower().replace("_", "-").replace(" ", "-")
    if folder is not None and (bundled_folder() / name / "study.toml").exists():
        raise HumetricError(
            f"Expected an id of its own for the study but {name!r} is a bundled one, so that the "
            "two could not be read together: choose another with --study."
        )
    found = analyse_file(file, protocol, exclusions, seed, resamples)
    written: Path | None = None
    nothing = not any(math.isfinite(e.value) for e in found.findings.estimates)
    if folder is not None and not nothing:
        written = write_study(found, folder, name, datetime.now(UTC).year, force)
    if as_json:
        print_json(_plain(found, written))
    else:
        _show(found)
        if written is not None:
            out.print(f"\nStudy folder: {written}", markup=False, soft_wrap=True)
    if nothing:
        err.print("Nothing could be estimated, so no study folder is written.")
        raise typer.Exit(1)


def _plain(found: Analysis, written: Path | None) -> dict[str, Any]:
    """The analysis for JSON: what is undefined is null."""

    def known(row: dict[str, Any]) -> dict[str, Any]:
        return {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in row.items()
        }

    screened = found.screened
    return {
        "protocol": found.protocol,
        "settings": found.settings,
        "rows": screened.total,
        "analysed": len(screened.kept),
        "participants": screened.participants,
        "exclusions": [row._asdict() for row in screened.exclusions],
        "set_aside": [row._asdict() for row in screened.aside],
        "estimates": [known(row._asdict()) for row in found.findings.estimates],
        "statistics": [known(row._asdict()) for row in found.findings.statistics],
        "notes": [*screened.notes, *found.findings.notes],
        "unused_columns": list(found.unused),
        "folder": None if written is None else str(written),
    }


def _show(found: Analysis) -> None:
    """Estimates by cell, statistics, exclusions, notes, and the settings line."""
    _estimates(found)
    _statistics(found)
    _exclusions(found)
    for note in (*found.screened.notes, *found.findings.notes):
        out.print(f"Note: {note}", markup=False)
    if found.unused:
        out.print(f"Columns that nothing read: {', '.join(found.unused)}.", markup=False)
    out.print(f"\n{found.settings}", markup=False)


def _estimates(found: Analysis) -> None:
    for measure in dict.fromkeys(e.measure for e in found.findings.estimates):
        rows = [e for e in found.findings.estimates if e.measure == measure]
        table = _table(f"{measure} ({rows[0].unit})", "cell", "condition")
        for name in ("value", "95% interval", "n", "people"):
            table.add_column(name, justify="right")
        for row in rows:
            table.add_row(
                row.cell,
                row.condition,
                _number(row.value),
                _interval(row.low, row.high) if math.isfinite(row.low) else row.note or "—",
                str(row.n),
                str(row.participants or "—"),
            )
        out.print(table)


def _statistics(found: Analysis) -> None:
    kinds = dict.fromkeys((s.measure, s.statistic) for s in found.findings.statistics)
    for measure, statistic in kinds:
        table = _table(f"{measure}: {statistic}", "cell", "condition", "of")
        for name in ("value", "95% interval", "p"):
            table.add_column(name, justify="right", no_wrap=True)
        for row in found.findings.statistics:
            if (row.measure, row.statistic) == (measure, statistic):
                table.add_row(
                    row.cell,
                    row.condition,
                    row.term,
                    _number(row.value),
                    _interval(row.low, row.high) if math.isfinite(row.low) else "—",
                    "—" if math.isnan(row.p) else f"{row.p:.3f}" if row.p >= 0.001 else "<.001",
                )
        out.print(table)


def _exclusions(found: Analysis) -> None:
    screened = found.screened
    table = _table("Rows of the file", "what became of them")
    table.add_column("participants", justify="right")
    table.add_column("rows", justify="right")
    for row in screened.exclusions:
        label = f"excluded, {row.reason} ({row.rule})"
        table.add_row(label, str(row.participants) if row.participants else "", str(row.trials))
    for row in screened.aside:
        table.add_row(f"set aside, {row.reason}", "", str(row.trials))
    left = ""
    if "participant" in screened.kept:
        left = str(screened.kept["participant"].nunique())
    table.add_row("analysed", left, str(len(screened.kept)))
    table.add_row("all", str(screened.participants or ""), str(screened.total))
    out.print(table)


def _table(title: str, *names: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for name in names:
        table.add_column(name)
    return table


def _number(value: float) -> str:
    return "—" if math.isnan(value) else f"{value:.4g}"


def _interval(low: float, high: float) -> str:
    return f"[{low:.4g}, {high:.4g}]"
