"""A path across the decision boundary: edits one after the other, with the margin after each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from humetric.boards.kinds.panel import Block, Grid, Panel, Run, Words, count, words, writer
from humetric.boards.kinds.subject import Subject

TITLE = "Decision boundary"
ARROW = "\N{RIGHTWARDS ARROW}"
NOTHING = "(nothing)"
"""What stands for a word that was taken out."""


def panel(data: Any, subject: Subject) -> Panel:
    """Step 0, the last steps and how many are left out, and the changed input at the end."""
    steps, explained = data["steps"], subject.output(data["class"])
    start, samples, crossing = float(data["start"]), data["samples"], data["crossing"]
    write = writer([start, *(step["margin"] for step in steps)])
    first = (Run("0"), Run("the case as it is", "pale"), Run(write(start, True)))
    margin = words(
        f"The margin is the logit of {explained} less the highest of the others: positive while "
        f"the model says {explained}.",
        "pale",
    )
    head = ("step", "change", "margin")
    tried = count(samples, "sampled change", "sampled changes")
    if not steps:
        none = f"None of {tried} crosses the boundary."
        return Panel(TITLE, (words(none, "strong"), margin, Grid(head, (first,), True)))
    last = steps[-max(1, data["shown"]) :]
    left = len(steps) - len(last)
    rows = [first]
    if left:
        rows.append((Run(_numbers(steps[:left])), Run("not shown", "pale"), Run("")))
    for step in last:
        change = f"{step['from'] or NOTHING} {ARROW} {step['to'] or NOTHING}"
        if subject.values:
            change = f"{subject.name(step['feature'], step['index'])}: {change}"
        rows.append((Run(str(step["step"])), Run(change), Run(write(step["margin"], True))))
    edits = count(data["edits"], "edit", "edits")
    blocks: list[Block] = [
        words(f"{crossing:,} of {tried} cross the boundary. One with the fewest edits:"),
        margin,
        Grid(head, tuple(rows), True),
        _end(float(steps[-1]["margin"]), explained, edits, subject),
        *_changed(steps, subject),
    ]
    return Panel(TITLE, tuple(blocks))


def _numbers(steps: Sequence[Mapping[str, Any]]) -> str:
    first, last = steps[0]["step"], steps[-1]["step"]
    return f"{first}" if len(steps) == 1 else f"{first} to {last}"


def _end(margin: float, explained: str, edits: str, subject: Subject) -> Words:
    """What the model says at the end; with two classes it can only be the other one."""
    others = [name for name in subject.classes if name != explained]
    if margin > 0:
        said = f"still says {explained}"
    else:
        said = f"says {others[0]}" if len(others) == 1 else f"no longer says {explained}"
    return Words((Run(f"After {edits} the model "), Run(said, "strong"), Run(".")))


def _changed(steps: Sequence[Mapping[str, Any]], subject: Subject) -> list[Block]:
    """The input at the end: texts with new words marked, the changed columns of a row."""
    to = {step["index"]: step["to"] or NOTHING for step in steps}
    if subject.values:
        old = {step["index"]: step["from"] for step in reversed(steps)}
        named = {s["index"]: subject.name(s["feature"], s["index"]) for s in steps}
        rows = tuple((Run(named[i]), Run(old[i]), Run(to[i], "new")) for i in to)
        return [Grid(("changed column", "was", "is"), rows)]
    several = len(subject.written) > 1
    return [
        Words(
            tuple(
                Run(letters.text) if letters.word not in to else Run(to[letters.word], "new")
                for letters in written
            ),
            f"Changed {name}" if several else "Changed text",
        )
        for name, written in subject.written
    ]
