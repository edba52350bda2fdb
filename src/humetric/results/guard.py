"""What of a run may be published: numbers, names and hashes; no text of a case, no image, no map.

Everything that is published passes through here. What is known to be plain (scores, curves, prices)
is let through, what may quote a case (a rule, cue words, what an error said) is left out or cut
down to its kind, and what is not known at all is refused.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Collection, Mapping
from typing import Any

from torch import Tensor

from humetric.errors import HumetricError
from humetric.results.replicates import CONTROL

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/#-]{0,99}")
"""A case's id, a setting's name: one word."""
DRAW = re.compile(r"[a-z]{1,12}[- ]\d{1,4}")
"""A replicate that is no case: ``draw-01``, ``cohort 2``."""

TENSORS = {"map": ("map",), "score": ("value", "curve"), "replicates": ("value",), "price": ()}
ABOUT = {"batch_size", "environment", "model_calls", "seconds"}
MORE = {"map": {"asked", "more"}, "price": {"asked", "more"}, "replicates": {"names"}, "score": ()}
STUDENT = {"agreement", "commonest class", "trained on", "held out", "terms"}
ENVIRONMENT = {
    "humetric", "revision", "python", "platform", "cores", "threads", "memory", "devices", "torch",
    "numpy", "scipy", "pandas", "captum", "safetensors", "quantus", "lpips",
}  # fmt: skip
SETTING = {
    "version", "cases", "reference", "panel", "rivals", "notes", "features", "channels", "device",
    "precision", "chunk", "batch_size",
}  # fmt: skip
SENTENCE = 1000
"""Characters of a sentence that the code itself wrote: a note, a reason."""


def tensors(kind: str, found: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The numbers of a record that are published: none of a map."""
    known = TENSORS[kind]
    for name in found:
        control = kind == "replicates" and name.startswith(CONTROL)
        if name not in known and not (control and DRAW_NAME.fullmatch(name)):
            raise refused(kind, "numbers", name)
    return {} if kind == "map" else dict(found)


DRAW_NAME = re.compile(rf"{CONTROL}[a-z]{{1,20}}")


def about(kind: str, found: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """How a record was obtained, without what a method has to show; ``known``: ids of cases."""
    for name in found:
        if name not in ABOUT and name not in MORE[kind]:
            raise refused(kind, "a field", name)
    kept: dict[str, Any] = {
        name: _number(kind, name, found[name]) for name in found if name in _NUMBERS
    }
    kept["environment"] = environment(found.get("environment", {}))
    if "names" in found:
        kept["names"] = [replicate(name, known) for name in found["names"]]
    student = found.get("more", {}).get("setting", {}).get("student")
    if student is not None:
        if set(student) - STUDENT:
            raise refused(kind, "a field of a student", min(set(student) - STUDENT))
        of = {name: _number(kind, name, value) for name, value in student.items()}
        kept["more"] = {"setting": {"student": of}}
    return kept


_NUMBERS = {"batch_size", "model_calls", "seconds", "asked"}


def environment(found: Mapping[str, Any]) -> dict[str, str]:
    """Versions and the kind of machine; what is not of a known name is left out."""
    kept = {name: str(found[name]) for name in found if name in ENVIRONMENT}
    if any(len(value) > 100 or "\n" in value for value in kept.values()):
        raise refused("environment", "a text", max(kept.values(), key=len)[:20])
    return kept


def name(text: str) -> str:
    """An id that is one word."""
    if not NAME.fullmatch(text):
        raise HumetricError(
            f"Expected ids of at most 100 letters, digits and _.:/#- but one has {len(text)} "
            "characters or others: an id that may hold text is not published. Give the cases ids."
        )
    return text


def replicate(text: str, known: Collection[str]) -> str:
    """The name of a replicate: a draw, a case, or a case after a cohort or a rival."""
    first, _, rest = text.rpartition(": ")
    plain = not first or DRAW.fullmatch(first) or NAME.fullmatch(first)
    if not (DRAW.fullmatch(text) or (plain and rest in known)):
        raise HumetricError(
            f"Expected replicates that are named by draws or by cases of the setting but one of "
            f"{len(text)} characters is not: what may hold text is not published."
        )
    return text


def failure(message: str) -> str:
    """The kind of an error and a digest of what it said; it may quote a case."""
    kind = message.partition(":")[0]
    kind = kind if re.fullmatch(r"[A-Z][A-Za-z]{2,39}(Error|Exception|Exit)", kind) else "error"
    return (
        f"{kind} (what it said has the digest {hashlib.sha256(message.encode()).hexdigest()[:8]})"
    )


def sentence(text: str) -> str:
    """A sentence that the code wrote: in one line and short."""
    if len(text) > SENTENCE or "\n" in text:
        raise HumetricError(
            f"Expected notes and reasons of one line and at most {SENTENCE} characters but one has "
            f"{len(text)}: shorten it."
        )
    return text


def setting(found: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of a setting."""
    for field in found:
        if field not in SETTING:
            raise refused("setting", "a field", field)
    for field in ("cases", "reference", "panel"):
        for text in found.get(field, ()):
            name(text)
    for note in found.get("notes", ()):
        sentence(note)
    return dict(found)


def refused(kind: str, what: str, name: str) -> HumetricError:
    """An error about something that is not known to be plain."""
    return HumetricError(
        f"A {kind} has {what} called {name[:40]!r}, which is not known to hold no text of a case, "
        "so nothing was published. If it is plain, add it to humetric.results.guard."
    )


def _number(kind: str, name: str, value: Any) -> float | int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise HumetricError(
            f"Expected a number as {name} of a {kind} but got {type(value).__name__}."
        )
    return value
