"""A prototype: the known case that another model finds most like this one, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from humetric.boards.kinds.panel import Block, Grid, Panel, Run, Words, bars, words
from humetric.boards.kinds.subject import Subject


def panel(data: Any, subject: Subject) -> Panel:
    """Similarity out of 10, the most similar prototype, and features that it hangs on."""
    owner, said = subject.output(data["class"]), subject.output(data["prediction"])
    eyes = (
        "with what the explained model's last layer sees of cases"
        if data["fixed"]
        else "in its own way of seeing cases"
    )
    other = f"Not the explained model but another, which compares with known cases {eyes}."
    blocks: list[Block] = [words(other, "pale")]
    if said != subject.target:
        differs = f"That model says {said}, not {subject.target}, which is explained."
        blocks.append(words(differs, "strong"))
    similar = f"{float(data['similarity']):.2f} out of 10, to a prototype of {owner}"
    blocks.append(words(similar, label="Similarity"))
    label = data["label"]
    true = "" if label is None else f" (true label: {subject.output(label)})"
    if isinstance(data["case"], str):
        case = (Run(data["case"].strip()), *([Run(true, "pale")] if true else []))
        blocks.append(Words(case, "Most similar prototype"))
    else:
        blocks.append(words(true.strip() or "this row", label="Most similar prototype"))
        blocks.append(_beside(data["case"], subject))
    threshold = f"{float(data['threshold']):.3g}"
    found = [
        (subject.named(f["feature"], f["index"]), f["importance"]) for f in data["importances"]
    ]
    important = f"Important {subject.many}"
    if found:
        told = f"(the {len(found)} largest changes of the similarity, above {threshold})"
        blocks.append(words(told, "pale", important))
        blocks.append(bars(found))
    else:
        blocks.append(words(f"(none selected: none is above {threshold})", label=important))
    return Panel("Prototype", tuple(blocks))


def _beside(case: Sequence[Sequence[str]], subject: Subject) -> Grid:
    """The prototype's values, beside the case's own where they are known; others are marked."""
    own = dict(zip(subject.names, subject.values, strict=False))
    if not own:
        return Grid(("", "prototype"), tuple((Run(n), Run(v)) for n, v in case))
    rows = tuple(
        (Run(name), Run(own.get(name, "")), Run(value, "new" if own.get(name) != value else ""))
        for name, value in case
    )
    return Grid(("column", "this case", "prototype"), rows)
