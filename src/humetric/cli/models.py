"""``humetric models``: how good the embedded text models are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table as Grid

from humetric.cli.app import app, err, out


@app.command("models")
def models(
    output: Annotated[Path | None, typer.Option(help="Markdown file to write, too.")] = None,
    count: Annotated[int, typer.Option(min=1, max=2000, help="Texts of pool and extra.")] = 2000,
) -> None:
    """Measure the shipped text models on their pools and on held-out texts: accuracy and F1."""
    from humetric.models.text_table import document, tables

    with err.status("measuring") as status:
        found = tables(count=count, progress=lambda setting: status.update(f"measuring {setting}"))
    for table in found:
        grid = Grid(box=None, pad_edge=False, header_style="bold", title=table.title)
        for place, column in enumerate(table.columns):
            grid.add_column(column, justify="left" if place < 2 else "right", no_wrap=place == 0)
        for row in table.rows:
            grid.add_row(*row)
        out.print(grid)
    if output is not None:
        output.write_text(document(found), encoding="utf-8")
        err.print(f"Written to {output}.", markup=False)
