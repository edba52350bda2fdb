"""The bundled studies come along in a wheel."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = """
from humetric.human.read import bundled_folder, load_studies
print(bundled_folder())
print(*load_studies())
"""


@pytest.mark.slow
def test_a_wheel_finds_its_studies(tmp_path: Path) -> None:
    made = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", tmp_path, ROOT],
        capture_output=True,
        text=True,
        check=False,
    )
    if "No matching distribution found for hatchling" in made.stderr:
        pytest.skip("no package index that has hatchling can be reached")
    assert made.returncode == 0, made.stderr
    target = tmp_path / "target"
    zipfile.ZipFile(next(tmp_path.glob("humetric-*.whl"))).extractall(target)
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"PYTHONPATH": str(target)},
    )
    assert found.returncode == 0, found.stderr
    place, names = found.stdout.splitlines()
    assert Path(place) == target / "humetric" / "human_data"
    assert names.split() == sorted(p.parent.name for p in ROOT.glob("human_data/*/study.toml"))
