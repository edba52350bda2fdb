"""What bf16 does to scores and to the order of methods: ``python benchmarks/precision.py``.

Runs settings of a suite in fp32 and in bf16 and writes docs/precision.md, or with ``--suite
standard`` docs/precision-standard.md: there with few cases and with methods that are quick.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from measure import convnet_work, efficientnet_work, measure
from scipy.stats import kendalltau

import humetric

KEYS = ["setting", "case", "method", "metric"]
DOCS = Path(__file__).parents[1] / "docs"
PAGES = {"embedded": DOCS / "precision.md", "standard": DOCS / "precision-standard.md"}


class Chosen(NamedTuple):
    """What is run in both precisions."""

    suite: str
    settings: list[str]
    methods: list[str]
    cases: int | None

    def command(self) -> str:
        """How the page was made."""
        parts = [] if self.suite == "embedded" else ["--suite", self.suite]
        parts += [part for name in self.settings for part in ("--setting", name)]
        parts += [part for name in self.methods for part in ("--method", name)]
        parts += ["--cases", str(self.cases)] if self.cases else []
        return " ".join(["python benchmarks/precision.py", *parts])


def scores(precision: str, of: Chosen) -> pd.DataFrame:
    """Per-case scores of a suite, or of a part of it, in one precision."""
    suite = humetric.load_suite(of.suite)
    names = of.settings or [row.id for row in suite.settings]
    settings = [humetric.load_setting(name, of.cases or suite.cases) for name in names]
    methods = [suite.method(name) for name in of.methods or suite.methods]
    metrics = [m for m in map(suite.metric, suite.metrics) if m.card.scope == "case"]
    print(f"running {', '.join(names)} in {precision} ...", flush=True)
    result = humetric.run_settings(
        settings, methods, metrics, "cpu", precision, seed=suite.seed, chunk=suite.chunk
    )
    return result.scores


def changes(both: pd.DataFrame) -> pd.DataFrame:
    """Per metric: how far single scores and method means move, and the worst order kept."""
    rows = []
    for metric, part in both.groupby("metric", sort=False):
        moved = (part["value_bf16"] - part["value_fp32"]).abs()
        means = part.groupby(["setting", "method"])[["value_fp32", "value_bf16"]].mean().dropna()
        taus = [
            kendalltau(group["value_fp32"], group["value_bf16"]).statistic
            for _, group in means.groupby("setting")
        ]
        drift = (means["value_bf16"] - means["value_fp32"]).abs()
        rows.append((metric, moved.mean(), moved.max(), drift.max(), drift.idxmax(), min(taus)))
    columns = ["metric", "mean", "most", "drift", "where", "tau"]
    return pd.DataFrame(rows, columns=columns)


def page(table: pd.DataFrame, speed: dict[str, float], of: Chosen) -> str:
    """The page, in words that follow from the numbers."""
    what = f"The {of.suite} suite" if not of.settings else "These settings"
    asked = table[table["metric"].isin(["deletion", "insertion", "mu-fidelity"])]
    worst = asked.loc[asked["drift"].idxmax()]
    setting, method = worst["where"]
    kept = asked["tau"].min() > 1 - 1e-9  # 1 up to rounding
    order = (
        "The order of methods is the same in every setting."
        if kept
        else f"The order of methods changes: Kendall's tau falls to {asked['tau'].min():.2f}."
    )
    lines = [
        "# What bf16 does to scores",
        "",
        "Made by:",
        "",
        f"    {of.command()}",
        "",
        f"{what} on the CPU, once in fp32 and once in bf16. Gradients are in full precision",
        "in both; questions are not.",
        "",
        "| metric | mean change of a score | largest | largest change of a method's mean | tau |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| {r.metric} | {r.mean:.5f} | {r.most:.4f} | {r.drift:.4f} | {r.tau:.2f} |"
            for r in table.itertuples()
        ),
        "",
        "Changes are absolute and per case; tau is Kendall's between the methods' orders by their",
        "means, the lowest of the settings.",
        "",
        f"A method's mean moves most in {worst['metric']}, by {worst['drift']:.4f} ({method} on",
        f"{setting}). {order}",
        "Results in different precisions should not be compared with each other.",
        "",
        "Forward passes in bf16 / in fp32, rows per second on the machine that made this page:",
        "",
        *(f"- {name}: {value:.1f} times" for name, value in speed.items()),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--suite", choices=PAGES, default="embedded")
    parser.add_argument("--setting", action="append", default=[])
    parser.add_argument("--method", action="append", default=[])
    parser.add_argument("--cases", type=int)
    options = parser.parse_args()
    of = Chosen(options.suite, options.setting, options.method, options.cases)
    output = options.output or PAGES[of.suite]
    full, half = scores("fp32", of), scores("bf16", of)
    both = full.merge(half, on=KEYS, suffixes=("_fp32", "_bf16"))
    print("comparing forward passes ...", flush=True)
    speed = {}
    for name, work in (("embedded", convnet_work), ("EfficientNet-Lite0", efficientnet_work)):
        slow, fast = work("fp32"), work("bf16")
        per_row = measure(slow.bare(), fast.bare()).value * fast.rows / slow.rows
        speed[name] = per_row
    output.write_text(page(changes(both), speed, of), encoding="utf-8")
    print(f"wrote {output.name}")


if __name__ == "__main__":
    main()
