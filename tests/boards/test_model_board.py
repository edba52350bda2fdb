"""The model board is what the stored table gives, with the published rows beside it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from model_reports import CASES, MODELS, measured, report
from scipy import stats

from humetric.alignment.accuracy import Accuracy
from humetric.alignment.arithmetic import align
from humetric.alignment.report import make_report, read_reports, write_report
from humetric.alignment.rows import Row, published_rows, rows_of, sections_of
from humetric.boards.model_board import markdown, model_board_files, notes, terminal
from humetric.human.analyse import analyse_file
from humetric.human.read import load_studies

STUDY = load_studies()["prasad2021"]


def row(rows: list[Row], **wanted: str) -> Row:
    (found,) = (r for r in rows if all(getattr(r, k) == v for k, v in wanted.items()))
    return found


def test_alignments_are_those_of_the_pairs() -> None:
    rows = rows_of(report())
    for seed, name in enumerate(MODELS):
        m = measured(name, seed)
        for cell, kept in (("wrong", ~m.right), ("commonly-wrong", np.arange(CASES) < 8),
                           ("all", np.ones(CASES, bool))):  # fmt: skip
            for oracle, pairs in m.pairs.items():
                c = np.array([p.c for p in pairs])[kept]
                wanted = align(c, np.array([p.c_random for p in pairs])[kept])
                got = row(rows, table="alignment", cases=cell, model=name, oracle=oracle)
                assert got.value == pytest.approx(wanted.value, abs=1e-12)
                assert got.p == pytest.approx(wanted.p, abs=1e-12)
                assert (got.n, got.undefined) == (wanted.n, wanted.undefined)
                assert got.evidence == "toy"


def test_correlations_with_accuracy() -> None:
    rows = rows_of(report())
    values = [
        row(rows, table="alignment", cases="all", model=m, oracle="soft").value for m in MODELS
    ]
    for term, shares in (("accuracy", [0.5, 0.6, 0.7, 0.8]),
                         ("diagnostic all", [0.6, 0.7, 0.6, 0.7]),
                         ("diagnostic subsequence", [0, 0.3, 0.6, 0.9])):  # fmt: skip
        found = row(rows, table="correlation", cases="all", oracle="soft", term=term)
        wanted = stats.pearsonr(values, shares)
        assert found.value == pytest.approx(wanted.statistic)
        assert found.p == pytest.approx(wanted.pvalue)
        assert found.n == 4


def test_size_is_fitted_and_type_is_not() -> None:
    made = report()
    rows = rows_of(made)
    terms = {r.term for r in rows if r.table == "mixed effects"}
    assert terms == {"transformers: large vs base", "smaller: bilstm vs bert-small",
                     "smaller: bow vs bert-small"}  # fmt: skip
    size = row(rows, table="mixed effects", cases="all", oracle="soft",
               term="transformers: large vs base")  # fmt: skip
    small, base = (measured(m, i).pairs["soft"] for i, m in enumerate(("bert-small", "bert-base")))
    gap = [(b.c - b.c_random) - (s.c - s.c_random) for s, b in zip(small, base, strict=True)]
    assert size.value == pytest.approx(np.mean(gap), abs=1e-6)
    assert "slope" in size.note
    assert any("cannot be fitted" in note for note in notes(made))
    assert any("bert-small is the base model" in note for note in notes(made))


def test_the_table_is_one_that_analyse_reads(tmp_path: Path) -> None:
    made = report()
    path = write_report(made, tmp_path)[0]
    found = analyse_file(path, "prasad2021").findings
    rows = rows_of(made)
    assert len(found.estimates) == 36
    for e in found.estimates:
        oracle = e.measure.removeprefix("alignment-")
        got = row(rows, table="alignment", cases=e.cell, model=e.condition, oracle=oracle)
        assert got.value == e.value


def test_files_are_the_same_after_reading(tmp_path: Path) -> None:
    made = report()
    write_report(made, tmp_path)
    (again,) = read_reports(tmp_path)
    pd.testing.assert_frame_equal(again.table, made.table, check_dtype=False)
    files = model_board_files(sections_of([made]), STUDY)
    assert model_board_files(sections_of([again]), STUDY) == files
    assert list(files) == ["models.md", "models.csv", "models.json"]
    board = json.loads(files["models.json"])["board"]
    assert len(files["models.csv"].splitlines()) == len(board) + 1


def test_published_rows_are_the_studys() -> None:
    rows = published_rows(STUDY)
    assert all(r.evidence == "published" for r in rows)
    best = row(rows, table="alignment", cases="wrong", model="bert-base", oracle="hard")
    assert (best.value, best.p, best.source) == (0.21, "<0.001", "Table 2")
    assert row(rows, table="accuracy", model="bow", term="accuracy").value == pytest.approx(0.3582)
    assert row(rows, table="accuracy", model="bow", term="six-way").value == pytest.approx(0.187)
    assert row(rows, table="oracles", term="hard and expert oracle").value == 0.24
    part = row(rows, table="correlation", cases="wrong", oracle="soft",
               term="diagnostic subsequence")  # fmt: skip
    assert (part.value, part.p) == (-0.31, "<0.1")
    size = row(rows, table="mixed effects", cases="commonly-wrong", oracle="expert",
               term="transformers: large vs base")  # fmt: skip
    assert size.value == -0.115


def test_what_is_shown() -> None:
    text = markdown(sections_of([report()]), STUDY)
    assert "| bert-base | published, Table 2 | 0.210 p <.001" in text
    assert "<0.010" in text  # BInferSent's upper bound
    assert "1 of 24 cases undefined, the oracle does not vary" in text
    assert "hard and expert oracle | published" in text
    assert terminal(sections_of([report()]), STUDY)


def test_one_model_and_no_marks() -> None:
    from dataclasses import replace

    bare = replace(measured("bow", 3), pairs={}, oracles={}, source="",
                   absent=dict.fromkeys(("hard", "soft", "expert"), "no human marks"))  # fmt: skip
    made = make_report([bare], {bare.setting: Accuracy(0.7)}, seed=0)
    assert len(made.table) == 0
    text = markdown(sections_of([made]), STUDY)
    assert "bow: no expert oracle (no human marks)." in text
    assert model_board_files(sections_of([made]), STUDY)
