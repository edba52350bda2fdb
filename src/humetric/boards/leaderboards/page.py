"""leaderboards/README.md: what was found, on two screens; every sentence follows from numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from humetric.agreement.across import ALPHA, STUDIES
from humetric.boards.findings.answer import answer, powers, rivals
from humetric.boards.findings.facts import TIERS, Findings, Standing, findings
from humetric.boards.findings.forest import TITLES, forest
from humetric.boards.findings.words import counted, joined, span
from humetric.boards.leaderboards import costs
from humetric.boards.leaderboards.leads import FEW, Lead, leads, table, undecided
from humetric.boards.metric_board import markdown_table, signed
from humetric.boards.of_settings import settings_rows
from humetric.boards.task_board import boards_of
from humetric.human.study import Study
from humetric.results.gaps import gaps
from humetric.results.result import Result
from humetric.suites import known_suites, load_suite

FIGURE = "metrics.svg"
MADE = "<!-- Made by humetric boards index; changes by hand are lost. -->"
MAIN = "standard"
"""The suite that the answer is about."""
TOY = "embedded"
"""The suite that is no evidence; every other one is of real data."""


def index_files(results: Mapping[str, Result], studies: Mapping[str, Study]) -> dict[str, str]:
    """File name -> text, the same to the byte whenever it is made from the same results.

    ``results`` are published ones by the name of their folder.
    """
    real = {name: result for name, result in results.items() if name != TOY}
    found = {name: findings(studies, result) for name, result in results.items()}
    main = next(iter(found[name] for name in real), None) or findings(studies)
    toy = found.get(TOY)
    parts = [
        "# Leaderboards",
        MADE,
        _intro(results),
        "## Which metrics agree with people",
        answer(main),
        f"![T of every metric with its interval, family by family]({FIGURE})",
        "\n".join(_tiers(main, toy)),
        "## Which methods lead where",
        *(_leads(name, result) for name, result in (real or results).items()),
        "## What is undecided, and why",
        "\n".join(f"- {line}" for line in _undecided(main, real)),
        "## What it took",
        *_took(results),
        "## Boards",
        "\n".join(f"- {line}" for line in _links(results)),
    ]
    return {
        "README.md": "\n\n".join(parts) + "\n",
        "costs.md": _costs(results),
        FIGURE: forest(main if toy is None or real else toy),
    }


def _intro(results: Mapping[str, Result]) -> str:
    """What is published."""
    said = []
    for name, result in results.items():
        cases = sorted(set(result.provenance["cases"].values()))
        each = f"{cases[0]} to {cases[-1]}" if len(cases) > 1 else str(cases[0])
        what = "generated data, toy models: no evidence" if name == TOY else "real data"
        settings = counted(len(result.provenance["settings"]), "setting")
        said.append(f"**{name}** ({what}; {settings}, {each} cases each)")
    if not set(results) - {TOY}:
        said.append("nothing on real data yet")
    return (
        f"Published: {joined(said)}. All numbers are made from `*/results/` by `humetric boards "
        "build` and `humetric boards index`; `--check` says whether they are up to date."
    )


def _tiers(main: Findings, toy: Findings | None) -> list[str]:
    """Evidence by its level: how many metrics, the highest, and what is away from chance."""
    head = ["evidence", "metrics", "highest T", "interval", "studies", "interval without 0"]
    lines = []
    for tier in TIERS:
        of = toy if tier == "toy" and toy is not None else main
        some = [s for s in rivals(of, tier) if s.defined]
        if not some:
            lines.append([TITLES[tier], "0", *["—"] * 4])
            continue
        best = some[0]
        away = [s for s in some if not s.covers_zero]
        lines.append(
            [TITLES[tier], str(len(some)), f"{best.metric} {signed(best.t)}",
             span(best.low, best.high), str(len(best.studies)), _named(away)]
        )  # fmt: skip
    return [
        *markdown_table(head, lines),
        "",
        f"T: 1 orders methods as people's success does, 0 is chance, -1 reversed. A verdict needs "
        f"published or replica scores in {STUDIES} studies; p of a single metric is not corrected "
        "for their number. All metrics: the boards below, and [findings](../docs/findings.md).",
    ]


def _named(some: Sequence[Standing]) -> str:
    names = [f"{s.metric} {signed(s.t)}" for s in some[:FEW]]
    return ", ".join(names) + f" and {len(some) - FEW} more" * (len(some) > FEW) or "none"


def _leads(name: str, result: Result) -> str:
    """The leaders of a suite's tasks."""
    found = leads(boards_of(result).tasks, result)
    toy = " Toys: they show how the table reads, and nothing about real models." * (name == TOY)
    lines = table(found)
    rest = undecided(found)
    said = [f"**{name}**: {_counts(found)}.{toy}"]
    if lines:
        said += ["\n".join(lines)]
    if rest:
        said.append(f"No method leads in any task by {joined(rest)}.")
    return "\n\n".join(said)


def _counts(found: Sequence[Lead]) -> str:
    yes = sum(lead.decided for lead in found)
    control = sum(bool(lead.controls) and len(lead.methods) <= FEW for lead in found)
    return (
        f"in {yes} of {counted(len(found), 'pair')} of task and metric at most {FEW} methods lead: "
        f"nobody is significantly better, and no control is among them (bold; in {control} more a "
        "control is). Elsewhere: how many of the ranked methods are not told from the best (∅: a "
        "control among them). To lead by a metric says as much as the metric does, see above"
    )


def _undecided(main: Findings, real: Mapping[str, Result]) -> list[str]:
    """Metrics without a verdict, power, and results that are not there."""
    judged = [s for s in rivals(main, "judged") if s.defined]
    family = main.agreement.family
    verdicts: dict[str, list[str]] = {}
    for s in judged:
        verdicts.setdefault(s.verdict, []).append(s.metric)
    said = [f"Metrics, {verdict}: {joined(names)}." for verdict, names in verdicts.items()]
    without = sorted(set(family) - {s.metric for s in judged})
    if without:
        said.append(
            f"{len(without)} of {len(family)} metrics have no published or replica score that they "
            f"can be judged by: {joined(without)}."
        )
    said += powers(main)[:FEW]
    unknown = sum(s.unknown for s in main.studies if s.tier == "judged")
    cells = sum(s.cells for s in main.studies if s.tier == "judged")
    apart = sum(s.separated for s in main.studies if s.tier == "judged")
    said.append(
        f"People: in {apart} of {cells} cells of the studies their success tells methods apart; of "
        f"{unknown} nobody knows, since no standard error was published."
    )
    for name, result in real.items():
        lacking = sorted({gap.setting for gap in gaps(result)})
        if lacking:
            said.append(f"{name}: not finished on {joined(lacking)}.")
        said += _few_cases(name, result)
        toys = [row["setting"] for row in settings_rows(result) if not row["pairs"]]
        if toys:
            said.append(f"{name}: no study stands beside {joined(toys)}.")
    if not real:
        said.append("On real data nothing is published yet.")
    return said


def _few_cases(name: str, result: Result) -> list[str]:
    """Whether more cases are to come, and where there are too few to tell methods apart."""
    cases: Mapping[str, int] = result.provenance["cases"]
    wanted = load_suite(name).cases if name in known_suites() else 0
    said = []
    short = [setting for setting, n in sorted(cases.items()) if n < wanted]
    if short:
        said.append(
            f"{name}: {counted(len(short), 'setting')} of {len(cases)} with fewer than the suite's "
            f"{wanted} cases so far ({min(cases[s] for s in short)} or more)."
        )
    blind = [setting for setting, n in sorted(cases.items()) if 2 / 2**n > ALPHA]
    if blind:
        said.append(f"{name}: too few cases to tell any two methods apart on {joined(blind)}.")
    return said


def _took(results: Mapping[str, Result]) -> list[str]:
    """Totals, and the comparison with other libraries in short."""
    said = [f"{name}: {costs.totals(result)}" for name, result in results.items()]
    return [
        f"{'; '.join(said)}. Setting by setting: `methods.md` of each.",
        "Rows that a model is asked, the least and the most over settings; other libraries by "
        "their defaults for inputs of the same size. Counts differ in what they buy (steps, "
        "samples; on tables, background rows that humetric averages over): it is the price of a "
        "default, not of the same number. Questions that methods share are asked once here. "
        "Gradients count as one row. [In full, with sources](costs.md).",
        "\n".join(costs.brief(list(results.values()))),
    ]


def _links(results: Mapping[str, Result]) -> list[str]:
    """Where everything lies."""
    return [
        f"{name}: [methods]({name}/methods.md), [metrics]({name}/metrics.md), figures "
        f"[agreement]({name}/metrics-concordance.png) and [heat map]({name}/metrics-heatmap.png), "
        f"[results]({name}/results)"
        for name in results
    ]


def _costs(results: Mapping[str, Result]) -> str:
    """The page of costs."""
    parts = [
        "# Model calls",
        MADE,
        "Rows that a model is asked for one case and one method. humetric: as counted in the "
        "published runs; of a metric, questions that all methods share are divided among them; of "
        "a method, its own questions and gradient passes. Other libraries: by their defaults, for "
        "the mean over the setting's cases. —: it has no such metric or method; refused: the "
        "defaults do not work on inputs that small.",
    ]
    for name, result in results.items():
        parts += [f"## {name}", "\n".join(costs.in_full(result))]
    return "\n\n".join([*parts, "## Sources", "\n".join(costs.sources())]) + "\n"


def read_index(folder: Path) -> dict[str, Result]:
    """Published results by the name of their folder: the standard suite first, toys last."""
    from humetric.results.published import published_suites
    from humetric.results.read import read_result

    found = {path.name: read_result(path) for path in published_suites(folder)}
    return dict(sorted(found.items(), key=lambda pair: (pair[0] == TOY, pair[0] != MAIN, pair[0])))
