"""Writing files that nobody ever sees half of."""

from __future__ import annotations

import os
import threading
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file in one step, so that nobody ever reads half of it."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
