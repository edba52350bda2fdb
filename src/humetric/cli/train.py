"""``humetric train``: weights of settings on real data."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from humetric.cli.app import app, err, out
from humetric.errors import HumetricError, UnknownNameError


@app.command()
def train(
    settings: Annotated[
        list[str],
        typer.Argument(help="Settings on real data; all: of the standard suite; paper: of that."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(help="Where weights go; by default where settings look for them."),
    ] = None,
    state: Annotated[
        Path, typer.Option(help="Where an unfinished training is kept, to go on from.")
    ] = Path("runs/train"),
    again: Annotated[bool, typer.Option("--again", help="Train what is there, too.")] = False,
    choose: Annotated[
        bool,
        typer.Option(
            "--choose",
            help="For maintainers: choose the cases anew and write all files into the package.",
        ),
    ] = False,
) -> None:
    """Train what a setting on real data needs and humetric does not ship.

    A recipe is deterministic on one machine with the same versions; a training that was stopped
    goes on where it was. Texts are trained on a CUDA device where there is one.
    """
    from humetric.settings import REAL
    from humetric.settings.declared import Training
    from humetric.settings.files import SHIPPED, trained_here

    groups = {"all": [n for n, d in REAL.items() if not d.cases],
              "paper": [n for n, d in REAL.items() if d.cases]}  # fmt: skip
    names = [name for given in settings for name in groups.get(given, [given])]
    for name in names:
        if name not in REAL:
            raise UnknownNameError("setting", name, [*REAL, *groups])
        if choose and REAL[name].choose is None:
            has = f"it has those of {REAL[name].cases}" if REAL[name].cases else "they are given"
            raise HumetricError(f"The cases of {name} are not chosen by its model: {has}.")
    for name in names:
        declared, began = REAL[name], time.perf_counter()
        owner = declared.weights or name
        own = SHIPPED / owner if choose and declared.ships else trained_here(owner)
        folder = output / owner if output else own
        task = Training(
            owner, folder, state / owner, again, lambda line: err.print(line, markup=False)
        )
        if declared.train is not None:
            folder.mkdir(parents=True, exist_ok=True)
            task.state.mkdir(parents=True, exist_ok=True)
            declared.train(task)
        if choose:
            assert declared.choose is not None
            declared.choose(task)
        took = time.perf_counter() - began
        nothing = "nothing to train" if declared.train is None else f"weights in {folder}"
        out.print(f"{name}: {nothing} ({took:.0f} s)", markup=False)
