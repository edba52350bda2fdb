"""``humetric explain --patches``: what methods highlight in cases of each class."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from humetric.cli.app import err, out
from humetric.cli.files import check_file
from humetric.cli.patches import METRICS, check_images
from humetric.errors import HumetricError
from humetric.results.files import write_whole

if TYPE_CHECKING:
    from humetric.methods import Method
    from humetric.metrics import Metric
    from humetric.run.shown_patches import Highlighted, PatchLook, Shown
    from humetric.suites import Suite
    from humetric.tasks.setting import Setting


def check_patches(setting: str, case: str | None, output: Path | None) -> None:
    """Refuse what patches cannot be shown of, before anything is computed."""
    check_images(setting)
    if case is not None:
        raise HumetricError(
            f"Expected --patches without --case but got case {case}: patches are shown of several "
            f"cases of each class, the first that the metric compares."
        )
    if output is None:
        raise HumetricError(
            "Expected a file for the patches: give one that ends in .png with -o, e.g. -o "
            "patches.png."
        )
    check_file(output, (".png",), "-o")


def see_patches(
    setting: Setting, methods: list[Method], suite: Suite, device: str, output: Path
) -> PatchLook:
    """Draw the patches into a file, and say in the terminal where they are."""
    from humetric.boards.patch_figure import png
    from humetric.engine.placement import place
    from humetric.run.shown_patches import look_at_patches

    with err.status("explaining") as status:
        found = look_at_patches(
            setting.place(place(device)),
            methods,
            _metric(suite),
            chunk=suite.chunk,
            seed=suite.seed,
            progress=lambda name: status.update(f"{setting.id}: {name}"),
        )
        content = png(found)
    write_whole(output, content)
    out.print(_heading(found), markup=False)
    out.print(_grid(found))
    return found


def _metric(suite: Suite) -> Metric:
    """The suite's own metric of patches, with its parameters; else the one without weights."""
    own = [name for name in suite.metrics if name in METRICS]
    return suite.metric(own[0] if own else METRICS[0])


def _heading(found: PatchLook) -> str:
    """What is shown, and how to read the numbers."""
    metric, side = found.metric, found.side
    count = metric.parameters["patches"]
    each = "a patch" if count == 1 else f"{count} patches"
    return (
        f"{found.setting}: {each} of {side} x {side} pixels per case, as {metric.id} cuts them.\n"
        f"{metric.id}: mean over {found.reference} reference cases; {metric.direction} is better."
    )


def _grid(found: PatchLook) -> Table:
    """A line per method and class: the value of the metric, and where the patches are."""
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("method", overflow="fold")
    grid.add_column(found.metric.id, justify="right")
    grid.add_column("class", overflow="fold")
    grid.add_column("row,column of each drawn patch", overflow="fold")
    for name, of in found.highlighted.items():
        mean = "\N{EN DASH}" if math.isnan(of.mean) else f"{of.mean:.3f}"
        for i, (label, cases) in enumerate(found.classes.items()):
            first = ("", "") if i else (name, mean)
            grid.add_row(*first, label, " | ".join(_corners(of, case) for case in cases))
    return grid


def _corners(of: Highlighted, case: Shown) -> str:
    """Where the patches of a case are; a dash where it has none."""
    there, corner = of.found.there[case.row].tolist(), of.found.corner[case.row].tolist()
    said = [f"{y},{x}" for (y, x), real in zip(corner, there, strict=True) if real]
    return " ".join(said) or "\N{EN DASH}"
