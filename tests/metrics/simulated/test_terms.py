"""Terms: words, values and kinds of patches, and how much of each is highlighted."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from simulated_support import world

import humetric
from humetric.engine.placement import place
from humetric.metrics.simulated.terms import (
    CELLS,
    KINDS,
    descriptors,
    highlights,
    shuffled,
    summed,
    terms,
    uniform,
)
from humetric.tasks.cases import Cases


def cases_of(setting: str, count: int = 6) -> Cases:
    """Some cases of an embedded setting."""
    loaded = humetric.load_setting(setting, count)
    return loaded.place(place("cpu", "fp32")).cases(0, count)


def test_words_are_terms_in_lower_case_without_signs() -> None:
    """The same word has one number, wherever it stands; of pairs, in one segment."""
    cases = cases_of("nli/inference/bow")
    of = terms(cases)
    assert cases.texts is not None
    seen: dict[int, set[tuple[str, int]]] = {}
    for words, segment, number in zip(
        cases.texts.words, cases.texts.segment, of.number, strict=True
    ):
        assert (number[len(words) :] == -1).all()
        for word, part, own in zip(words, segment, number, strict=False):
            seen.setdefault(int(own), set()).add((word.lower().strip(".,!?"), part))
    assert all(len(written) == 1 for written in seen.values())
    assert len(seen) == of.size


def test_columns_are_terms_with_their_bins() -> None:
    """A column's values never share a term with another's."""
    panel = world(0).panel
    of = terms(panel.cases)
    assert of.size == 30
    assert of.number.tolist() == (panel.cases.x.long() + torch.arange(0, 30, 3)).tolist()


def test_patches_of_one_kind_look_alike() -> None:
    """Within kinds descriptors vary less than over all; every cell has a kind."""
    cases = cases_of("image/habitat/cnn", 24)
    of = terms(cases)
    assert of.number.shape == (24, CELLS * CELLS)
    assert of.number.min() >= 0
    assert of.number.max() < KINDS
    assert cases.display is not None
    seen = descriptors(cases.display.numpy()).reshape(-1, 8)
    seen = seen / seen.std(0)
    kinds = of.number.ravel()
    within = sum(seen[kinds == k].var(0).sum() * (kinds == k).sum() for k in np.unique(kinds))
    assert within / len(kinds) < 0.35 * seen.var(0).sum()


def test_descriptors_of_a_plain_and_of_a_striped_image() -> None:
    """Mean colour and contrast are exact; vertical stripes have edges across, none along."""
    images = np.zeros((2, 16, 16, 3), dtype=np.uint8)
    images[0] = (255, 0, 51)
    images[1, :, ::2] = 255
    plain, striped = descriptors(images)
    assert plain[5] == pytest.approx([1, 0, 0.2, 0, 0, 0, 0, 0], abs=1e-6)
    assert striped[9, :4] == pytest.approx([0.5] * 4)
    assert striped[9, 5] == pytest.approx(0, abs=1e-9)


def test_highlights_are_the_positive_part_and_one_on_average() -> None:
    """What speaks against the output is not highlighted."""
    panel = world(0).panel
    of = terms(panel.cases)
    maps = torch.zeros(2, 10, dtype=torch.float64)
    maps[0, :3] = torch.tensor([3.0, 1.0, -5.0])
    found = highlights(maps, of, 2)
    assert found[0].tolist() == [7.5, 2.5, 0, 0, 0, 0, 0, 0, 0, 0]
    assert found[1].tolist() == [1.0] * 10
    assert highlights(-maps.abs(), of, 2).tolist() == [[1.0] * 10] * 2


def test_shuffling_keeps_the_numbers_of_each_case() -> None:
    """And keeps them within its own words."""
    cases = cases_of("sentiment/deception/tfidf")
    of = terms(cases)
    maps = torch.rand(len(cases), cases.features, dtype=torch.float64)
    weights = highlights(cases.real(maps), of, len(cases))
    mixed = shuffled(of, weights, np.random.default_rng(0))
    assert not np.array_equal(mixed, weights)
    for row, own, length in zip(mixed, weights, cases.lengths, strict=True):
        assert sorted(row[:length]) == pytest.approx(sorted(own[:length]))
        assert (row[length:] == 0).all()


def test_sums_by_term_count_words_that_come_twice() -> None:
    """With every unit alike they are counts."""
    cases = cases_of("sentiment/deception/tfidf")
    of = terms(cases)
    counts = summed(of, uniform(of))
    assert counts.sum(1).tolist() == list(cases.lengths)
    assert counts.max() > 1
