"""What methods show of a case beside a map, by kind: a module for each kind.

A kind's module turns its data (see methods/explanation.py) into a panel; ``html`` and ``terminal``
draw panels. A kind of your own needs a module here and a line in ``KINDS``; without them it is
shown as JSON.

Data of each kind; ``index`` is a feature's number, ``class`` a class's, both from 0:

- ``lime``: features (feature, index, weight), intercept, sum, probability, class, samples
- ``rule``: conditions (feature, index, gain), precision and coverage, each also with ``_low`` and
  ``_high``, reached, samples, class
- ``path``: start, steps (step, index, feature, from, to, margin), class, edits, crossing, samples,
  shown
- ``prototype``: similarity, class, case (a text, or pairs of column and value), label,
  importances (feature, index, importance), threshold, prediction
- ``note``, ``student``, ``cues``: of any method, for the setting or for a case
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from humetric.boards.kinds import lime, notes, path, prototype, rule
from humetric.boards.kinds.panel import Panel
from humetric.boards.kinds.subject import Subject
from humetric.run.look import Look

KINDS: Mapping[str, Callable[[Any, Subject], Panel]] = {
    "note": notes.note,
    "student": notes.student,
    "lime": lime.panel,
    "rule": rule.panel,
    "path": path.panel,
    "prototype": prototype.panel,
    "cues": notes.cues,
}
"""Panels by kind, in the order in which they stand below a map."""


def panels(look: Look[object], method: str, subject: Subject) -> list[Panel]:
    """All that a method has to show of the case and of its setting beside the map."""
    parts = [look.more.get(method, {}), look.about.get(method, {})]
    named = dict.fromkeys([*KINDS, *(kind for part in parts for kind in part)])
    return [panel_of(kind, part[kind], subject) for kind in named for part in parts if kind in part]


def panel_of(kind: str, data: Any, subject: Subject) -> Panel:
    """The panel of a kind. What is not as it should be is shown as it came: it may be from anyone.

    A method from outside may use a kind's name for data of its own, and one case that cannot be
    drawn must not cost the others.
    """
    make = KINDS.get(kind)
    if make is None:
        return notes.unknown(kind, data)
    try:
        return make(data, subject)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return notes.unknown(kind, data)
