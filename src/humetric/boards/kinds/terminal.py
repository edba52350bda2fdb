"""Panels for a terminal. What stands out by its looks has signs as well; nothing steers it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from humetric.boards.kinds.panel import Bars, Block, Grid, Panel, Run, Words
from humetric.boards.pieces import clean

PLUS, MINUS, UNSIGNED = "#be181e", "#3c78e6", "#a050c8"
"""Colours of bars, visible on black and on white."""
LOOKS = {
    "": Style(),
    "strong": Style(bold=True),
    "pale": Style(dim=True),
    "new": Style(bold=True, underline=True),
    "code": Style(),
}
INDENT = 2
HALF = 16
"""Cells of a bar to either side of its middle, where there is room."""


def draw(panels: Sequence[Panel], width: int) -> Iterator[RenderableType]:
    """Panels below each other, for so many columns."""
    for panel in panels:
        if panel.title:
            yield Text()
            yield _indented(Text(clean(panel.title), Style(bold=True, italic=True)))
        for block in panel.blocks:
            yield _indented(_block(block, width - INDENT))


def bar(share: float, half: int, signed: bool = True) -> Text:
    """A bar for a share from -1 to 1 around a middle, or for one from 0 to 1 from the left.

    What is at least a hundredth has a cell.
    """
    if not signed:
        long = _cells(share, 2 * half + 1)
        return Text("█" * long, UNSIGNED).append(" " * (2 * half + 1 - long))
    long = _cells(abs(share), half)
    left, right = (long, 0) if share < 0 else (0, long)
    found = Text(" " * (half - left)).append("█" * left, MINUS).append("│", Style(dim=True))
    return found.append("█" * right, PLUS).append(" " * (half - right))


def _cells(share: float, most: int) -> int:
    return min(most, max(int(share >= 0.01), round(share * most)))


def _block(block: Block, width: int) -> RenderableType:
    if isinstance(block, Words):
        return _line(block)
    return _bars(block, width) if isinstance(block, Bars) else _grid(block)


def _line(block: Words) -> Text:
    line = Text(overflow="fold")
    if block.label:
        line.append(f"{clean(block.label)}: ", Style(bold=True))
    for run in block.runs:
        line.append_text(_run(run))
    return line


def _run(run: Run) -> Text:
    text = clean(str(run.text))
    return Text(f"*{text}*" if run.stress == "new" else text, LOOKS[run.stress], overflow="fold")


def _bars(block: Bars, width: int) -> Table:
    """Names, numbers, and bars where at least a few cells are left for them."""
    largest = max((abs(row.value) for row in block.rows), default=0.0) or 1.0
    names = [*(row.name for row in block.rows), *(name for name, _ in block.totals)]
    numbers = [*(row.text for row in block.rows), *(text for _, text in block.totals)]
    longest = max((cell_len(clean(text)) for text in names), default=0)
    free = width - max(map(len, numbers), default=0) - 4
    half = min(HALF, (free - min(longest, free // 2) - 1) // 2)
    table = _table()
    table.add_column(overflow="fold", max_width=max(1, free // 2))
    table.add_column(justify="right", no_wrap=True)
    if half >= 3:
        table.add_column(no_wrap=True)
    for row in block.rows:
        drawn = [bar(row.value / largest, half)] if half >= 3 else []
        table.add_row(Text(clean(row.name)), Text(row.text), *drawn)
    if block.rows and block.totals:
        cells = max(map(cell_len, numbers))
        table.add_row(Text(), Text("─" * cells, Style(dim=True)))
    for name, text in block.totals:
        table.add_row(Text(clean(name)), Text(text))
    return table


def _grid(block: Grid) -> Table:
    table = _table()
    table.show_header = any(block.head)
    for i, name in enumerate(block.head):
        number = block.numeric and i == len(block.head) - 1
        table.add_column(
            Text(clean(name)),
            justify="right" if number else "left",
            no_wrap=number,
            overflow="fold",
            header_style=Style(dim=True),
        )
    for cells in block.rows:
        table.add_row(*map(_run, cells))
    return table


def _table() -> Table:
    return Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)


def _indented(drawn: RenderableType) -> Padding:
    return Padding(drawn, (0, 0, 0, INDENT), expand=False)
