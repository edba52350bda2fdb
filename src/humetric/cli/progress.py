"""Progress of long work: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
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
        taken = task.elapsed
        rate = task.fields.get("calls", 0) / taken if taken else 0
        return Text(f"{rate:,.0f} calls/s" if rate else "", style="cyan")


@contextmanager
def progress(
    console: Console, expected: Mapping[str, int], speed: Mapping[str, float]
) -> Iterator[Report]:
    """A function to call with (item, rows) as work goes on.

    ``expected`` are the rows that each setting will take, ``speed`` its rows per second: a row of a
    table takes a thousandth of an image's time, so that rows alone say little about what is left.
    """
    work = sum(rows / speed[setting] for setting, rows in expected.items())
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
            task = bar.add_task("starting", total=work, calls=0)
            calls = 0

            def advance(item: Item, rows: int) -> None:
                nonlocal calls
                calls += rows
                share = rows / speed.get(item.setting, math.inf)  # inf: none were expected
                bar.update(task, advance=share, description=_doing(item), calls=calls)

            yield advance
    else:
        yield _lines(console, sum(expected.values()), work, speed)


def _lines(console: Console, total: int, work: float, speed: Mapping[str, float]) -> Report:
    began = said = time.monotonic()
    calls, done = 0, 0.0

    def report(item: Item, rows: int) -> None:
        nonlocal calls, done, said
        calls, done = calls + rows, done + rows / speed.get(item.setting, math.inf)
        now = time.monotonic()
        if done and now - said >= EVERY:
            said = now
            left = max(0.0, work / done - 1) * (now - began)
            console.print(
                f"{_doing(item)}: {calls:,} of {total:,} model calls, "
                f"{min(1.0, done / work):.0%} of the work, about {left:.0f} s left",
                markup=False,
            )

    return report


def _doing(item: Item) -> str:
    return f"{item.setting} cases {item.start + 1}-{item.stop}"
