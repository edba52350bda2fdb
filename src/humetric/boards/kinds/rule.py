"""A rule (anchor): conditions under which the model says the same, whatever else changes."""

from __future__ import annotations

import math
from typing import Any

from humetric.boards.kinds.panel import Block, Panel, Run, Words, bars, count, words
from humetric.boards.kinds.subject import Subject


def panel(data: Any, subject: Subject) -> Panel:
    """The rule as a sentence, what each condition gains, precision and coverage with bounds."""
    conditions, said = data["conditions"], subject.output(data["class"])
    low = _below(data["precision_low"])
    named = [subject.named(c["feature"], c["index"]) for c in conditions]
    share = f" in at least {low:.1f}% of changed {subject.inputs}."
    blocks: list[Block] = []
    if not data["reached"]:
        failed = (
            f"No rule was found that is sure to have a precision of {100 * data['wanted']:g}%. Of "
            f"the most promising one only {low:.1f}% are sure:"
        )
        blocks.append(words(failed, "strong"))
    if named:
        runs = [Run("If ")]
        for i, name in enumerate(named):
            runs += [Run(" and ")] if i else []
            runs.append(Run(name if subject.values else f"“{name}”", "strong"))
        stays = "" if subject.values else " stays" if len(named) == 1 else " stay"
        runs += [Run(f"{stays}, the model says "), Run(said, "strong"), Run(share)]
    else:
        runs = [Run("Always", "strong"), Run(" (no condition is needed): the model says ")]
        runs += [Run(said, "strong"), Run(share)]
    blocks.append(Words(tuple(runs)))
    if named:
        gains = [condition["gain"] for condition in conditions]
        without = 100 * (data["precision"] - sum(gains))
        adds = f"Without conditions the precision is about {without:.1f}%; each condition adds"
        below = " (the map counts what is below 0 as 0)" if min(gains) < 0 else ""
        blocks.append(words(f"{adds}{below}:", "pale"))
        blocks.append(bars(list(zip(named, gains, strict=True))))
    blocks += [
        _bounded("Precision", data, "precision", f"{data['tests']:,} test samples"),
        _bounded("Coverage", data, "coverage", f"{data['drawn']:,} changes at random"),
    ]
    searched = count(data["samples"], "sample", "samples")
    blocks.append(words(f"The search took {searched}, those of the test included.", "pale"))
    return Panel("Rule", tuple(blocks))


def _bounded(label: str, data: Any, name: str, of: str) -> Words:
    middle, low = 100 * float(data[name]), _below(data[f"{name}_low"])
    high = -_below(-float(data[f"{name}_high"]))
    return words(f"{middle:.1f}% of {of} (bounds {low:.1f}% and {high:.1f}%)", label=label)


def _below(share: float) -> float:
    """A bound in per cent, rounded outwards: what it claims must hold as it is written."""
    return math.floor(1000 * float(share) + 1e-9) / 10
