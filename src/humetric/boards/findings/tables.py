"""Tables of the page of findings."""

from __future__ import annotations

import math
from collections.abc import Sequence

from humetric.agreement.across import Tier
from humetric.agreement.cell import CellAgreement
from humetric.agreement.families import RIVALS, Family, family_of
from humetric.agreement.report import TIER
from humetric.boards.findings.facts import Findings, OfStudy, Standing
from humetric.boards.findings.sentences import of_study
from humetric.boards.findings.words import span
from humetric.boards.metric_board import between, markdown_table, p_smallest, p_value, signed

Table = tuple[list[str], list[list[str]]]
"""Head, lines."""


def across(found: Findings, some: Sequence[Standing], family: bool = False) -> Table:
    """Metrics over all studies of a tier; ``family`` adds the family of each."""
    many = len(found.agreement.family)
    judged = any(s.tier == "judged" for s in some)
    head = [
        "metric",
        *(["family"] * family),
        "studies",
        "cells",
        "methods",
        "T",
        "interval",
        "p (smallest)",
    ]
    head += [f"Holm p of {many}", f"power (of {many})"] if judged else []
    head += ["evidence", "verdict"]
    return head, [_across_line(found, s, judged, family) for s in some]


def _across_line(found: Findings, s: Standing, judged: bool, family: bool) -> list[str]:
    undefined = "in sample only" if s.in_sample else "no pairs of methods"
    p = "—" if math.isnan(s.p) else f"{p_value(s.p)} ({p_value(s.smallest)})"
    line = [
        s.metric,
        *([s.family] * family),
        f"{len(s.studies)}{'*' * len(s.in_sample)}",
        str(s.cells) if s.cells else "—",
        ", ".join(map(str, s.methods)) or "—",
        signed(s.t),
        span(s.low, s.high) if s.defined else "—",
        p,
    ]
    if judged:
        power = found.power(s.methods)
        line += [p_value(s.holm) if s.defined else "—"]
        line += [f"{power.single:.2f} ({power.one_of_many:.2f})" if power.methods else "—"]
    return [*line, ", ".join(s.levels) or "—", s.verdict if s.defined else undefined]


def families(found: Findings) -> Table:
    """Each family in a line, for a terminal."""
    head = ["family", "metrics", "judged", "highest T", "interval", "p", "verdict"]
    lines = []
    for name in (*RIVALS, "baseline", "sentinel"):
        some = [s for s in found.of("judged", name) if s.defined]
        known = [n for n in found.known() if family_of(n, found.cards) == name]
        if not known and not some:
            continue
        best = some[0] if some else None
        lines.append(
            [
                name,
                str(len(known)),
                str(len(some)),
                f"{best.metric} {signed(best.t)}" if best else "—",
                span(best.low, best.high) if best else "—",
                p_value(best.p) if best else "—",
                _verdicts(some),
            ]
        )
    return head, lines


def _verdicts(some: Sequence[Standing]) -> str:
    counts: dict[str, int] = {}
    for s in some:
        counts[s.verdict] = counts.get(s.verdict, 0) + 1
    return (
        ", ".join(v if len(counts) == 1 else f"{n} {v}" for v, n in counts.items()) or "no evidence"
    )


def studies(some: Sequence[OfStudy]) -> Table:
    """Studies on their own."""
    head = ["study", "measure", "cells", "methods", "people tell them apart in", "metrics"]
    head += ["highest T", "told from 0 (Holm)", "power at .8"]
    return head, [_study_line(s) for s in some]


def _study_line(s: OfStudy) -> list[str]:
    mine = [m for m in s.standings if m.family != "baseline"]
    best = (
        f"{mine[0].metric} {signed(mine[0].t)} ({span(mine[0].low, mine[0].high)})" if mine else "—"
    )
    known = s.cells - s.unknown
    apart = f"{s.separated} of {known} cells" if known else "unknown"
    power = f"{s.power.single:.2f}"
    return [s.study, s.measure, str(s.cells), str(s.methods), apart, str(len(mine)), best,
            of_study(s), power]  # fmt: skip


def cells(found: Findings, tier: Tier) -> Table:
    """Every metric in every cell, with intervals."""
    head = ["metric", "family", "cell", "n", "D", "interval", "new people", "new cases"]
    head += ["p (smallest)", "evidence"]
    return head, [
        [
            c.metric,
            family_of(c.metric, found.cards),
            f"{c.study} / {c.cell}{_marks(c)}",
            str(c.n),
            signed(c.concordance.d),
            _interval(c),
            between(c.people),
            between(c.cases),
            p_smallest(c.test),
            c.level,
        ]
        for c in _sorted(found, _cells_of(found, tier))
    ]


def grid(found: Findings, tier: Tier) -> Table:
    """D of every metric (columns) in every cell (lines): a dash for what is undefined."""
    listed = _sorted(found, _cells_of(found, tier))
    metrics = list(dict.fromkeys(c.metric for c in listed))
    places = sorted({(c.study, c.cell) for c in listed})
    lines = []
    for study, cell in places:
        here = [c for c in listed if (c.study, c.cell) == (study, cell)]
        values = [" ".join(_d(c) for c in here if c.metric == name) or "—" for name in metrics]
        if any(any(ch.isdigit() for ch in value) for value in values):
            n = max(c.n for c in here)
            lines.append([f"{study} / {cell}{_marks(here[0], False)}", str(n), *values])
    return ["cell", "n", *metrics], lines


def _d(c: CellAgreement) -> str:
    star = "*" if c.in_sample else ""
    return f"{signed(c.concordance.d)}{star}{'!' if c.test.p <= 0.05 else ''}"


def _cells_of(found: Findings, tier: Tier) -> list[CellAgreement]:
    return [c for c in found.agreement.cells if c.primary and TIER[c.level] == tier]


def _sorted(found: Findings, some: Sequence[CellAgreement]) -> list[CellAgreement]:
    order: list[Family] = [*RIVALS, "baseline", "sentinel"]
    return sorted(
        some, key=lambda c: (order.index(family_of(c.metric, found.cards)), c.metric, c.study)
    )


def _interval(c: CellAgreement) -> str:
    d, far = c.concordance.d, c.test.chance
    if math.isnan(d) or math.isnan(far):
        return "—"
    return span(max(-1.0, d - far), min(1.0, d + far))


def _marks(c: CellAgreement, sample: bool = True) -> str:
    return f"{'*' if c.in_sample and sample else ''}{' ?' if c.separated is False else ''}"


def markdown(table: Table) -> str:
    """A table in Markdown; a sentence if it is empty."""
    head, body = table
    return "\n".join(markdown_table(head, body)) if body else "Nothing to show."
