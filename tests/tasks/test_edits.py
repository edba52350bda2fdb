"""Edits stay where the word was, and perturbations follow their distribution."""

from __future__ import annotations

from collections import Counter
from math import comb
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from text_support import PAIRS, REVIEWS, byte_pairs, wordpiece

from humetric.errors import HumetricError
from humetric.tasks.edits import (
    Place,
    changed,
    choices,
    edit_chance,
    edits_of,
    perturbed,
    places_of,
)
from humetric.tasks.neighbours import Neighbours, Options
from humetric.tasks.text import Texts
from humetric.tasks.text_setting import packed
from humetric.tasks.words import Encoder, Span

TOKENIZERS = {"wordpiece": wordpiece, "byte-pairs": byte_pairs}
ODD = (
    "  two   spaces\tand\na line ",
    "great👍 👨‍👩‍👧 naïve café №1",
    "ha ha haha, (ha) ha",
    "नमस्ते दुनिया 你好 世界",
    "[SEP] is text and so is <mask>",
    "good \u200d\u0000 film",
)
NOTHING = Options((), np.zeros(0))


def texts_of(encoder: Encoder, *cases: tuple[Any, ...]) -> Texts:
    names = tuple(f"part {i}" for i in range(len(cases[0])))
    encoded = [encoder.encode(c) for c in cases]
    return packed(encoded, cases, names, encoder.special.pad)[1]


def one(*words: str) -> Options:
    return Options(words, np.full(len(words), 1 / len(words)))


@pytest.mark.parametrize("split", ["space", "punctuation", "tokens"])
@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("text", [*REVIEWS, *ODD])
def test_places_hold_the_words_in_order(name: str, split: str, text: str) -> None:
    texts = texts_of(Encoder(TOKENIZERS[name](), None, split), (text,))
    places = places_of(texts, 0)
    assert [text[slice(*p.span)] for p in places] == list(texts.words[0])
    stops = [p.span.stop for p in places]
    if split != "tokens":  # of which several may share a character
        assert all(p.span.start >= stop for p, stop in zip(places[1:], stops, strict=False))
    assert changed((text,), places, [{}]) == [(text,)]


@pytest.mark.parametrize("name", TOKENIZERS)
def test_places_of_pairs_and_of_words_that_were_given(name: str) -> None:
    encoder = Encoder(TOKENIZERS[name](), None)
    for case in [*PAIRS, (["the", "film ,", "", "the film"], ["the film", "moving"])]:
        texts = texts_of(encoder, case)
        places = places_of(texts, 0)
        assert tuple(p.segment for p in places) == texts.segment[0]
        assert tuple(texts.raw[0][p.segment][slice(*p.span)] for p in places) == texts.words[0]


def test_nothing_but_the_word_moves() -> None:
    raw = ("  The film,\twas  good.\n", "film 👍")
    texts = texts_of(Encoder(byte_pairs(), None), raw)
    places = places_of(texts, 0)
    found = changed(raw, places, [{}, {1: "picture,"}, {3: "bad.", 0: "A", 4: "it"}])
    assert found == [
        raw,
        ("  The picture,\twas  good.\n", "film 👍"),
        ("  A film,\twas  bad.\n", "it 👍"),
    ]
    assert changed(("",), (), [{}, {}]) == [("",), ("",)]
    both = changed(("ab",), (Place(0, Span(0, 1)), Place(0, Span(1, 2))), [{1: "x", 0: "yz"}])
    assert both == [("yzx",)]


@pytest.mark.parametrize("limit", [None, 9])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_changed_texts_have_the_tokens_of_texts_that_were_written_so(
    name: str, limit: int | None
) -> None:
    encoder = Encoder(TOKENIZERS[name](), limit)
    raw = ("The film, was  slow; and the plot was good 👍 to the very end .",)
    table = {
        "film": (("picture", 0.9), ("performance", 0.5)),
        "slow": (("tedious", 0.9), ("café", 0.3)),
        "good": (("unforgettable", 0.8),),
        "end": (("ending", 0.9),),
    }
    made = Neighbours(table, encoder, ("text",), "test")
    texts = texts_of(encoder, raw)
    options = [made.options(w) for w in texts.words[0]]
    edits = perturbed(options, np.random.default_rng(0), 50)
    rows = changed(raw, places_of(texts, 0), edits)
    assert len(set(rows)) > (10 if limit is None else 1)
    for row, edit in zip(rows, edits, strict=True):
        written = raw[0].split(" ")  # by another way: every word of this text is there once
        for word, replacement in edit.items():
            written[written.index(texts.words[0][word])] = replacement
        assert row == (" ".join(written),)
    x, lengths = made.encode(rows)
    for row, tokens, length in zip(rows, x, lengths.tolist(), strict=True):
        expected = encoder.encode(row)
        assert tuple(tokens[0, :length].tolist()) == expected.ids
        assert torch.all(tokens[0, length:] == encoder.special.pad)
        assert tokens[1].sum() == length


def test_edits_follow_the_stated_distribution() -> None:
    """Of n words with chance p, k change by the binomial law, its ends drawn in; evenly spread."""
    count, eligible = 20_000, 8
    options = [one("x", "y") if i % 2 else NOTHING for i in range(2 * eligible)]
    chosen = choices(options, np.random.default_rng(1), count, most=4)
    assert (chosen[:, ::2] == -1).all()
    changes = (chosen >= 0).sum(1)
    p = 3 / eligible
    law = [comb(eligible, k) * p**k * (1 - p) ** (eligible - k) for k in range(eligible + 1)]
    expected = np.array([law[0] + law[1], law[2], law[3], sum(law[4:])]) * count
    seen = np.bincount(changes, minlength=5)[1:]
    assert stats.chisquare(seen, expected).pvalue > 0.001
    per_word = (chosen[:, 1::2] >= 0).mean(0)
    assert np.ptp(per_word) < 0.02


def test_replacements_are_drawn_in_proportion_to_similarity() -> None:
    share = np.array([0.5, 0.3, 0.15, 0.05])
    options = [NOTHING, Options(("a", "b", "c", "d"), share), one("z")]
    edits = perturbed(options, np.random.default_rng(2), 20_000)
    drawn = Counter(e[1] for e in edits if 1 in e)
    total = sum(drawn.values())
    assert total > 9_000
    assert stats.chisquare([drawn[w] for w in "abcd"], share * total).pvalue > 0.001


@pytest.mark.parametrize("eligible", [1, 2, 6, 30])
@pytest.mark.parametrize("most", [1, 5])
def test_at_least_one_edit_and_not_more_than_may_be(eligible: int, most: int) -> None:
    changes = (choices([one("x")] * eligible, np.random.default_rng(3), 500, most) >= 0).sum(1)
    assert changes.min() == 1
    assert changes.max() == min(most, eligible)


def test_longer_texts_change_less_per_word() -> None:
    chances = [edit_chance(n) for n in range(1, 60)]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] == 0.5
    assert edit_chance(30) == 0.1


def test_held_words_stay_and_the_others_change_as_often_as_before() -> None:
    options = [one("x")] * 20
    chosen = choices(options, np.random.default_rng(4), 20_000, most=19, held={0, 7})
    assert (chosen[:, [0, 7]] == -1).all()
    # One of 18 changes where none would: (1 - p)^18 / 18 on top of p.
    p = edit_chance(20)
    expected = p + (1 - p) ** 18 / 18
    assert (chosen[:, 1] >= 0).mean() == pytest.approx(expected, abs=0.01)


def test_texts_without_a_word_to_change_stay_as_they_are() -> None:
    rng = np.random.default_rng(5)
    assert perturbed([], rng, 2) == [{}, {}]
    assert perturbed([NOTHING, NOTHING], rng, 2) == [{}, {}]
    assert perturbed([one("x")], rng, 2, held=[0]) == [{}, {}]
    assert perturbed([one("x")], rng, 2) == [{0: "x"}, {0: "x"}]
    assert perturbed([one("x")], rng, 0) == []
    with pytest.raises(HumetricError, match="at most 1 or more edits but got 0"):
        perturbed([one("x")], rng, 2, most=0)


def test_the_same_generator_draws_the_same() -> None:
    options = [one("x", "y", "z")] * 9
    first, again = (choices(options, np.random.default_rng(6), 40) for _ in range(2))
    assert np.array_equal(first, again)
    assert edits_of(options, first) == perturbed(options, np.random.default_rng(6), 40)
