"""``humetric agreement``: do metrics order methods as people's success with them does?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from humetric.cli.app import app, out, print_json
from humetric.errors import HumetricError


@app.command()
def agreement(
    run: Annotated[Path | None, typer.Argument(help="Folder of a run, e.g. runs/embedded.")] = None,
    study: Annotated[
        list[str] | None, typer.Option(help="Only this study; may be repeated.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="Only this metric; may be repeated.")
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Only scores that the studies themselves printed.")
    ] = False,
    human_data: Annotated[
        list[Path] | None, typer.Option(help="More studies: a folder; may be repeated.")
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(help="A variant of a study's figures, e.g. plotted (colin2022)."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of intervals and of sampled relabellings.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="All measures and coefficients as JSON.")
    ] = False,
) -> None:
    """Compare metrics with human results, per cell, per study and across studies.

    Without a run only published scores are compared. Tables have the primary measures; JSON has
    every measure.
    """
    from humetric.agreement.report import agreement as compared
    from humetric.agreement.report import rows
    from humetric.boards.metric_board import HOW_TO_READ, captions, legend, terminal
    from humetric.human.read import load_studies
    from humetric.results.read import read_result

    if published and run is not None:
        raise HumetricError(
            f"Expected either a run or --published but got {run} and --published: leave one out."
        )
    result = None if run is None else read_result(run)
    found = compared(
        load_studies(human_data or (), variant or ()),
        result,
        only_studies=study or (),
        only_metrics=metric or (),
        seed=seed,
    )
    if as_json:
        print_json({"settings": found.settings_line(), "agreement": rows(found)})
        return
    out.print(terminal(found))
    for name in study or ():
        if not any(cell.study == name for cell in found.cells):
            chosen = found.studies[name]
            why = (
                chosen.not_pooled or "it printed no automatic scores, and no run is paired with it"
            )
            out.print(f"{name} has no comparison to show: {why.rstrip('.')}.", markup=False)
    for note in captions(found):
        out.print(note, markup=False)
    out.print(f"{HOW_TO_READ}\n\n{legend(found)}", markup=False)
    if run is None and not published:
        out.print("\nWith metrics of a run: humetric agreement runs/embedded", markup=False)
