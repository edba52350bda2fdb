"""``humetric findings``: the page that says which metric, if any, goes with human success."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from humetric.cli.app import app, err, out

if TYPE_CHECKING:
    from humetric.boards.findings.facts import Findings


@app.command()
def findings(
    run: Annotated[
        Path | None, typer.Argument(help="Folder of a run; without one, published figures alone.")
    ] = None,
    page: Annotated[
        Path, typer.Option("--out", help="The page, a Markdown file; its figure lies beside it.")
    ] = Path("docs/findings.md"),
    data: Annotated[
        Path | None, typer.Option("--json", help="Also what the page rests on, as a JSON file.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; say whether the files are up to date.")
    ] = False,
    human_data: Annotated[
        list[Path] | None, typer.Option(help="More studies: a folder; may be repeated.")
    ] = None,
) -> None:
    """Say which metric, if any, goes with human success, on a page made from a run.

    Every sentence of the page follows from the numbers by a rule. Verdicts come from published and
    replica scores; an embedded run is shown and is not evidence.
    """
    from humetric.boards.files import first_difference
    from humetric.boards.findings.facts import findings as facts
    from humetric.boards.findings.forest import forest
    from humetric.boards.findings.page import data as as_data
    from humetric.boards.findings.page import markdown
    from humetric.boards.findings.words import joined
    from humetric.cli.files import check_file
    from humetric.human.read import load_studies
    from humetric.results.files import write_whole
    from humetric.results.gaps import unfinished
    from humetric.results.read import read_result

    if not check:
        check_file(page, (".md",), "--out")
        if data is not None:
            check_file(data, (".json",), "--json")
    result = None if run is None else read_result(run)
    lacking = "" if result is None else unfinished(result, run)
    if result is not None and result.scores.empty:
        nothing = f"The run in {run} has no scores, so there is nothing to find in it."
        err.print(lacking or nothing, markup=False, soft_wrap=True)
        raise typer.Exit(1)
    with err.status("Comparing metrics with people"):
        found = facts(load_studies(human_data or ()), result)
        figure = page.with_suffix(".svg")
        files = {page: markdown(found, figure.name), figure: forest(found)}
        files |= {} if data is None else {data: as_data(found)}
    if lacking:
        err.print(lacking, markup=False, soft_wrap=True)
    if check:
        differences = [first_difference({p.name: text}, p.parent) for p, text in files.items()]
        for difference in filter(None, differences):
            err.print(f"{difference} Make it again without --check.", markup=False, soft_wrap=True)
        if not any(differences):
            names = joined([str(p) for p in files])
            out.print(f"{names}: what the figures and results give.", markup=False, soft_wrap=True)
        raise typer.Exit(1 if any(differences) or lacking else 0)
    for path, text in files.items():
        write_whole(path, text)
    _summary(found)
    out.print(f"Written: {', '.join(map(str, files))}", markup=False, soft_wrap=True)


def _summary(found: Findings) -> None:
    from humetric.boards.findings.answer import headline, rivals
    from humetric.boards.findings.tables import families

    head, lines = families(found)
    table = Table(
        title="Families: published and replica evidence", title_justify="left", title_style="bold",
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False,
    )  # fmt: skip
    for name in head:
        table.add_column(name, justify="right" if name in ("metrics", "judged", "p") else "left")
    for line in lines:
        table.add_row(*line)
    out.print(table)
    out.print()
    out.print(headline(rivals(found, "judged")).replace("**", ""), markup=False)
