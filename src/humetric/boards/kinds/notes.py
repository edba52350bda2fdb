"""What else methods say: sentences, words that speak for classes, and kinds not known here."""

from __future__ import annotations

import json
from typing import Any

from humetric.boards.kinds.panel import Block, Panel, Run, Words, words, writer
from humetric.boards.kinds.subject import Subject

LONGEST = 2000
"""Letters of an unknown kind that are shown."""


def note(data: Any, subject: Subject) -> Panel:
    """A sentence, or several."""
    said = [data] if isinstance(data, str) else list(data)
    return Panel("", tuple(words(_sentence(text)) for text in said))


def student(data: Any, subject: Subject) -> Panel:
    """What a model that imitates the explained one is like."""
    listed = "; ".join(f"{name} {value}" for name, value in data.items())
    return Panel("", (words(f"{listed}.", label="Student of the model"),))


def cues(data: Any, subject: Subject) -> Panel:
    """The words that speak most for each class, heaviest first."""
    blocks: list[Block] = [words("Of the whole setting, not of this case alone.", "pale")]
    for index, listed in enumerate(data):
        write = writer([cue["weight"] for cue in listed])
        runs: list[Run] = []
        for cue in listed:
            runs += [Run(", ")] if runs else []
            place = f" ({cue['segment']})" if "segment" in cue else ""
            runs += [Run(cue["word"], "strong"), Run(f"{place} {write(cue['weight'])}", "pale")]
        blocks.append(Words(tuple(runs), f"For {subject.output(index)}"))
    return Panel("Words that speak for a class", tuple(blocks))


def unknown(kind: str, data: Any) -> Panel:
    """Data of a kind that no renderer knows, or that is not what its renderer expects."""
    text = json.dumps(data, ensure_ascii=False, separators=(", ", ": "))
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}… ({len(text) - LONGEST:,} more characters)"
    return Panel(kind, (words(text, "code"),))


def _sentence(text: str) -> str:
    """With a capital at its beginning and a full stop at its end."""
    text = str(text).strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
