"""Who and what is left out of an analysis: declared rules, applied in the open.

Nothing is dropped silently: every row of the file ends up analysed, set aside (practice, quiz,
catch trials and the like, which are not meant to be analysed) or excluded, and the last two are
counted with a reason.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humetric.errors import HumetricError, UnknownNameError
from humetric.human.trials import Trials


@dataclass(frozen=True)
class Exclusions:
    """Rules, in the order in which they are applied; None or False: the rule is off.

    Rows that the study's authors marked by hand (column ``excluded``) always go first.
    """

    practice_failures: int | None = None
    """Participants with at least this many wrong practice trials."""
    quiz_failures: int | None = None
    """Participants with at least this many wrong quiz answers."""
    catch_failures: int | None = None
    """Participants with at least this many wrong catch trials."""
    one_condition: bool = False
    """Participants who took part in more than one condition of a cell."""
    minimum_median_seconds: float | None = None
    """Participants whose median response time in analysed trials is below this."""
    minimum_seconds: float | None = None
    """Trials answered faster than this."""
    drop_first: int | None = None
    """The first so many analysed trials of each participant, as training."""
    minimum_trials: int | None = None
    """Participants with fewer trials than this left."""


NEEDS = {
    "practice_failures": ("phase", "correct"),
    "quiz_failures": ("phase", "correct"),
    "catch_failures": ("catch", "correct"),
    "minimum_median_seconds": ("response_time",),
    "minimum_seconds": ("response_time",),
    "drop_first": ("trial",),
}
"""Columns without which a rule cannot be applied."""


class Exclusion(NamedTuple):
    """What one rule took away."""

    rule: str
    reason: str
    participants: int
    """Participants that the rule excluded as a whole; 0 for rules about trials."""
    trials: int


class Screened(NamedTuple):
    """Trials after the rules."""

    kept: pd.DataFrame
    training: pd.DataFrame
    """Trials dropped by ``drop_first`` and by nothing else: studies show both variants."""
    exclusions: tuple[Exclusion, ...]
    aside: tuple[Exclusion, ...]
    """Rows that are not meant to be analysed, by kind."""
    notes: tuple[str, ...]
    total: int
    participants: int
    given: frozenset[str]


def read_exclusions(path: Path | str, defaults: Exclusions = Exclusions()) -> Exclusions:
    """Rules from a TOML file of ``rule = value``; a rule it does not name keeps its default.

    ``rule = false`` switches a rule off.
    """
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise HumetricError(f"Expected a TOML file of rules but there is none at {path}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HumetricError(f"{path}: expected TOML (rule = value) but got: {error}.") from error
    changes: dict[str, float | int | bool | None] = {}
    for name, value in data.items():
        if name not in {field.name for field in fields(Exclusions)}:
            raise UnknownNameError("exclusion rule", name, (f.name for f in fields(Exclusions)))
        changes[name] = _value(path, name, value)
    return replace(defaults, **changes)  # type: ignore[arg-type]


def _value(path: Path, name: str, value: object) -> float | int | bool | None:
    if name == "one_condition":
        if isinstance(value, bool):
            return value
        raise HumetricError(f"{path}: expected true or false for {name} but got {value!r}.")
    if value is False:
        return None
    seconds = name.endswith("seconds")
    allowed = (int, float) if seconds else (int,)
    least = 0 if seconds else 1
    if isinstance(value, bool) or not isinstance(value, allowed) or not value >= least:
        noun = "seconds (a number of at least 0)" if seconds else "a whole number of at least 1"
        raise HumetricError(f"{path}: expected {noun} or false for {name} but got {value!r}.")
    return value


def screen(
    trials: Trials,
    rules: Exclusions,
    phases: tuple[str, ...] = (),
    declared: frozenset[str] = frozenset(),
) -> Screened:
    """Apply the rules; ``phases`` are those that the protocol analyses (none: all but practice).

    A rule that was ``declared`` by the user and lacks its column is an error; a protocol's default
    that lacks it is noted and not applied.
    """
    frame = trials.frame
    notes = _applicable(trials, rules, declared)
    off = {name for name, _ in notes}
    alive = (frame["excluded"] != 1).to_numpy(dtype=bool, copy=True)
    found: list[Exclusion] = []
    marked = frame.loc[~alive]
    for reason, rows in marked.groupby("reason", sort=True):
        found.append(Exclusion("excluded", f"by hand: {reason}", 0, len(rows)))
    catch = (frame["catch"] == 1).to_numpy(dtype=bool)
    phase = frame["phase"]
    analysed = phase.isin(phases) if phases else ~phase.isin(["practice", "quiz", "learn"])
    main = ~catch & (analysed | (phase == "")).to_numpy(dtype=bool)
    wrong = (frame["correct"] == 0).to_numpy(dtype=bool)
    who = frame["participant"]

    def leave_out(rule: str, people: pd.Index, reason: str) -> None:
        gone = who.isin(people).to_numpy(dtype=bool) & alive
        if gone.any():
            found.append(Exclusion(rule, reason, who[gone].nunique(), int(gone.sum())))
            alive[gone] = False

    screening = (
        ("practice_failures", (phase == "practice").to_numpy(dtype=bool), "practice trials"),
        ("quiz_failures", (phase == "quiz").to_numpy(dtype=bool), "quiz answers"),
        ("catch_failures", catch, "catch trials"),
    )
    for rule, where, noun in screening:
        least = getattr(rules, rule)
        if least is not None and rule not in off:
            failures = who[where & wrong & alive].value_counts()
            leave_out(rule, failures.index[failures >= least], f"{least} or more wrong {noun}")
    if rules.one_condition:
        several = frame[alive].groupby(["participant", "cell"])["condition"].nunique()
        people = several.index[several > 1].get_level_values(0)
        leave_out("one_condition", people, "more than one condition of a cell")
    if rules.minimum_median_seconds is not None and "minimum_median_seconds" not in off:
        median = frame[alive & main].groupby("participant")["response_time"].median()
        slow = f"median response below {rules.minimum_median_seconds:g} s"
        fast = median.index[median < rules.minimum_median_seconds]
        leave_out("minimum_median_seconds", fast, slow)
    if rules.minimum_seconds is not None and "minimum_seconds" not in off:
        fast_trials = (frame["response_time"] < rules.minimum_seconds).to_numpy(dtype=bool)
        gone = fast_trials & alive & main
        if gone.any():
            reason = f"answered in less than {rules.minimum_seconds:g} s"
            found.append(Exclusion("minimum_seconds", reason, 0, int(gone.sum())))
            alive[gone] = False
    training = np.zeros(len(frame), dtype=bool)
    if rules.drop_first is not None and "drop_first" not in off:
        training = _first(frame, alive & main, main, rules.drop_first)
        if training.any():
            reason = f"first {rules.drop_first} trials, as training"
            found.append(Exclusion("drop_first", reason, 0, int(training.sum())))
            alive[training] = False
    if rules.minimum_trials is not None:
        left = frame[alive & main].groupby("participant").size()
        reason = f"fewer than {rules.minimum_trials} trials left"
        leave_out("minimum_trials", left.index[left < rules.minimum_trials], reason)
        training &= ~who.isin(left.index[left < rules.minimum_trials]).to_numpy(dtype=bool)
    set_aside = alive & ~main
    kinds = pd.Series(np.where(catch, "catch trials", phase), index=frame.index)
    aside = tuple(
        Exclusion("set aside", str(kind) or "no phase", 0, len(rows))
        for kind, rows in kinds[set_aside].groupby(kinds[set_aside])
    )
    return Screened(
        frame[alive & main],
        frame[training],
        tuple(found),
        aside,
        tuple(text for _, text in notes),
        len(frame),
        who.nunique(),
        trials.given,
    )


def _applicable(
    trials: Trials, rules: Exclusions, declared: frozenset[str]
) -> list[tuple[str, str]]:
    """Rules that lack a column, with a sentence; an error where the user asked for the rule."""
    notes = []
    for rule, needs in NEEDS.items():
        value = getattr(rules, rule)
        absent = [name for name in needs if name not in trials.given]
        if value is None or not absent:
            continue
        named = " and ".join(repr(name) for name in absent)
        if rule in declared and len(trials):
            raise HumetricError(
                f"The rule {rule} = {value} needs the column {named}, which {trials.source} lacks: "
                f"add it, or write {rule} = false."
            )
        notes.append((rule, f"The rule {rule} = {value} was not applied: no column {named}."))
    return notes


def _first(
    frame: pd.DataFrame, candidates: NDArray[np.bool_], main: NDArray[np.bool_], count: int
) -> NDArray[np.bool_]:
    """Candidates among the first ``count`` main trials of their participant, by trial number.

    Trials that another rule took away still count: people learned from them all the same. A
    participant's tests in several cells are counted apart.
    """
    order = frame[main].groupby(["participant", "cell", "condition"])["trial"].rank(method="first")
    early = pd.Series(False, index=frame.index)
    early[order.index] = order <= count
    return early.to_numpy(dtype=bool) & candidates
