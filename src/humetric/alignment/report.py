"""Alignments of all models of one data set: a table that is stored, and what is known beside it.

Two files per data set in ``RUN/alignment``: a CSV in the form that ``humetric human analyse
--protocol prasad2021`` reads, one row per cases, model, oracle and case; and a JSON of accuracies,
correlations of oracles, versions and settings. The model board is made from these alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from humetric.alignment.accuracy import Accuracy
from humetric.alignment.arithmetic import CARD, CLIP, REDRAWS
from humetric.alignment.between import between_oracles
from humetric.alignment.measure import DEFAULT, Measured
from humetric.errors import HumetricError
from humetric.results.files import write_whole

FOLDER = "alignment"
SCHEMA = 1
WRONG, COMMON, ALL = "wrong", "commonly-wrong", "all"
CELLS = (WRONG, COMMON, ALL)


@dataclass(frozen=True)
class Report:
    """The models of one data set by one method."""

    name: str
    """Of its files."""
    about: Mapping[str, Any]
    table: pd.DataFrame
    """Columns of ``humetric.human.alignments``."""


def make_report(
    found: Sequence[Measured],
    accuracy: Mapping[str, Accuracy],
    seed: int,
    refused: Mapping[str, str] | None = None,
) -> Report:
    """Put the models of a data set together; ``accuracy`` and ``refused`` are by setting.

    Commonly wrong are cases that all models have and get wrong; of one model there are none.
    """
    first = found[0]
    data = first.setting.rpartition("/")[0]
    common = set.intersection(*(_wrong(m) for m in found)) if len(found) > 1 else set()
    sizes = _sizes(found)
    rows = [
        {
            "cell": cell,
            "model": model_of(m.setting),
            "type": m.family,
            "size": sizes.get(m.setting, ""),
            "oracle": oracle,
            "case": case,
            "c": pair.c,
            "c_random": pair.c_random,
            "accuracy": accuracy[m.setting].pool,
        }
        for cell in CELLS
        for m in found
        for oracle, pairs in m.pairs.items()
        for case, right, pair in zip(m.ids, m.right.tolist(), pairs, strict=True)
        if cell == ALL or (cell == WRONG and not right) or (cell == COMMON and case in common)
    ]
    models = {
        model_of(m.setting): {
            "setting": m.setting,
            "version": m.version,
            "family": m.family,
            "size": sizes.get(m.setting, ""),
            "parameters": m.parameters,
            "cases": len(m.ids),
            "wrong": int((~m.right).sum()),
            "informed_seeds": list(m.informed),
            "absent": dict(m.absent),
            "undefined": {o: _reasons(m, o) for o in m.pairs},
            "between": [b._asdict() for b in between_oracles(m.oracles)],
            "accuracy": asdict(accuracy[m.setting]),
            "notes": list(m.notes),
        }
        for m in found
    }
    about = {
        "schema": SCHEMA,
        "data": data,
        "task": first.task,
        "metric": CARD.describe(),
        "method": first.method.describe(),
        "features": "pixels" if first.task == "image" else first.level,
        "target": "gold",
        "marks": first.source,
        "annotators": first.annotators,
        "clip": CLIP,
        "redraws": REDRAWS,
        "seed": seed,
        "commonly_wrong": len(common),
        "models": models,
        "refused": dict(refused or {}),
        "between": [b._asdict() for b in _pooled(found)],
    }
    name = data.replace("/", "-")
    name += "" if first.method.id == DEFAULT else f".{first.method.id}"
    name += "" if first.level == "tokens" or first.task == "image" else f".{first.level}"
    return Report(name, _plain(about), pd.DataFrame(rows))


def write_report(report: Report, run: Path) -> list[Path]:
    """Write the two files; numbers in full, so that reading gives them back."""
    folder = run / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{report.name}.csv", folder / f"{report.name}.json"]
    write_whole(paths[0], report.table.to_csv(index=False, lineterminator="\n"))
    write_whole(paths[1], json.dumps(report.about, indent=1, ensure_ascii=False) + "\n")
    return paths


def read_reports(run: Path) -> list[Report]:
    """All reports of a run folder, by name; none if there are none."""
    found = []
    for path in sorted((run / FOLDER).glob("*.json")):
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            table = pd.read_csv(path.with_suffix(".csv"), dtype=str, keep_default_na=False)
            for name in {"c", "c_random", "accuracy"} & set(table.columns):
                # Python's own conversion gives back every digit.
                table[name] = [float(cell) if cell else math.nan for cell in table[name]]
        except (OSError, ValueError) as error:
            raise HumetricError(
                f"Cannot read {path} and the table beside it: {error}. Make them again with "
                f"humetric alignment --out {run}."
            ) from None
        if about.get("schema") != SCHEMA:
            raise HumetricError(
                f"Expected schema {SCHEMA} in {path} but got {about.get('schema')}: make it again "
                f"with humetric alignment --out {run}."
            )
        found.append(Report(path.stem, about, table))
    return found


def model_of(setting: str) -> str:
    """The last part of a setting's name."""
    return setting.rpartition("/")[2]


def _wrong(m: Measured) -> set[str]:
    return {case for case, right in zip(m.ids, m.right.tolist(), strict=True) if not right}


def _sizes(found: Sequence[Measured]) -> dict[str, str]:
    """base and large, where a family has two models of different size; else no sizes."""
    sizes: dict[str, str] = {}
    for family in {m.family for m in found}:
        some = sorted((m for m in found if m.family == family), key=lambda m: m.parameters)
        if len(some) == 2 and some[0].parameters < some[1].parameters:
            sizes |= {some[0].setting: "base", some[1].setting: "large"}
    return sizes


def _reasons(m: Measured, oracle: str) -> dict[str, int]:
    """Why how many cases are undefined."""
    why = [pair.why for pair in m.pairs[oracle] if pair.why]
    return {reason: why.count(reason) for reason in sorted(set(why))}


def _pooled(found: Sequence[Measured]) -> list[Any]:
    """Oracles compared over the tokens of all models together."""
    names = set.intersection(*(set(m.oracles) for m in found))
    together = {o: [values for m in found for values in m.oracles[o]] for o in sorted(names)}
    return between_oracles(together)


def _plain(data: Any) -> Any:
    """Plain data for JSON: None for NaN, lists for tuples."""
    if isinstance(data, float | np.floating):
        return None if math.isnan(data) else float(data)
    if isinstance(data, Mapping):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    return data
