"""Tables: bins at quartiles, conditions as people read them, and rows that are refused."""

from __future__ import annotations

import numpy as np
import pytest

from humetric.errors import HumetricError
from humetric.tasks.table import Column, check_rows, single, table_of

COLUMNS = (Column("age"), Column("work", ("field", "office", "none")), Column("rate", decimals=1))
BACKGROUND = [
    [20, 0, 0],
    [30, 1, 0],
    [40, 1, 0],
    [50, 2, 0.1],
    [60, 0, 0.7],
    [70, 0, 0],
    [80, 1, 0],
]


def test_bins_are_cut_at_quartiles_and_hold_their_upper_edge() -> None:
    table = table_of(COLUMNS, BACKGROUND)
    assert table.edges[0] == (30.0, 50.0, 70.0)
    assert table.edges[1] == ()
    assert table.sizes()[:2] == (4, 3)
    rows = np.array([[29, 2, 0], [30, 0, 0], [31, 1, 0], [50, 0, 0], [70, 0, 0], [71, 0, 0]])
    assert table.bins(rows.astype(float))[:, 0].tolist() == [0, 0, 1, 1, 2, 3]
    assert table.bins(rows.astype(float))[:, 1].tolist() == [2, 0, 1, 0, 0, 0]
    counts = np.bincount(table.bins(table.background)[:, 0], minlength=4)
    assert counts.tolist() == [2, 2, 2, 1]


def test_a_value_that_most_rows_have_is_a_bin() -> None:
    table = table_of(COLUMNS, BACKGROUND)
    assert table.edges[2] == pytest.approx((0.0, 0.1))
    assert table.typical(2) == pytest.approx([0.0, 0.1, 0.7])
    assert table.typical(1).tolist() == [0, 1, 2]
    assert table.typical(0).tolist() == [20, 40, 60, 80]


def test_a_constant_column_is_one_bin() -> None:
    table = table_of([Column("only")], [[3.0]] * 5)
    assert table.sizes() == (1,)
    assert table.typical(0).tolist() == [3]
    assert table.bins(np.array([[-9.0], [9.0]])).tolist() == [[0], [0]]


def test_every_background_value_is_within_its_own_bin_s_condition() -> None:
    """A fraction that is an edge lies in the bin below it, also after rounding to single."""
    table = table_of(COLUMNS, BACKGROUND)
    single = np.array(BACKGROUND).astype(np.float32).astype(float)
    assert table.bins(single)[3, 2] == 1
    assert table.condition(2, float(np.float32(0.1))) == "0.0 < rate <= 0.1"


def test_conditions_are_read_as_bins_or_categories() -> None:
    table = table_of(COLUMNS, BACKGROUND)
    assert [table.condition(0, v) for v in (25, 30, 45, 71)] == [
        "age <= 30",
        "age <= 30",
        "30 < age <= 50",
        "age > 70",
    ]
    assert table.condition(1, 2) == "work = none"
    assert [c.text(v) for c, v in zip(COLUMNS, (31.0, 1, 0.25), strict=True)] == [
        "31",
        "office",
        "0.2",
    ]
    assert table.names == ("age", "work", "rate")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, 0]], r"rows of shape \(rows, 3\), a value per column, but got \(1, 2\)"),
        ([1, 0, 0], r"but got \(3,\)"),
        (np.zeros((0, 3)), r"but got \(0, 3\)"),
        ([[1, 0, 0], [np.nan, 0, 0]], r"finite numbers \(fill in.*column age.* got nan in row 1"),
        ([[1, 3, 0]], r"categories from 0 to 2 in column work of the rows but got 3\.0 in row 0"),
        ([[1, -1, 0]], r"got -1\.0 in row 0"),
        ([[1, 0, 0], [1, 0.5, 0]], r"got 0\.5 in row 1"),
        ([[1, 0, 1e300]], r"finite numbers .* column rate"),
    ],
)
def test_rows_of_other_columns_are_refused(rows: object, message: str) -> None:
    with pytest.raises(HumetricError, match=message):
        check_rows(COLUMNS, single(rows), "rows")  # type: ignore[arg-type]
    with pytest.raises(HumetricError):
        table_of(COLUMNS, rows)  # type: ignore[arg-type]


def test_columns_need_different_names() -> None:
    with pytest.raises(HumetricError, match=r"different names but got \['a', 'a'\]"):
        table_of([Column("a"), Column("a")], [[1, 2]])
    with pytest.raises(HumetricError, match=r"different names but got \[\]"):
        table_of([], np.zeros((1, 0)))
