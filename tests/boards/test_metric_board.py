"""Columns and fields of the metric board."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from humetric.agreement.report import Agreement, agreement
from humetric.boards.metric_board import metric_board_files, terminal
from humetric.human.read import load_studies
from humetric.stats.pooling import Pooled


@pytest.fixture(scope="module")
def found() -> Agreement:
    plain = agreement(load_studies())
    pooled = Pooled(0.5, -0.125, 1.0, 0.1, -1.0, 1.5, 5)
    whole = [replace(a, pooled=pooled) if a.metric == "deletion" else a for a in plain.across]
    return replace(plain, across=tuple(whole))


def printed(found: Agreement) -> str:
    from rich.console import Console

    text = io.StringIO()
    Console(width=200, file=text).print(terminal(found))
    return text.getvalue()


def test_files_have_all_columns_and_a_terminal_those_that_fit(found: Agreement) -> None:
    text, shown = metric_board_files(found)["metrics.md"], printed(found)
    assert "without one" in shown
    for name in ("| less a method |", "| ceiling of D |", "| new people |", "| names together |"):
        assert name in text
        assert name.strip("| ") not in shown


def test_the_pooled_interval_is_everywhere(found: Agreement) -> None:
    files = metric_board_files(found)
    assert "+0.50 (\N{MINUS SIGN}0.12 to +1.00)" in files["metrics.md"]
    assert "+0.50 (\N{MINUS SIGN}0.12 to +1.00)" in printed(found)
    (row,) = [r for r in csv.DictReader(files["metrics.csv"].splitlines()) if r["pooled_mean"]]
    assert (row["pooled_mean"], row["pooled_low"], row["pooled_high"]) == ("0.5", "-0.125", "1.0")


def test_studies_left_out_are_joined_in_csv(found: Agreement) -> None:
    listed = list(csv.DictReader(metric_board_files(found)["metrics.csv"].splitlines()))
    assert {r["in_sample"] for r in listed} == {"True", "False"}
    assert "colin2022" in {r["in_sample_studies"] for r in listed}
