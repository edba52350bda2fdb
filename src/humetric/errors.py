"""Errors a user meets. Every message says what was expected, what came and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class HumetricError(Exception):
    """Base of all errors that humetric raises on purpose; the CLI prints them without a trace."""


class UnknownNameError(HumetricError):
    """A name that nothing is registered under."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
        super().__init__(f"Unknown {kind} {name!r}. {hint}Known: {', '.join(known) or 'none'}.")


class InvalidExplanationError(HumetricError):
    """A method returned something that is not one finite number per feature and case."""


class AccessError(HumetricError):
    """A method asked for something that the model does not give access to."""


class OutOfMemoryError(HumetricError):
    """Not even a single question fits into memory."""
