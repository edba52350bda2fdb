"""The command line: ``humetric``."""

from __future__ import annotations

from humetric.cli.app import app

__all__ = ["app"]
