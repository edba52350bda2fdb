"""The model board as rows: what was measured here and what Prasad et al. printed, side by side."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from humetric.alignment.report import ALL, COMMON, WRONG, Report
from humetric.human.alignments import check_alignments
from humetric.human.analyse import analyse
from humetric.human.analysis import Statistic
from humetric.human.protocols import find_protocol
from humetric.human.protocols.prasad2021 import with_accuracy
from humetric.human.study import Study

PUBLISHED_CELLS = {"all-wrong": WRONG, "expert-subset": COMMON}
"""Cells of the study, as cases of ours."""

TOY, OWN, STAND_IN, PUBLISHED = "toy", "own", "stand-in", "published"
EVIDENCE = {"people": OWN, "reasons": STAND_IN}
"""By whose marks there are; of all others, toy."""


@dataclass(frozen=True)
class Row:
    """One number of the board."""

    data: str
    method: str
    features: str
    evidence: str
    """``toy``: embedded data and models; ``stand-in``: people's reasons, other models than the
    study's; ``own``: marks by people; ``published``."""
    table: str
    """alignment, accuracy, correlation, mixed effects, oracles."""
    cases: str
    model: str
    oracle: str
    term: str
    value: float
    low: float = math.nan
    high: float = math.nan
    p: float | str = math.nan
    n: int | None = None
    undefined: int | None = None
    source: str = ""
    note: str = ""


def rows_of(report: Report) -> list[Row]:
    """All numbers of a report, recomputed from its table."""
    about, table = report.about, report.table
    evidence = EVIDENCE.get(about["marks"], TOY)
    head = (about["data"], about["method"]["id"], about["features"], evidence)
    found: list[Row] = []
    if len(table):
        analysis = analyse(check_alignments(table), find_protocol("prasad2021")).findings
        tests = {
            (s.cell, s.condition, s.measure): s
            for s in analysis.statistics
            if s.statistic == "paired t test"
        }
        lost = _undefined(table)
        for e in analysis.estimates:
            oracle = e.measure.removeprefix("alignment-")
            test = tests[e.cell, e.condition, e.measure]
            gone = lost.get((e.cell, e.condition, oracle), 0)
            found.append(
                Row(*head, "alignment", e.cell, e.condition, oracle, "alignment", e.value, e.low,
                    e.high, test.p, test.n, gone, note=e.note)
            )  # fmt: skip
        found += [
            _statistic(head, s) for s in analysis.statistics if s.statistic != "paired t test"
        ]
        found += [_statistic(head, s) for s in _diagnostic(report)]
    found += list(_accuracies(head, report))
    found += list(_between(head, report))
    return found


def published_rows(study: Study) -> list[Row]:
    """Tables 1 to 5 of Prasad et al. (2021), and section 5's correlations of oracles."""
    head = ("anli", "integrated-gradients", "tokens", PUBLISHED)
    stars = {
        (s.cell, s.condition, s.measure): s.p
        for s in study.statistics
        if s.statistic == "paired t test"
    }
    found = []
    for f in study.figures:
        p = stars.get((f.cell, f.condition, f.measure), "")
        if f.measure.startswith("alignment-"):
            cases, oracle = PUBLISHED_CELLS[f.cell], f.measure.removeprefix("alignment-")
            table, term, value = "alignment", "alignment", f.value
        else:
            cases, oracle, table, value = ALL, "", "accuracy", f.value / 100
            term = "six-way" if f.measure == "accuracy-informed" else "accuracy"
        found.append(
            Row(*head, table, cases, f.condition, oracle, term, value, p=p or math.nan,
                source=f.source, note=f.note)
        )  # fmt: skip
    kinds = {"pearson": "correlation", "mixed-effects coefficient": "mixed effects",
             "spearman": "oracles"}  # fmt: skip
    for s in study.statistics:
        if s.statistic in kinds:
            term = s.term.replace("accuracy on anli-dev", "accuracy")
            term = term.replace("accuracy on hans-", "diagnostic ").replace("lexical-", "lexical ")
            found.append(
                Row(*head, kinds[s.statistic], PUBLISHED_CELLS[s.cell], "",
                    s.measure.removeprefix("alignment-"), term, s.value, p=s.p or math.nan,
                    source=s.source, note=s.note)
            )  # fmt: skip
    return found


def _undefined(table: pd.DataFrame) -> dict[tuple[str, str, str], int]:
    gone = table[(table["c"] - table["c_random"]).isna()]
    keys = zip(gone["cell"], gone["model"], gone["oracle"], strict=True)
    return dict(Counter((str(c), str(m), str(o)) for c, m, o in keys))


def _statistic(head: tuple[str, str, str, str], s: Statistic) -> Row:
    table = "correlation" if s.statistic == "pearson" else "mixed effects"
    oracle = s.measure.removeprefix("alignment-")
    return Row(*head, table, s.cell, "", oracle, s.term, s.value, s.low, s.high, s.p, s.n,
               note=s.note)  # fmt: skip


def _diagnostic(report: Report) -> Iterator[Statistic]:
    """Correlation of alignment with diagnostic accuracy, heuristic by heuristic."""
    models = report.about["models"]
    known = {n: m["accuracy"]["diagnostic"] for n, m in models.items()}
    heuristics: Sequence[str] = list(next(iter(known.values()), {}))
    table = report.table.assign(difference=report.table["c"] - report.table["c_random"])
    table = table[table["difference"].notna()].assign(seed=0, round="")
    for heuristic in heuristics:
        shares = {n: d.get(heuristic) for n, d in known.items()}
        some = table.assign(accuracy=table["model"].map(shares))
        for (cell, oracle), rows in some.groupby(["cell", "oracle"]):
            what = f"diagnostic {heuristic}"
            yield from with_accuracy(str(cell), f"alignment-{oracle}", rows, what)


def _accuracies(head: tuple[str, str, str, str], report: Report) -> Iterator[Row]:
    for name, model in report.about["models"].items():
        accuracy: dict[str, Any] = model["accuracy"]
        listed = {"accuracy": accuracy["pool"], "six-way": accuracy["informed"]}
        listed |= {f"diagnostic {h}": v for h, v in accuracy["diagnostic"].items()}
        listed |= {f"misled {h}": v for h, v in accuracy["misled"].items()}
        for term, value in listed.items():
            if value is not None:
                yield Row(*head, "accuracy", ALL, name, "", term, value)


def _between(head: tuple[str, str, str, str], report: Report) -> Iterator[Row]:
    listed = [("", report.about["between"])]
    listed += [(name, model["between"]) for name, model in report.about["models"].items()]
    for model, pairs in listed:
        for b in pairs:
            if b["rho"] is None:
                continue
            order = ("hard", "soft", "expert")
            first, second = sorted((b["first"], b["second"]), key=order.index)
            yield Row(*head, "oracles", ALL, model, "", f"{first} and {second} oracle", b["rho"],
                      p=b["p"], n=b["tokens"],
                      note=f"within cases {b['within']:.3f}, {b['cases']} cases")  # fmt: skip


class Section(NamedTuple):
    """A report and its numbers."""

    report: Report
    rows: list[Row]


def sections_of(reports: Sequence[Report]) -> list[Section]:
    """The numbers of each report, computed once for all that is made of them."""
    return [Section(report, rows_of(report)) for report in reports]
