"""The metric board: which metrics order methods as people's success does, and how sure that is."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table

from humetric.agreement.across import STUDIES, Across, Contest, Tier
from humetric.agreement.cell import CellAgreement, Interval
from humetric.agreement.evidence import LEVELS, Kind
from humetric.agreement.report import Agreement, caption, rows
from humetric.seeding import generator
from humetric.stats.joint import JointTest
from humetric.stats.permutation import ExactTest
from humetric.stats.pooling import Pooled
from humetric.stats.power import Design, PowerRow, power_of, power_table
from humetric.stats.steady import six, steady

KINDS = {"metric": 0, "baseline": 1, "sentinel": 2}
MARKS: dict[Kind, str] = {"metric": "", "baseline": " °", "sentinel": " ∅"}
TITLES: dict[Tier, str] = {
    "judged": "Published and replica evidence",
    "stand-in": "Stand-ins (other data or model of the same task): no verdict",
    "toy": "Embedded suite (toy): not evidence",
}

HOW_TO_READ = (
    "D: of the pairs of methods that people tell apart, the share that the metric orders as they "
    "do, less the share that it orders the other way (1: all alike, 0: chance, -1: all reversed). "
    "T: mean over studies of the mean over cells; without one: its range when each study is left "
    "out; separated: without cells whose methods people do not tell apart; pooled: random-effects "
    "mean over five studies or more. Higher is better on both sides. "
    "p: exact, and in brackets the smallest that these data could have given; "
    "names together: p if methods of one name are relabelled alike in all studies (a check). "
    "Less a method: range of D when each is left out. Ceiling: D that noise of people allows. "
    "* in sample: the metric was derived from this study, which is shown and never judged. "
    "? people do not separate the methods of this cell (reliability below .5). "
    "° baseline: describes a map or its price; a metric that does not beat it says little. "
    "∅ sentinel: knows nothing. New people, new cases: 95% intervals of D; unknown where no "
    "standard error or no case is published. Verdicts need at least "
    f"{STUDIES} studies, and are about these studies."
)

FIELDS = (
    "metric", "kind", "tier", "study", "cell", "measure", "measure_kind", "primary", "coefficient",
    "level", "made_on", "in_sample", "in_sample_studies", "n", "value", "pairs", "p", "smallest_p",
    "holm_p", "max_t_p", "shared_p", "shared_relabellings", "verdict", "left_out_low",
    "left_out_high", "people_low", "people_high", "cases_low",
    "cases_high", "reliability", "reliability_low", "reliability_high", "ceiling", "without",
    "value_separated", "value_with_control", "pooled_mean", "pooled_low", "pooled_high",
)  # fmt: skip

METHODS, STUDY_COUNTS, TRUE_R = (3, 5, 7), (4, 6, 8, 12), 0.8
Line = list[str]
Titled = tuple[str, Line, list[Line]]
"""A table: title, head, lines."""

FILES_ONLY = {
    "tau-b", "rho", "max-T p", "separated", "names together", "less a method", "ceiling of D",
    "Williams p",
}  # fmt: skip
"""Columns that are in the files and not in a terminal."""


def metric_board_files(found: Agreement, on_settings: Sequence[str] = ()) -> dict[str, str]:
    """File name -> text, the same to the byte whenever it is made from the same results.

    ``on_settings`` are sentences about settings that stand beside a study.
    """
    listed = rows(found)
    data = {
        "settings": found.settings_line(),
        "verdicts": found.verdicts(),
        "family": list(found.family),
        "agreement": listed,
        "against_baselines": [_contest(c) for c in found.contests],
        "power": [row._asdict() for row in powers(found)],
    }
    return {
        "metrics.md": markdown(found, on_settings),
        "metrics.csv": _csv(listed),
        "metrics.json": json.dumps(data, indent=1, ensure_ascii=False) + "\n",
    }


def markdown(found: Agreement, on_settings: Sequence[str] = ()) -> str:
    """The board with all of its tables."""
    parts = ["# Metric board", "", HOW_TO_READ, ""]
    for title, head, body in tables(found):
        parts += [f"## {title}", "", *markdown_table(head, body), ""]
    notes = [*captions(found), *on_settings]
    if notes:
        parts += ["## What was compared with what", "", *(f"- {note}" for note in notes), ""]
    return "\n".join([*parts, legend(found), ""])


def terminal(found: Agreement) -> RenderableType:
    """All tables for a terminal."""
    return _terminal(tables(found))


def verdict_tables(found: Agreement) -> RenderableType:
    """The tables of verdicts for a terminal; the rest is in the files."""
    return _terminal(_tiers(found))


def _terminal(listed: Iterable[Titled]) -> RenderableType:
    parts: list[RenderableType] = []
    for title, whole, lines in listed:
        head, body = _brief(whole, lines)
        table = Table(
            title=title,
            title_justify="left",
            title_style="bold",
            box=box.SIMPLE_HEAD,
            show_edge=False,
            pad_edge=False,
        )
        for i, name in enumerate(head):
            table.add_column(name, justify="left" if i == 0 or _words(body, i) else "right")
        for line in body:
            table.add_row(*line)
        parts += [table, ""]
    return Group(*parts)


def _brief(head: Line, body: list[Line]) -> tuple[Line, list[Line]]:
    """A table without the columns that a terminal has no room for, or that say nothing."""
    kept = [
        i
        for i, name in enumerate(head)
        if name not in FILES_ONLY and not (body and all(line[i] == "unknown" for line in body))
    ]
    return [head[i] for i in kept], [[line[i] for i in kept] for line in body]


def legend(found: Agreement) -> str:
    """The settings line."""
    return "; ".join(f"{name}: {value}" for name, value in found.settings_line().items()) + "."


def captions(found: Agreement) -> list[str]:
    """What a comparison on another model or other data than the study's does and does not test."""
    listed = (
        f"{c.study} / {c.cell} ({c.level}): {caption(c, found.studies)}"
        for c in found.cells
        if c.primary and c.level != "published"
    )
    return list(dict.fromkeys(listed))


def _tiers(found: Agreement) -> Iterable[Titled]:
    for tier, title in TITLES.items():
        whole = [a for a in found.across if a.tier == tier]
        if any(a.kind != "sentinel" for a in whole):
            yield f"Metric board. {title}", *_verdicts(whole, judged=tier == "judged")


def tables(found: Agreement) -> Iterable[Titled]:
    """Every table of the board."""
    yield from _tiers(found)
    for level in LEVELS:
        cells = [c for c in found.cells if c.primary and c.level == level]
        if cells:
            words = " (not evidence)" if level == "toy" else ""
            yield f"Cells, primary measures: {level}{words}", *_cells(cells)
    if found.mixed:
        yield "All cells of a study thrown together, raw values (beware)", *_mixed(found)
    judged = [c for c in found.contests if c.tier == "judged"]
    if judged:
        yield "Against baselines: difference of T", *_contests(judged)
    yield "What would decide: power at a true correlation of .8", *_powers(found)


def _verdicts(whole: Sequence[Across], judged: bool) -> tuple[Line, list[Line]]:
    head = ["metric", "studies", "T", "without one", "p (smallest)"]
    pooled = any(a.pooled is not None for a in whole)
    head += ["pooled (95%)"] * pooled
    head += ["Holm p", "max-T p", "names together", "separated"] if judged else []
    head += ["verdict"]
    lines = []
    for a in sorted(whole, key=lambda a: (KINDS[a.kind], -_low(a.test.t), a.metric)):
        rest = [t for t in a.test.leave_one_out.values() if not math.isnan(t)]
        line = [
            _named(a.metric, a.kind),
            str(a.studies) + "*" * len(a.in_sample),
            signed(a.test.t),
            f"{signed(min(rest))} to {signed(max(rest))}" if rest else "—",
            p_smallest(a.test),
        ]
        if pooled:
            line.append(_pooled(a.pooled))
        if judged:
            line += [p_value(a.holm), p_value(a.max_t), p_value(a.shared.p), signed(a.separated.t)]
        lines.append([*line, a.verdict])
    return head, lines


def _cells(cells: Sequence[CellAgreement]) -> tuple[Line, list[Line]]:
    head = ["metric", "study/cell", "n", "D", "less a method", "new people", "new cases"]
    head += ["ceiling of D", "tau-b", "rho", "r", "p (smallest)"]
    lines = [
        [
            _named(c.metric, c.kind),
            f"{c.study}/{c.cell}{'*' if c.in_sample else ''}{' ?' if c.separated is False else ''}",
            str(c.n),
            signed(c.concordance.d),
            between(c.left_out),
            between(c.people),
            between(c.cases),
            "unknown" if math.isnan(c.ceiling.concordance) else signed(c.ceiling.concordance),
            signed(c.tau_b),
            signed(c.spearman),
            signed(c.pearson),
            p_smallest(c.test),
        ]
        for c in sorted(cells, key=lambda c: (KINDS[c.kind], c.metric, c.study))
    ]
    return head, lines


def _mixed(found: Agreement) -> tuple[Line, list[Line]]:
    head = ["metric", "study", "evidence", "points", "r, sign as printed", "rho"]
    lines = [
        [
            m.metric,
            m.study + ("*" if m.in_sample else ""),
            m.level,
            str(m.n),
            signed(m.pearson),
            signed(m.spearman),
        ]
        for m in found.mixed
    ]
    return head, lines


def _contests(listed: Sequence[Contest]) -> tuple[Line, list[Line]]:
    head = ["metric", "baseline", "studies", "difference of T", "p", "Williams p"]
    lines = [
        [
            c.first,
            c.second,
            str(len(c.result.studies)),
            signed(c.result.difference),
            p_value(c.result.p),
            p_value(c.williams.p),
        ]
        for c in listed
    ]
    return head, lines


def powers(found: Agreement) -> list[PowerRow]:
    """Chance to find a metric that truly correlates by .8, alone and within the family."""
    draw = generator(found.seed, "", "power table")
    return power_table(METHODS, STUDY_COUNTS, [TRUE_R], draw, family=len(found.family))


def power_today(found: Agreement) -> tuple[str, float, float]:
    """The same for a metric with judged evidence in all studies that have a primary measure.

    With one cell each: cells of a study share their methods, so more of them help little.
    """
    sizes = sorted(
        (len(s.primary.methods) for s in found.studies.values() if s.primary), reverse=True
    )
    designs = [Design(n) for n in sizes]
    words = ", ".join(map(str, sizes))
    alone, one_of_many = (
        power_of(
            designs, TRUE_R, generator(found.seed, "", "power today"), family=family, draws=4000
        )
        for family in (1, len(found.family))
    )
    return words, alone, one_of_many


def _powers(found: Agreement) -> tuple[Line, list[Line]]:
    head = ["methods per study", "studies", "one metric", f"one of {len(found.family)} (Holm)"]
    sizes, alone, one_of_many = power_today(found)
    today = [f"{sizes} (bundled)", str(sizes.count(",") + 1), f"{alone:.2f}", f"{one_of_many:.2f}"]
    lines = [
        [str(row.methods), str(row.studies), f"{row.single:.2f}", f"{row.family:.2f}"]
        for row in powers(found)
    ]
    return head, [today, *lines] if sizes else lines


def _contest(c: Contest) -> dict[str, Any]:
    found: dict[str, Any] = {
        "metric": c.first,
        "baseline": c.second,
        "tier": c.tier,
    } | c.result._asdict()
    found |= {"williams_t": c.williams.t, "williams_p": c.williams.p}
    return {k: six(v) if isinstance(v, float) else v for k, v in found.items()}


def _named(metric: str, kind: Kind) -> str:
    return f"{metric}{MARKS[kind]}"


def signed(value: float) -> str:
    """Two decimals with a sign; a dash for what is undefined."""
    if math.isnan(value):
        return "—"
    return f"{round(steady(value), 2) + 0.0:+.2f}".replace("-", "\N{MINUS SIGN}")


def p_value(value: float) -> str:
    if math.isnan(value):
        return "—"
    value = steady(value)
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def p_smallest(test: ExactTest | JointTest) -> str:
    return "—" if math.isnan(test.p) else f"{p_value(test.p)} ({p_value(test.smallest)})"


def between(found: Interval) -> str:
    return "unknown" if math.isnan(found.low) else f"{signed(found.low)} to {signed(found.high)}"


def _pooled(found: Pooled | None) -> str:
    if found is None:
        return "—"
    return f"{signed(found.mean)} ({signed(found.low)} to {signed(found.high)})"


def _low(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def _words(body: list[Line], column: int) -> bool:
    return any(any(ch.isalpha() for ch in line[column]) for line in body)


def markdown_table(head: Line, body: list[Line]) -> list[str]:
    rule = "|".join("---" if i == 0 or _words(body, i) else "---:" for i in range(len(head)))
    return [f"| {' | '.join(line)} |" if line else f"|{rule}|" for line in (head, [], *body)]


def _csv(listed: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(_flat(row) for row in listed)
    return text.getvalue()


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row with what is nested in JSON as columns: studies joined, the pooled interval."""
    pooled = row.get("pooled") or {}
    return (
        row
        | {"in_sample_studies": ";".join(row.get("in_sample_studies") or ())}
        | {f"pooled_{name}": pooled.get(name) for name in ("mean", "low", "high")}
    )
