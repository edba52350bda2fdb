"""Marks and explanations of cases: by people, or by what was planted.

A file of them is JSON Lines, a line for each case::

    {"case": "case-0001",
     "explanation": "A terrier is a dog.",
     "annotators": [[["premise", 2, 9]], [["premise", 2, 9], ["hypothesis", 2, 5]]]}

``annotators`` has a list for each annotator, of (segment, start, stop): characters of that segment,
counted from 0, stop excluded; an annotator who marked nothing has an empty list. Both entries may
be missing. Embedded data have one annotator, who is nobody: the marks are where the generator put
the words that decide, and are called planted. Some real data have reasons that people wrote and no
marks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from humetric.errors import HumetricError
from humetric.tasks.setting import Setting

Mark = tuple[int, int, int]
"""Segment, start, stop."""

Annotator = tuple[Mark, ...]
"""What one annotator marked in a case."""

Source = Literal["planted", "people", "reasons"]
NO_MARKS = "no human marks"


@dataclass(frozen=True)
class Marks:
    """Of the cases of a setting, in their order."""

    explanations: tuple[str, ...]
    """Empty where there is none."""
    annotators: tuple[tuple[Annotator, ...], ...]
    """Empty where nobody looked at the case."""
    source: Source

    @property
    def explained(self) -> bool:
        """Whether any case has an explanation."""
        return any(self.explanations)

    @property
    def marked(self) -> bool:
        """Whether anybody marked any case."""
        return any(self.annotators)


def planted(setting: Setting) -> Marks | None:
    """Marks and explanations of an embedded text setting; None for all others.

    Data without reasons (all but inference) have marks only.
    """
    from humetric.data.embedded.inference import Pair
    from humetric.data.embedded.texts import marks_of
    from humetric.models.convnet import WEIGHTS
    from humetric.tasks.embedded_text import samples_of
    from humetric.tasks.named import embedded_settings

    if setting.texts is None or setting.id not in embedded_settings():
        return None
    chosen = json.loads((WEIGHTS / setting.id / "cases.json").read_text())
    rows = {f"{chosen['data']}-{row['index']:04d}": row for row in chosen["cases"]}
    if not set(setting.ids) <= rows.keys():
        return None
    samples = samples_of(setting.id, [rows[id] for id in setting.ids], chosen["data"])
    return Marks(
        tuple(s.reason if isinstance(s, Pair) else "" for s in samples),
        tuple(
            (
                tuple(
                    (part, start, stop)
                    for part, spans in enumerate(marks_of(sample))
                    for start, stop in spans
                ),
            )
            for sample in samples
        ),
        "planted",
    )


def read_marks(path: Path, setting: Setting) -> Marks:
    """Marks of a setting's cases from a file; cases that are not in it have none."""
    if setting.texts is None:
        raise HumetricError(f"Expected a text setting but {setting.id} is none.")
    found: dict[str, tuple[str, tuple[Annotator, ...]]] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise HumetricError(f"Cannot read {path}: {error}.") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"line {number} of {path}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise HumetricError(f"Expected JSON in {where} but {error}.") from None
        if not isinstance(row, dict) or not isinstance(row.get("case"), str):
            raise HumetricError(f"Expected an object with the id of a case in {where}.")
        if row["case"] in found:
            raise HumetricError(f"{where} has the case {row['case']} a second time: drop one.")
        found[row["case"]] = _row(row, setting, where)
    if not found.keys() & set(setting.ids):
        raise HumetricError(
            f"Expected marks of the cases of {setting.id}, such as {setting.ids[0]}, in {path} but "
            f"none of its {len(found)} cases is among them."
        )
    listed = [found.get(id, ("", ())) for id in setting.ids]
    return Marks(tuple(e for e, _ in listed), tuple(a for _, a in listed), "people")


def _row(row: Mapping[str, Any], setting: Setting, where: str) -> tuple[str, tuple[Annotator, ...]]:
    assert setting.texts is not None
    explanation, annotators = row.get("explanation", ""), row.get("annotators", [])
    if not isinstance(explanation, str) or not isinstance(annotators, list):
        raise HumetricError(f"Expected a text as explanation and a list of annotators in {where}.")
    if row["case"] not in setting.ids:
        return explanation, ()
    raw = setting.texts.raw[setting.ids.index(row["case"])]
    names = setting.texts.names
    return explanation, tuple(
        tuple(_mark(mark, names, raw, where) for mark in marks) for marks in annotators
    )


def _mark(mark: Any, names: Sequence[str], raw: Sequence[str], where: str) -> Mark:
    """A mark that is within its segment."""
    wanted = f"a mark [segment, start, stop] with a segment of {', '.join(names)}"
    if not isinstance(mark, list) or len(mark) != 3 or mark[0] not in names:
        raise HumetricError(f"Expected {wanted} in {where} but got {mark!r}.")
    part = names.index(mark[0])
    start, stop = mark[1], mark[2]
    whole = all(isinstance(at, int) and not isinstance(at, bool) for at in (start, stop))
    if not whole or not 0 <= start < stop <= len(raw[part]):
        raise HumetricError(
            f"Expected {wanted} and 0 <= start < stop <= {len(raw[part])} in {where} but got "
            f"{mark!r}."
        )
    return part, start, stop
