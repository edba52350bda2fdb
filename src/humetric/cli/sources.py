"""``humetric sources``: data and weights that are not shipped, where they are, and checks."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from humetric.cli.app import app, err, out, print_json

if TYPE_CHECKING:
    from humetric.data.sources import Found, Source
    from humetric.data.sources.check import Verdict

STYLES = {"ok": "green", "differs": "bold red", "not found": "yellow", "missing": "yellow"}

sources = typer.Typer(
    help="Data and weights that are not shipped.", add_completion=False, rich_markup_mode=None
)
app.add_typer(sources, name="sources")


@sources.callback(invoke_without_command=True)
def list_sources(
    context: typer.Context,
    as_json: Annotated[
        bool, typer.Option("--json", help="As JSON, with places, checksums and ways to get them.")
    ] = False,
) -> None:
    """List all data sets and weights that are not shipped, and where each was found.

    Found are an explicit path, the folder that HUMETRIC_MIRROR names, an installed package or what
    was fetched from the hub, in this order. Nothing is fetched to make the list.
    """
    if context.invoked_subcommand is not None:
        return
    from humetric.data.sources import SOURCES, look
    from humetric.data.sources.lookup import mirror

    rows = [(source, look(source)) for source in SOURCES.values()]
    if as_json:
        print_json([_plain(*row) for row in rows])
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("source", "kind", "rows", "MB", "licence", "found"):
        right = column in ("rows", "MB")
        table.add_column(column, justify="right" if right else "left", no_wrap=column != "licence")
    for source, found in rows:
        table.add_row(*_cells(source, found))
    out.print(table)
    out.print(f"HUMETRIC_MIRROR: {mirror() or 'not set'}", markup=False, soft_wrap=True)
    if any(found is None for _, found in rows):
        out.print("docs/sources.md and --json say how to get what is missing.", markup=False)


@sources.command("check")
def check_sources(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[SOURCE]...", help="By default all.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="What is not found counts as a failure.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Verify checksums and numbers of rows of what is there; nothing is fetched.

    Exits with 1 if anything differs from its declaration.
    """
    from humetric.data.sources import SOURCES, look
    from humetric.data.sources.check import check
    from humetric.data.sources.lookup import declared

    verdicts: list[Verdict] = []
    with err.status("checking") as status:
        for source in [declared(name, SOURCES) for name in names or SOURCES]:
            status.update(f"checking {source.name}")
            verdicts += check(source, look(source))
    states = [verdict.state for verdict in verdicts]
    if as_json:
        print_json([asdict(verdict) for verdict in verdicts])
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in ("source", "part", "found", "state", ""):
            table.add_column(column, no_wrap=column != "")
        for v in verdicts:
            table.add_row(v.source, v.part, v.how, Text(v.state, STYLES[v.state]), Text(v.said))
        out.print(table)
        counts = (f"{states.count(s)} {s}" for s in ("ok", "differs", "not found") if s in states)
        out.print(", ".join(counts), markup=False)
    if "differs" in states or (everything and "not found" in states):
        raise typer.Exit(1)


def _cells(source: Source, found: Found | None) -> list[str | Text]:
    """A line of the list, for the parts of the place where it was found."""
    parts = found.parts if found else source.parts
    where = Text(found.how, STYLES["ok"]) if found else Text("missing", STYLES["missing"])
    online = [("PyPI", source.package), ("hub", source.hub and source.hub.revision)]
    if found is None and any(there for _, there in online):
        where.append(f" ({', '.join(name for name, there in online if there)})")
    size = sum(part.size for part in parts)
    rows = sum(part.rows for part in parts)
    return [
        source.name,
        source.kind,
        f"{rows:,}" if rows else "",
        f"{size / 1e6:.1f}" if size else "?",
        source.licence,
        where,
    ]


def _plain(source: Source, found: Found | None) -> dict[str, Any]:
    from humetric.data.sources.lookup import ways

    return {
        "source": source.name,
        "kind": source.kind,
        "title": source.title,
        "licence": source.licence,
        "citation": source.citation,
        "remark": source.remark,
        "parts": [asdict(part) for part in (found.parts if found else source.parts)],
        "hub": asdict(source.hub) if source.hub else None,
        "package": source.package.install if source.package else None,
        "found": found.how if found else None,
        "path": str(found.path) if found else None,
        "ways": ways(source),
    }
