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
        failed = "No rule reached the precision that was asked for; this is the best one found."
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
        blocks.append(words("What each condition adds to the precision:", "pale"))
        gains = zip(named, conditions, strict=True)
        blocks.append(bars([(name, condition["gain"]) for name, condition in gains]))
    blocks += [_bounded("Precision", data, "precision"), _bounded("Coverage", data, "coverage")]
    blocks.append(words(f"From {count(data['samples'], 'sample', 'samples')}.", "pale"))
    return Panel("Rule", tuple(blocks))


def _bounded(label: str, data: Any, name: str) -> Words:
    middle, low = 100 * float(data[name]), _below(data[f"{name}_low"])
    high = -_below(-float(data[f"{name}_high"]))
    return words(f"{middle:.1f}% (bounds {low:.1f}% and {high:.1f}%)", label=label)


def _below(share: float) -> float:
    """A bound in per cent, rounded outwards: what it claims must hold as it is written."""
    return math.floor(1000 * float(share) + 1e-9) / 10
