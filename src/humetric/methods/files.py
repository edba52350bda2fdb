"""Methods from a Python file of your own: ``--method my_method.py``."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path

from humetric.errors import HumetricError
from humetric.methods import METHODS


def methods_in(path: Path) -> list[str]:
    """Import a file and return the ids of the methods that it declares."""
    name = f"humetric_file_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    list(METHODS)  # built-in ids are taken first
    spec = importlib.util.spec_from_file_location(name, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise HumetricError(f"Cannot read methods from {path}: no such Python file.")
    module = importlib.util.module_from_spec(spec)
    module.__humetric_file__ = True  # type: ignore[attr-defined]
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except HumetricError:
        raise
    except (Exception, SystemExit) as error:
        raise HumetricError(
            f"{path} could not be imported ({type(error).__name__}: {error}): mend it, or try "
            f"python {path}."
        ) from error
    found = [id for id in METHODS if METHODS.factory(id).__module__ == name]
    if not found:
        raise HumetricError(
            f"Expected {path} to declare a method but it has none: decorate a factory with "
            f"@humetric.method(...), as docs/python.md shows."
        )
    return found
