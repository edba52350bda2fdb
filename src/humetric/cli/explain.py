"""``humetric explain``: one case, what methods say of it, and how they score."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from humetric.cli.app import app, err, out
from humetric.cli.explain_patches import check_patches, see_patches
from humetric.cli.files import check_file
from humetric.errors import HumetricError, UnknownNameError
from humetric.results.files import write_whole

if TYPE_CHECKING:
    from rich.console import Console

    from humetric.methods import Method
    from humetric.metrics import Metric
    from humetric.run.look import Look, Scene
    from humetric.run.shown_patches import PatchLook
    from humetric.suites import Suite
    from humetric.tasks.setting import Setting

S = TypeVar("S")

DEFAULT = ("saliency", "integrated-gradients", "occlusion", "random")
CURVES = ("deletion", "insertion")
"""Metrics that are drawn, whether they are in the suite or not."""
OF_NAMED = ("comprehensiveness", "sufficiency")
"""Metrics that are shown of texts and rows of tables, whether they are in the suite or not."""

SUFFIXES = (".png", ".html")


@app.command()
def explain(
    setting: Annotated[
        str,
        typer.Argument(
            help="A setting, e.g. image/leaf/cnn, sentiment/reviews/bert or tabular/census/mlp."
        ),
    ],
    case: Annotated[
        str | None,
        typer.Option(
            help="A case's number (from 1) or id, e.g. leaf-0012. Needed without --patches."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The file: .png or .html for an image, .html for a text or a row of a table. "
            "Without it texts and rows are shown in the terminal.",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help=f"A method; may be repeated. By default {', '.join(DEFAULT)}. "
            "Of these, those that the model does not allow are left out."
        ),
    ] = None,
    patches: Annotated[
        bool,
        typer.Option(
            "--patches",
            help="Of images, instead of one case: the patches that perceptual-similarity and "
            "feature-similarity compare, in several cases of each class. Into a .png file.",
        ),
    ] = False,
    suite: Annotated[
        str, typer.Option(help="The suite that parameters, metrics and seed are taken from.")
    ] = "embedded",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:N or mps.")] = "auto",
) -> None:
    """Show one case: its image, text or row, the methods' maps, deletion and insertion.

    A PNG file has an image's figure; an HTML file also a table of all metrics and what the methods
    are. Texts are shown with their words shaded, rows of a table with a bar for each column, in the
    terminal or as HTML. What methods have to show beside a map (a rule, a path across the decision
    boundary, a prototype, cue words) stands below it, but not in a PNG file.

    With --patches: several images of each class, the patches that methods highlight in them, and
    these patches cut out, as metrics of likeness compare them.
    """
    from humetric.run.look import find_case
    from humetric.suites import load_suite
    from humetric.tasks.named import known_settings, load_setting

    if setting not in known_settings():
        raise UnknownNameError("setting", setting, known_settings())
    if case is None and not patches:
        raise HumetricError(
            "Expected a case to show: give its number or id with --case, e.g. --case 3."
        )
    image = setting.startswith("image/")
    if patches:
        check_patches(setting, case, output)
    else:
        _check_output(output, image)
    chosen = load_suite(suite)
    methods = [chosen.method(name) for name in method or DEFAULT]
    loaded = load_setting(setting)
    if not method:
        methods = _able(methods, loaded)
    found: Look[object] | PatchLook
    if patches:
        assert output is not None
        found = see_patches(loaded, methods, chosen, device, output)
        drawn = f"Patches of {setting} are"
    else:
        metrics = [chosen.metric(name) for name in _metrics(chosen, image)]
        assert case is not None
        name = loaded.ids[find_case(loaded, case)]
        see = _see_image if image else _see_text
        found = see(loaded, name, methods, metrics, device, chosen.seed, output)
        drawn = f"Case {found.case} of {setting} is"
    for skip in found.skips:
        err.print(f"skipped {skip.name} on {skip.setting}: it {skip.reason}", markup=False)
    failed: dict[tuple[str, str], list[str]] = {}
    for failure in found.failures:
        failed.setdefault((failure.metric, failure.message), []).append(failure.method)
    for (metric, message), names in failed.items():
        what = f"{metric} of {', '.join(names)}" if metric else ", ".join(names)
        err.print(f"failed: {what} on {setting}. {message}", markup=False)
    if output is not None:
        out.print(f"{drawn} drawn in {output}.", markup=False, soft_wrap=True)
    if found.failures:
        raise typer.Exit(1)


def _see_image(
    setting: Setting,
    case: str,
    methods: list[Method],
    metrics: list[Metric],
    device: str,
    seed: int,
    output: Path | None,
) -> Look[object]:
    """Draw an image case into a file."""
    from humetric.run.look import look
    from humetric.run.shown_image import shown_image

    assert output is not None
    with err.status(f"explaining {setting.id}, case {case}"):
        found = look(setting, case, methods, metrics, shown_image, device=device, seed=seed)
        if output.suffix.lower() == ".png":
            from humetric.boards.figure import png

            content = png(found)
        else:
            from humetric.boards.page import page

            content = page(found).encode()
    write_whole(output, content)
    return found


def _see_text(
    setting: Setting,
    case: str,
    methods: list[Method],
    metrics: list[Metric],
    device: str,
    seed: int,
    output: Path | None,
) -> Look[object]:
    """Show a text, or a row of a table, in a file, or in the terminal where there is none."""
    from humetric.run.look import look

    def looked(show: Callable[[Scene], S]) -> Look[S]:
        with err.status(f"explaining {setting.id}, case {case}"):
            return look(setting, case, methods, metrics, show, device=device, seed=seed)

    if setting.table is None:
        from humetric.boards.text_page import text_page
        from humetric.boards.text_terminal import print_text
        from humetric.run.shown_text import shown_text

        return _put(looked(shown_text), output, print_text, text_page)
    from humetric.boards.table_page import table_page
    from humetric.boards.table_terminal import print_table
    from humetric.run.shown_table import shown_table

    return _put(looked(shown_table), output, print_table, table_page)


def _put(
    found: Look[S],
    output: Path | None,
    show: Callable[[Look[S], Console], None],
    page: Callable[[Look[S]], str],
) -> Look[S]:
    """A look on the terminal, or in a file."""
    if output is None:
        show(found, out)
    else:
        write_whole(output, page(found).encode())
    return found


def _check_output(output: Path | None, image: bool) -> None:
    """An image needs a file; texts and rows are shown in the terminal or as HTML."""
    if output is None:
        if image:
            raise HumetricError(
                "Expected a file for the image: give one that ends in .png or .html with -o, "
                "e.g. -o case.png."
            )
        return
    if not image and output.suffix.lower() == ".png":
        raise HumetricError(
            f"Expected a file that ends in .html but got {str(output)!r}: texts and tables are "
            f"shown as HTML, or in the terminal if -o is left out."
        )
    check_file(output, SUFFIXES if image else (".html",), "-o")


def _able(methods: list[Method], setting: Setting) -> list[Method]:
    """Those that a setting's model allows: nobody asked for the others by name."""
    from humetric.run.plan import refusal

    return [method for method in methods if not refusal(method, setting)]


def _metrics(suite: Suite, image: bool) -> list[str]:
    """The suite's metrics, and those that are shown in any case.

    Not those that compare with other cases: every method would have to explain these too.
    """
    more = CURVES if image else (*CURVES, *OF_NAMED)
    own = [name for name in suite.current_metrics() if not suite.metric(name).card.compares]
    return list(dict.fromkeys((*own, *more)))
