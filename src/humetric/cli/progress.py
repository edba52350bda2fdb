"""Progress of long work: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from humetric.run.execute import Progress as Report
from humetric.run.work import Item

EVERY = 5.0
"""Seconds between plain lines."""


class Rate(ProgressColumn):
    """Model calls per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f} calls/s" if task.speed else "", style="cyan")


@contextmanager
def progress(console: Console, total: int) -> Iterator[Report]:
    """A function to call with (item, rows) as work goes on; ``total`` rows are expected."""
    if console.is_terminal:
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            Rate(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        ) as bar:
            task = bar.add_task("starting", total=total)
            yield lambda item, rows: bar.update(task, advance=rows, description=_doing(item))
    else:
        yield _lines(console, total)


def _lines(console: Console, total: int) -> Report:
    began = said = time.monotonic()
    done = 0

    def report(item: Item, rows: int) -> None:
        nonlocal done, said
        done += rows
        now = time.monotonic()
        if done and now - said >= EVERY:
            said = now
            rate = done / (now - began)
            left = max(0, total - done) / rate
            console.print(
                f"{_doing(item)}: {done:,} of {total:,} model calls, "
                f"{rate:,.0f}/s, about {left:.0f} s left",
                markup=False,
            )

    return report


def _doing(item: Item) -> str:
    return f"{item.setting} cases {item.start + 1}-{item.stop}"
