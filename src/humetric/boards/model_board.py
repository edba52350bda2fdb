"""The model board: which models look where people expect them to (Prasad et al. 2021).

It ranks models, not methods: importance alignment by oracle over wrong, commonly wrong and all
cases, accuracy, diagnostic accuracy, their correlation, mixed effects over size and type, and the
oracles against each other; the published rows stand beside ours.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table

from humetric.alignment.report import ALL, CELLS, COMMON, WRONG, Report
from humetric.alignment.rows import PUBLISHED, Row, Section, published_rows
from humetric.human.study import Study
from humetric.stats.steady import six, steady

ORACLES = ("hard", "soft", "expert")
BALANCED = {"nli/inference": "bert-base", "nli/esnli": "minilm", "nli/anli": "minilm"}
"""Data set -> the model by whose outputs and errors its cases are balanced."""
Titled = tuple[str, list[str], list[list[str]]]
TITLES = {
    WRONG: "Importance alignment over the cases that a model gets wrong",
    COMMON: "Importance alignment over the cases that all models get wrong",
    ALL: "Importance alignment over all cases",
}

HOW_TO_READ = (
    "Alignment: tanh of the mean over cases of C - C_R, where C = artanh(r) of the model's "
    "importances and the oracle's over tokens, and C_R the same with another case's explanation; "
    "-1 to 1, higher is better, 0: no better than a random explanation. Importance is the absolute "
    "attribution for the gold label. Oracles: hard, words of the explanation (stop words left out "
    "by a list of our own); soft, importance in models trained with explanations; expert, share of "
    "annotators who marked a token. [95% interval] p of the paired t test, two-sided (n cases, "
    "u undefined). toy: embedded data and models, whose marks and explanations are what the "
    "generator planted, not what people wrote; not evidence about people. stand-in: reasons that "
    "people wrote for these pairs, models of ours and not the study's. published: Prasad et al. "
    "(2021), printed figures; their p are bounds by their stars. Their commonly wrong cases are "
    "the 60 with expert marks. Diagnostic: accuracy on cases in the manner of HANS."
)


def model_board_files(sections: Sequence[Section], study: Study) -> dict[str, str]:
    """File name -> text, the same to the byte whenever it is made from the same reports."""
    reports = [section.report for section in sections]
    rows = [row for section in sections for row in section.rows]
    nli = any(report.about["task"] == "nli" for report in reports)
    rows += published_rows(study) if nli else []
    data = {
        "study": study.label,
        "reports": {report.name: report.about for report in reports},
        "board": [_plain(row) for row in rows],
    }
    return {
        "models.md": markdown(sections, study),
        "models.csv": _csv(rows),
        "models.json": json.dumps(data, indent=1, ensure_ascii=False) + "\n",
    }


def markdown(sections: Sequence[Section], study: Study) -> str:
    """All tables and notes."""
    parts = ["# Model board", "", HOW_TO_READ, ""]
    for section in sections:
        report = section.report
        parts += [f"## {heading(report)}", ""]
        for title, head, body in tables(section, study):
            parts += [f"### {title}", "", *_markdown(head, body), ""]
        parts += [*(f"- {note}" for note in notes(report)), ""]
    return "\n".join([*parts, legend([s.report for s in sections], study), ""])


def terminal(sections: Sequence[Section], study: Study) -> RenderableType:
    """Alignments and accuracies for a terminal; the rest is in the files."""
    parts: list[RenderableType] = []
    for section in sections:
        report = section.report
        parts += [f"[bold]{heading(report)}[/]", ""]
        for title, head, body in tables(section, study, brief=True):
            table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False,
                          pad_edge=False)  # fmt: skip
            for i, name in enumerate(head):
                table.add_column(name, justify="left" if i < 2 else "right")
            for line in body:
                table.add_row(*line)
            parts += [table, ""]
        parts += [*(f"- {note}" for note in notes(report)), ""]
    return Group(*parts)


def heading(report: Report) -> str:
    """Data, method and what counts as a feature."""
    about = report.about
    return f"{about['data']}: {about['method']['id']} of {about['features']}"


def legend(reports: Sequence[Report], study: Study) -> str:
    """What the board was made with. Nothing in here changes with time."""
    told = []
    for report in reports:
        about, method = report.about, report.about["method"]
        given = ", ".join(f"{k} {v}" for k, v in method["parameters"].items()) or "no parameters"
        told.append(
            f"{about['data']}: {method['id']} v{method['version']} ({given}), features "
            f"{about['features']}, target gold, marks {about['marks'] or 'none'}, seed "
            f"{about['seed']}, models "
            + ", ".join(f"{n} ({m['version']})" for n, m in about["models"].items())
        )
    return "; ".join([*told, f"published: {study.label}"]) + "."


def notes(report: Report) -> list[str]:
    """What is missing, undefined or cannot be fitted, in sentences."""
    about, models = report.about, report.about["models"]
    told: dict[str, list[str]] = {}
    for name, model in models.items():
        for oracle, why in model["absent"].items():
            told.setdefault(f"no {oracle} oracle ({why})", []).append(name)
        for oracle, reasons in model["undefined"].items():
            for why, count in reasons.items():
                text = f"{oracle} oracle: {count} of {model['cases']} cases undefined, {why}"
                told.setdefault(text, []).append(name)
    found = [f"{', '.join(names)}: {text}." for text, names in told.items()]
    found += [f"{name}: left out, {why}." for name, why in about["refused"].items()]
    seeds = sorted({len(m["informed_seeds"]) for m in models.values() if m["informed_seeds"]})
    if seeds:
        found.append(
            f"Soft oracle: C and C_R are means over {' or '.join(map(str, seeds))} "
            "explanation-informed models of different seeds."
        )
    said: dict[str, list[str]] = {}
    for name, model in models.items():
        for note in model.get("notes", ()):
            said.setdefault(note.rstrip("."), []).append(name)
    found += [f"{', '.join(names)}: {note}." for note, names in said.items()]
    return found + _not_fitted(report)


def _not_fitted(report: Report) -> list[str]:
    models = report.about["models"]
    base = [n for n, m in models.items() if m["size"] == "base"]
    large = [n for n, m in models.items() if m["size"] == "large"]
    found = []
    if base and large:
        families = len({models[n]["family"] for n in base})
        found.append(
            f"Size: {', '.join(base)} is the base model, {', '.join(large)} the large one."
        )
        if families == 1:
            found.append(
                "Type of transformer and its interaction with size cannot be fitted: there is one "
                "family. Nor can a random slope of size: a case has one value of each size."
            )
    else:
        found.append(
            "Mixed effects over size and type cannot be fitted: no family of models here has "
            "exactly two sizes."
        )
    found.append(
        f"Correlations with accuracy are over {len(models)} models of one training each, which "
        "decides next to nothing; the study has eight models, five seeds and three rounds."
        if len(models) > 2
        else "Correlations with accuracy need three models at least."
    )
    if report.about["data"] in BALANCED:
        found.append(
            f"The cases are half right and half wrong for {BALANCED[report.about['data']]}, and of "
            "its errors those that most models share were chosen first: they are no random sample "
            "of any model's errors."
        )
    if report.about["commonly_wrong"] < 2:
        found.append(
            f"Wrong for all of several models: {report.about['commonly_wrong']} cases, no table."
        )
    return found


def tables(section: Section, study: Study, brief: bool = False) -> Iterable[Titled]:
    """Every table of one data set; briefly: alignments and accuracies."""
    printed = published_rows(study) if section.report.about["task"] == "nli" else []
    rows = [*section.rows, *printed]
    for cell in CELLS:
        some = [r for r in rows if r.table == "alignment" and r.cases == cell]
        if any(r.evidence != PUBLISHED for r in some):
            yield TITLES[cell], *_alignments(some)
    shares = [r for r in rows if r.table == "accuracy"]
    plain = [r for r in shares if r.term in ("accuracy", "six-way")]
    yield "Accuracy; six-way: of the explanation-informed models", *_accuracy(plain)
    for kind, title in (
        ("diagnostic", "Diagnostic accuracy by heuristic"),
        ("misled", "The same where the heuristic misleads"),
    ):
        # The study has HANS accuracies of its models in a plot only.
        some = [
            replace(r, term=r.term.removeprefix(f"{kind} "))
            for r in shares
            if r.term.startswith(f"{kind} ")
        ]
        if some:
            yield title, *_accuracy(some)
    if brief:
        return
    for title, table in (
        ("Correlation of alignment with accuracy (Pearson)", "correlation"),
        ("Mixed effects of C - C_R", "mixed effects"),
    ):
        some = [r for r in rows if r.table == table and not _aside(r)]
        if any(r.evidence != PUBLISHED for r in some):
            yield title, *_by_oracle(some)
    some = [r for r in rows if r.table == "oracles"]
    if any(r.evidence != PUBLISHED for r in some):
        yield "Oracles against each other (Spearman over tokens)", *_oracles(some)


def _aside(row: Row) -> bool:
    """Diagnostic accuracy with each model left out is in the files for programs only."""
    return row.term.startswith("diagnostic ") and " without " in row.term


def _alignments(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    shown = [o for o in ORACLES if any(r.oracle == o for r in rows)]
    body = []
    for evidence, model, found in _grouped(rows):
        cells = {r.oracle: r for r in found}
        body.append([model, evidence, *(_cell(cells.get(o)) for o in shown)])
    return ["model", "evidence", *shown], body


def _accuracy(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    terms = list(dict.fromkeys(r.term for r in rows))
    body = []
    for evidence, model, found in _grouped(rows):
        cells = {r.term: r for r in found}
        body.append([model, evidence, *(_share(cells.get(t)) for t in terms)])
    return ["model", "evidence", *terms], body


def _by_oracle(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    keys = dict.fromkeys((r.term, r.evidence, r.cases) for r in rows)
    body = []
    for term, evidence, cases in keys:
        cells = {
            r.oracle: r for r in rows if (r.term, r.evidence, r.cases) == (term, evidence, cases)
        }
        body.append([term, evidence, cases, *(_cell(cells.get(o)) for o in ORACLES)])
    return ["term", "evidence", "cases", *ORACLES], body


def _oracles(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    body = [
        [r.term, r.evidence, r.model or "all models", _number(r.value), _p(r.p),
         "—" if r.n is None else str(r.n), r.note or "—"]
        for r in rows
    ]  # fmt: skip
    return ["oracles", "evidence", "model", "rho", "p", "tokens", "note"], body


def _grouped(rows: Sequence[Row]) -> Iterable[tuple[str, str, list[Row]]]:
    """By model: ours first, then by the first oracle (or accuracy) that there is, highest first."""
    first = next((o for o in (*ORACLES, "") if any(r.oracle == o for r in rows)), "")

    def best(found: list[Row]) -> float:
        own = [r.value for r in found if r.oracle == first and not math.isnan(r.value)]
        return own[0] if own else -math.inf

    keys = dict.fromkeys((r.evidence, r.model) for r in rows)
    groups = [(e, m, [r for r in rows if (r.evidence, r.model) == (e, m)]) for e, m in keys]
    groups.sort(key=lambda g: (g[0] == PUBLISHED, -best(g[2]), g[1]))
    for evidence, model, found in groups:
        source = next((r.source for r in found if r.source), "")
        yield f"{evidence}, {source}" if source else evidence, model, found


def _cell(row: Row | None) -> str:
    if row is None:
        return "—"
    parts = ["<" * ("upper bound" in row.note) + _number(row.value)]
    if not math.isnan(row.low):
        parts.append(f"[{_number(row.low)}, {_number(row.high)}]")
    if _p(row.p) != "—":
        parts.append(f"p {_p(row.p)}")
    if row.n is not None:
        gone = f", {row.undefined} u" if row.undefined else ""
        parts.append(f"({row.n}{gone})")
    return " ".join(parts)


def _number(value: float) -> str:
    if math.isnan(value):
        return "—"
    return f"{round(steady(value), 3) + 0.0:.3f}".replace("-", "\N{MINUS SIGN}")


def _share(row: Row | None) -> str:
    return "—" if row is None or math.isnan(row.value) else f"{row.value:.3f}"


def _p(p: float | str) -> str:
    if isinstance(p, str):
        return p.replace("0.", ".")
    if math.isnan(p):
        return "—"
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _markdown(head: list[str], body: list[list[str]]) -> list[str]:
    rule = "|".join("---" if i < 2 else "---:" for i in range(len(head)))
    lines = [f"| {' | '.join(line)} |" for line in (head, *body)]
    return [lines[0], f"|{rule}|", *lines[1:]]


def _plain(row: Row) -> dict[str, Any]:
    """A row for JSON: six significant digits, None for what is not known."""

    def plain(value: Any) -> Any:
        if isinstance(value, float):
            return six(value)
        return value

    return {name: plain(value) for name, value in asdict(row).items()}


def _csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, [f.name for f in fields(Row)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(_plain(row) for row in rows)
    return text.getvalue()
