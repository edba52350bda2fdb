"""Files that commands write: checked before anything is computed, replaced in one step."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from humetric.errors import HumetricError


def check_file(path: Path, suffixes: Sequence[str], option: str) -> None:
    """Make sure that a file has one of the endings and can be written."""
    if path.suffix.lower() not in suffixes:
        raise HumetricError(
            f"Expected a file that ends in {' or '.join(suffixes)} but got {str(path)!r}: "
            f"the ending says what is written."
        )
    try:
        if path.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise HumetricError(
            f"Cannot write {path}: {error.strerror}. Choose another file with {option}."
        ) from None


def write_file(path: Path, content: bytes) -> None:
    """Replace a file in one step, so that nobody ever reads half of it."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_bytes(content)
    os.replace(part, path)
