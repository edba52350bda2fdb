"""``humetric publish``: finished settings of a run, as packs that can be committed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from humetric.cli.app import app, err, out


@app.command()
def publish(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    target: Annotated[
        Path, typer.Argument(help="Published folder, such as leaderboards/standard.")
    ],
    setting: Annotated[list[str] | None, typer.Option(help="Only these; may be repeated.")] = None,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Also settings that the run has not finished.")
    ] = False,
) -> None:
    """Pack scores, curves and prices of a run's finished settings into TARGET/results.

    Published are case ids, versions, numbers and what they took; no text, no image and no map. What
    was published earlier and the run does not have is kept.
    """
    from humetric.results.publish import publish as pack

    done = pack(run, target, setting or (), unfinished)
    for one in done:
        what = f"{one.cases} cases, {one.records:,} records, {one.size / 1000:,.0f} kB"
        said = f"{one.done} ({what})" if one.size else one.done
        out.print(f"{one.setting}: {said}", markup=False)
        if one.uncommitted:
            err.print(
                f"{one.uncommitted:,} records of {one.setting} were made by code that was not "
                "committed: nobody can make them again. Run from a clean checkout before this is "
                "committed.",
                markup=False, soft_wrap=True,
            )  # fmt: skip
    left = [one.setting for one in done if not one.size]
    if left:
        err.print(
            f"Not published: {', '.join(left)}. Finish the run, or say --unfinished: boards will "
            "name what is missing.",
            markup=False, soft_wrap=True,
        )  # fmt: skip
    if len(left) < len(done):
        out.print(f"Now make the boards: humetric boards build {target}", markup=False)
    raise typer.Exit(1 if len(left) == len(done) else 0)
