"""The page of findings in Markdown, and the same as data."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from humetric.agreement.across import STUDIES, Tier
from humetric.agreement.families import ABOUT
from humetric.agreement.report import rows
from humetric.boards.findings import tables
from humetric.boards.findings.answer import COMPARED, answer, members, other_tier, powers
from humetric.boards.findings.controls import controls, simulated
from humetric.boards.findings.facts import Findings
from humetric.boards.findings.sentences import POWER_OF_STUDIES, of_metric
from humetric.boards.metric_board import captions
from humetric.stats.steady import six

HOW_TO_READ = f"""\
- **T**: of the pairs of methods that people's success tells apart, the share that the metric orders
  the same way less the share that it orders the other way; the mean over cells (data and model),
  then over studies. 1: always alike, 0: chance, -1: reversed. In a single cell it is called **D**.
- **Interval**: T less and plus the largest T that is still chance when methods are relabelled
  (95%). It covers 0 exactly where p > .05. Like p it is about these studies and these methods. It
  is all of -1 to +1 where the data could not have excluded anything.
- **p (smallest)**: exact, two-sided; in brackets the smallest that the data could have given.
- **Evidence**: published (the study's own scores), replica (same data, same kind of model),
  stand-in (other data or model), toy (the embedded suite: it exercises the code and shows nothing
  about people). **Verdicts** come from published and replica scores in {STUDIES} studies or more.
- \\* derived from this study: shown, never judged by it. ? people do not tell the methods of this
  cell apart (reliability below .5)."""

NEW = """\
New people, new cases: 95% intervals of D with other people or other cases of the same methods;
unknown where no standard error, or no score of a case, was published."""

ORDER = """\
Primary measures, cells and methods of each study were declared before the first comparison, and
nothing is tuned on human results; the order in which parameters were fixed is in
[docs/adr/0013](adr/0013-simulated-users.md). The statistics and their calibration are in
[statistics](statistics.md)."""

OTHERS: tuple[tuple[Tier, str], ...] = (
    ("stand-in", "Stand-ins: no verdict"),
    ("toy", "The embedded run: not evidence"),
)


def markdown(found: Findings, figure: str = "") -> str:
    """The page, the same to the byte whenever it is made from the same figures and results.

    ``figure`` is the name of the picture that lies beside it.
    """
    parts = [
        "# Which metric goes with human success?",
        "<!-- Made by humetric findings; changes by hand are lost. -->",
        answer(found),
        *([f"![T of every metric with its interval, family by family]({figure})"] * bool(figure)),
        HOW_TO_READ,
        "## Families",
        *_families(found),
        *(["### What could have been found", _listed(powers(found))] if powers(found) else []),
        "## Study by study",
        tables.markdown(tables.studies([s for s in found.studies if s.tier == "judged"])),
        POWER_OF_STUDIES,
        "## Cell by cell",
        tables.markdown(tables.cells(found, "judged")),
        NEW,
        "## Controls",
        _listed(controls(found, "judged")),
        tables.markdown(tables.across(found, found.of("judged", "baseline", "sentinel"))),
    ]
    for tier, title in OTHERS:
        if found.of(tier):
            parts += [f"## {title}", *_other_tier(found, tier)]
    return "\n\n".join([*parts, "## How this page was made", *_made(found)]) + "\n"


def _families(found: Findings) -> Iterator[str]:
    """A table for each family, and what follows from it for each metric."""
    for name in (*COMPARED, "other"):
        known = members(found, name)
        if not known:
            continue
        yield f"### {name.capitalize()}"
        yield f"{ABOUT[name].capitalize()}."
        some = found.of("judged", name)
        if some:
            yield tables.markdown(tables.across(found, some))
            yield _listed([of_metric(found, s) for s in some])
        without = [n for n in known if n not in {s.metric for s in some}]
        if without:
            yield f"Without published or replica scores: {', '.join(without)}."


def _other_tier(found: Findings, tier: Tier) -> Iterator[str]:
    yield other_tier(found, tier)
    order = (*COMPARED, "other", "baseline")
    some = [s for name in order for s in found.of(tier, name)]
    yield tables.markdown(tables.across(found, some, family=True))
    yield f"Study by study, {tier}:"
    yield tables.markdown(tables.studies([s for s in found.studies if s.tier == tier]))
    yield f"Cell by cell, {tier}, D:"
    yield tables.markdown(tables.grid(found, tier))
    yield "!: p at most .05 in this cell alone; of many cells and metrics some are so by chance."
    yield _listed(
        [*controls(found, tier), *(map(simulated, found.simulated) if tier == "toy" else ())]
    )
    notes = [note for note in captions(found.agreement) if f"({tier})" in note]
    if notes and tier != "toy":
        yield _listed(notes)


def _made(found: Findings) -> Iterator[str]:
    run = " RUN" if found.about_run else ""
    said = (
        f"`humetric findings{run} --out docs/findings.md`; `--check` says whether it is up to date."
    )
    if found.about_run:
        said += f" RUN is the folder of a run of the suite {found.about_run['suite']}."
    yield said
    about = {**found.about_run, **found.agreement.settings_line()}
    yield _listed([f"{name}: {value}" for name, value in about.items()])
    yield ORDER


def _listed(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def data(found: Findings) -> str:
    """What the page rests on, as JSON."""
    made = {
        "answer": answer(found),
        "run": dict(found.about_run),
        "settings": found.agreement.settings_line(),
        "standings": [_plain(s) for s in found.standings],
        "studies": [_plain(s) for s in found.studies],
        "between_families": [
            _plain({"metric": c.first, "against": c.second, "tier": c.tier} | c.result._asdict())
            for c in found.contests
        ],
        "controls": controls(found, "judged"),
        "simulated_users": [_plain(s) for s in found.simulated],
        "agreement": [
            row
            for row in rows(found.agreement)
            if row["coefficient"] == "t" or (row["coefficient"] == "d" and row["primary"])
        ],
    }
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    """Plain data: None for what is undefined, six digits of what is not."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    elif hasattr(value, "__dataclass_fields__"):
        value = {name: getattr(value, name) for name in value.__dataclass_fields__}
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float):
        return six(value) if math.isfinite(value) else None
    return value
