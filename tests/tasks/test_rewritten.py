"""Texts without some words are the texts that somebody would have written without them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from text_support import PAIRS, SENTENCES, bert, setting, small, wordpiece

from humetric import evaluate
from humetric.errors import HumetricError
from humetric.tasks.edits import Place, places_of
from humetric.tasks.rewritten import Deletion, rewritten, survivors, texts_without
from humetric.tasks.setting import Setting
from humetric.tasks.text import TextTask
from humetric.tasks.text_setting import text_setting


def places(made: Setting) -> list[tuple[Place, ...]]:
    assert made.texts is not None
    return [places_of(made.texts, i) for i in range(len(made))]


def texts(made: Setting, *deletions: tuple[int, tuple[int, ...]]) -> list[tuple[str, ...]]:
    assert made.texts is not None
    return texts_without(made.texts, places(made), [Deletion(*d) for d in deletions])


class TestTexts:
    def test_space_goes_along(self) -> None:
        found = texts(setting(), (0, (0,)), (0, (1, 2, 12)), (1, (1,)), (1, (0, 1)))
        assert found == [
            ("would call this unforgettable picture boring , and the acting was wonderful .",),
            ("Nobody this unforgettable picture boring , and the acting was .",),
            ("cold",),
            ("",),
        ]

    def test_every_order_and_gap(self) -> None:
        """What is left is what joining the other words gives, whichever are taken out."""
        words = ["the", "film", "was", "not", "good", "but", "slow"]
        made = setting_of("sentiment", [(" ".join(words),)], "mask")
        for keep in range(1 << len(words)):
            gone = tuple(i for i in range(len(words)) if not keep >> i & 1)
            left = " ".join(w for i, w in enumerate(words) if i not in gone)
            assert texts(made, (0, gone)) == [(left,)]

    def test_signs_of_their_own(self) -> None:
        made = text_setting(
            "sentiment/signs/test", bert(), wordpiece(), ["slow, but  good."],
            task="sentiment", split="punctuation",
        )  # fmt: skip
        assert made.texts is not None
        assert made.texts.words == (("slow", ",", "but", "good", "."),)
        found = texts(made, (0, (0,)), (0, (1,)), (0, (2,)), (0, (3,)), (0, (0, 1)))
        assert found == [
            (", but  good.",),
            ("slow but  good.",),
            ("slow,  good.",),
            ("slow, but.",),
            ("but  good.",),
        ]

    def test_pairs(self) -> None:
        found = texts(setting("nli"), (0, (0, 5)), (2, (0, 1, 2)))
        assert found == [("waiter never smiled .", "smiled ."), ("", PAIRS[2][1])]


@pytest.mark.parametrize("removal", ["mask", "drop", "delete"])
@pytest.mark.parametrize("task", ["sentiment", "nli"])
def test_as_if_written(task: str, removal: str) -> None:
    """The same setting comes of the shorter texts; what is explained stays what it was."""
    made = setting(task, removal=removal)
    one, other = (4, 2) if task == "sentiment" else (0, 2)
    deletions = [Deletion(one, (1,)), Deletion(other, (0,)), Deletion(one, (0,))]
    rows = [one, other, one]
    changed = rewritten(made, places(made), deletions)
    raw = texts(made, *deletions)
    assert made.texts is not None
    again = setting_of(task, raw, removal)
    assert torch.equal(changed.x, again.x)
    assert torch.equal(changed.baseline, again.baseline)
    assert changed.texts is not None
    assert again.texts is not None
    assert changed.texts.words == again.texts.words
    assert changed.texts.raw == tuple(raw)
    assert changed.target.tolist() == made.target[rows].tolist()
    assert changed.ids == tuple(f"case-000{d.case} without {d.words[0]}" for d in deletions)
    keep = torch.ones(3, made.task.features[0], dtype=torch.bool)
    for row, deletion in zip(keep, deletions, strict=True):
        row[list(deletion.words)] = False
    task_of, word = made.task, made.texts.tokens.word[rows]
    assert isinstance(task_of, TextTask)
    taken = replace(task_of, removal="delete").rows(keep, made.x[rows], word, made.x.shape[2])
    assert torch.equal(taken[..., : changed.x.shape[2]], changed.x)  # as the model is asked
    mine = evaluate(changed, "occlusion", ["deletion"], device="cpu")
    theirs = evaluate(
        replace(again, target=changed.target), "occlusion", ["deletion"], device="cpu"
    )
    assert mine["value"].tolist() == pytest.approx(theirs["value"].tolist(), nan_ok=True)


def setting_of(task: str, raw: list[tuple[str, ...]], removal: str) -> Setting:
    given = [r[0] if len(r) == 1 else r for r in raw]
    model = bert(classes=3 - (task != "nli"))
    return text_setting(f"{task}/tiny/test", model, wordpiece(), given, task=task, removal=removal)


def test_survivors() -> None:
    """Each word that is left is found again, in its own segment."""
    made = setting("nli")
    deletion = Deletion(2, (1, 4, 6))
    changed = rewritten(made, places(made), [Deletion(0, (0,)), deletion])
    assert made.texts is not None
    assert changed.texts is not None
    before, after = survivors(made.texts, deletion, changed.texts, 1)
    assert len(before) == len(made.texts.words[2]) - 3
    assert not {1, 4, 6} & set(before.tolist())
    assert [made.texts.words[2][i] for i in before] == [changed.texts.words[1][i] for i in after]


def test_words_that_move_into_the_input() -> None:
    """A text beyond the longest input lets more of its words in; they are none of its features."""
    long = " ".join(SENTENCES)
    made = text_setting(
        "sentiment/long/test", small("bag-of-words", classes=2, pairs=False), wordpiece(), [long],
        task="sentiment", limit=20,
    )  # fmt: skip
    assert made.texts is not None
    count = len(made.texts.words[0])
    assert made.texts.cut[0] > 0
    deletion = Deletion(0, (0, 5))
    changed = rewritten(made, places(made), [deletion])
    assert changed.texts is not None
    before, after = survivors(made.texts, deletion, changed.texts, 0)
    assert before.tolist() == [i for i in range(count) if i not in (0, 5)]
    assert after.tolist() == list(range(count - 2))
    assert len(changed.texts.words[0]) > count - 2


def test_nothing_left() -> None:
    made = setting()
    with pytest.raises(HumetricError, match="keep a word"):
        rewritten(made, places(made), [Deletion(1, (0, 1))])
