"""``humetric patches``: perceptual similarity over sizes and numbers of patches."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from humetric.cli.app import app, err, out, print_json
from humetric.errors import HumetricError, UnknownNameError

if TYPE_CHECKING:
    from humetric.run.patch_table import PatchTable

METRICS = ("feature-similarity", "perceptual-similarity")


@app.command()
def patches(
    setting: Annotated[str, typer.Argument(help="A setting of images, e.g. image/leaf/cnn.")],
    metric: Annotated[
        str, typer.Option(help="perceptual-similarity needs weights that are not shipped.")
    ] = METRICS[0],
    method: Annotated[
        list[str] | None, typer.Option(help="A method; may be repeated. Default: the suite's.")
    ] = None,
    suite: Annotated[str, typer.Option(help="Whose parameters are used.")] = "embedded",
    folder: Annotated[
        Path, typer.Option("--out", help="Folder of a run: maps are read and kept there.")
    ] = Path("runs/embedded"),
    device: Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="JSON, with intervals.")] = False,
) -> None:
    """Show how far perceptual similarity depends on the size and number of patches.

    Each number is a mean over the setting's reference cases: how alike the highlighted patches are
    to those of cases of other classes; lower is better. The last line says how far a column orders
    the methods as the usual one does (1/4 of the side, one patch).
    """
    from humetric.engine.placement import place
    from humetric.run.patch_table import patch_table
    from humetric.suites import load_suite
    from humetric.tasks.named import known_settings, load_setting

    if setting not in known_settings():
        raise UnknownNameError("setting", setting, known_settings())
    if metric not in METRICS:
        raise UnknownNameError("metric of patches", metric, METRICS)
    check_images(setting)
    chosen = load_suite(suite)
    loaded = load_setting(setting, chosen.cases)
    with err.status("explaining") as status:
        found = patch_table(
            loaded.place(place(device)),
            [chosen.method(name) for name in method or chosen.methods],
            metric,
            chunk=chosen.chunk,
            seed=chosen.seed,
            folder=folder,
            progress=lambda name: status.update(f"{setting}: {name}"),
        )
    print_json(_plain(found)) if as_json else out.print(_grid(found))
    for skip in found.skips if method else ():
        err.print(f"skipped {skip.name} on {setting}: it {skip.reason}", markup=False)
    said: dict[str, list[str]] = {}
    for failure in found.failures:
        said.setdefault(failure.message, []).append(failure.method)
    for message, names in said.items():
        err.print(f"failed: {', '.join(names)} on {setting}. {message}", markup=False)
    if found.failures:
        raise typer.Exit(1)


def check_images(setting: str) -> None:
    """Refuse a setting that has no images to cut patches from."""
    from humetric.tasks.named import known_settings

    if not setting.startswith("image/"):
        images = [name for name in known_settings() if name.startswith("image/")]
        raise HumetricError(f"Expected a setting of images ({', '.join(images)}), got {setting}.")


def _plain(found: PatchTable) -> dict[str, object]:
    """All of it for programs; None where undefined."""
    return {
        "setting": found.setting,
        "metric": found.metric,
        "cases": found.cases,
        "rows": [
            {
                "method": method,
                "share": float(column.share),
                "patches": column.patches,
                "mean": _number(mean.mean),
                "low": _number(mean.low),
                "high": _number(mean.high),
                "defined": mean.n,
            }
            for column in found.columns
            for method, mean in column.means.items()
        ],
        "order": [
            {"share": float(c.share), "patches": c.patches, "spearman": _number(c.order)}
            for c in found.columns
        ],
        "skips": [vars(skip) for skip in found.skips],
        "failures": [vars(failure) for failure in found.failures],
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _grid(found: PatchTable) -> Table:
    """The table for people: a line per method, in the order of the usual column."""
    from humetric.run.patch_table import USUAL

    title = f"{found.metric} of {found.setting}, {found.cases} cases; lower is better"
    grid = Table(box=None, pad_edge=False, header_style="bold", title=title, title_justify="left")
    grid.add_column("method")
    for column in found.columns:
        times = "" if column.patches == 1 else f" x{column.patches}"
        grid.add_column(f"{column.share}{times}", justify="right")
    (usual,) = (c for c in found.columns if (c.share, c.patches) == USUAL)
    means = {name: mean.mean for name, mean in usual.means.items()}
    for name in sorted(means, key=lambda n: (math.isnan(means[n]), means[n], n)):
        cells = (column.means[name].mean for column in found.columns)
        grid.add_row(name, *map(_text, cells))
    grid.add_row("order (Spearman)", *(_text(c.order, 2) for c in found.columns), style="dim")
    return grid


def _text(value: float, digits: int = 3) -> str:
    return "\N{EN DASH}" if math.isnan(value) else f"{value:.{digits}f}"
