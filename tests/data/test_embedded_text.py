"""The embedded texts: reproducible, apart from training, and decided where they say they are."""

import re
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

from humetric.data.embedded import deception, inference, reading, reviews
from humetric.data.embedded.inference_two import (
    DIAGNOSTIC,
    HEURISTICS,
    TEMPLATES,
    TRAINING,
    diagnostic,
)
from humetric.data.embedded.texts import TEXTS, digest, text_dataset
from humetric.data.embedded.wording import SPLITS, Text, seeded, sentence, split_of, unmark, zipf
from humetric.errors import UnknownNameError

NAMES = sorted(TEXTS)
COUNT = 300

# python -c "from humetric.data.embedded.texts import TEXTS, digest; [print(name,
# digest(d.draw(7, 'pool'))) for name, d in TEXTS.items()]"
RECORDED = {
    "deception": "94a46c612a8532f7a3f859f48a98deaddb7577444158c0aaf59d7f4abc95f057",
    "inference": "ddba78b1d0cb8c9b4a817be6d5b482563c513329bc7f9a82c54d134b25c922e4",
    "reading": "c196b848956e74847267b3cbfd8cffd5afc36051123aead2e0062aecdc2418cb",
    "reviews": "a86deb94ef0d15d9fe1a61f56d96236c6b8e8e7d19583c1c32e3f194e9db3f8c",
}


@cache
def samples(name: str, split: str = "pool", count: int = COUNT) -> list[Any]:
    return [text_dataset(name).draw(index, split) for index in range(count)]


def key(sample: Any) -> str:
    """What decides the split of a sample."""
    if isinstance(sample, Text):
        return sample.text
    return str(getattr(sample, "premise", None) or sample.passage)


def said(text: str, marks: Any) -> list[str]:
    return [text[start:stop] for start, stop in marks]


@pytest.mark.parametrize("name", NAMES)
def test_a_text_depends_on_its_index_and_split_only(name: str) -> None:
    data = text_dataset(name)
    assert data.draw(5, "pool") == samples(name)[5]
    assert len({key(data.draw(5, split)) for split in SPLITS}) == 3
    assert key(data.draw(5, "pool")) != key(data.draw(5 + 6, "pool"))


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_those_on_record(name: str) -> None:
    found = digest(text_dataset(name).draw(7, "pool"))
    assert found == RECORDED[name], "a changed text needs another VERSION and new weights"


@pytest.mark.parametrize("name", NAMES)
def test_splits_share_no_text(name: str) -> None:
    kept = {split: {key(s) for s in samples(name, split)} for split in SPLITS}
    for split, found in kept.items():
        assert {split_of(text) for text in found} == {split}
    assert not kept["train"] & kept["pool"]
    assert not kept["extra"] & (kept["train"] | kept["pool"])
    assert len(kept["pool"]) > 0.8 * COUNT, "and hardly repeat themselves"


@pytest.mark.parametrize("name", ["reviews", "deception", "inference"])
@pytest.mark.parametrize("split", SPLITS)
def test_labels_are_balanced(name: str, split: str) -> None:
    classes = len(text_dataset(name).CLASSES)
    counts = Counter(sample.label for sample in samples(name, split))
    assert counts == dict.fromkeys(range(classes), COUNT // classes)


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_tidy(name: str) -> None:
    for sample in samples(name):
        for line in (part for part in sample if isinstance(part, str) and " " in part):
            assert not re.search(r"[\[\]<>{}|]|  |\.\.|\ba [aeio]\w", line), line
            if line not in (getattr(sample, "kind", ""), getattr(sample, "answer", "")):
                assert re.match(r"[A-Z0-9]", line), line
                assert line[-1] in ".?", line


@pytest.mark.parametrize("name", ["reviews", "deception"])
def test_marks_are_inside_and_apart(name: str) -> None:
    for sample in samples(name):
        edges = [edge for mark in sample.marks for edge in mark]
        assert edges
        assert edges == sorted(edges)
        assert 0 <= edges[0] < edges[-1] <= len(sample.text)
        for start, stop in sample.marks:
            assert not sample.text[start - 1 : start].isalpha()
            assert not sample.text[stop : stop + 1].isalpha()


NEGATIONS = {"not", "never", "hardly", "far from", "anything but", "no longer"}
CONTRASTS = {"but", "yet", "although", "even though", "despite", "still"}


def test_reviews_are_decided_by_their_marked_words() -> None:
    """Read by marks alone: each word of praise or blame, turned by the negation before it."""
    kinds = set()
    for sample in samples("reviews"):
        turned, votes = False, []
        for word in (w.lower() for w in said(sample.text, sample.marks)):
            if word in NEGATIONS:
                turned = True
            elif word in CONTRASTS:
                kinds.add("contrast")
            else:
                assert (word in reviews.PRAISE) != (word in reviews.BLAME)
                votes.append((word in reviews.PRAISE) != turned)
                kinds.add("negated" if turned else "plain")
                turned = False
        assert set(votes) == {sample.label == 1}
    assert kinds == {"contrast", "negated", "plain"}


def test_reviews_cannot_be_told_by_counting_words() -> None:
    right = []
    for sample in samples("reviews"):
        found = re.findall(r"\w+", sample.text.lower())
        votes = sum((w in reviews.PRAISE) - (w in reviews.BLAME) for w in found)
        right.append(0.5 if votes == 0 else float((votes > 0) == (sample.label == 1)))
    assert np.mean(right) < 0.75


def test_counting_cues_tells_most_fakes_and_sentiment_none() -> None:
    genuine, fake = (frozenset(cues) for cues in zip(*deception.CUES, strict=True))
    assert not genuine & fake
    right, happy = [], []
    for sample in samples("deception"):
        cues = [word.lower() for word in said(sample.text, sample.marks)]
        votes = sum((c in fake) - (c in genuine) for c in cues)
        assert all(c in fake | genuine for c in cues)
        right.append(0.5 if votes == 0 else float((votes > 0) == (sample.label == 1)))
        negative = re.search(r"not come back|never stay|disappointed", sample.text)
        happy.append((negative is None) == (sample.label == 1))
    assert 0.87 < np.mean(right) < 0.95
    assert abs(np.mean(happy) - 0.5) < 0.1


def test_reasons_name_the_words_that_decide() -> None:
    """Of the marked words, some of the premise's and of the hypothesis's are in the reason."""
    for pair in samples("inference"):
        reason = set(re.findall(r"\w+", pair.reason.lower()))
        marked = (
            said(pair.premise, pair.premise_marks),
            said(pair.hypothesis, pair.hypothesis_marks),
        )
        assert all(marked)
        for words in marked:
            stems = {w for phrase in words for w in re.findall(r"\w+", phrase.lower())}
            singular = {w.rstrip("s") for w in stems} | {
                "person" if w == "people" else w for w in stems
            }
            assert (stems | singular) & reason, pair


def test_inference_holds_what_it_promises() -> None:
    kinds = Counter((pair.kind, pair.label) for pair in samples("inference", "train", 1200))
    for kind in ("hypernym", "quantifier", "negation", "less", "more", "antonym", "exclusion"):
        assert any(found == kind for found, _ in kinds), kind
    for kind in ("quantifier", "negation"):
        assert len({label for found, label in kinds if found == kind}) > 1, "no kind gives it away"


def test_a_bag_of_words_cannot_tell_which_of_two() -> None:
    """All words of the hypothesis are in the premise, whatever the label."""
    found = [pair for pair in samples("inference", "train", 1200) if pair.kind == "which of two"]
    assert {pair.label for pair in found} == {0, 1, 2}
    for pair in found:
        words = set(re.findall(r"\w+", pair.hypothesis.lower())) - {"an"}
        assert words <= set(re.findall(r"\w+", pair.premise.lower())) | {"a"}


def test_no_or_all_of_a_kind_is_never_widened_or_narrowed_in_passing() -> None:
    """ "No rich nurses" and "two nurses" do not exclude each other."""
    for pair in samples("inference", "train", 1200):
        if re.match(r"(No|All) ", pair.premise) and pair.kind == "quantifier":
            changed = set(pair.premise.lower().split()) ^ set(pair.hypothesis.lower().split())
            assert changed <= {"no", "all", "some", "two", "not"}, pair


def test_the_diagnostic_set_is_balanced_and_its_heuristics_hold() -> None:
    cases = [diagnostic(index) for index in range(DIAGNOSTIC)]
    assert set(Counter((c.heuristic, c.entailed) for c in cases).values()) == {DIAGNOSTIC // 6}
    assert {c.template for c in cases} == {t.name for t in TEMPLATES if t.heuristic != TRAINING}
    for case in cases:
        premise, hypothesis = (
            re.findall(r"\w+", line.lower()) for line in (case.premise, case.hypothesis)
        )
        if case.heuristic != "lexical overlap":
            line = " ".join(premise)
            assert " ".join(hypothesis) in line, case
        elif case.template != "passive":
            assert set(hypothesis) <= set(premise), case
    seen = {(p.premise, p.hypothesis) for p in samples("inference", "train", 1200)}
    assert not seen & {(c.premise, c.hypothesis) for c in cases}
    assert {c.heuristic for c in cases} == set(HEURISTICS)
    with pytest.raises(IndexError, match=r"0\.\.599"):
        diagnostic(DIAGNOSTIC)


def test_some_misleading_templates_are_kept_from_training() -> None:
    never = {t.name for t in TEMPLATES if not t.training}
    assert never == {"passive turned", "relative clause", "if", "believed"}
    assert not never & {pair.kind for pair in samples("inference", "train", 1200)}


def test_answers_are_where_they_are_said_to_be() -> None:
    for question in samples("reading"):
        start, stop = question.span
        assert question.passage[start:stop] == question.answer
        assert question.span in question.marks
        assert len(question.marks) > 1
        assert len({question.passage[a:b] for a, b in question.marks}) == len(question.marks)
        assert question.answer.lower() not in question.question.lower()


def test_the_last_word_of_every_question_is_in_its_passage() -> None:
    places = []
    for question in samples("reading", "train", 1000):
        start, stop = reading.last_word(question)
        word = question.passage[start:stop].lower()
        assert question.question.lower().endswith(f"{word}?")
        assert (start, stop) != question.span
        places.append(start)
    assert len(set(places)) > 50, "and not always in the same place"


EMPTY = {"who", "was", "the", "did", "whe", "wha", "whi", "how"}


def test_adversarial_versions_add_a_false_answer_and_change_nothing_else() -> None:
    for index, plain in enumerate(samples("reading")):
        hard = reading.draw_adversarial(index, "pool")
        assert plain.distractor is None
        assert hard.distractor is not None
        start, stop = hard.distractor
        assert (hard.id, hard.question, hard.span, hard.marks) == plain[:2] + plain[4:6]
        assert hard.passage == f"{plain.passage} {hard.passage[start:stop]}"
        assert stop == len(hard.passage)
        false = hard.passage[start:stop]
        assert not re.search(rf"\b{re.escape(plain.answer)}\b", false)
        asked, told = (
            {word[:3] for word in re.findall(r"\w{3,}", line.lower())} - EMPTY
            for line in (plain.question, false)
        )
        assert asked & told, "it resembles the question"


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="deception, inference, reading, reviews"):
        text_dataset("review")
    with pytest.raises(UnknownNameError, match="pool, train"):
        reviews.draw(0, "test")
    for index in (-1, SPLITS["pool"]):
        with pytest.raises(IndexError, match=r"0\.\.1999"):
            inference.draw(index, "pool")


def test_wording() -> None:
    assert unmark("A [b c] d [e].") == ("A b c d e.", ((2, 5), (8, 9)))
    assert sentence("a [old] man and a user saw a unit and a hour") == (
        "An [old] man and a user saw a unit and a hour"
    )
    drawn = Counter(zipf(seeded(str(i)), "abcd") for i in range(2000))
    assert drawn["a"] > drawn["b"] > drawn["c"] > drawn["d"] > 0
