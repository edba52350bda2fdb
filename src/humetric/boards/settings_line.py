"""What a board was made with, and how to read it. Nothing in here changes with time."""

from __future__ import annotations

from typing import Any

from humetric.boards.ranking import ALPHA, ROUNDING, flips_for, pairs_of
from humetric.results.result import Result
from humetric.stats.bootstrap import LEVEL, RESAMPLES
from humetric.stats.paired import EXACT

HOW_TO_READ = (
    "A cell: mean over cases [95% interval] places letters (n?: undefined for n cases). "
    "↑ higher is better, ↓ lower is better. Places run from 1 + the number of methods that are "
    "significantly better to the number of methods less those that are significantly worse; "
    "methods that share a letter are not told apart. —: undefined for all cases; failed, missing: "
    "not all cases were scored (a board with missing cells is headed INCOMPLETE: the run was not "
    "finished, and places are among the methods that were scored). Of a task: unweighted mean of "
    "the settings' means, every setting alike; other cases of these settings are what the interval "
    "is about, and a case that settings share is drawn and flipped as one. 2 of 4: mean over 2 of "
    "the 4 settings, since the method was not run on the others or is undefined there; numbers "
    "over different settings are not comparable, so that it has no place and no letters. Controls "
    "know nothing of the model and are ranked with the rest. Complexity "
    "and sparseness describe a map, not its quality. Verdicts are those of the metric "
    "board: whether a metric orders methods as people's success with them does."
)


def settings_line(result: Result) -> dict[str, Any]:
    """Measure, interval, test, correction, seed, precision, device, versions."""
    about = result.provenance
    flips = flips_for(pairs_of(len(result.methods)))
    suite = f"{about['suite']} v{about.get('suite_version', '?')}" if "suite" in about else "none"
    versions = about.get("settings", {})
    return {
        "measure": "mean over cases; of a task, unweighted mean of its settings' means",
        "interval": f"{LEVEL:.0%} percentile bootstrap over cases, B = {RESAMPLES:,}; "
        "of a task, within its settings",
        "test": f"two-sided paired sign-flip permutation, exact up to {EXACT} cases, "
        f"else B = {flips:,}; differences below {ROUNDING:g} are ties",
        "correction": "Holm over all pairs of methods per metric and setting or task, "
        f"level {ALPHA}",
        "seed": about.get("seed", 0),
        "precision": about.get("precision", "unknown"),
        "device": about.get("device", "unknown"),
        "suite": suite,
        "data": ", ".join(f"{name} ({versions[name]})" for name in sorted(versions)) or "unknown",
        "code": _code(about.get("environment", {})),
    }


def _code(environment: dict[str, str]) -> str:
    """The release and the commit that made the results, not that which made the board."""
    release = environment.get("humetric", "unknown")
    revision = environment.get("revision")
    return f"humetric {release}, revision {revision}" if revision else f"humetric {release}"
