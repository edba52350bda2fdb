"""The ``humetric`` command: its options, its version, and how errors are shown."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer
from rich.console import Console

from humetric.errors import HumetricError

WIDTH = 100
"""Columns of tables that are not printed to a terminal."""

out = Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH)
err = Console(highlight=False, stderr=True, width=None if sys.stderr.isatty() else WIDTH)


class Humetric(typer.Typer):
    """A Typer application that shows humetric's own errors as a sentence, not as a trace."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except HumetricError as error:
            err.print("[bold red]error:[/] ", end="")
            err.print(str(error), markup=False)
            sys.exit(2)


app = Humetric(
    help="Automatic metrics of explanations, against what people make of the explanations.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def print_json(data: object) -> None:
    """Plain JSON on standard output, for programs."""
    sys.stdout.write(json.dumps(data, indent=1, default=str) + "\n")


def _version(wanted: bool) -> None:
    if wanted:
        from humetric.results.environment import environment

        for name, value in environment().items():
            out.print(f"{name:12} {value}", markup=False)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Version and environment."
        ),
    ] = False,
) -> None:
    """Automatic metrics of explanations, against what people make of the explanations."""


from humetric.cli import (  # noqa: E402, F401  (they add their commands to the app)
    agreement,
    alignment,
    analyse,
    boards,
    explain,
    findings,
    human,
    listing,
    models,
    patches,
    publish,
    run,
    sources,
    train,
)
