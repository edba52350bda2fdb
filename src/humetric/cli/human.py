"""``humetric human``: what people achieved with explanations, and checks of such data."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from humetric.cli.app import app, err, out, print_json
from humetric.cli.files import check_file
from humetric.errors import UnknownNameError
from humetric.results.files import write_whole

if TYPE_CHECKING:
    from humetric.human.figures import Figure
    from humetric.human.study import Measure, Study

MARKS = {"printed": "", "read-off": " ~", "inferred": " =", "notebook": " ?", "responses": " *"}
LEGEND = {
    "read-off": "~ read off a plot",
    "inferred": "= computed from printed figures",
    "notebook": "? from the authors' files, unchecked",
    "responses": "* computed from raw responses",
}

human = typer.Typer(
    help="Published human results.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
app.add_typer(human, name="human")


@human.callback()
def _human() -> None:
    """Published human results."""


@human.command()
def validate(
    places: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DIR]...",
            help="Study folders, or folders of study folders. By default the bundled ones.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Check study folders; name every problem with its file, row and column."""
    from humetric.human.read import bundled_folder, study_folders
    from humetric.human.validate import problems

    folders = [f for place in places or [bundled_folder()] for f in study_folders(place)]
    found = {folder: problems(folder) for folder in folders}
    count = sum(map(len, found.values()))
    if as_json:
        print_json([{"folder": str(f)} | p._asdict() for f, wrong in found.items() for p in wrong])
        raise typer.Exit(1 if count else 0)
    for folder, wrong in found.items():
        for problem in wrong:
            err.print(f"{folder.name}/{problem}", markup=False)
    good = [folder.name for folder, wrong in found.items() if not wrong]
    if good:
        out.print(f"In order: {', '.join(good)}.", markup=False)
    if count:
        bad = len(found) - len(good)
        err.print(f"{count} problem(s) in {bad} of {len(found)} studies.", markup=False)
        raise typer.Exit(1)


@human.command()
def show(
    study: Annotated[str, typer.Argument(help="A study, e.g. colin2022.")],
    measure: Annotated[
        str | None, typer.Option(help="A measure; by default the primary or the first one.")
    ] = None,
    human_data: Annotated[
        list[Path] | None,
        typer.Option(help="Further studies: a study folder or a folder of them; repeatable."),
    ] = None,
    variant: Annotated[
        list[str] | None, typer.Option(help="Take figures of a variant; repeatable.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="All of it as JSON.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the measure into this .png, .svg or .pdf file.")
    ] = None,
) -> None:
    """Show a study: what people did, what to beware of, and its figures."""
    from humetric.human.read import load_studies

    studies = load_studies(human_data or (), variant or ())
    if study not in studies:
        raise UnknownNameError("study", study, studies)
    found: Study = studies[study]
    for name in variant or ():
        if name not in found.known_variants:
            raise UnknownNameError(f"variant of {study}", name, found.known_variants)
    default = found.primary.measure if found.primary else found.measures[0].id
    chosen = found.measure(measure or default)
    if plot is not None:
        from humetric.human.plot import SUFFIXES, image

        check_file(plot, SUFFIXES, "--plot")
        write_whole(plot, image(found, chosen.id, plot.suffix))
    if as_json:
        print_json(_plain(asdict(found) | {"label": found.label}, measure))
        return
    _about(found)
    _figures(found, chosen)
    _rest(found, chosen)
    if plot is not None:
        out.print(f"\n{chosen.id} is drawn in {plot}.", markup=False, soft_wrap=True)


def _plain(data: dict[str, Any], measure: str | None) -> Any:
    """Data for JSON, of one measure if one was named: what is unknown is null, not NaN."""
    if measure is not None:
        data = data | {"figures": [f for f in data["figures"] if f["measure"] == measure]}

    def known(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: known(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [known(item) for item in value]
        return None if isinstance(value, float) and math.isnan(value) else value

    return known(data)


def _about(study: Study) -> None:
    """What the study is, and what to beware of."""
    out.print(Text(study.label, style="bold"))
    links = [study.url, study.doi and f"doi:{study.doi}", study.arxiv and f"arXiv:{study.arxiv}"]
    out.print(" ".join([study.citation, *filter(None, links)]), markup=False)
    out.print()
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, words in (
        ("task", study.task),
        ("people", study.participants_text),
        ("protocol", study.protocol),
        ("shown", study.shown),
        ("left out", study.exclusions),
        ("standard errors", study.standard_errors),
        ("checked", study.checked),
        ("primary", _primary(study)),
    ):
        table.add_row(name, Text(" ".join(words.split())))
    out.print(table)
    if study.caveats:
        out.print(Text("\nCaveats", style="bold"))
        table = Table.grid(padding=(0, 1))
        for caveat in study.caveats:
            table.add_row("-", Text(caveat))
        out.print(table)


def _primary(study: Study) -> str:
    if study.primary is None:
        return f"none, not pooled. {study.not_pooled}"
    chosen = study.primary
    words = f"{chosen.measure} in {', '.join(chosen.cells)}; {', '.join(chosen.methods)}. "
    return words + chosen.reason


def _figures(study: Study, measure: Measure) -> None:
    """Conditions down, cells across: value [95% interval]."""
    found = {(f.cell, f.condition): f for f in study.table(measure.id)}
    cells = [c.id for c in study.cells if any(key[0] == c.id for key in found)]
    better = {"higher": "higher is better", "lower": "lower is better", "none": "no direction"}
    title = f"\n{measure.id} ({measure.unit}, {better[measure.direction]}, {measure.kind})"
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("condition", no_wrap=True)
    for cell in cells:
        table.add_column(cell, justify="right")
    for condition in study.conditions:
        if any(key[1] == condition.id for key in found):
            name = condition.id
            if condition.kind not in (study.unit, condition.id):
                name += f" ({condition.kind})"
            table.add_row(name, *(_value(found.get((c, condition.id))) for c in cells))
    out.print(table)
    out.print(f"{measure.description}", markup=False)
    states = dict.fromkeys(f.status for f in found.values() if f.status in LEGEND)
    interval = any(not math.isnan(f.low) for f in found.values())
    said = ["[ ] 95% interval"] * interval + [LEGEND[state] for state in states]
    if said:
        out.print("; ".join(said), markup=False)
    out.print(f"Source: {', '.join(dict.fromkeys(f.source for f in found.values()))}", markup=False)
    for figure in found.values():
        if figure.note:
            out.print(f"{figure.cell} / {figure.condition}: {figure.note}", markup=False)


def _value(figure: Figure | None) -> str:
    if figure is None:
        return ""
    digits = max(0, -math.floor(math.log10(figure.precision) + 1e-9))
    words = f"{figure.value:.{digits}f}{MARKS[figure.status]}"
    if not math.isnan(figure.low):
        words += f" [{figure.low:.{digits}f}, {figure.high:.{digits}f}]"
    return words


def _rest(study: Study, measure: Measure) -> None:
    """What else there is."""
    others = [m.id for m in study.measures if m.id != measure.id]
    if others:
        out.print(f"\nOther measures (--measure): {', '.join(others)}", markup=False)
    if study.metrics:
        out.print(f"Published scores (--json): {', '.join(study.metrics)}", markup=False)
    if study.statistics:
        out.print(f"Published statistics (--json): {len(study.statistics)}", markup=False)
    if study.known_variants:
        out.print(f"Variants (--variant): {', '.join(study.known_variants)}", markup=False)
