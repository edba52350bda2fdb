"""Importance alignment of settings on real data: whose reasons, what evidence, what is said."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from model_reports import MODELS, measured
from text_support import bert, wordpiece

from humetric.alignment import measure as module
from humetric.alignment import real
from humetric.alignment.accuracy import Accuracy
from humetric.alignment.informed import Informed
from humetric.alignment.marks import NO_MARKS
from humetric.alignment.report import Report, make_report
from humetric.alignment.rows import sections_of
from humetric.boards.model_board import markdown, model_board_files, terminal
from humetric.cli.alignment import _settings
from humetric.engine.placement import place
from humetric.errors import UnknownNameError
from humetric.human.read import load_studies
from humetric.settings.corpora import Sample
from humetric.tasks.setting import Setting
from humetric.tasks.text_setting import text_setting

SEEN = "The makers of its word vectors had seen pairs of this kind"
POOL = (
    Sample("a", ("The waiter never smiled .", "Nobody smiled ."), 1,
           ("Somebody else may have smiled.", "Nobody is more than the waiter.")),
    Sample("b", ("The soup was cold", "the soup was not good"), 0, ("Cold soup is not good.",)),
    Sample("c", ("a moving end", "the plot was slow"), 1, ("The end is not the plot.",)),
    Sample("d", ("the river flooded the mill", "the mill was dry"), 2, ("A flood is not dry.",)),
)  # fmt: skip
NAME = "nli/made-up/bert"


def setting(**options: Any) -> Setting:
    made = text_setting(
        NAME, bert(classes=3), wordpiece(), [s.segments for s in POOL], task="nli",
        label=[s.label for s in POOL], classes=("e", "n", "c"), ids=[s.id for s in POOL], **options,
    )  # fmt: skip
    return replace(made, notes=(SEEN,))


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A made-up setting in the place of one on real data."""
    made = SimpleNamespace(corpus=SimpleNamespace(pool=lambda: POOL))
    informed = tuple(Informed(bert(classes=6, positions=96), s, str(s)) for s in (1, 2))
    monkeypatch.setattr(real, "explained", lambda id: made)
    monkeypatch.setattr(module, "settings_with_reasons", lambda: [NAME])
    monkeypatch.setattr(module, "readers", lambda id: (wordpiece(), informed))
    monkeypatch.setattr(module, "load_setting", lambda id, cases: setting())


def test_the_first_reason_of_each_case_is_the_explanation(known: None) -> None:
    found = real.reasons(setting())
    assert found.explanations == tuple(s.reasons[0] for s in POOL)
    assert found.explained
    assert not found.marked
    assert found.source == "reasons"


def test_reasons_give_the_hard_and_the_soft_oracle_and_no_expert(known: None) -> None:
    found = module.measure_named(NAME, placement=place("cpu", "fp64"))
    assert found.source == "reasons"
    assert set(found.pairs) == {"hard", "soft"}
    assert found.absent == {"expert": NO_MARKS}
    assert found.informed == (1, 2)
    assert found.notes == (SEEN,)
    assert any(np.isfinite(p.c - p.c_random) for p in found.pairs["soft"])


def report(data: str, source: Any) -> Report:
    found = [
        replace(measured(name, seed), setting=f"nli/{data}/{name}", source=source, notes=(SEEN,))
        for seed, name in enumerate(MODELS)
    ]
    return make_report(found, {m.setting: Accuracy(0.5 + 0.1 * i) for i, m in enumerate(found)}, 0)


@pytest.mark.parametrize(
    ("source", "evidence"), [("reasons", "stand-in"), ("people", "own"), ("planted", "toy")]
)
def test_evidence_is_named_for_whose_marks_there_are(source: str, evidence: str) -> None:
    study = load_studies()["prasad2021"]
    (section,) = sections_of([report("anli", source)])
    assert {row.evidence for row in section.rows} == {evidence}
    page = markdown([section], study)
    assert f"| bert-base | {evidence} |" in page
    assert "| published, Table 2 |" in page
    assert evidence in model_board_files([section], study)["models.csv"]
    assert page.count(SEEN) == 1  # said once for all models that it is true of
    assert f"bert-small, bert-base, bilstm, bow: {SEEN}." in page
    terminal([section], study)


def test_whose_cases_are_balanced_is_said() -> None:
    study = load_studies()["prasad2021"]
    for data, model in (("anli", "minilm"), ("inference", "bert-base")):
        page = markdown(sections_of([report(data, "reasons")]), study)
        assert f"half right and half wrong for {model}" in page


def test_names_begin_embedded_settings_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """What needs data that are not shipped is measured where it is asked for."""
    there = ["nli/anli/bow", "nli/anli/minilm", "nli/esnli/bow"]
    monkeypatch.setattr(real, "settings_with_reasons", lambda: there)
    assert {name.split("/")[1] for name in _settings(["nli"])} == {"inference"}
    assert _settings(["nli/anli"]) == there[:2]
    assert _settings(["nli/esnli/bow", "nli/inference/bow"]) == [there[2], "nli/inference/bow"]
    assert not set(_settings([])) & set(there)
    with pytest.raises(UnknownNameError, match="nli/anlii"):
        _settings(["nli/anlii"])
