"""``humetric run``: evaluate methods on the settings of a suite."""

from __future__ import annotations

import math
import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from humetric.cli.app import app, err, out, print_json
from humetric.errors import HumetricError, UnknownNameError

if TYPE_CHECKING:
    from humetric.results.pack import Pack
    from humetric.results.result import Result, Skip
    from humetric.results.store import Store
    from humetric.run.plan import Cost, Plan
    from humetric.suites import Suite
    from humetric.tasks.setting import PlacedSetting, Setting

NAMED = 3
"""Settings that a line about skipped methods names; more are counted."""

Names = Annotated[list[str] | None, typer.Option(help="Only these; may be repeated.")]


@app.command()
def run(
    suite: Annotated[str, typer.Option(help="A suite's name or TOML file.")] = "embedded",
    setting: Names = None,
    method: Names = None,
    metric: Names = None,
    cases: Annotated[int | None, typer.Option(min=1, help="Cases per setting.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:N or mps.")] = "auto",
    precision: Annotated[
        str | None,
        typer.Option(help="fp32, bf16 or fp64 (for checks); default: what the suite says."),
    ] = None,
    batch_size: Annotated[str, typer.Option(help="auto or a number.")] = "auto",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for results; runs/SUITE by default, runs/SUITE-part for a selection.",
        ),
    ] = None,
    published: Annotated[
        str,
        typer.Option(
            help="Published results to start from: a folder, none, or auto: those that are in "
            "leaderboards/ of a suite that says so.",
        ),
    ] = "auto",
    case_seconds: Annotated[
        float, typer.Option(help="Time for a method that is not built in, per case.")
    ] = 60.0,
    memory: Annotated[
        float, typer.Option(help="Memory for a method that is not built in, in GiB.")
    ] = 4.0,
    human_data: Annotated[
        list[Path] | None, typer.Option(help="More studies: a folder; may be repeated.")
    ] = None,
    settings_too: Annotated[
        bool, typer.Option("--settings", help="Print the boards of settings, not only of tasks.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Run methods and metrics on the settings of a suite and print the boards.

    A method may also be a Python file that declares some. Only what the folder lacks is computed.
    """
    from humetric.cli.progress import progress
    from humetric.engine.placement import place
    from humetric.results.published import sizes
    from humetric.results.read import read_result
    from humetric.run.evaluate import batch_sizes, by_id, run_into
    from humetric.run.isolated import Limits
    from humetric.run.pending import replaced
    from humetric.run.plan import costs, make_plan, rows_per_second
    from humetric.run.work import counted
    from humetric.suites import load_suite

    _check_limits(case_seconds, memory)
    chosen = load_suite(suite)
    placement = place(device, precision or chosen.precision)
    names = _choose("setting", setting, [s.id for s in chosen.settings])
    methods = by_id([chosen.method(name) for name in _method_ids(method) or chosen.methods])
    metrics = by_id([chosen.metric(name) for name in metric or chosen.current_metrics()])
    settings = _loaded(names, cases or chosen.cases)
    plan = make_plan(settings, list(methods.values()), list(metrics.values()), chosen.chunk)
    placed = {s.id: s.place(placement) for s in settings}
    part = bool(setting or method or metric or cases)  # must not replace the whole suite's results
    folder = output or Path("runs") / (f"{chosen.id}-part" if part else chosen.id)
    if dry_run:
        _check_folder(folder)
    else:
        _make_folder(folder)
    begun = _published(published, chosen, names)
    store = _begin(begun, folder, dry_run)
    batches = batch_sizes(placed, batch_size, folder, sizes(begun), chosen.batch_sizes())
    expected = list(costs(plan, placed, methods, metrics, chosen.seed, store))
    anew = replaced(plan.items, placed, methods, metrics, chosen.seed, store)
    if dry_run:
        able = {name for item in plan.items for name in item.methods}
        open_ended = [n for n, m in methods.items() if n in able and not counted(m.card)]
        open_ended += [name for name, m in metrics.items() if m.card.scope != "case"]
        _dry_run(plan, expected, placed, batches, anew, open_ended, as_json)
        return
    for line in skip_lines(plan.skips):
        err.print(line, markup=False)
    for note in anew:
        err.print(note, markup=False)
    todo: Counter[str] = Counter()
    for cost in expected:
        todo[cost.item.setting] += cost.forward
    speed = {name: rows_per_second(p, batches[name]) for name, p in placed.items() if todo[name]}
    with progress(err, +todo, speed) as report:
        result = run_into(
            folder,
            plan,
            placed,
            methods,
            metrics,
            batches=batches,
            seed=chosen.seed,
            about={
                "suite": chosen.id,
                "suite_version": chosen.version,
                "pairs": chosen.pairs(names),
            },
            progress=report,
            isolate=Limits(case_seconds, memory),
        )
    for path in result.damaged:
        err.print(f"{path} was damaged and is computed anew", markup=False)
    _show(result, read_result(folder), folder, human_data or [], settings_too, as_json)
    if result.failures:
        raise typer.Exit(1)


def _published(where: str, suite: Suite, settings: list[str]) -> list[Pack]:
    """Packs of settings to start from."""
    from humetric.results.published import is_published, leaderboards, read_published

    if where == "none":
        return []
    place = leaderboards()
    folder = Path(where) if where != "auto" else place / suite.id if place else None
    if where == "auto" and not (suite.published and folder and is_published(folder)):
        return []
    if folder is None or not is_published(folder):
        raise HumetricError(
            f"Expected published results in {where} but there are none: name a folder that has "
            "results/, none, or auto."
        )
    return [p for name, p in read_published(folder).packs.items() if name in settings]


def _begin(begun: list[Pack], folder: Path, dry_run: bool) -> Store:
    """A run's store that starts from published records."""
    from humetric.results.publish import bring, offered
    from humetric.results.store import Store, name_of

    if dry_run:
        return Store(
            folder, elsewhere=frozenset(name_of(of) for pack in begun for of, _ in offered(pack))
        )
    for pack in begun:
        brought = bring(pack, Store(folder))
        if brought:
            err.print(f"{pack.setting}: starts from {brought:,} published records", markup=False)
    return Store(folder)


def _loaded(names: Sequence[str], cases: int) -> list[Setting]:
    """All settings, or an error that says of each what it lacks."""
    from humetric.tasks.named import load_setting

    settings: list[Setting] = []
    lacking: dict[str, list[str]] = {}
    for name in names:
        try:
            settings.append(load_setting(name, cases))
        except HumetricError as error:
            if len(names) == 1:
                raise
            lacking.setdefault(str(error), []).append(name)
    if lacking:
        lines = [f"- {', '.join(those)}: {said}" for said, those in lacking.items()]
        raise HumetricError(
            f"{len(names) - len(settings)} of {len(names)} settings cannot be loaded; --setting "
            "takes only some.\n" + "\n".join(lines)
        )
    return settings


def _method_ids(wanted: list[str] | None) -> list[str]:
    """Names of methods, those that Python files declare among them."""
    from humetric.methods.files import methods_in

    listed = ([w] if not w.endswith(".py") else methods_in(Path(w)) for w in wanted or [])
    return [name for names in listed for name in names]


def _check_limits(case_seconds: float, memory: float) -> None:
    """Limits must be positive, finite numbers."""
    for option, value in (("--case-seconds", case_seconds), ("--memory", memory)):
        if not (math.isfinite(value) and value > 0):
            raise HumetricError(
                f"Expected a number above 0 for {option} but got {value:g}: leave it out for the "
                "usual limit."
            )


def _check_folder(folder: Path) -> None:
    """Whether results could be written, without making anything: by the nearest folder there."""
    near = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    # /proc is a folder that nobody can write to, whatever the permissions of root say.
    if not near.is_dir() or not os.access(near, os.W_OK) or near.resolve().is_relative_to("/proc"):
        raise HumetricError(
            f"Cannot write results to {folder}: {near} is not a folder that can be written to. "
            "Choose another folder with --out."
        )


def _make_folder(folder: Path) -> None:
    """Make sure that results can be written, before they are computed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise HumetricError(
            f"Cannot write results to {folder}: {error.strerror}. Choose another folder with --out."
        ) from None


def _choose(kind: str, wanted: list[str] | None, known: list[str]) -> list[str]:
    from humetric.run.evaluate import unique

    for name in wanted or []:
        if name not in known:
            raise UnknownNameError(kind, name, known)
    unique(wanted or known)
    return wanted or known


def _dry_run(
    plan: Plan,
    expected: list[Cost],
    placed: dict[str, PlacedSetting],
    batches: dict[str, int],
    anew: list[str],
    open_ended: list[str],
    as_json: bool,
) -> None:
    """Print items, model calls, expected time and skipped pairs."""
    from humetric.run.plan import rows_per_second

    speed = {name: rows_per_second(p, batches[name]) for name, p in placed.items()}
    rows: list[dict[str, Any]] = [
        {
            "setting": cost.item.setting,
            "cases": f"{cost.item.start + 1}-{cost.item.stop}",
            "methods": len(cost.item.methods),
            "metrics": len(cost.item.metrics),
            "forward calls": cost.forward,
            "gradient calls": cost.backward,
            "seconds": round(cost.effort / speed[cost.item.setting], 1),
        }
        for cost in expected
    ]
    skips = [{"setting": s.setting, "method": s.method, "reason": s.reason}
             | ({"metric": s.metric} if s.metric else {}) for s in plan.skips]  # fmt: skip
    if as_json:
        print_json(
            {
                "items": rows,
                "skips": skips,
                "batch_size": batches,
                "anew": anew,
                "not_counted": open_ended,
            }
        )
        return
    table = Table(title="Work items (nothing was run)", title_justify="left")
    for column in rows[0]:
        table.add_column(column, justify="left" if column in ("setting", "cases") else "right")
    for row in rows:
        table.add_row(*(f"{v:,}" if isinstance(v, int | float) else v for v in row.values()))
    out.print(table)
    calls = sum(cost.forward + cost.backward for cost in expected)
    seconds = sum(row["seconds"] for row in rows)
    more = f", and what {', '.join(open_ended)} will take, which is not known yet"
    out.print(
        f"{calls:,} model calls, about {seconds:.0f} s on this machine"
        f"{more if open_ended else ''}.",
        markup=False,
    )
    for note in anew:
        out.print(note, markup=False)
    for line in skip_lines(plan.skips):
        out.print(line, markup=False)
    if not skips:
        out.print("Nothing is skipped.")


def skip_lines(skips: Sequence[Skip]) -> list[str]:
    """Skipped pairs in few lines: methods that are skipped for one reason on the same settings.

    Reasons that differ only by the task that a setting has are one: what the method is for.
    """
    where: dict[tuple[str, str], list[str]] = {}
    for skip in skips:
        where.setdefault((skip.name, skip.reason.partition(", not for ")[0]), []).append(
            skip.setting
        )
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (method, reason), settings in where.items():
        groups.setdefault((reason, tuple(settings)), []).append(method)
    lines = []
    for (reason, names), methods in groups.items():
        on = ", ".join(names)
        if len(names) > NAMED:
            kinds = dict.fromkeys(name.partition("/")[0] for name in names)
            on = f"{len(names)} {' and '.join(kinds)} settings"
        it = "it" if len(methods) == 1 else "each"
        lines.append(f"skipped {', '.join(methods)} on {on}: {it} {reason}")
    return lines


def _show(
    result: Result,
    whole: Result,
    folder: Path,
    human_data: list[Path],
    settings: bool,
    as_json: bool,
) -> None:
    """Write and print the boards of the folder, and say where they lie."""
    from humetric.alignment.report import read_reports
    from humetric.alignment.rows import sections_of
    from humetric.boards.files import board_files, judged, write_boards
    from humetric.boards.task_board import boards_of
    from humetric.cli.boards import print_boards

    whole.write_tables(folder)
    found = judged(whole, human_data)
    sections, made = sections_of(read_reports(folder)), boards_of(whole, found.verdicts())
    write_boards(board_files(whole, found, sections, human_data, made), folder, found, sections)
    about = result.provenance
    if as_json:
        print_json(
            {
                "folder": str(folder),
                "scores": whole.records(),
                "failures": [vars(f) for f in result.failures],
                "more": [
                    {"setting": setting, "method": method} | dict(more)
                    for (setting, method), more in whole.more.items()
                ],
                "provenance": about,
            }
        )
    else:
        print_boards(whole, found, made, settings)
        out.print(
            f"{about['model_calls']:,} model calls in {about['seconds']:.1f} s. "
            f"Boards: {folder}/boards; per-case scores: {folder}/scores.csv",
            markup=False,
        )
    for failure in result.failures:
        what = f"{failure.metric} of {failure.method}" if failure.metric else failure.method
        err.print(f"failed: {what} on {failure.setting}. {failure.message}", markup=False)
