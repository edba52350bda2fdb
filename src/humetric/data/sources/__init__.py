"""Data and weights that are used and not shipped: named once, found in one order.

``find(name)`` gives a :class:`Found` from an explicit path, the mirror, an installed package or the
hub; ``rows(name, split)`` reads data as plain records. Declarations are in ``data_sets`` and
``weights``; docs/sources.md shows them as a table.
"""

from __future__ import annotations

from humetric.data.sources.found import Found, digest
from humetric.data.sources.lookup import SOURCES, find, look
from humetric.data.sources.records import rows
from humetric.data.sources.source import Hub, Package, Part, Source

__all__ = [
    "SOURCES",
    "Found",
    "Hub",
    "Package",
    "Part",
    "Source",
    "digest",
    "find",
    "look",
    "rows",
]
