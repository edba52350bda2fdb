"""``humetric models``: how good the models are that explanations are of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table as Grid

from humetric.cli.app import app, err, out
from humetric.errors import HumetricError


@app.command("models")
def models(
    output: Annotated[
        Path | None,
        typer.Option(help="Folder to write the tables into, too: embedded-*.md, standard-models.md."),
    ] = None,
    count: Annotated[int, typer.Option(min=1, max=2000, help="Cases of each pool.")] = 2000,
) -> None:
    """Measure the shipped models of texts and rows on their pools and on held-out cases.

    Models on real data are shown with what was measured when their cases were chosen.
    """
    from humetric.models import prototype_table, tabular_table, text_table
    from humetric.settings import accuracies

    if output is not None and (output.is_file() or output.suffix == ".md"):
        raise HumetricError(
            f"Expected a folder, in which pages are written, but got {output}: give "
            "--output docs, say."
        )
    with err.status("measuring") as status:

        def progress(setting: str) -> None:
            status.update(f"measuring {setting}")

        texts = text_table.tables(count=count, progress=progress)
        rows = tabular_table.tables(count=count, progress=progress)
        prototypes = prototype_table.tables(count=count, progress=progress)
    real = accuracies.table()
    for table in (*texts, *rows, *prototypes, real):
        grid = Grid(box=None, pad_edge=False, header_style="bold", title=table.title)
        for place, column in enumerate(table.columns):
            grid.add_column(column, justify="left" if place < 2 else "right", no_wrap=place == 0)
        for row in table.rows:
            grid.add_row(*row)
        out.print(grid)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for name, page in (
            ("embedded-text.md", text_table.document(texts)),
            ("embedded-tabular.md", tabular_table.document(rows)),
            ("embedded-prototypes.md", prototype_table.document(prototypes)),
            ("standard-models.md", accuracies.document(real)),
        ):
            (output / name).write_text(page, encoding="utf-8")
            err.print(f"Written to {output / name}.", markup=False)
