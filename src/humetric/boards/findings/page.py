"""The page of findings in Markdown, and the same as data."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from humetric.agreement.across import STUDIES, Tier
from humetric.agreement.families import ABOUT
from humetric.agreement.report import rows
from humetric.boards.findings import sentences as say
from humetric.boards.findings import tables
from humetric.boards.findings.facts import Findings
from humetric.boards.metric_board import captions

HOW_TO_READ = (
    "**T**: of the pairs of methods that people's success tells apart, the share that the metric "
    "orders the same way less the share that it orders the other way; the mean over cells, then "
    "over studies (1: always alike, 0: chance, −1: reversed). In a cell it is called D. "
    "**Interval**: T less and plus the largest T that is still chance when methods are relabelled "
    "(95%); it covers 0 exactly where p > .05, and like p it is about these studies and these "
    "methods. **p (smallest)**: exact, two-sided, and the smallest that the data could give. "
    f"**Verdicts** come from published and replica scores in at least {STUDIES} studies. "
    "**Evidence**: published (the study's own scores), replica (same data, same kind of model), "
    "stand-in (other data or model), toy (the embedded suite: exercises the code, shows nothing). "
    "\\* derived from this study: shown, never judged by it. "
    "? people do not tell the methods of this cell apart (reliability below .5)."
)


def markdown(found: Findings) -> str:
    """The page, the same to the byte whenever it is made from the same figures and results."""
    return "\n".join([*_lines(found), ""])


def _lines(found: Findings) -> Iterator[str]:
    yield "# Which metric goes with human success?"
    yield ""
    yield "<!-- Made by humetric findings; changes by hand are lost. -->"
    yield ""
    yield say.answer(found)
    yield ""
    yield HOW_TO_READ
    yield ""
    yield "## Families"
    yield ""
    yield from _families(found, "judged")
    yield "## Study by study"
    yield ""
    yield from tables.markdown(tables.studies([s for s in found.studies if s.tier == "judged"]))
    yield ""
    yield say.POWER_OF_STUDIES
    yield ""
    yield "## Cell by cell"
    yield ""
    yield from tables.markdown(tables.cells(found, "judged"))
    yield ""
    yield "New people, new cases: 95% intervals of D with other people or other cases of the same "
    yield "methods; unknown where no standard error, or no score of a case, was published."
    yield ""
    yield "## Controls"
    yield ""
    yield from (f"- {line}" for line in say.controls(found, "judged"))
    yield ""
    yield from tables.markdown(tables.across(found, found.of("judged", "baseline", "sentinel")))
    yield ""
    for tier, title in (
        ("stand-in", "Stand-ins: no verdict"),
        ("toy", "The embedded run: not evidence"),
    ):
        if found.of(tier):
            yield from _other_tier(found, tier, title)
    yield from _made(found)


def _families(found: Findings, tier: Tier) -> Iterator[str]:
    for name in (*say.COMPARED, "other"):
        known = say.members(found, name)
        if not known:
            continue
        yield f"### {name.capitalize()}"
        yield ""
        yield f"{ABOUT[name].capitalize()}."
        some = found.of(tier, name)
        without = [n for n in known if n not in {s.metric for s in some}]
        if some:
            yield ""
            yield from tables.markdown(tables.across(found, some))
            yield ""
            yield from (f"- {s.metric}: {say.why(s, len(found.agreement.family))}." for s in some)
        if without:
            yield ""
            yield f"Without {say.TIER_NAMES[tier]} scores: {', '.join(without)}."
        yield ""


def _other_tier(found: Findings, tier: Tier, title: str) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield say.other_tier(found, tier)
    yield ""
    for name in (*say.COMPARED, "other", "baseline"):
        some = found.of(tier, name)
        if some:
            yield f"### {name.capitalize()}, {tier}"
            yield ""
            yield from tables.markdown(tables.across(found, some))
            yield ""
    yield f"### Study by study, {tier}"
    yield ""
    yield from tables.markdown(tables.studies([s for s in found.studies if s.tier == tier]))
    yield ""
    yield f"### Cell by cell, {tier}: D"
    yield ""
    yield from tables.markdown(tables.grid(found, tier))
    yield ""
    yield "! p at most .05 in this cell alone, of many cells and metrics: some are expected by chance."
    yield ""
    yield from (f"- {line}" for line in say.controls(found, tier))
    yield ""
    if tier != "toy":
        yield from (f"- {note}" for note in captions(found.agreement) if f"({tier})" in note)
        yield ""


def _made(found: Findings) -> Iterator[str]:
    yield "## How this page was made"
    yield ""
    run = " RUN" if found.about_run else ""
    yield f"`humetric findings{run} --out docs/findings.md`; with `--check` it says whether the "
    yield "page is what the figures and results give."
    if found.about_run:
        about = found.about_run
        yield f"RUN is the folder of a run of the suite {about['suite']}; what it was made with:"
    yield ""
    yield from (f"- {name}: {value}" for name, value in found.about_run.items() if name != "suite")
    line = found.agreement.settings_line()
    yield from (f"- {name}: {value}" for name, value in line.items())
    yield ""
    yield "Primary measures, cells and methods of each study were declared before the first "
    yield "comparison, and nothing is tuned on human results; in which order parameters were fixed "
    yield "is in docs/adr/0013 ([decisions](adr/README.md)). The statistics and their calibration: "
    yield "[statistics](statistics.md)."


def data(found: Findings) -> str:
    """What the page rests on, as JSON."""
    made = {
        "answer": say.answer(found),
        "run": dict(found.about_run),
        "settings": found.agreement.settings_line(),
        "standings": [_plain(vars(s)) for s in found.standings],
        "studies": [_plain(vars(s)) for s in found.studies],
        "between_families": [
            _plain({"metric": c.first, "against": c.second, "tier": c.tier} | c.result._asdict())
            for c in found.contests
        ],
        "controls": say.controls(found, "judged"),
        "agreement": rows(found.agreement),
    }
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    """Plain data: None for what is undefined, six digits of what is not."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    elif hasattr(value, "__dataclass_fields__"):
        value = vars(value)
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.6g}")
    return value
