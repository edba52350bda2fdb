"""Exclusion rules: who goes, why, and that nothing goes unseen."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from simulated_people import simulated_colin, simulated_gonzalez

from humetric.errors import HumetricError, UnknownNameError
from humetric.human.exclusions import Exclusions, Screened, read_exclusions, screen
from humetric.human.trials import check_trials


def balanced(found: Screened) -> bool:
    """Every row is analysed, set aside or excluded."""
    gone = sum(e.trials for e in (*found.exclusions, *found.aside))
    return len(found.kept) + gone == found.total


def people() -> pd.DataFrame:
    """Four simulated participants: good, fails practice, fails quiz, fails a catch trial."""
    rows = []
    for who, fails in (("good", ""), ("p", "practice"), ("q", "quiz"), ("c", "catch")):
        for kind in ("practice", "quiz", "catch", "test"):
            rows += [
                {
                    "participant": f"simulated-{who}",
                    "condition": "none",
                    "item": f"{kind}-{i}",
                    "phase": "test" if kind == "catch" else kind,
                    "catch": int(kind == "catch"),
                    "correct": int(kind != fails or i > 0),
                    "response_time": 1.0 if i == 0 else 9.0,
                    "trial": len(rows) % 12 + i + 1,
                }
                for i in range(3)
            ]
    return pd.DataFrame(rows)


def test_three_stage_screening() -> None:
    rules = Exclusions(practice_failures=1, quiz_failures=1, catch_failures=1)
    found = screen(check_trials(people()), rules, ("test",))
    assert [(e.rule, e.participants, e.trials) for e in found.exclusions] == [
        ("practice_failures", 1, 12),
        ("quiz_failures", 1, 12),
        ("catch_failures", 1, 12),
    ]
    assert set(found.kept["participant"]) == {"simulated-good"}
    assert {(e.reason, e.trials) for e in found.aside} == {
        ("catch trials", 3),
        ("practice", 3),
        ("quiz", 3),
    }
    assert balanced(found)


def test_two_failures_allowed() -> None:
    found = screen(check_trials(people()), Exclusions(catch_failures=2), ("test",))
    assert found.exclusions == ()


def test_speed() -> None:
    trials = check_trials(people())
    found = screen(trials, Exclusions(minimum_seconds=2), ("test",))
    assert [(e.rule, e.trials) for e in found.exclusions] == [("minimum_seconds", 4)]
    assert balanced(found)
    slow = screen(trials, Exclusions(minimum_median_seconds=10), ("test",))
    assert slow.exclusions[0].participants == 4
    assert slow.kept.empty
    assert balanced(slow)


def test_first_trials_go_by_their_number_not_by_the_order_of_rows() -> None:
    frame = simulated_gonzalez(np.random.default_rng(0), {"none": 0.5}, users=2)
    mixed = frame.sample(frac=1, random_state=0)
    found = screen(check_trials(mixed), Exclusions(drop_first=15))
    assert found.kept["trial"].min() == 16
    assert len(found.training) == 30
    assert found.exclusions[0].trials == 30
    assert balanced(found)


def test_minimum_trials_counts_what_is_left() -> None:
    frame = simulated_gonzalez(np.random.default_rng(0), {"none": 0.5}, users=3)
    short = frame[(frame["participant"] != "simulated-low-orig-none-0") | (frame["trial"] <= 20)]
    found = screen(check_trials(short), Exclusions(drop_first=15, minimum_trials=10))
    assert [(e.rule, e.participants, e.trials) for e in found.exclusions] == [
        ("drop_first", 0, 45),
        ("minimum_trials", 1, 5),
    ]
    assert found.training["participant"].nunique() == 2
    assert balanced(found)


def test_several_conditions() -> None:
    frame = people().assign(condition=lambda f: np.where(f["trial"] > 9, "lime", "none"))
    found = screen(check_trials(frame), Exclusions(one_condition=True), ("test",))
    assert found.exclusions[0].rule == "one_condition"
    assert found.exclusions[0].participants == 4
    assert balanced(found)


def test_marks_by_hand_carry_their_reasons() -> None:
    frame = people()
    frame["excluded"] = 0
    frame.loc[[9, 10], "excluded"] = 1
    frame["reason"] = ""
    frame.loc[9, "reason"] = "changed the meaning"
    frame.loc[10, "reason"] = "left early"
    found = screen(check_trials(frame), Exclusions(), ("test",))
    assert [(e.reason, e.trials) for e in found.exclusions] == [
        ("by hand: changed the meaning", 1),
        ("by hand: left early", 1),
    ]
    assert balanced(found)


def test_a_rule_without_its_column() -> None:
    trials = check_trials(people().drop(columns="trial"))
    found = screen(trials, Exclusions(drop_first=5), ("test",))
    assert found.notes == ("The rule drop_first = 5 was not applied: no column 'trial'.",)
    with pytest.raises(HumetricError, match="needs the column 'trial'"):
        screen(trials, Exclusions(drop_first=5), ("test",), frozenset({"drop_first"}))


def test_simulated_careless_people_are_counted() -> None:
    frame = simulated_colin(np.random.default_rng(1), {"none": (0.5, 0.5, 0.5)}, careless=0.3)
    failed = frame[(frame["catch"] == 1) & (frame["correct"] == 0)]["participant"].nunique()
    found = screen(check_trials(frame), Exclusions(catch_failures=1), ("test",))
    assert 0 < failed == found.exclusions[0].participants
    assert balanced(found)


def test_rules_from_toml(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text("catch_failures = false\nminimum_seconds = 0.5\ndrop_first = 3\n")
    defaults = Exclusions(catch_failures=1, quiz_failures=2)
    assert read_exclusions(path, defaults) == Exclusions(
        quiz_failures=2, minimum_seconds=0.5, drop_first=3
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("drop_first = -1", "whole number of at least 1 or false for drop_first but got -1"),
        ("drop_first = true", "but got True"),
        ("minimum_seconds = 'x'", "seconds"),
        ("one_condition = 1", "true or false"),
        ("drop_first =", "expected TOML"),
    ],
)
def test_wrong_rules(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(text)
    with pytest.raises(HumetricError, match=words):
        read_exclusions(path)


def test_unknown_rule_and_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text("catch_failure = 1")
    with pytest.raises(UnknownNameError, match="Did you mean 'catch_failures'"):
        read_exclusions(path)
    with pytest.raises(HumetricError, match="there is none"):
        read_exclusions(tmp_path / "no.toml")


def test_the_page_documents_every_rule() -> None:
    page = (Path(__file__).parents[2] / "docs" / "responses.md").read_text()
    for field in fields(Exclusions):
        assert f"`{field.name}" in page
