"""Everything that is known of the agreement of metrics with people, in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from humetric.agreement.across import TIERS, Across, Contest, Tier, across, contests
from humetric.agreement.cell import CellAgreement, cell_agreement, measured
from humetric.agreement.evidence import BASELINES, Evidence, Level, of_run, published, sentinels
from humetric.errors import UnknownNameError
from humetric.human.study import Study
from humetric.metrics import METRICS
from humetric.results.result import Result
from humetric.stats.concordance import pearson, spearman
from humetric.stats.joint import DRAWS
from humetric.stats.shared import overlap
from humetric.stats.steady import six

KEY = ("metric", "tier", "study", "cell", "measure", "coefficient", "level", "made_on")
"""What tells the rows of the board apart."""

TIER: dict[Level, Tier] = {level: tier for tier, levels in TIERS.items() for level in levels}

COEFFICIENTS = ("d", "tau-b", "spearman", "pearson")

CAPTION = (
    "Metric computed on {made_on}; people saw {model}, {data}. This tests whether the ordering "
    "transfers, not the study itself."
)


@dataclass(frozen=True)
class Mixed:
    """Raw values of all cells of a study thrown together, as papers do; the sign is not turned.

    Data sets differ in difficulty, so that a metric may correlate with that alone: compare with the
    cells before believing it.
    """

    metric: str
    study: str
    measure: str
    level: Level
    in_sample: bool
    n: int
    pearson: float
    spearman: float


@dataclass(frozen=True)
class Agreement:
    """Cells, studies and verdicts, with what they were made from."""

    cells: tuple[CellAgreement, ...]
    across: tuple[Across, ...]
    contests: tuple[Contest, ...]
    mixed: tuple[Mixed, ...]
    studies: Mapping[str, Study]
    family: tuple[str, ...]
    seed: int
    run: str

    def verdicts(self) -> dict[str, str]:
        """What the metric board says of each metric that it judges."""
        return {
            a.metric: a.verdict for a in self.across if a.tier == "judged" and a.kind != "sentinel"
        }

    def settings_line(self) -> dict[str, Any]:
        """What the tables were made with. Nothing in here changes with time."""
        named = {c.study for c in self.cells} | {s for a in self.across for s in a.test.studies}
        used = [s for s in self.studies.values() if s.id in named]
        both = overlap({s.id: s.primary.methods for s in used if s.primary})
        return {
            "measure": ", ".join(f"{s.id}: {s.primary.measure}" for s in used if s.primary),
            "coefficient": "D = (concordant - discordant) / pairs that people did not tie; "
            "T = mean over studies of the mean over cells",
            "ties": "differences below printed or reading precision; of means over cases 1e-6",
            "test": "two-sided; methods relabelled jointly over the cells of a study, "
            f"independently between studies; exact where it can be enumerated, else B = {DRAWS:,}",
            "methods shared between studies": ", ".join(f"{m} in {k}" for m, k in both.items())
            + " (people's liking for them may repeat, which p does not know; see names together)"
            if both
            else "none",
            "correction": f"Holm over the {len(self.family)} metrics of the family",
            "seed": self.seed,
            "human data": ", ".join(s.label for s in used) or "none",
            "scores": self.run or "published only",
        }


def agreement(
    studies: Mapping[str, Study],
    result: Result | None = None,
    *,
    only_studies: Sequence[str] = (),
    only_metrics: Sequence[str] = (),
    seed: int = 0,
) -> Agreement:
    """Published scores, and the metrics of a run if there is one, against what people achieved.

    A selection leaves corrections as they are: they are over the whole family.
    """
    for name in only_studies:
        if name not in studies:
            raise UnknownNameError("study", name, studies)
    chosen = {k: v for k, v in studies.items() if not only_studies or k in only_studies}
    evidence: list[Evidence] = published(chosen)
    if result is not None:
        evidence += [e for e in of_run(result, studies) if e.study in chosen]
    known = sorted({e.metric for e in evidence} | set(METRICS))
    for name in only_metrics:
        if name not in known:
            raise UnknownNameError("metric", name, known)
    family = tuple(sorted(set(METRICS) | {m for s in studies.values() for m in s.metrics}))
    tested = across([*evidence, *sentinels(chosen, seed)], chosen, family, seed)
    wanted = set(only_metrics or known)
    cells = [c for e in evidence if e.metric in wanted for c in _cells(e, chosen[e.study], seed)]
    return Agreement(
        tuple(cells),
        tuple(
            a for a in tested if a.metric in wanted or (a.kind == "sentinel" and not only_metrics)
        ),
        tuple(c for c in contests(evidence, chosen, BASELINES, seed) if c.first in wanted),
        _mixed(cells),
        chosen,
        family,
        seed,
        _name(result),
    )


def _mixed(cells: Sequence[CellAgreement]) -> tuple[Mixed, ...]:
    """One for each metric, study and level with several cells."""
    groups: dict[tuple[str, str, Level], list[CellAgreement]] = {}
    for cell in cells:
        if cell.primary:
            groups.setdefault((cell.metric, cell.study, cell.level), []).append(cell)
    found = []
    for (metric, study, level), some in groups.items():
        x = [value for cell in some for value in cell.metric_values]
        y = [value for cell in some for value in cell.human_values]
        if len(some) > 1:
            r, rho = pearson(x, y), spearman(x, y)
            first = some[0]
            found.append(
                Mixed(metric, study, first.measure, level, first.in_sample, len(x), r, rho)
            )
    return tuple(found)


def _cells(evidence: Evidence, study: Study, seed: int) -> list[CellAgreement]:
    """A metric against every measure that its cell has and that can order methods."""
    found = []
    for measure in study.measures:
        if measure.direction == "none":
            continue
        human = measured(study, measure.id, evidence.sees_cues)
        if evidence.cell in human.cells and human.methods:
            found.append(cell_agreement(evidence, study, human, seed))
    return found


def _name(result: Result | None) -> str:
    if result is None:
        return ""
    about = result.provenance
    suite = f"{about.get('suite', 'no suite')} v{about.get('suite_version', '?')}"
    return f"{suite}, seed {about.get('seed', 0)}, {about.get('precision', '?')}"


def caption(cell: CellAgreement, studies: Mapping[str, Study]) -> str:
    """What a comparison on another model or other data does and does not test."""
    of = studies[cell.study].cell(cell.cell)
    return CAPTION.format(made_on=cell.made_on, model=of.model, data=of.data)


def rows(found: Agreement) -> list[dict[str, Any]]:
    """Tidy rows, one for each combination of `KEY`; None where undefined.

    Rows of a study have no cell (its T), rows over all studies neither study nor cell.
    """
    listed: list[dict[str, Any]] = []
    for cell in found.cells:
        listed += _cell_rows(cell)
    listed += [
        {k: v for k, v in vars(mixed).items() if k not in ("pearson", "spearman")}
        | {"cell": "all, raw", "coefficient": name, "value": getattr(mixed, name)}
        | {"tier": TIER[mixed.level]}
        for mixed in found.mixed
        for name in ("pearson", "spearman")
    ]
    for whole in found.across:
        listed += _across_rows(whole, found)
    key: dict[str, Any] = dict.fromkeys(KEY) | {"in_sample": False}
    return [{k: _plain(v) for k, v in (key | row).items()} for row in listed]


def _cell_rows(cell: CellAgreement) -> list[dict[str, Any]]:
    key = {
        "metric": cell.metric,
        "kind": cell.kind,
        "study": cell.study,
        "cell": cell.cell,
        "measure": cell.measure,
        "measure_kind": cell.measure_kind,
        "primary": cell.primary,
        "tier": TIER[cell.level],
        "level": cell.level,
        "made_on": cell.made_on,
        "in_sample": cell.in_sample,
        "n": cell.n,
    }
    values = (cell.concordance.d, cell.tau_b, cell.spearman, cell.pearson)
    found = [
        key | {"coefficient": name, "value": value}
        for name, value in zip(COEFFICIENTS, values, strict=True)
    ]
    found[0] |= {
        "pairs": cell.concordance.pairs,
        "p": cell.test.p,
        "smallest_p": cell.test.smallest,
        "left_out_low": cell.left_out.low,
        "left_out_high": cell.left_out.high,
        "people_low": cell.people.low,
        "people_high": cell.people.high,
        "cases_low": cell.cases.low,
        "cases_high": cell.cases.high,
        "reliability": cell.ceiling.reliability,
        "reliability_low": cell.ceiling.low,
        "reliability_high": cell.ceiling.high,
        "ceiling": cell.ceiling.concordance,
    }
    found[3] |= {"ceiling": cell.ceiling.pearson}
    raw = pearson(cell.metric_values, cell.human_values)  # as papers print it
    return [*found, key | {"coefficient": "pearson-raw", "value": raw}]


def _across_rows(whole: Across, found: Agreement) -> list[dict[str, Any]]:
    key = {"metric": whole.metric, "kind": whole.kind, "tier": whole.tier, "coefficient": "t"}
    listed: list[dict[str, Any]] = [
        key
        | {
            "study": study,
            "measure": primary.measure if (primary := found.studies[study].primary) else None,
            "level": whole.levels[study],
            "value": t,
            "without": whole.test.leave_one_out[study],
        }
        for study, t in whole.test.studies.items()
    ]
    test = whole.test
    listed.append(
        key
        | {
            "value": test.t,
            "n": whole.studies,
            "p": test.p,
            "smallest_p": test.smallest,
            "holm_p": whole.holm,
            "max_t_p": whole.max_t,
            "verdict": whole.verdict,
            "in_sample_studies": list(whole.in_sample),
            "shared_p": whole.shared.p,
            "shared_relabellings": whole.shared.relabellings,
            "value_separated": whole.separated.t,
            "value_with_control": whole.controlled.t,
        }
        | ({} if whole.pooled is None else {"pooled": whole.pooled._asdict()})
    )
    return listed


def _plain(value: Any) -> Any:
    """None for what is undefined; six digits of what is not."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, float):
        return six(value)
    return value
