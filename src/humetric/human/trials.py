"""Raw responses of a user study: one row per trial, read from CSV or Parquet and checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from humetric.human.columns import Column, Problem, TableError, missing_cells, parse, read_file

NONE = "none"
"""The condition in which people saw no explanation."""
CONTROL = "control"
"""The condition in which people saw an uninformative explanation."""

PHASES = ("practice", "quiz", "learn", "train", "pre", "post", "test")

COLUMNS: tuple[Column, ...] = (
    Column("participant", "text", "who answered; any label that names nobody"),
    Column("condition", "id", "id of the method whose explanations were seen; none, control"),
    Column("cell", "id", "data set and model, e.g. leaves or low-orig; default: all"),
    Column("test", "id", "kind of test where there are several: forward, counterfactual"),
    Column("phase", "text", "part of the study that the trial belongs to", one_of=PHASES),
    Column("session", "count", "which repetition of training and test", low=1),
    Column("cohort", "text", "group of participants who saw the same items"),
    Column("trial", "count", "place of the trial in what the participant did, from 1", low=1),
    Column("item", "text", "what was shown: id of the input"),
    Column("model_output", "text", "what the model said about the item"),
    Column("gold", "text", "the true answer"),
    Column("response", "text", "what the participant answered"),
    Column("correct", "boolean", "the response is the model's output, at the first try"),
    Column("correct_gold", "boolean", "the response is the true answer"),
    Column("model_correct", "boolean", "the model's output is the true answer"),
    Column("rating", "number", "how well the explanation was liked; the study's own scale"),
    Column("confidence_before", "number", "probability of the first output", low=0, high=1),
    Column("confidence_after", "number", "the same after the edits", low=0, high=1),
    Column("flipped", "boolean", "the edits changed the model's output"),
    Column("edits", "count", "edits made", low=0),
    Column("edits_highlighted", "count", "of these, on the top 20% highlighted words", low=0),
    Column("deletions", "count", "words deleted", low=0),
    Column("deletions_highlighted", "count", "of these, among the top 20%", low=0),
    Column("substitutions", "count", "words replaced", low=0),
    Column("substitutions_highlighted", "count", "of these, among the top 20%", low=0),
    Column("first_deletion_highlighted", "boolean", "the first deleted word was among the top 20%"),
    Column("first_substitution_highlighted", "boolean", "the same for the first replaced word"),
    Column("reduction_highlighted", "number", "confidence reduced by edits of top 20% words"),
    Column("response_time", "number", "seconds for the answer", low=0),
    Column("catch", "boolean", "a catch trial: its answer was still on the screen"),
    Column("excluded", "boolean", "the study's authors exclude this trial by hand"),
    Column("reason", "text", "why it is excluded"),
)
ALWAYS = ("participant", "condition", "item")
"""Columns that every protocol needs, filled in every row."""
KEY = ("participant", "cell", "condition", "test", "phase", "session", "item", "catch")
"""No two trials share all of these."""
PARTS = (
    ("edits_highlighted", "edits"),
    ("deletions_highlighted", "deletions"),
    ("substitutions_highlighted", "substitutions"),
)


@dataclass(frozen=True)
class Trials:
    """A checked table of trials.

    ``frame`` has all of ``COLUMNS`` in this order: text "" where nothing was given, numbers and
    truth values (1, 0) NaN; ``catch`` and ``excluded`` are 0 where nothing was given, ``cell`` is
    "all".
    """

    frame: pd.DataFrame
    given: frozenset[str]
    unused: tuple[str, ...] = ()
    source: str = "the table"

    def __len__(self) -> int:
        return len(self.frame)


def read_trials(path: Path | str, required: tuple[str, ...] = ()) -> Trials:
    """Trials from a CSV or Parquet file, checked; ``required`` are a protocol's own columns."""
    cells, first = read_file(Path(path))
    return check_trials(cells, required, str(path), first)


def check_trials(
    cells: pd.DataFrame,
    required: tuple[str, ...] = (),
    source: str = "the table",
    first: int = 1,
) -> Trials:
    """Trials from a data frame; raises TableError with all that is wrong.

    ``correct`` is filled from ``model_output`` and ``response`` where it is empty, and
    ``correct_gold`` from ``gold`` and ``response``, by equality of the texts. A value that is given
    stands, since people may have judged a response by hand. ``flipped`` is filled by
    confidence_after < .5, which is right for two classes.
    """
    derived = tuple(name for name in required if name in ("correct", "correct_gold", "flipped"))
    read = parse(cells, COLUMNS, [*ALWAYS, *(set(required) - set(derived))], first)
    frame, rows = read.frame, read.rows
    filled_everywhere = [*ALWAYS, *(name for name in required if name == "phase")]
    problems = [*read.problems, *missing_cells(read, filled_everywhere)]
    frame["cell"] = frame["cell"].replace("", "all")
    _fill(frame, "correct", "model_output")
    _fill(frame, "correct_gold", "gold")
    after = frame["confidence_after"]
    frame["flipped"] = frame["flipped"].fillna((after < 0.5).astype(float).where(after.notna()))
    filled = {name for name in ("correct", "correct_gold", "flipped") if frame[name].notna().any()}
    if len(frame):
        sources = {
            "correct": "or model_output and response",
            "correct_gold": "or gold and response",
            "flipped": "or confidence_after",
        }
        for name in derived:
            if name not in filled:
                remedy = f"Add it, {sources[name]}."
                problems.append(Problem(None, name, "values", "none", remedy))
    for name in ("catch", "excluded"):
        frame[name] = frame[name].fillna(0.0)
    for part, whole in PARTS:
        for i in np.flatnonzero((frame[part] > frame[whole]).to_numpy()):
            came = f"{frame[part].iloc[i]:g} of {frame[whole].iloc[i]:g}"
            remedy = f"It counts some of {whole!r}."
            problems.append(Problem(int(rows[i]), part, f"at most {whole!r}", came, remedy))
    for i in np.flatnonzero(((frame["excluded"] == 1) & (frame["reason"] == "")).to_numpy()):
        remedy = "Say why the trial is excluded."
        problems.append(Problem(int(rows[i]), "reason", "a reason", "an empty cell", remedy))
    keyed = frame[list(KEY)].fillna(-1.0)
    named = (frame["participant"] != "") & (frame["item"] != "")
    for i in np.flatnonzero((keyed.duplicated() & named).to_numpy()):
        same = np.flatnonzero((keyed == keyed.iloc[i]).all(axis=1).to_numpy())[0]
        problems.append(
            Problem(
                int(rows[i]),
                "item",
                "one trial per participant, cell, condition, test, phase, session and item",
                f"a second one like row {rows[same]}",
                "Drop the repetition, or tell them apart by session.",
            )
        )
    if problems:
        raise TableError(source, problems)
    return Trials(frame, read.given | filled, read.unused, source)


def _fill(frame: pd.DataFrame, name: str, truth: str) -> None:
    """1 where the response equals the truth, 0 where not, for cells without a value."""
    both = (frame["response"] != "") & (frame[truth] != "")
    equal = (frame["response"] == frame[truth]).astype(float).where(both)
    frame[name] = frame[name].fillna(equal)
