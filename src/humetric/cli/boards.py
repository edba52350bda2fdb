"""``humetric boards`` and ``humetric compare``: tables made from results that are there."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from humetric.cli.app import app, err, out, print_json

if TYPE_CHECKING:
    from humetric.agreement.report import Agreement
    from humetric.boards.compare import Change, Comparison
    from humetric.boards.task_board import Boards
    from humetric.results.result import Result

AT_MOST = 25
"""Rows that do not matter are shown up to this many of the table in all."""

boards = typer.Typer(
    help="The boards of a run.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
app.add_typer(boards, name="boards")


@boards.callback()
def _boards() -> None:
    """The boards of a run."""


@boards.command()
def build(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")] = Path("runs/embedded"),
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; say whether the files are up to date.")
    ] = False,
    human_data: Annotated[
        list[Path] | None, typer.Option(help="More studies: a folder; may be repeated.")
    ] = None,
    settings: Annotated[
        bool, typer.Option("--settings", help="Print the boards of settings, not only of tasks.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Make the boards of a run from its stored results, print them and say where they lie."""
    from humetric.alignment.report import read_reports
    from humetric.alignment.rows import sections_of
    from humetric.boards.files import (
        board_files,
        boards_in,
        first_difference,
        judged,
        places_of,
        write_boards,
    )
    from humetric.boards.task_board import boards_of
    from humetric.results.gaps import unfinished
    from humetric.results.published import is_published
    from humetric.results.read import read_result

    result = read_result(run)
    published = is_published(run)
    lacking = unfinished(result, run, published)
    if result.scores.empty:
        nothing = f"The run in {run} has no scores, so there is nothing to make boards from."
        if as_json:
            print_json({"same": False, "difference": nothing, "unfinished": lacking or None})
        err.print(lacking or nothing, markup=False, soft_wrap=True)
        raise typer.Exit(1)
    places = human_data or (places_of(run) if check else [])
    found = judged(result, places)
    sections, made = sections_of(read_reports(run)), boards_of(result, found.verdicts())
    files = board_files(result, found, sections, places, made)
    if check:
        # Records are what counts: tables that were made of them must still say the same.
        tables = {n: text for n, text in result.tables().items() if (run / n).exists()}
        difference = first_difference(files, boards_in(run)) or first_difference(tables, run)
        again = "".join(f" --human-data {place}" for place in places)
        if as_json:
            print_json(
                {
                    "same": not difference,
                    "difference": difference or None,
                    "unfinished": lacking or None,
                }
            )
        elif difference:
            err.print(
                f"{difference} Rebuild with: humetric boards build {run}{again}", markup=False
            )
        else:
            studies = f" and the studies in {', '.join(map(str, places))}" if places else ""
            also = f" So are {' and '.join(tables)}." if tables else ""
            out.print(
                f"The boards in {boards_in(run)} are what the results{studies} give.{also} "
                "Pictures are not compared, since fonts differ.",
                markup=False,
            )
        if lacking:
            err.print(lacking, markup=False, soft_wrap=True)
        # What was published before it was finished says so on its boards.
        raise typer.Exit(1 if difference or (lacking and not published) else 0)
    written = write_boards(files, run, found, sections)
    if not published:
        result.write_tables(run)
    if lacking:
        err.print(lacking, markup=False, soft_wrap=True)
    if as_json:
        data = json.loads(files["methods.json"])
        print_json({"folder": str(boards_in(run)), "files": [p.name for p in written]} | data)
        return
    print_boards(result, found, made, settings)
    names = ", ".join(path.name for path in written)
    out.print(f"\nBoards: {boards_in(run)} ({names})", markup=False)


@boards.command()
def index(
    folder: Annotated[Path, typer.Argument(help="Folder of published folders.")] = Path(
        "leaderboards"
    ),
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; say whether the files are up to date.")
    ] = False,
) -> None:
    """Make README.md of published boards: what was found, and what it took."""
    from humetric.boards.files import first_difference
    from humetric.boards.leaderboards.page import index_files, read_index
    from humetric.human.read import load_studies
    from humetric.results.files import write_whole

    results = read_index(folder)
    if not results:
        err.print(
            f"Expected published results in folders of {folder} but there are none: publish a run "
            f"with humetric publish RUN {folder}/NAME.",
            markup=False, soft_wrap=True,
        )  # fmt: skip
        raise typer.Exit(1)
    with err.status("Comparing metrics with people"):
        files = index_files(results, load_studies())
    if check:
        difference = first_difference(files, folder)
        said = f"{difference} Make it again: humetric boards index {folder}" if difference else ""
        (err if said else out).print(
            said or f"{', '.join(files)} in {folder}: what the results give.",
            markup=False, soft_wrap=True,
        )  # fmt: skip
        raise typer.Exit(1 if difference else 0)
    for name, text in files.items():
        write_whole(folder / name, text)
    out.print(f"Written: {', '.join(str(folder / name) for name in files)}", markup=False)


def print_boards(result: Result, found: Agreement, made: Boards, settings: bool) -> None:
    """The boards of tasks, those of settings if wanted, the verdicts, and how to read all that."""
    from humetric.boards.method_board import legend
    from humetric.boards.metric_board import HOW_TO_READ, verdict_tables

    apart = made.apart()
    for task in made.tasks:
        out.print(task.table(out.width))
    for board in apart if settings else []:
        out.print(board.table(out.width))
    if apart and not settings:
        out.print(
            f"The boards of {len(apart)} settings are in boards/methods.md; --settings prints them."
        )
        out.print()
    out.print(legend(result, in_full=False), markup=False)
    out.print()
    out.print(verdict_tables(found))
    out.print(HOW_TO_READ, markup=False)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="Folder of a run.")],
    second: Annotated[Path, typer.Argument(help="Folder of the run to compare it with.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Say what moved between two runs, case by case, and whether it matters."""
    from humetric.boards.compare import as_data
    from humetric.boards.compare import compare as compared
    from humetric.results.read import read_result

    found = compared(read_result(first), read_result(second))
    if as_json:
        print_json(
            {
                "first": str(first),
                "second": str(second),
                "changes": [as_data(change) for change in found.changes],
                "only_first": found.only_first,
                "only_second": found.only_second,
                "versions": found.versions,
            }
        )
        return
    _report(found, first, second)


def _report(found: Comparison, first: Path, second: Path) -> None:
    """What moved, what only one run has, and which versions differ."""
    for folder, only in ((first, found.only_first), (second, found.only_second)):
        if only:
            out.print(f"Only in {folder}: {', '.join(only)}.", markup=False)
    for line in found.versions:
        out.print(f"Differs: {line}", markup=False)
    moved = found.of("moved")
    if not found.changes:
        out.print("The runs have no case, method and metric in common.")
        return
    if moved:
        _table_of_moved(moved)
    rounding, same = len(found.of("rounding")), len(found.of("unchanged"))
    total = len(found.changes)
    said = f"{len(moved)} of {total} moved" if moved else f"Nothing moved ({total} compared)"
    out.print(
        f"{said}; {rounding} moved within rounding (no case by 1e-6); {same} unchanged. "
        "One is a metric of a method on a setting.",
        markup=False,
    )
    if moved:
        matter = sum(change.matters for change in moved)
        out.print(
            f"{matter} matter: significant (paired sign flips, Holm over what moved, .05), or the "
            "order of methods changed.",
            markup=False,
        )


def _table_of_moved(moved: list[Change]) -> None:
    """All that matters, and the largest of the rest."""
    matter = sum(change.matters for change in moved)
    shown = moved[: max(AT_MOST, matter)]
    for setting in sorted({change.setting for change in shown}):
        table = Table(title=setting, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
        for name in ("method", "metric"):
            table.add_column(name, no_wrap=True)
        for name in ("cases", "difference", "95% interval", "p"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("matters", no_wrap=True)
        for change in shown:
            if change.setting == setting:
                table.add_row(*_cells(change))
        out.print(table)
    if len(shown) < len(moved):
        out.print(f"and {len(moved) - len(shown)} more that do not matter (--json has them)")


def _cells(change: Change) -> list[str]:
    cases = f"{change.cases} ({change.redefined}?)" if change.redefined else str(change.cases)
    why = ["significant"] * change.significant + ["order"] * change.reordered
    undefined = math.isnan(change.low)
    return [
        change.method,
        change.metric,
        cases,
        "—" if math.isnan(change.difference) else f"{change.difference:+.2g}",
        "—" if undefined else f"[{change.low:+.2g}, {change.high:+.2g}]",
        "—" if math.isnan(change.p) else f"{change.p:.3f}",
        ", ".join(why) or "no",
    ]
