"""A table of how good the models of settings on real data are, beside the studies' own.

Scores were measured on the whole pool when the cases were chosen (``humetric train SETTING
--choose``) and stand in cases.json; `humetric models` prints them. Nothing is measured here, since
neither the data nor all of the weights are shipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from humetric.models.text_table import Table
from humetric.settings.declarations import DECLARED
from humetric.settings.declared import Declared
from humetric.settings.files import cases_file

NOT_SCORES = ("pool", "mean", "std")
"""Numbers in cases.json that are not how good the model is."""


def scores(chosen: dict[str, Any]) -> dict[str, float]:
    """What was measured of the model on the pool, by name."""
    return {
        name: value
        for name, value in chosen.items()
        if isinstance(value, int | float) and name not in NOT_SCORES
    }


def table(declared: Sequence[Declared] = DECLARED) -> Table:
    """A row for each score of each setting whose cases are chosen."""
    rows = []
    for one in declared:
        if not cases_file(one.id).exists():
            continue
        chosen = json.loads(cases_file(one.id).read_text())
        found = scores(chosen)
        for name in dict.fromkeys((*one.published, *found)):
            ours = f"{found[name]:.3f}" if name in found else ""
            theirs = f"{one.published[name]:.3f} ({one.study})" if name in one.published else ""
            rows.append((one.id, name, ours, theirs, f"{chosen['pool']:,}"))
    return Table(
        "Models on real data",
        "Scores on the whole pool, of which the explained cases are a balanced few. The studies' "
        "own models are other ones, trained on more: see below.",
        ("setting", "score", "here", "the study's", "pool"),
        tuple(rows),
    )


def document(found: Table, declared: Iterable[Declared] = DECLARED) -> str:
    """The table and what to know of each setting, as a page."""
    head = (
        "# Models of the standard suite\n\nWritten by `humetric models --output docs` from what "
        "`humetric train SETTING --choose` measured; nothing here is typed in. Data and weights "
        "that are not shipped: [sources](sources.md).\n\n"
    )
    notes = []
    for one in declared:
        if cases_file(one.id).exists():
            shipped = "trained weights ship" if one.ships else "weights are not shipped"
            made = f"{shipped}; `humetric train {one.id}` takes about {one.minutes:g} min"
            if one.train is None:
                made = "nothing is trained"
            said = " ".join(f"{note.rstrip('.')}." for note in one.notes)
            notes.append(f"- **{one.id}**: {one.summary} ({made}). {said}".rstrip())
    return head + found.markdown() + "\n## Where they depart\n\n" + "\n".join(notes) + "\n"
