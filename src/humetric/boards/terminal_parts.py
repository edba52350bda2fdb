"""What terminals show of texts and of tables alike: metrics in lines, and printing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console, RenderableType
from rich.text import Text

from humetric.boards.page_parts import cell
from humetric.boards.render import ARROWS
from humetric.run.look import Look


def metric_lines(look: Look[object], name: str, width: int) -> Iterator[Text]:
    """The metrics of a method in lines that part between metrics."""
    line = ""
    for metric, card in look.metrics.items():
        entry = f"{metric} {ARROWS[card.direction]} {cell(look, name, metric)}"
        if line and len(line) + 3 + len(entry) > width:
            yield Text(line)
            line = ""
        line += f"   {entry}" if line else entry
    yield Text(line)


def has_colours(console: Console) -> bool:
    """Whether what is printed keeps its colours."""
    return console.color_system is not None and not console.no_color


def print_lines(lines: Iterable[RenderableType], console: Console) -> None:
    """Print what is drawn, words broken where a line ends."""
    for line in lines:
        console.print(line, overflow="fold")
