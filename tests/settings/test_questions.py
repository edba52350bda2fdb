"""HIGH, MEDIUM and LOW on SQuAD: which questions are cases, and what is declared of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from humetric.data.sources.lookup import SOURCES, look
from humetric.errors import HumetricError
from humetric.settings import REAL, questions
from humetric.settings.corpora import Sample
from humetric.settings.declared import Training
from humetric.settings.files import SHIPPED, cases_file
from humetric.settings.questions import QUESTIONS, READERS, chosen_cases, shared
from humetric.settings.reading import Said
from humetric.suites import load_suite
from humetric.tasks.named import load_setting
from humetric.tasks.words import Span

IDS = [declared.id for declared in QUESTIONS]
VERSIONS = ("squad-original", "squad-adversarial")


def sample(id: str, added: bool, asks: str = "the mill") -> Sample:
    passage = "The mill burned in May." + (" The barn burned in June." if added else "")
    question = f"When burned {asks}?"
    return Sample(f"{id}-turk0" if added else id, (question, passage), (19, 22), answers=("May",))


ASKED = {"cut": "the mill", "vague": "the mill", "lost": "the barn"}


Written = list[tuple[str, dict[str, Any], list[dict[str, Any]]]]


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Written]:
    """Five plain questions, one cut, one whose answer is unclear, one that the rule cannot answer.

    LOW says "mill", MEDIUM answers with the added sentence; what is written is listed.
    """
    names = ["a", "b", "c", "d", "e", "cut", "vague", "lost"]
    made = {
        added: [sample(n, added, ASKED.get(n, "the mill")) for n in names]
        for added in (False, True)
    }

    def heard(level: str, data: str) -> tuple[str, list[Said]]:
        added, answers = data == "squad-adversarial", []
        for one in made[added]:
            span = Span(4, 8) if level == "low" else Span(19, 22)
            if level == "medium" and added:
                span = Span(43, 47)
            whole = not (added and one.id.startswith("cut"))
            answers.append(Said(span, 0.01 if one.id == "vague" else 1.0, whole))
        return f"weights of {level}", answers

    written: Written = []
    monkeypatch.setattr(questions, "evaluated", lambda adversarial: made[adversarial])
    monkeypatch.setattr(questions, "heard", heard)
    monkeypatch.setattr(questions, "write_cases", lambda *given: written.append(given))
    shared.cache_clear()
    yield written
    shared.cache_clear()


def test_readers_share_questions_in_both_versions(pool: Written, tmp_path: Path) -> None:
    """Without those that a reader sees in part, is undecided about, or LOW has no rule for."""
    said: list[str] = []
    task = Training("", tmp_path, tmp_path, say=said.append)
    for level in READERS:
        for data in VERSIONS:
            chosen_cases(level, data, task)
    found = {id: (about, rows) for id, about, rows in pool}
    assert set(found) == set(IDS)
    ids = [row["id"] for row in found["qa/squad-original/high"][1]]
    assert sorted(ids) == ["a", "b", "c", "d", "e"]
    assert ids != sorted(ids), "in the order of their hashes, not of the articles"
    for level in READERS:
        plain, added = (found[f"qa/{data}/{level}"] for data in VERSIONS)
        assert [row["id"] for row in plain[1]] == ids
        assert [row["id"] for row in added[1]] == [f"{id}-turk0" for id in ids]
        assert plain[0]["weights"] == f"weights of {level}"
        assert {tuple(row) for row in plain[1]} == {("id", "label", "predicted", "sha256")}
    assert found["qa/squad-adversarial/medium"][1][0]["predicted"] == [43, 47]
    assert found["qa/squad-original/high"][0] == {
        "f1": 1.0,
        "exact": 1.0,
        "pool": 8,
        "weights": "weights of high",
    }
    assert found["qa/squad-adversarial/medium"][0]["f1"] == 0.0
    low = found["qa/squad-original/low"][0]
    assert (low["f1"], low["rule_f1"]) == (0.0, 1.0), "seven of eight have a last word to find"
    assert len(said) == 6


def test_what_is_declared() -> None:
    for declared in QUESTIONS:
        level = declared.id.split("/")[2]
        assert declared.weights == f"qa/squad-original/{level}"
        assert REAL[declared.id] is declared
        assert declared.ships
        assert "trained it on pairs" in declared.notes[0]
        assert "SQuAD 2.0" in declared.departs
        assert ("f1" in declared.published) == (level != "medium")
    assert len(IDS) == 6


def test_people_saw_high_and_low() -> None:
    pairs = load_suite("standard").pairs(IDS)
    cells = {id: [(p["study"], p["cell"]) for p in found] for id, found in pairs.items()}
    short = {"squad-original": "orig", "squad-adversarial": "adv"}
    for data, name in short.items():
        for level in ("high", "low"):
            assert cells[f"qa/{data}/{level}"] == [("gonzalez2021", f"{level}-{name}")]
        assert cells[f"qa/{data}/medium"] == []
    evidence = {(id.split("/")[2], p["evidence"]) for id, found in pairs.items() for p in found}
    assert evidence == {("high", "stand-in"), ("low", "replica")}


@pytest.mark.parametrize("data", VERSIONS)
def test_chosen_questions(data: str) -> None:
    """84 of each, the same for all readers; no text is kept."""
    chosen = [json.loads(cases_file(f"qa/{data}/{level}").read_text()) for level in READERS]
    ids = [[row["id"] for row in one["cases"]] for one in chosen]
    assert ids[0] == ids[1] == ids[2]
    assert len(set(ids[0])) == 84
    originals = json.loads(cases_file("qa/squad-original/high").read_text())["cases"]
    assert [id.split("-")[0] for id in ids[0]] == [row["id"] for row in originals]
    assert all(("-" in id) == (data == "squad-adversarial") for id in ids[0])
    for one in chosen:
        assert {tuple(row) for row in one["cases"]} == {("id", "label", "predicted", "sha256")}
    high, medium, low = (one["f1"] for one in chosen)
    assert high > max(medium, low)


def test_weights_ship_and_are_small() -> None:
    for level in READERS:
        file = SHIPPED / f"qa/squad-original/{level}/trained.safetensors"
        assert file.stat().st_size < 1_000_000


@pytest.mark.skipif(
    not all(look(SOURCES[name]) for name in QUESTIONS[0].sources),
    reason="SQuAD and MiniLM are not on this machine; set HUMETRIC_MIRROR",
)
@pytest.mark.parametrize("id", IDS)
def test_readers_say_what_is_recorded(id: str) -> None:
    rows = json.loads(cases_file(id).read_text())["cases"][:3]
    setting = load_setting(id, 3)
    texts = setting.texts
    assert texts is not None
    assert list(setting.ids) == [row["id"] for row in rows]
    for i, row in enumerate(rows):
        first, last = setting.target[i].tolist()
        span = [int(texts.offset[i, first, 0]), int(texts.offset[i, last, 1])]
        assert span == row["predicted"]
        assert not texts.cut[i]
    data, level = id.split("/")[1:]
    rivals = {f"qa/{data}/low", f"qa/{data}/medium"} if level == "high" else set()
    assert set(setting.rivals) == rivals
    assert len(setting.notes) == 2


def test_unknown_texts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version of the data under the same ids."""
    from humetric.settings import text
    from humetric.settings.passages import CORPORA

    monkeypatch.setattr("humetric.settings.passages.evaluated", lambda _: [sample("a", False)])
    with pytest.raises(HumetricError, match="1 of 1 are others"):
        text.samples_of(CORPORA["squad-original"], [{"id": "a", "sha256": "another"}])
