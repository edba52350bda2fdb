"""What the settings of a board are, what they took, and what a reader must know of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from humetric.results.result import Result

HEAD = ["setting", "cases", "evidence", "precision, device"]
SPENT = ["time", "model calls", "code"]

EVIDENCE = (
    "Evidence: how near a setting comes to what people saw: replica (same data, same kind of "
    "model), stand-in (other data or model), toy (embedded: shows nothing about people)."
)
TOOK = (
    "Time and model calls are those of explanations, scores and simulated users as they were "
    "noted when each was made, on the machine that made them; loading, training and boards are "
    "not in them. Calls: forward rows + rows of gradient passes."
)


def settings_part(result: Result) -> list[str]:
    """A section with a line for each setting, in Markdown; nothing where nothing is known."""
    rows = settings_rows(result)
    if not rows:
        return []
    priced = bool(result.spent)
    head = HEAD + SPENT * priced
    marks = footnotes(result)
    lines = [
        _line(row, marks.get(row["setting"], [])) + (_took(row) if priced else []) for row in rows
    ]
    table = [f"| {' | '.join(line)} |" for line in [head, *lines]]
    table.insert(1, "|---|---:|---|---|" + "---:|---:|---|" * priced)
    return ["## What was run", "", *table, "", EVIDENCE + f" {TOOK}" * priced, ""]


def settings_rows(result: Result) -> list[dict[str, Any]]:
    """The same as data."""
    about = result.provenance
    rows = []
    for name in sorted(about.get("about", {})):
        of = about["about"][name]
        row: dict[str, Any] = {
            "setting": name,
            "version": about["settings"][name],
            "cases": about["cases"][name],
            "pairs": about.get("pairs", {}).get(name, []),
            "precision": of.get("precision", about.get("precision", "unknown")),
            "device": str(of.get("device", about.get("device", "unknown"))),
            "notes": list(of.get("notes", ())),
        }
        if name in result.spent:
            spent = result.spent[name]
            row |= {
                "seconds": round(spent.seconds),
                "model_calls": spent.calls,
                "gradient_rows": spent.gradients,
                "revisions": sorted(spent.revisions),
            }
        rows.append(row)
    return rows


def _line(row: dict[str, Any], marks: Sequence[int]) -> list[str]:
    pairs = ", ".join(f"{p['evidence']} of {p['study']} / {p['cell']}" for p in row["pairs"])
    return [
        row["setting"] + "".join(f" [^{mark}]" for mark in marks),
        str(row["cases"]),
        pairs or "no study",
        f"{row['precision']}, {row['device']}",
    ]


def _took(row: dict[str, Any]) -> list[str]:
    calls = f"{row['model_calls']:,} + {row['gradient_rows']:,}"
    return [duration(row["seconds"]), calls, ", ".join(row["revisions"]) or "unknown"]


def duration(seconds: float) -> str:
    """Seconds up to two minutes, minutes up to two hours, then hours."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def footnotes(result: Result) -> dict[str, list[int]]:
    """The numbers of each setting's notes; settings with the same note share its number."""
    numbers = {text: i for i, text in enumerate(_texts(result), 1)}
    return {
        name: [numbers[text] for text in of.get("notes", ())]
        for name, of in sorted(result.provenance.get("about", {}).items())
    }


def _texts(result: Result) -> list[str]:
    about = result.provenance.get("about", {})
    return list(dict.fromkeys(t for name in sorted(about) for t in about[name].get("notes", ())))


def marks_of(result: Result, settings: Iterable[str]) -> str:
    """A line that refers to the notes on some settings; empty if there are none."""
    known = footnotes(result)
    marks = sorted({mark for name in settings for mark in known.get(name, ())})
    return f"To know of these settings:{''.join(f' [^{mark}]' for mark in marks)}" if marks else ""


def footnote_part(result: Result) -> list[str]:
    """The notes, each once, with the settings that it is about."""
    known = footnotes(result)
    return [
        f"[^{mark}]: {', '.join(n for n, marks in known.items() if mark in marks)}: {text}"
        for mark, text in enumerate(_texts(result), 1)
    ]
