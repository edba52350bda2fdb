"""Words and tokens: the map is exact under every kind of tokenizer and input."""

from __future__ import annotations

from typing import Any

import pytest
from text_support import PAIRS, REVIEWS, byte_pairs, wordpiece

from humetric.errors import HumetricError
from humetric.tasks.words import Encoder, Encoding, spans_of, special_tokens

TOKENIZERS = {"wordpiece": wordpiece, "byte-pairs": byte_pairs}
ODD = (
    "  two   spaces\tand\na line ",
    "great👍 👨‍👩‍👧 naïve café №1",
    "word",
    "hyphen-ated, isn't (it)?! ... 3.14",
    "नमस्ते दुनिया 你好 世界",
    "[SEP] is text and so is <mask>",
)


def check(found: Encoding, texts: tuple[str, ...]) -> None:
    """Every token lies within its word, and words are in order, each with a token."""
    spans = [spans_of(t, "space")[1] for t in texts]
    flat = [(s, span) for s, each in enumerate(spans) for span in each]
    seen = sorted({w for w in found.word if w >= 0})
    assert seen == list(range(len(found.words)))
    assert [w for w in found.word if w >= 0] == sorted(w for w in found.word if w >= 0)
    rest = iter(flat)
    owners = []  # the spans of the words that are features, in order
    for word, segment in zip(found.words, found.segment, strict=True):
        owners.append(
            next(x for x in rest if x[0] == segment and texts[segment][slice(*x[1])] == word)
        )
    for word, part, (start, stop) in zip(found.word, found.part, found.offset, strict=True):
        if word >= 0:
            segment, span = owners[word]
            assert part == segment
            piece = texts[segment][start:stop]
            lead = len(piece) - len(piece.lstrip())
            if not piece.strip():  # white space belongs to the word after it, or to the last
                assert stop <= span.start or word == len(found.words) - 1
                continue
            assert span.start <= start + lead <= stop <= span.stop


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("text", [*REVIEWS, *ODD])
def test_tokens_are_those_of_the_text_and_lie_within_their_words(name: str, text: str) -> None:
    tokenizer = TOKENIZERS[name]()
    found = Encoder(tokenizer, None).encode((text,))
    if "[SEP]" not in text:
        assert found.ids == tuple(tokenizer.encode(text).ids)
    check(found, (text,))
    assert found.cut == len(text.split()) - len(found.words)
    specials = {tokenizer.token_to_id(t) for t in ("[CLS]", "[SEP]", "<s>", "</s>")}
    assert [w for w, i in zip(found.word, found.ids, strict=True) if i in specials] == [-1, -1]


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("pair", PAIRS)
def test_segments_are_kept_apart(name: str, pair: tuple[str, str]) -> None:
    found = Encoder(TOKENIZERS[name](), None).encode(pair)
    check(found, pair)
    for segment, text in enumerate(pair):
        mine = [w for w, s in zip(found.words, found.segment, strict=True) if s == segment]
        assert mine == text.split()


def test_a_word_of_several_pieces_is_one_feature() -> None:
    found = Encoder(wordpiece(), None).encode(("unforgettable picture",))
    assert found.words == ("unforgettable", "picture")
    assert found.word.count(0) > 1
    assert found.word[0] == found.word[-1] == -1


def test_special_tokens_written_in_a_text_are_words() -> None:
    found = Encoder(wordpiece(), None).encode(("a [MASK] b",))
    mask = wordpiece().token_to_id("[MASK]")
    assert mask not in found.ids
    assert found.words == ("a", "[MASK]", "b")


def test_words_that_are_split_already() -> None:
    found = Encoder(wordpiece(), None).encode((["the", "film ,", "", "moving"],))
    assert found.words == ("the", "film ,", "moving")
    with pytest.raises(HumetricError, match="words of a text, but got int"):
        Encoder(wordpiece(), None).encode(([1, 2],))  # type: ignore[list-item]


def test_punctuation_may_be_cut_off() -> None:
    text, spans = spans_of("(Don't) go, well-known... 👍🏽👍", "punctuation")
    words = [text[a:b] for a, b in spans]
    assert words == ["(", "Don't", ")", "go", ",", "well-known", "...", "👍🏽👍"]
    found = Encoder(wordpiece(), None, "punctuation").encode(("good, but slow!",))
    assert found.words == ("good", ",", "but", "slow", "!")
    assert found.ids == tuple(wordpiece().encode("good, but slow!").ids)


def test_a_word_that_the_tokenizer_drops_is_no_feature() -> None:
    found = Encoder(wordpiece(), None).encode(("good \u200d\u0000 film",))
    assert found.words == ("good", "film")
    assert found.cut == 1


@pytest.mark.parametrize("limit", [8, 20, 512])
def test_a_thousand_words_are_cut_and_counted(limit: int) -> None:
    text = " ".join(f"{word}" for _ in range(100) for word in REVIEWS[2].split()[:10])
    found = Encoder(wordpiece(), limit).encode((text,))
    assert len(found.ids) == limit
    assert len(found.words) + found.cut == 1000
    assert found.word[0] == found.word[-1] == -1  # special tokens survive
    check(found, (text,))
    whole = Encoder(wordpiece(), None).encode((text,))
    assert len(whole.words) == 1000
    assert whole.ids[: limit - 1] == found.ids[:-1]


def test_long_pairs() -> None:
    question, passage = "where did the river flood", " ".join(["the river flooded"] * 40)
    found = Encoder(wordpiece(), 40).encode((question, passage), last_only=True)
    assert len(found.ids) == 40
    assert found.segment.count(0) == len(question.split())
    both = Encoder(wordpiece(), 40).encode((passage, passage))
    assert abs(both.part.count(0) - both.part.count(1)) <= 1
    narrow = Encoder(wordpiece(), 12).encode((passage, question), last_only=True)
    assert len(narrow.ids) == 12  # the first alone is too long, so both are cut
    again = Encoder(wordpiece(), None).encode((question,))
    assert again.cut == 0  # cutting leaves the tokenizer as it was


def test_special_tokens_by_name_and_of_transformers() -> None:
    from transformers import PreTrainedTokenizerFast

    own = special_tokens(wordpiece())
    wrapped: Any = PreTrainedTokenizerFast(
        tokenizer_object=wordpiece(), pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]"
    )
    assert special_tokens(wrapped) == own
    assert own.removed == wordpiece().token_to_id("[MASK]")
    without: Any = PreTrainedTokenizerFast(tokenizer_object=wordpiece(), unk_token="[UNK]")
    assert special_tokens(without).removed == wordpiece().token_to_id("[UNK]")
    text = "an unforgettable film"
    assert Encoder(wrapped, None).encode((text,)) == Encoder(wordpiece(), None).encode((text,))
    with pytest.raises(HumetricError, match="fast tokenizer"):
        Encoder(str.split, None)
