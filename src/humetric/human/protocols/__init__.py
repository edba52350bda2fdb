"""One module per protocol; each is a pure function from screened responses to findings."""

from __future__ import annotations

import importlib
import pkgutil

from humetric.errors import UnknownNameError
from humetric.human.protocols.protocol import PROTOCOLS, Protocol, Randomness, protocol

__all__ = ["PROTOCOLS", "Protocol", "Randomness", "find_protocol", "protocol"]

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")


def find_protocol(name: str) -> Protocol:
    """The protocol of this name."""
    if name not in PROTOCOLS:
        raise UnknownNameError("protocol", name, PROTOCOLS)
    return PROTOCOLS[name]
