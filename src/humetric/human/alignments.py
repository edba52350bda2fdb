"""Importance alignments per case and model: the table that Prasad et al. (2021) analyse.

No people answer here; the rows are how far a model's importances agree with an oracle that was
made from people's explanations, once with the explanation of this case and once with that of
another (the random baseline).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from humetric.human.columns import Column, Problem, TableError, missing_cells, parse, read_file
from humetric.human.trials import Trials

COLUMNS: tuple[Column, ...] = (
    Column("cell", "id", "which cases, e.g. all-wrong; default: all"),
    Column("model", "id", "which model, e.g. bert-base"),
    Column("type", "text", "family of the model, e.g. bert"),
    Column(
        "size", "text", "base or large; empty for models without sizes", one_of=("base", "large")
    ),
    Column("oracle", "id", "how people's explanations became importances: hard, soft, expert"),
    Column("case", "text", "id of the input"),
    Column("seed", "count", "random seed of the model's training", low=0),
    Column("round", "text", "part of the data set that accuracy is known for"),
    Column("r", "number", "Pearson's r of model and oracle importances", low=-1, high=1),
    Column("r_random", "number", "the same with another case's explanation", low=-1, high=1),
    Column("c", "number", "arctanh(r); given instead of r"),
    Column("c_random", "number", "arctanh(r_random); given instead of r_random"),
    Column("accuracy", "number", "the model's accuracy for this seed and round", low=0, high=1),
    Column("excluded", "boolean", "the study's authors exclude this row by hand"),
    Column("reason", "text", "why it is excluded"),
)
ALWAYS = ("model", "case")
KEY = ("cell", "model", "oracle", "case", "seed", "round")


def read_alignments(path: Path | str) -> Trials:
    """Alignments from a CSV or Parquet file, checked."""
    cells, first = read_file(Path(path))
    return check_alignments(cells, str(path), first)


def check_alignments(cells: pd.DataFrame, source: str = "the table", first: int = 1) -> Trials:
    """Alignments from a data frame; raises TableError with all that is wrong.

    ``c`` and ``c_random`` are filled by arctanh where r was given. |r| = 1 has no Fisher transform
    and is refused: it comes from cases of two tokens, which say nothing.
    """
    read = parse(cells, COLUMNS, ALWAYS, first)
    frame, rows = read.frame, read.rows
    problems = [*read.problems, *missing_cells(read, ALWAYS)]
    frame["cell"] = frame["cell"].replace("", "all")
    frame["oracle"] = frame["oracle"].replace("", "all")
    for plain, fisher in (("r", "c"), ("r_random", "c_random")):
        whole = (frame[plain].abs() == 1).to_numpy()
        for i in np.flatnonzero(whole):
            came = f"{frame[plain].iloc[i]:g}"
            remedy = "Drop the row: its Fisher transform is infinite."
            problems.append(Problem(int(rows[i]), plain, "|r| below 1", came, remedy))
        values = frame[plain].to_numpy(dtype=float).copy()
        values[whole] = np.nan
        frame[fisher] = frame[fisher].fillna(pd.Series(np.arctanh(values), index=frame.index))
        if len(frame) and not frame[fisher].notna().any() and not whole.any():
            remedy = f"Add {plain!r} (or {fisher!r})."
            problems.append(Problem(None, fisher, "values", "none", remedy))
    frame["excluded"] = frame["excluded"].fillna(0.0)
    keyed = frame[list(KEY)].fillna(-1.0)
    for i in np.flatnonzero(keyed.duplicated().to_numpy()):
        remedy = "Drop the repetition, or tell them apart by seed."
        expected = "one row per cell, model, oracle, case, seed and round"
        problems.append(Problem(int(rows[i]), "case", expected, "a second one", remedy))
    spread = frame.groupby(["model", "seed", "round"], dropna=False)["accuracy"].nunique()
    for key in spread.index[spread > 1]:
        remedy = "An accuracy belongs to a model, seed and round."
        problems.append(Problem(None, "accuracy", f"one value for {key}", "several", remedy))
    if problems:
        raise TableError(source, problems)
    return Trials(frame, read.given | {"c", "c_random"}, read.unused, source)
