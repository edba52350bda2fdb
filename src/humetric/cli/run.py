"""``humetric run``: evaluate methods on the settings of a suite."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from humetric.cli.app import app, err, out, print_json
from humetric.errors import HumetricError, UnknownNameError
from humetric.results.files import write_whole

if TYPE_CHECKING:
    from humetric.results.result import Result
    from humetric.run.plan import Cost, Plan
    from humetric.tasks.setting import PlacedSetting

Names = Annotated[list[str] | None, typer.Option(help="Only these; may be repeated.")]


@app.command()
def run(
    suite: Annotated[str, typer.Option(help="A suite's name or TOML file.")] = "embedded",
    setting: Names = None,
    method: Names = None,
    metric: Names = None,
    cases: Annotated[int | None, typer.Option(min=1, help="Cases per setting.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:N or mps.")] = "auto",
    precision: Annotated[str, typer.Option(help="fp32, bf16 or fp64 (for checks).")] = "fp32",
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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Run methods and metrics on the settings of a suite and print the boards."""
    from humetric.cli.progress import progress
    from humetric.engine.placement import place
    from humetric.run.evaluate import by_id
    from humetric.run.execute import execute
    from humetric.run.plan import costs, find_batch_size, make_plan
    from humetric.suites import load_suite
    from humetric.tasks.setting import load_setting

    placement = place(device, precision)
    chosen = load_suite(suite)
    names = _choose("setting", setting, [s.id for s in chosen.settings])
    methods = by_id([chosen.method(name) for name in method or chosen.methods])
    metrics = by_id([chosen.metric(name) for name in metric or chosen.metrics])
    settings = [load_setting(name, cases or chosen.cases) for name in names]
    plan = make_plan(settings, list(methods.values()), list(metrics.values()), chosen.chunk)
    placed = {s.id: s.place(placement) for s in settings}
    batches = {name: find_batch_size(p, batch_size) for name, p in placed.items()}
    expected = list(costs(plan, placed, methods, metrics, chosen.seed))
    if dry_run:
        _dry_run(plan, expected, placed, batches, as_json)
        return
    part = bool(setting or method or metric or cases)  # must not replace the whole suite's results
    folder = _make_folder(output or Path("runs") / (f"{chosen.id}-part" if part else chosen.id))
    for skip in plan.skips:
        err.print(f"skipped {skip.method} on {skip.setting}: it {skip.reason}", markup=False)
    with progress(err, sum(cost.forward for cost in expected)) as report:
        result = execute(
            plan,
            placed,
            methods,
            metrics,
            seed=chosen.seed,
            batches=batches,
            about={"suite": chosen.id, "suite_version": chosen.version},
            progress=report,
        )
    result.write(folder)
    _show(result, folder, as_json)
    if result.failures:
        raise typer.Exit(1)


def _make_folder(folder: Path) -> Path:
    """Make sure that results can be written, before they are computed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise HumetricError(
            f"Cannot write results to {folder}: {error.strerror}. Choose another folder with --out."
        ) from None
    return folder


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
    skips = [{"setting": s.setting, "method": s.method, "reason": s.reason} for s in plan.skips]
    if as_json:
        print_json({"items": rows, "skips": skips, "batch_size": batches})
        return
    table = Table(title="Work items (nothing was run)", title_justify="left")
    for column in rows[0]:
        table.add_column(column, justify="left" if column in ("setting", "cases") else "right")
    for row in rows:
        table.add_row(*(f"{v:,}" if isinstance(v, int | float) else v for v in row.values()))
    out.print(table)
    calls = sum(cost.forward + cost.backward for cost in expected)
    seconds = sum(row["seconds"] for row in rows)
    out.print(f"{calls:,} model calls, about {seconds:.0f} s on this machine.")
    for skip in skips:
        out.print(
            f"skipped {skip['method']} on {skip['setting']}: it {skip['reason']}", markup=False
        )
    if not skips:
        out.print("Nothing is skipped.")


def _show(result: Result, folder: Path, as_json: bool) -> None:
    """Print the boards and say where they lie."""
    from humetric.boards.method_board import legend, method_boards

    boards = method_boards(result)
    text = "\n".join(board.markdown() for board in boards)
    write_whole(folder / "boards.md", f"{text}\n{legend(result)}\n")
    if as_json:
        print_json(
            {
                "folder": str(folder),
                "scores": result.records(),
                "failures": [vars(f) for f in result.failures],
                "provenance": result.provenance,
            }
        )
    else:
        for board in boards:
            out.print(board.table())
        out.print(legend(result), markup=False)
        about = result.provenance
        out.print(
            f"{about['model_calls']:,} model calls in {about['seconds']:.1f} s. Boards: "
            f"{folder}/boards.md; per-case scores: {folder}/scores.csv",
            markup=False,
        )
    for failure in result.failures:
        what = f"{failure.metric} of {failure.method}" if failure.metric else failure.method
        err.print(f"failed: {what} on {failure.setting}. {failure.message}", markup=False)
