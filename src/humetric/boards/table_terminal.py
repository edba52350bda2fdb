"""One row of a table for a terminal: columns below each other, methods side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.style import Style
from rich.table import Table
from rich.text import Text

from humetric.boards.kinds import panels, terminal
from humetric.boards.kinds.panel import writer
from humetric.boards.kinds.subject import of_table
from humetric.boards.page_parts import missing, name_of, name_of_case
from humetric.boards.pieces import class_verdict, clean
from humetric.boards.scale import word_scale
from humetric.boards.terminal_parts import metric_lines, print_lines
from humetric.run.look import Look
from humetric.run.shown_table import ShownTable

HALF = 4
"""Cells of a bar to either side of its middle."""
PALE = Style(dim=True)


def print_table(look: Look[ShownTable], console: Console) -> None:
    """Print a case to a console, in its width and with its colours."""
    print_lines(lines(look, console.width), console)


def lines(look: Look[ShownTable], width: int) -> Iterator[RenderableType]:
    """The case: its columns and attributions, then what there is to say of each method."""
    yield Text(name_of_case(look), "bold")
    yield Text(f"{class_verdict(look, look.shown.predicted)}.")
    for names in _fitting(look, width):
        yield Text()
        yield _table(look, names)
    if look.maps:
        yield Text()
        yield Text(
            "A bar to the right of │ speaks for the explained class, one to the left against it; "
            "a bar without │ is importance without a sign. Each method has its own scale.",
            PALE,
        )
    for name, card in look.methods.items():
        yield Text()
        head = Text(name_of(card), "bold")
        if name not in look.maps:
            yield head.append(f" {missing(look, name)}", "not bold")
            continue
        yield head
        yield from metric_lines(look, name, width)
        yield from terminal.draw(panels(look, name, of_table(look)), width)


def _fitting(look: Look[ShownTable], width: int) -> Iterator[list[str]]:
    """Methods in groups that fit beside each other, at least one in each."""
    names = [name for name in look.methods if name in look.maps]
    group: list[str] = []
    for name in names:
        if group and _width(_table(look, [*group, name])) > width:
            yield group
            group = []
        group.append(name)
    yield group


def _width(table: Table) -> int:
    console = Console(width=10_000)
    return Measurement.get(console, console.options, table).maximum


def _table(look: Look[ShownTable], names: Sequence[str]) -> Table:
    """A line for each column: its name, its value, and each method's number with its bar."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for head in ("column", "value"):
        table.add_column(head, overflow="fold", header_style="bold")
    drawn = []
    for name in names:
        table.add_column(Text(name_of(look.methods[name])), overflow="fold", header_style="bold")
        drawn.append(_cells(look, name))
    for i, (column, value) in enumerate(zip(look.shown.columns, look.shown.values, strict=True)):
        table.add_row(Text(clean(column)), Text(clean(value)), *(cells[i] for cells in drawn))
    return table


def _cells(look: Look[ShownTable], name: str) -> list[Text]:
    """A method's number and bar for each column; numbers end below each other."""
    values, signed = look.maps[name], look.methods[name].signed
    scale, write = word_scale(values, signed), writer(values)
    written = [write(value, signed) for value in values]
    longest = max(map(cell_len, written), default=0)
    return [
        Text(f"{text.rjust(longest)} ").append_text(
            terminal.bar(scale.share(float(value)), HALF, signed)
        )
        for text, value in zip(written, values, strict=True)
    ]
