"""Features, stop words and oracles by hand, for word pieces, byte pairs and words."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from text_support import byte_pairs, setting, wordpiece

from humetric.alignment.between import between_oracles
from humetric.alignment.features import by_tokens, feature, features_of, said_in
from humetric.alignment.marks import planted, read_marks
from humetric.alignment.oracles import expert, expert_of_another, hard, marked_texts
from humetric.alignment.stop_words import STOP_WORDS, is_stop
from humetric.errors import HumetricError
from humetric.tasks.named import load_setting
from humetric.tasks.words import Encoder


def test_stop_words() -> None:
    assert all(map(is_stop, ("the", "don't", "don\N{RIGHT SINGLE QUOTATION MARK}t", ".", "--", "")))
    assert not any(map(is_stop, ("terrier", "nobody", "3", "well-known")))
    assert all(word == word.casefold() for word in STOP_WORDS)


def test_a_feature_knows_its_word() -> None:
    text = "Two Terriers' lead."
    piece = feature(text, 0, 4, 8)
    assert (piece.text, piece.word) == ("terr", "terriers'")
    assert feature(text, 0, 8, 12).text == "##iers"
    assert feature(text, 0, 18, 19).text == ""
    assert feature(text, 0, 18, 19).stop_word
    assert feature(text, 0, 3, 12).text == "terriers"  # byte pairs hold the space before


def test_a_piece_that_looks_like_a_stop_word() -> None:
    assert feature("theme", 0, 0, 3).stop_word  # else it would match every "the"
    assert feature("whom", 0, 2, 4).stop_word  # "om" of a stop word
    assert not feature("theme", 0, 3, 5).stop_word


def test_every_token_is_a_feature() -> None:
    words = setting("nli", label=[0, 1, 2, 0])
    cut = by_tokens(words)
    assert words.texts is not None
    assert cut.texts is not None
    special = (words.texts.tokens.word < 0).sum(1)
    for i, listed in enumerate(features_of(cut.texts)):
        width = words.x.shape[2]
        assert len(listed) == width - int(special[i]) == len(cut.texts.words[i])
    assert torch.equal(cut.texts.tokens.sum(torch.ones(cut.x.shape[0], cut.x.shape[2])).long(),
                       cut.texts.tokens.sizes)  # fmt: skip
    assert cut.version != words.version
    assert max(cut.texts.tokens.sizes.max(), 0) == 1
    assert words.texts.tokens.sizes.max() > 1


def test_hard_oracle_by_hand() -> None:
    made = setting("nli", label=[0, 1, 2, 0])
    assert made.texts is not None
    listed = features_of(made.texts)[0]  # The waiter never smiled . / Nobody smiled .
    said = said_in("If the waiter smiled, somebody smiled.", Encoder(wordpiece(), None), "words")
    assert said == {"if", "the", "waiter", "smiled", "somebody"}
    assert [f.text for f in listed] == [
        "the", "waiter", "never", "smiled", "", "nobody", "smiled", ""]  # fmt: skip
    # "the" is a stop word; a full stop is no word.
    assert hard(listed, said).tolist() == [0, 1, 0, 1, 0, 0, 1, 0]


def test_hard_oracle_of_pieces() -> None:
    cut = by_tokens(setting("nli", label=[0, 1, 2, 0]))
    assert cut.texts is not None
    listed = features_of(cut.texts)[0]
    said = said_in("The waiter.", Encoder(wordpiece(), None), "tokens")
    own = [f for f in listed if f.word == "waiter"]
    assert len(own) > 1  # the word is in pieces, and all of them are said
    oracle = hard(listed, said)
    assert all(oracle[i] == 1 for i, f in enumerate(listed) if f.word == "waiter")
    assert oracle.sum() < len(listed)


def test_byte_pairs_have_the_same_texts() -> None:
    encoder = Encoder(byte_pairs(), None)
    # At the start of a text "river" has no space before it, later it has: other tokens, one text.
    first, later = encoder.encode(("river",)), encoder.encode(("the river",))
    assert not set(first.ids) >= set(later.ids) - set(encoder.encode(("the",)).ids)
    assert "river" in said_in("the river", encoder, "words") & said_in("river", encoder, "words")
    assert said_in("the", encoder, "tokens") == {"the"}
    assert "the" in said_in("in the mill", encoder, "tokens")


def test_expert_oracle_is_a_share() -> None:
    made = setting("nli", label=[0, 1, 2, 0])
    assert made.texts is not None
    listed = features_of(made.texts)[0]
    three = (((0, 4, 10),), ((0, 4, 10), (0, 11, 16)), ())
    assert expert(listed, three)[:4] == pytest.approx([0, 2 / 3, 1 / 3, 0])
    assert expert(listed, three)[4:].tolist() == [0] * 4
    # Half a word is marked: the word is.
    assert expert(listed, (((1, 2, 3),),)).tolist() == [0, 0, 0, 0, 0, 1, 0, 0]


def test_expert_of_another_case() -> None:
    made = setting("nli", label=[0, 1, 2, 0])
    assert made.texts is not None
    listed = features_of(made.texts)
    marks = (((0, 11, 16), (0, 17, 23)), ((0, 17, 23),))  # never smiled; smiled
    words = marked_texts(listed[0], marks)
    assert words == ({"never", "smiled"}, {"smiled"})
    found = expert_of_another(listed[0], words)
    assert found.tolist() == [0, 0, 0.5, 1, 0, 0, 1, 0]
    assert expert_of_another(listed[3], words).tolist() == [0, 0]


def test_planted_marks_of_every_text_setting() -> None:
    for id, reasons in (
        ("nli/inference/bow", True),
        ("sentiment/reviews/bilstm", False),
        ("sentiment/deception/tfidf", False),
        ("qa/adversarial/low", False),
    ):
        made = load_setting(id, 6)
        marks = planted(made)
        assert marks is not None
        assert made.texts is not None
        assert marks.source == "planted"
        assert marks.explained == reasons
        for case, ((spans,), raw) in enumerate(zip(marks.annotators, made.texts.raw, strict=True)):
            assert spans, made.ids[case]
            assert all(raw[s][a:b].strip() for s, a, b in spans)
    assert planted(setting("nli", label=[0, 1, 2, 0])) is None
    assert planted(load_setting("image/leaf/cnn", 1)) is None


def test_marks_from_a_file(tmp_path: Path) -> None:
    made = setting("nli", label=[0, 1, 2, 0])
    rows = [
        {"case": "case-0000", "explanation": "He never did.",
         "annotators": [[["premise", 4, 10]], [], [["hypothesis", 0, 6]]]},
        {"case": "case-0003"},
        {"case": "elsewhere", "explanation": "x", "annotators": [[["nothing", 0, 1]]]},
    ]  # fmt: skip
    path = tmp_path / "marks.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    marks = read_marks(path, made)
    assert marks.explanations == ("He never did.", "", "", "")
    assert marks.annotators == ((((0, 4, 10),), (), ((1, 0, 6),)), (), (), ())
    assert marks.source == "people"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "Expected JSON in line 1"),
        ('{"explanation": "x"}', "id of a case"),
        ('{"case": "case-0000", "annotators": [[["premise", 4, 400]]]}', "stop <= 25"),
        ('{"case": "case-0000", "annotators": [[["text", 0, 1]]]}', "premise, hypothesis"),
        ('{"case": "case-9000"}', "none of its 1 cases"),
        ('{"case": "case-0000"}\n{"case": "case-0000"}', "a second time"),
    ],
)
def test_bad_marks(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "marks.jsonl"
    path.write_text(line)
    with pytest.raises(HumetricError, match=message):
        read_marks(path, setting("nli", label=[0, 1, 2, 0]))


def test_oracles_against_each_other() -> None:
    one = [np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.0, 3.0]), np.zeros(3)]
    other = [np.array([0.0, 10.0, 20.0]), np.array([5.0, 0.0, 30.0]), np.array([1.0, 2.0, 3.0])]
    (found,) = between_oracles({"expert": other, "hard": one})
    assert (found.first, found.second, found.cases, found.tokens) == ("hard", "expert", 2, 6)
    assert found.within == pytest.approx(1)
    assert 0.9 < found.rho < 1
