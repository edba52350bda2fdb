"""The lexical reader: what it takes for content, sentences, belief and highlights."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from question_support import panel_of

from humetric.metrics.simulated.lexical import Reading, reading, sentences, shades

QUESTION = "Who built the old mill in Orwick?"
PASSAGE = "Orwick lies by the sea. Ada Lund built Orwick's mill in 1710. The old school burned."


def read(question: str = QUESTION, passage: str = PASSAGE) -> tuple[list[str], Reading]:
    words = [*question.split(), *passage.split()]
    segment = [0] * len(question.split()) + [1] * len(passage.split())
    return words, reading(words, segment)


def named(words: list[str], which: np.ndarray) -> list[str]:
    return [word for word, yes in zip(words, which, strict=True) if yes]


def test_words_of_a_question_and_its_passage() -> None:
    words, found = read()
    assert found.sentence.tolist() == [-1] * 7 + [0] * 5 + [1] * 7 + [2] * 4
    assert named(words, found.repeated) == ["Orwick", "built", "Orwick's", "mill", "old"]
    assert found.belief == 1, "three of the question's words"
    assert named(words, found.expected) == ["Ada", "Lund", "1710."]
    assert named(words, found.relevant) == [
        *("built", "old", "mill", "Orwick?"),
        *("Ada", "Lund", "built", "Orwick's", "mill", "1710."),
    ]


def test_of_sentences_with_as_many_words_the_one_with_rarer_words_is_believed() -> None:
    """The town is in two sentences, what it is known for in one."""
    question = "What is Dunby known for?"
    _, found = read(question, "Few have heard of Dunby. Dunby is old. It is known for its glass.")
    assert found.belief == 2
    _, found = read(question, "Dunby is old. Few have heard of Dunby.")
    assert found.belief == 0, "the first of equal ones"


def test_a_word_counts_once_in_a_sentence() -> None:
    _, found = read("Where is Dunby glass?", "Dunby, Dunby, Dunby! In Dunby glass is made.")
    assert found.belief == 1


def test_without_a_word_in_common_nothing_is_believed() -> None:
    words, found = read("Who was that?", "Ada built it. Nela burned it.")
    assert found.belief == -1
    assert named(words, found.expected) == ["Ada", "built", "Nela", "burned"]
    assert not found.relevant.any()


def test_a_belief_sentence_that_says_nothing_new_leaves_all_new_words() -> None:
    words, found = read("Who built the mill?", "Built the mill. Ada sang.")
    assert (found.belief, named(words, found.expected)) == (0, ["Ada", "sang."])


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("One two. Three four? Five!", [0, 2, 4]),
        ('He said "no." Then he left.', [0, 3]),
        ("J. Lund sang. K. was cold.", [0, 3]),
        ("It weighs 3 lb. or so. Yes", [0, 6]),
        ("no end at all", [0]),
    ],
)
def test_sentences(text: str, starts: list[int]) -> None:
    found = sentences(text.split())
    assert [i for i, n in enumerate(found) if i == 0 or n != found[i - 1]] == starts
    assert found[-1] == len(starts) - 1


def test_ten_words_are_highlighted_by_how_important_they_are() -> None:
    passage = "a b c d e f g h i j k l"
    panel = panel_of([("who", passage)] * 4, [(0, 1)] * 4)
    up = torch.arange(13.0, dtype=torch.float64)
    some = torch.full((13,), -1.0, dtype=torch.float64)
    some[[3, 5]] = torch.tensor([1.0, 4.0], dtype=torch.float64)
    flat = torch.ones(13, dtype=torch.float64)
    ten, few, same, none = shades(torch.stack((up, some, flat, -up)), panel)
    assert ten.tolist() == pytest.approx([0] * 3 + [i / 12 for i in range(3, 13)])
    assert few.tolist() == [0, 0, 0, 0.25, 0, 1, *[0] * 7], "what is not positive is not shown"
    assert not same.any()
    assert not none.any()


def test_ties_are_broken_by_the_case_and_not_by_position() -> None:
    panel = panel_of([("who", "a b c d e f g h i j k l m n o p")] * 6, [(0, 1)] * 6)
    maps = torch.ones(6, 17, dtype=torch.float64)
    maps[:, 8] = -1
    found = [tuple(np.flatnonzero(own)) for own in shades(maps, panel)]
    assert all(len(shown) == 10 and 8 not in shown for shown in found)
    assert len(set(found)) > 1
