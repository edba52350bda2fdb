"""``humetric alignment``: do models look where people expect them to?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from humetric.cli.app import app, err, out, print_json
from humetric.errors import HumetricError


@app.command()
def alignment(
    settings: Annotated[
        list[str] | None,
        typer.Argument(help="Settings, or beginnings such as nli; default: nli, then other texts."),
    ] = None,
    method: Annotated[
        str, typer.Option(help="Whose attributions are the model's importances.")
    ] = "integrated-gradients",
    features: Annotated[str, typer.Option(help="tokens (the model's own) or words.")] = "tokens",
    cases: Annotated[int | None, typer.Option(min=2, help="Cases; default: all.")] = None,
    marks: Annotated[
        Path | None, typer.Option(help="Marks and explanations of one setting, JSON Lines.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder of a run: maps, table and board go there; by default runs/embedded, for "
            "real data runs/standard.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the other explanations that are drawn.")] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")] = "auto",
    precision: Annotated[str, typer.Option(help="fp32 or fp64.")] = "fp32",
    as_json: Annotated[bool, typer.Option("--json", help="The board's rows as JSON.")] = False,
) -> None:
    """Measure importance alignment of models (Prasad et al. 2021) and make the model board.

    What was computed before is read from the folder. Models of one data set are compared with each
    other; `humetric boards build` makes the board again from the stored table.
    """
    from humetric.alignment.accuracy import embedded_accuracy
    from humetric.alignment.importance import refusal
    from humetric.alignment.measure import measure_named
    from humetric.alignment.real import accuracy as real_accuracy
    from humetric.alignment.real import settings_with_reasons
    from humetric.alignment.report import make_report, read_reports, write_report
    from humetric.alignment.rows import sections_of
    from humetric.boards.files import FOLDER, write_boards
    from humetric.boards.model_board import HOW_TO_READ, model_board_files, terminal
    from humetric.engine.placement import place
    from humetric.human.read import load_studies
    from humetric.methods import METHODS
    from humetric.results.store import Store
    from humetric.tasks.named import load_setting

    chosen = _settings(settings or [])
    if marks is not None and len(chosen) != 1:
        raise HumetricError(
            f"Expected one setting with --marks but got {len(chosen)}: marks are of its cases."
        )
    real = settings_with_reasons()
    if folder is None:
        folder = Path("runs") / ("standard" if chosen[0] in real else "embedded")
    explainer, placement, store = METHODS.make(method), place(device, precision), Store(folder)
    groups: dict[str, list[str]] = {}
    for name in chosen:
        groups.setdefault(name.rpartition("/")[0], []).append(name)
    made = []
    for names in groups.values():
        found, accuracy, refused = [], {}, {}
        for name in names:
            why = refusal(explainer, load_setting(name, 1))
            if why:
                refused[name] = why
                continue
            with err.status(f"{name}: importances and oracles"):
                found.append(
                    measure_named(
                        name, explainer, cases=cases, level=features, seed=seed, marks=marks,
                        placement=placement, store=store,
                    )
                )  # fmt: skip
            with err.status(f"{name}: accuracy"):
                find = real_accuracy if name in real else embedded_accuracy
                accuracy[name] = find(name)
        for name, why in refused.items():
            err.print(f"{name} is left out: {why}.", markup=False)
        if found:
            made.append(make_report(found, accuracy, seed, refused))
            write_report(made[-1], folder)
    if not made:
        raise HumetricError(f"No setting was measured: {method} cannot explain any of them.")
    study = load_studies()["prasad2021"]
    sections = sections_of(read_reports(folder))
    written = write_boards(model_board_files(sections, study), folder, sections=sections)
    just_made = {report.name for report in made}
    shown = [section for section in sections if section.report.name in just_made]
    if as_json:
        import json

        print_json(json.loads(model_board_files(shown, study)["models.json"]))
        return
    out.print(terminal(shown, study))
    out.print(HOW_TO_READ, markup=False)
    out.print(
        f"\nBoard: {folder / FOLDER} ({', '.join(path.name for path in written)})", markup=False
    )


def _settings(wanted: list[str]) -> list[str]:
    """Settings by name or by how they begin; inference first, since it has all three oracles.

    Settings on real data are meant where no embedded one begins so: nli/anli, not nli.
    """
    from humetric.alignment.real import settings_with_reasons
    from humetric.errors import UnknownNameError
    from humetric.tasks.named import embedded_settings

    known = embedded_settings()
    if not wanted:
        texts = [name for name in known if not name.startswith("image/")]
        return sorted(texts, key=lambda name: (not name.startswith("nli/"), name))
    real = settings_with_reasons()
    found: dict[str, None] = {}
    for name in wanted:
        for some in (known, real):
            fitting = [k for k in some if k == name or k.startswith(name.rstrip("/") + "/")]
            if fitting:
                break
        else:
            raise UnknownNameError("setting", name, [*known, *real])
        found |= dict.fromkeys(fitting)
    return list(found)
