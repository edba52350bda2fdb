"""All settings on real data."""

from __future__ import annotations

from humetric.settings.declared import Declared

DECLARED: tuple[Declared, ...] = ()
