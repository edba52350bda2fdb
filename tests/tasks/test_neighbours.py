"""Neighbours: written as the word was, never the word itself, and tokens as from scratch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from text_support import PAIRS, REVIEWS, byte_pairs, wordpiece

from humetric.errors import HumetricError
from humetric.tasks.closed_words import ADPOSITIONS, CLOSED_WORDS, kind_of
from humetric.tasks.neighbours import Neighbours, from_vectors, listing, load, nearest
from humetric.tasks.text_setting import packed
from humetric.tasks.words import Encoder

TOKENIZERS = {"wordpiece": wordpiece, "byte-pairs": byte_pairs}
TABLE = {
    "great": (("superb", 0.9), ("fine", 0.6), ("in", 0.5), ("not", 0.5), ("great", 0.5)),
    "in": (("on", 0.8), ("great", 0.7)),
    "not": (("great", 0.9),),
    "alone": (("alone", 1.0),),
    "7": (("great", 0.9),),
}
ODD = (
    "",
    " ",
    "word",
    "  two   spaces\tand\na line ",
    "great👍 👨‍👩‍👧 naïve café №1",
    "नमस्ते दुनिया 你好 世界",
    "[SEP] is text and so is <mask>",
    "long " * 60,
)


def neighbours(name: str = "wordpiece", limit: int | None = None, **more: Any) -> Neighbours:
    encoder = Encoder(TOKENIZERS[name](), limit)
    return Neighbours(TABLE, encoder, more.pop("names", ("text",)), "test", **more)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("great", ("superb", "fine")),
        ("Great,", ("Superb,", "Fine,")),
        ("GREAT!!", ("SUPERB!!", "FINE!!")),
        ("(great)...👍", ("(superb)...👍", "(fine)...👍")),
        ("gReat", ("superb", "fine")),
        ("In", ("On",)),
        ("not", ()),
        ("alone", ()),
        ("unknown", ()),
        ("great-ish", ()),
        ("7", ()),
        ("...", ()),
        ("👍", ()),
        ("", ()),
    ],
)
def test_options_are_written_as_the_word_was(word: str, expected: tuple[str, ...]) -> None:
    found = neighbours().options(word)
    assert found.words == expected
    assert found.probability.shape == (len(expected),)
    if expected:
        assert found.probability.sum() == pytest.approx(1)


def test_probabilities_are_in_proportion_to_similarity() -> None:
    assert neighbours().options("great").probability == pytest.approx([0.9 / 1.5, 0.6 / 1.5])


def test_kinds_of_words() -> None:
    assert not CLOSED_WORDS & ADPOSITIONS
    closed = "the The NOT never isn't isn\u2019t they're it's who seven 3.14 2nd I n't cannot & ''"
    assert {w: kind_of(w) for w in closed.split()} == dict.fromkeys(closed.split(), "closed")
    assert {kind_of(w) for w in ("film", "film's", "très", "really", "well-known")} == {"open"}
    assert {kind_of(w) for w in ("under", "With")} == {"adposition"}


@pytest.mark.parametrize("limit", [None, 8, 20])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_tokens_are_those_of_the_text_from_scratch(name: str, limit: int | None) -> None:
    made = neighbours(name, limit)
    texts = [(t,) for t in (*REVIEWS, *ODD)] + [(["the", "film ,", "", "moving"],)]
    encoded = [made.encoder.encode(t) for t in texts]
    expected, _ = packed(encoded, texts, made.names, made.encoder.special.pad)
    x, lengths = made.encode(texts)
    assert x.dtype == torch.int64
    assert torch.equal(x, expected)
    assert lengths.tolist() == [len(e.ids) for e in encoded]
    if limit is not None:
        assert int(lengths.max()) == limit


@pytest.mark.parametrize("last_only", [False, True])
@pytest.mark.parametrize("limit", [None, 12, 40])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_tokens_of_pairs(name: str, limit: int | None, last_only: bool) -> None:
    made = neighbours(name, limit, names=("one", "two"), last_only=last_only)
    passage = " ".join(["the river flooded"] * 40)
    texts = [*PAIRS, ("where did it flood", passage), (passage, "a mill"), (passage, passage)]
    encoded = [made.encoder.encode(t, last_only) for t in texts]
    expected, _ = packed(encoded, texts, made.names, made.encoder.special.pad)
    x, lengths = made.encode(texts)
    assert torch.equal(x, expected)
    assert lengths.tolist() == [len(e.ids) for e in encoded]


def test_encoding_leaves_the_encoder_as_it_was_and_takes_no_texts() -> None:
    made = neighbours(limit=8)
    before = made.encoder.encode((ODD[-1],))
    made.encode([(ODD[-1],)])
    assert made.encoder.encode((ODD[-1],)) == before
    x, lengths = made.encode([])
    assert x.shape == (0, 3, 0)
    assert lengths.shape == (0,)


def test_texts_of_other_segments_are_refused() -> None:
    with pytest.raises(HumetricError, match=r"1 segments \(text\) but one has 2"):
        neighbours().encode([("a", "b")])


def test_nearest_by_brute_force() -> None:
    draw = np.random.default_rng(0)
    words = [f"{a}{b}" for a in "klmnpq" for b in ("or", "ab", "ul", "em")] + ["in", "on", "by"]
    words += ["not", "Paris", "7", "zero"]
    vectors = draw.normal(size=(len(words), 5))
    table = nearest(words, vectors, most=4, floor=0.2)
    kinds = {w: kind_of(w) for w in words}
    assert set(table) <= {w for w in words if kinds[w] != "closed" and w.islower()}
    for word, vector in zip(words, vectors, strict=True):
        cosines = {
            other: round(float(v @ vector / np.linalg.norm(v) / np.linalg.norm(vector)), 3)
            for other, v in zip(words, vectors, strict=True)
            if other != word and kinds[other] == kinds[word] and other.islower()
        }
        best = sorted(cosines.items(), key=lambda pair: (-pair[1], pair[0]))[:4]
        if kinds[word] == "closed" or not word.islower():
            assert word not in table
        else:
            assert table.get(word, ()) == tuple((w, s) for w, s in best if s >= 0.2)


def test_a_word_without_a_vector_has_no_neighbours() -> None:
    table = nearest(["good", "fine", "none", "odd"], np.array([[1.0, 0], [1, 0], [1, 0], [0, 0]]))
    assert table == {"good": (("fine", 1.0),), "fine": (("good", 1.0),)}


@pytest.mark.parametrize(
    ("words", "shape", "floor", "says"),
    [
        (["a", "b"], (3, 2), 0.3, "2 words and vectors of the shape"),
        (["a", "a"], (2, 2), 0.3, "each of 1 different words"),
        (["a", "b"], (2, 2), 0.0, "floor above 0"),
    ],
)
def test_vectors_that_do_not_fit(
    words: list[str], shape: tuple[int, int], floor: float, says: str
) -> None:
    with pytest.raises(HumetricError, match=says):
        nearest(words, np.ones(shape), floor=floor)


def test_files_are_read_as_they_were_written(tmp_path: Path) -> None:
    encoder = Encoder(wordpiece(), None)
    vectors = np.array([[1.0, 0.1], [1, 0.2], [0.9, 0.5]])
    made = from_vectors(["good", "fine", "grand"], vectors, encoder, ("text",), "own")
    file = tmp_path / "neighbours.json"
    file.write_text(listing({"data": "none", "texts": 3}, made.table))
    found = load(file, encoder, ("text",))
    assert found.table == made.table
    assert made.version == "own"
    file.write_text(listing({"data": "none", "texts": 4}, made.table))
    assert load(file, encoder, ("text",)).version != found.version
    assert all(f'"{w}": [' in file.read_text() for w in made.table)
    file.write_text('{"about": {}, "words": {"good": [["fine", 1.5]]}}')
    with pytest.raises(HumetricError, match=r"lists of neighbours in .* less than or equal to 1"):
        load(file, encoder, ("text",))


def test_many_texts_are_encoded_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoding takes many times the memory of its numbers, so few are held at a time."""
    encoder = Encoder(wordpiece(), 12)
    pairs = [*PAIRS, *PAIRS[:1]]
    whole = encoder.rows(pairs)
    monkeypatch.setattr("humetric.tasks.words.AT_ONCE", 2)
    held = []
    many = Encoder._many

    def watched(self: Encoder, texts: list[tuple[str, ...]], last_only: bool) -> list[object]:
        held.append(len(texts))
        return many(self, texts, last_only)

    monkeypatch.setattr(Encoder, "_many", watched)
    for found, expected in zip(encoder.rows(pairs), whole, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert held == [2, 2, 1]
