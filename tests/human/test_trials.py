"""Tables of responses: what is read, what is filled, and what is said of what is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from simulated_people import simulated_colin, simulated_prasad

from humetric.errors import HumetricError
from humetric.human.alignments import check_alignments
from humetric.human.columns import AT_MOST, TableError
from humetric.human.trials import COLUMNS, check_trials, read_trials

ROOT = Path(__file__).parents[2]


def rows(**columns: list[object]) -> pd.DataFrame:
    """Two trials of a simulated participant, with columns added or replaced."""
    base: dict[str, list[object]] = {
        "participant": ["s1", "s1"],
        "condition": ["none", "none"],
        "item": ["a", "b"],
    }
    return pd.DataFrame(base | columns)


def wrong(frame: pd.DataFrame, required: tuple[str, ...] = ()) -> TableError:
    with pytest.raises(TableError) as caught:
        check_trials(frame, required, "file.csv", 2)
    return caught.value


def test_csv_and_parquet_give_the_same(tmp_path: Path) -> None:
    frame = simulated_colin(
        np.random.default_rng(0), {"none": (0.5, 0.6), "lime": (0.5, 0.6)}, users=3
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv.gz", index=False)
    first = read_trials(tmp_path / "t.csv", ("session", "correct"))
    for name in ("t.parquet", "t.csv.gz"):
        other = read_trials(tmp_path / name, ("session", "correct"))
        pd.testing.assert_frame_equal(first.frame, other.frame)
        assert first.given == other.given
    assert list(first.frame.columns) == [column.name for column in COLUMNS]
    assert len(first) == len(frame)


def test_the_condition_none_survives_reading(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("participant,condition,item,correct\ns1,none,a,1\n")
    assert read_trials(tmp_path / "t.csv").frame["condition"].tolist() == ["none"]


def test_correct_is_filled_from_texts_and_a_given_value_stands() -> None:
    frame = rows(
        model_output=["yes", "no"], gold=["no", "no"], response=["yes", "no"], correct=["", "0"]
    )
    found = check_trials(frame, ("correct", "correct_gold")).frame
    assert found["correct"].tolist() == [1.0, 0.0]
    assert found["correct_gold"].tolist() == [0.0, 1.0]


def test_missing_numbers_are_undefined_however_they_are_spelt() -> None:
    frame = rows(correct=["NaN", "NA"], rating=[None, "3"], response_time=["", "2.5"])
    found = check_trials(frame).frame
    assert found["correct"].isna().all()
    assert found["rating"].tolist()[1] == 3
    assert np.isnan(found["response_time"][0])


def test_flipped_is_filled_from_the_confidence() -> None:
    found = check_trials(rows(confidence_before=[0.9, 0.8], confidence_after=[0.4, 0.6])).frame
    assert found["flipped"].tolist() == [1.0, 0.0]


def test_all_problems_are_reported_with_row_column_and_remedy() -> None:
    error = wrong(
        rows(
            participant=["s1", ""],
            correct=["maybe", "1"],
            confidence_before=["1.5", "inf"],
            session=["0", "1.5"],
            phase=["tset", "test"],
            condition=["LIME", "none"],
        )
    )
    places = {(problem.row, problem.column) for problem in error.problems}
    assert places == {
        (3, "participant"),
        (2, "correct"),
        (2, "confidence_before"),
        (3, "confidence_before"),
        (2, "session"),
        (3, "session"),
        (2, "phase"),
        (2, "condition"),
    }
    text = str(error)
    assert text.startswith("file.csv: 8 problems.")
    assert "row 2, column 'correct': expected 1 or 0 (true, false, yes, no are read too)" in text
    assert "but got 'maybe'. Correct the cell" in text
    assert "a finite number from 0 to 1 but got '1.5'" in text


def test_long_lists_of_problems_are_cut_and_counted() -> None:
    many = pd.DataFrame(
        {
            "participant": [f"s{i}" for i in range(50)],
            "condition": "none",
            "item": "a",
            "correct": "?",
        }
    )
    error = wrong(many)
    assert len(error.problems) == 50
    assert str(error).endswith(f"... and {50 - AT_MOST} more.")


def test_a_missing_column_is_named_with_its_meaning() -> None:
    text = str(wrong(rows().drop(columns="item"), ("session",)))
    assert "column 'item': expected a value (what was shown: id of the input)" in text
    assert "column 'session'" in text
    assert "row 3, column 'phase'" in str(wrong(rows(phase=["pre", ""]), ("phase",)))
    assert "or model_output and response" in str(wrong(rows(), ("correct",)))


def test_a_misspelt_column_is_not_ignored_but_others_are_listed() -> None:
    assert "Rename it to 'correct'" in str(wrong(rows(corect=[1, 0])))
    assert check_trials(rows(age=[30, 30])).unused == ("age",)


def test_contradictions_between_cells() -> None:
    assert "a second one like row 2" in str(wrong(rows(item=["a", "a"])))
    assert "4 of 3" in str(wrong(rows(edits=[3, 3], edits_highlighted=[4, 0])))
    assert "Say why" in str(wrong(rows(excluded=[1, 0])))
    assert len(check_trials(rows(item=["a", "a"], session=[1, 2]))) == 2


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "t.xlsx").write_text("x")
    (tmp_path / "bad.parquet").write_text("not parquet")
    (tmp_path / "bad.csv").write_bytes(b"participant,condition\n\xff\xfe,none\n")
    for name, words in (
        ("empty.csv", "the file is empty"),
        ("t.xlsx", "ends in .csv"),
        ("bad.parquet", "readable parquet"),
        ("bad.csv", "readable csv"),
        ("none.csv", "there is none"),
    ):
        with pytest.raises(HumetricError, match=words):
            read_trials(tmp_path / name)


def test_alignments_are_transformed_and_checked() -> None:
    frame = pd.DataFrame({"model": "bert", "case": ["x", "y"], "r": [0.5, 0.1], "r_random": [0, 0]})
    found = check_alignments(frame).frame
    assert found["c"].tolist() == pytest.approx(np.arctanh([0.5, 0.1]))
    with pytest.raises(TableError, match="Fisher transform is infinite"):
        check_alignments(frame.assign(r=[1.0, 0.1]))
    with pytest.raises(TableError, match="a second one"):
        check_alignments(frame.assign(case="x"))
    with pytest.raises(TableError, match="An accuracy belongs"):
        check_alignments(frame.assign(accuracy=[0.4, 0.5]))
    with pytest.raises(TableError, match="Add 'r_random'"):
        check_alignments(frame.drop(columns="r_random"))
    assert len(check_alignments(simulated_prasad(np.random.default_rng(0), {"bow": 0.1}))) == 60


def test_the_page_documents_every_column() -> None:
    from humetric.human.alignments import COLUMNS as ALIGNMENTS

    page = (ROOT / "docs" / "responses.md").read_text()
    for column in (*COLUMNS, *ALIGNMENTS):
        assert f"| `{column.name}` |" in page, column.name
