"""Questions about passages, on made-up ones."""

from __future__ import annotations

import pytest

from humetric.settings import passages
from humetric.settings.corpora import Sample
from humetric.settings.passages import both, corpus, evaluated, last_word, learned

PASSAGE = "The mill burned in May. Nobody rebuilt the Mill's wheel before 1,902 or so."


def row(id: str, title: str, answer: str = "May", added: bool = False) -> dict[str, object]:
    context = PASSAGE + (" The barn burned in June." if added else "")
    return {
        "id": id,
        "title": title,
        "context": context,
        "question": f"When did the mill of {title} burn?",
        "answers": [answer, "in May"] if answer else [],
        "starts": [context.index(answer), context.index("in May")] if answer else [],
        "adversarial": added,
    }


@pytest.fixture
def squad(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten articles to learn from, of one question with and one without an answer."""
    made = {
        ("squad_v2", "train"): [
            row(f"{title}{i}", title, answer)
            for title in "hgjicbaedf"
            for i, answer in enumerate(("May", "", "1,902"))
        ],
        ("squad_adversarial", "test"): [
            row("x", "x"),
            row("x-turk1", "x", added=True),
            row("x-turk0", "x", added=True),
            row("y", "y"),
        ],
    }
    monkeypatch.setattr(passages, "rows", lambda source, split: made[source, split])


@pytest.mark.usefixtures("squad")
def test_every_eighth_article_is_held_out() -> None:
    """By name: a and i; unanswerable questions neither train nor validate."""
    train, held = learned(validation=False), learned(validation=True)
    assert sorted(s.id for s in held) == ["a0", "a2", "i0", "i2"]
    assert len(train) == 16
    assert not {s.id for s in train} & {s.id for s in held}
    assert [s.id for s in train] != sorted(s.id for s in train), "articles are mixed"


@pytest.mark.usefixtures("squad")
def test_labels_are_where_the_first_answer_is() -> None:
    sample = next(s for s in learned(validation=False) if s.id == "b2")
    assert isinstance(sample.label, tuple)
    assert PASSAGE[slice(*sample.label)] == "1,902"
    assert sample.answers == ("1,902", "in May")


@pytest.mark.usefixtures("squad")
def test_versions_of_a_question_belong_together() -> None:
    """The first added sentence in the file; questions without one are left out."""
    pairs = both(evaluated(adversarial=False), evaluated(adversarial=True))
    assert [(one.id, other.id) for one, other in pairs] == [("x", "x-turk1")]
    assert pairs[0][1].segments[1].startswith(pairs[0][0].segments[1])


@pytest.mark.usefixtures("squad")
def test_a_corpus_explains_one_version() -> None:
    assert [s.id for s in corpus("squad-original").pool()] == ["x", "y"]
    assert [s.id for s in corpus("squad-adversarial").pool()] == ["x-turk1", "x-turk0"]
    assert len(corpus("squad-original").training()) == 16


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What happened to the mill?", "mill"),  # the first, and whole words only
        ("What burned in MAY ?", "May"),
        ("Who rebuilt it before 1,902?", "1,902"),
        ("Who built the barn?", None),
        ("What of the mi?", None),
        ("?", None),
    ],
)
def test_last_word_of_the_question(question: str, answer: str | None) -> None:
    span = last_word(Sample("a", (question, PASSAGE), (0, 3)))
    assert (PASSAGE[slice(*span)] if span else None) == answer
    if answer == "mill":
        assert span is not None
        assert span.start == 4
