"""Files that commands write, checked before anything is computed."""

from __future__ import annotations

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
        if not path.parent.is_dir():
            raise FileNotFoundError(0, f"there is no folder {path.parent}; make it first")
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise HumetricError(
            f"Cannot write {path}: {error.strerror}. Choose another file with {option}."
        ) from None
