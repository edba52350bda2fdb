"""From a file of raw responses to findings: read, check, screen, analyse."""

from __future__ import annotations

import tomllib
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd

from humetric.errors import HumetricError
from humetric.human.alignments import read_alignments
from humetric.human.analysis import Analysis, Findings
from humetric.human.exclusions import Exclusion, Exclusions, Screened, read_exclusions, screen
from humetric.human.protocols import Protocol, Randomness, find_protocol
from humetric.human.protocols.protocol import RESAMPLES
from humetric.human.trials import Trials, read_trials


def analyse_file(
    path: Path | str,
    protocol: str,
    exclusions: Path | str | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Analysis:
    """Analyse a CSV or Parquet file of responses by a protocol.

    ``exclusions`` is a TOML file of rules that replace the protocol's own, one by one.
    """
    chosen = find_protocol(protocol)
    if chosen.table == "alignments":
        table = read_alignments(path)
    else:
        table = read_trials(path, chosen.required)
    rules, declared = chosen.rules, frozenset[str]()
    if exclusions is not None:
        rules = read_exclusions(exclusions, chosen.rules)
        declared = frozenset(tomllib.loads(Path(exclusions).read_text(encoding="utf-8")))
    return analyse(table, chosen, rules, declared, seed, resamples)


def analyse(
    table: Trials,
    protocol: Protocol,
    rules: Exclusions | None = None,
    declared: frozenset[str] = frozenset(),
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Analysis:
    """Screen a checked table and hand what is left to the protocol.

    A table without rows is an error; one of which the rules leave nothing gives an analysis
    without estimates, whose exclusions say where everything went.
    """
    if not len(table):
        raise HumetricError(
            f"{table.source}: expected one row per trial but the table has a header only: nothing "
            "can be analysed."
        )
    rules = protocol.rules if rules is None else rules
    if protocol.table == "alignments":
        if any(getattr(rules, name) for name in declared if hasattr(rules, name)):
            raise HumetricError(
                f"The protocol {protocol.name} reads alignments, not trials: no exclusion rule "
                "applies to them. Mark rows in the column 'excluded' and give a 'reason'."
            )
        screened = _marked_only(table)
    else:
        screened = screen(table, rules, protocol.phases, declared)
    findings = Findings(notes=("Nothing is left to analyse: every row was excluded or set aside.",))
    if len(screened.kept):
        randomness = Randomness(np.random.default_rng(seed), resamples)
        findings = protocol.analyse(screened, randomness)
        findings = replace(findings, notes=(*_holes(screened, protocol), *findings.notes))
    on = [f"{f.name} = {getattr(rules, f.name)}" for f in fields(rules) if getattr(rules, f.name)]
    drawn = "" if protocol.table == "alignments" else f"; {resamples} resamples, seed {seed}"
    settings = f"protocol {protocol.name}; rules: {', '.join(on) or 'none'}; 95% intervals{drawn}"
    return Analysis(protocol.name, findings, screened, settings, table.unused)


def _holes(screened: Screened, protocol: Protocol) -> list[str]:
    """Analysed trials that lack a number which the protocol needs."""
    found = []
    for name in protocol.required:
        if name in ("correct", "session"):
            count = int(screened.kept[name].isna().sum())
            if count:
                found.append(
                    f"{count} analysed trials have no {name!r}: they enter no figure of it."
                )
    return found


def _marked_only(table: Trials) -> Screened:
    """Alignments know no participants: only rows marked by hand are left out."""
    frame: pd.DataFrame = table.frame
    gone = frame["excluded"] == 1
    found = tuple(
        Exclusion("excluded", f"by hand: {reason}", 0, len(rows))
        for reason, rows in frame[gone].groupby("reason")
    )
    return Screened(frame[~gone], frame[:0], found, (), (), len(frame), 0, table.given)
