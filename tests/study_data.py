"""Study folders for tests: made up in the form of a bundled one, with other figures."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path

from humetric.human.read import bundled_folder


def study_like(bundled: str, folder: Path) -> Path:
    """A folder in the form of a bundled study: its own id, no source, other figures."""
    shutil.copytree(bundled_folder() / bundled, folder)
    text = (folder / "study.toml").read_text()
    text = text.replace(f'id = "{bundled}"', f'id = "{folder.name}"', 1)
    text = re.sub(r"^(arxiv|url|doi) = .*\n", "", text, flags=re.MULTILINE)
    (folder / "study.toml").write_text(text)
    altered(folder / "results.csv")
    return folder


def altered(path: Path) -> None:
    """Another first figure, as another experiment would have."""
    rows = list(csv.DictReader(path.read_text().splitlines()))
    rows[0]["value"] = str(float(rows[0]["value"]) + 0.01)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
