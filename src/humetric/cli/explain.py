"""``humetric explain``: one case, what methods say of it, and how they score."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from humetric.cli.app import app, err, out
from humetric.cli.files import check_file
from humetric.results.files import write_whole

if TYPE_CHECKING:
    from humetric.metrics import Metric
    from humetric.suites import Suite

DEFAULT = ("saliency", "integrated-gradients", "occlusion", "random")
CURVES = ("deletion", "insertion")
"""Metrics that the figure draws, whether they are in the suite or not."""

SUFFIXES = (".png", ".html")


@app.command()
def explain(
    setting: Annotated[str, typer.Argument(help="An image setting, e.g. image/leaf/cnn.")],
    case: Annotated[str, typer.Option(help="A case's number (from 1) or id, e.g. leaf-0012.")],
    output: Annotated[Path, typer.Option("--out", "-o", help="The file: .png or .html.")],
    method: Annotated[
        list[str] | None,
        typer.Option(help=f"A method; may be repeated. By default {', '.join(DEFAULT)}."),
    ] = None,
    suite: Annotated[
        str, typer.Option(help="The suite that parameters, metrics and seed are taken from.")
    ] = "embedded",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:N or mps.")] = "auto",
) -> None:
    """Draw one case: its image, the methods' maps, their deletion and insertion curves.

    A PNG file has the figure; an HTML file also a table of all metrics and what the methods are.
    """
    from humetric.run.look import find_case, look
    from humetric.suites import load_suite
    from humetric.tasks.setting import load_setting

    check_file(output, SUFFIXES, "-o")
    chosen = load_suite(suite)
    methods = [chosen.method(name) for name in method or DEFAULT]
    loaded = load_setting(setting)
    row = find_case(loaded, case)
    with err.status(f"explaining {setting}, case {loaded.ids[row]}"):
        found = look(
            loaded, loaded.ids[row], methods, _metrics(chosen), device=device, seed=chosen.seed
        )
        if output.suffix.lower() == ".png":
            from humetric.boards.figure import png

            content = png(found)
        else:
            from humetric.boards.page import page

            content = page(found).encode()
    write_whole(output, content)
    for skip in found.skips:
        err.print(f"skipped {skip.method} on {skip.setting}: it {skip.reason}", markup=False)
    for failure in found.failures:
        what = f"{failure.metric} of {failure.method}" if failure.metric else failure.method
        err.print(f"failed: {what} on {failure.setting}. {failure.message}", markup=False)
    out.print(f"Case {found.case} of {setting} is drawn in {output}.", markup=False, soft_wrap=True)
    if found.failures:
        raise typer.Exit(1)


def _metrics(suite: Suite) -> list[Metric]:
    """The suite's metrics, and those that the curves are of."""
    return [suite.metric(name) for name in dict.fromkeys((*suite.current_metrics(), *CURVES))]
