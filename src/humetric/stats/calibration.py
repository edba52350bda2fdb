"""Do the tests keep their promises? Simulations, printed as the tables of docs/statistics.md.

``python -m humetric.stats.calibration`` makes them all, in about fifteen minutes on one core.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import stats

from humetric.seeding import generator
from humetric.stats.compare import perm_systems
from humetric.stats.joint import StudyData, joint_test
from humetric.stats.permutation import exact_test
from humetric.stats.pooling import random_effects, tau_null_variance
from humetric.stats.power import Design, bivariate, power, power_of, power_table, simulate
from humetric.stats.shared import shared_test
from humetric.stats.statistic import Name, rowwise

SEED = 0
ALPHA = 0.05
BOUND = 0.06
"""A rejection rate of true nulls above this is marked."""

COVERED = 0.93
"""A coverage below this is marked."""

PEOPLE_SHARED = 0.7
"""Share of the variance between methods that people show in every cell of a study."""

TODAY = (Design(6, 3), Design(5, 2), Design(3, 1), Design(2, 4))
"""Colin et al., Hase and Bansal, Arora et al., Gonzalez et al.: methods and cells."""


def joint_size(design: Design, studies: int, draws: int, draw: np.random.Generator) -> float:
    """Share of true nulls with p <= .05: a metric that orders methods alike in all cells of a
    study, people with method effects, nothing in common."""
    designs = [design] * studies
    return _mean(
        joint_test(simulate(designs, 0.0, draw, 1.0, PEOPLE_SHARED), draw).p <= ALPHA
        for _ in range(draws)
    )


def cellwise_size(design: Design, studies: int, draws: int, draw: np.random.Generator) -> float:
    """The same data, each cell relabelled on its own: what must not be done."""
    rejected = []
    for _ in range(draws):
        cells = [
            StudyData(f"{study.name}, cell {cell}", study.metric[[cell]], study.human[[cell]])
            for study in simulate([design] * studies, 0.0, draw, 1.0, PEOPLE_SHARED)
            for cell in range(design.cells)
        ]
        rejected.append(joint_test(cells, draw).p <= ALPHA)
    return _mean(iter(rejected))


def overlap_size(
    own: int, common: int, share: float, studies: int, draws: int, draw: np.random.Generator
) -> tuple[float, float]:
    """Share of true nulls with p <= .05 in `joint_test` and in `shared_test`, where studies have
    ``common`` methods in common and ``own`` others each. A metric orders methods alike in all
    studies; ``share`` of the variance of people's means belongs to the method, wherever it is."""
    joint, together = [], []
    names = {
        str(i): [*(f"common {j}" for j in range(common)), *(f"{i} {j}" for j in range(own))]
        for i in range(studies)
    }
    union = sorted({name for some in names.values() for name in some})
    for _ in range(draws):
        metric, people = (
            dict(zip(union, draw.standard_normal(len(union)), strict=True)) for _ in range(2)
        )
        data = []
        for study, some in names.items():
            effect = np.array([[people[name] for name in some]])
            noise = draw.standard_normal(effect.shape)
            human = math.sqrt(share) * effect + math.sqrt(1 - share) * noise
            data.append(StudyData(study, np.array([[metric[name] for name in some]]), human))
        joint.append(joint_test(data, draw).p <= ALPHA)
        together.append(shared_test(data, names, draw, 999).p <= ALPHA)
    return _mean(iter(joint)), _mean(iter(together))


def exact_size(n: int, statistic: Name, draws: int, draw: np.random.Generator) -> float:
    """Share of unrelated pairs of vectors with p <= .05 in `exact_test`."""
    return exact_power(n, 0.0, statistic, draws, draw)


def exact_power(n: int, r: float, statistic: Name, draws: int, draw: np.random.Generator) -> float:
    """Share of correlated pairs of vectors with p <= .05 in `exact_test`."""
    metric, human = bivariate(Design(n), r, 1.0, 1.0, draws, draw)
    return _mean(
        exact_test(x, y, statistic).p <= ALPHA
        for x, y in zip(metric[:, 0], human[:, 0], strict=True)
    )


def perm_systems_size(
    design: Design, studies: int, r: float, draws: int, draw: np.random.Generator
) -> float:
    """Share of pairs of equally good metrics (correlation r with people) with p <= .05."""
    rejected = []
    for _ in range(draws):
        first: list[StudyData] = []
        second: list[StudyData] = []
        for number in range(studies):
            _, (human,) = bivariate(design, 0.0, 1.0, PEOPLE_SHARED, 1, draw)
            for found in (first, second):
                # A metric's own method effect, alike in all cells.
                own = draw.standard_normal((1, design.methods))
                metric = r * human + math.sqrt(1 - r * r) * own
                found.append(StudyData(str(number), metric, human))
        rejected.append(perm_systems(first, second, draw).p <= ALPHA)
    return _mean(iter(rejected))


def pooled_coverage(
    methods: Sequence[int], mean: float, spread: float, draws: int, draw: np.random.Generator
) -> tuple[float, float]:
    """Share of intervals that hold the mean of the true D, and of prediction intervals that hold
    the true D of a new study. True D is uniform within mean -+ spread over studies."""
    covered = predicted = 0
    variance = [tau_null_variance(n) for n in methods]
    for _ in range(draws):
        true = draw.uniform(mean - spread, mean + spread, len(methods) + 1)
        effect = []
        for n, d in zip(methods, true[:-1], strict=True):
            # D of bivariate normal values is (2 / pi) asin(r) on average.
            x, y = bivariate(Design(n), math.sin(math.pi * d / 2), 1.0, 1.0, 1, draw)
            effect.append(rowwise("d", x[0], y[0])[0])
        found = random_effects(effect, variance)
        covered += found.low <= mean <= found.high
        predicted += found.predict_low <= true[-1] <= found.predict_high
    return covered / draws, predicted / draws


def found_rate(design: Design, studies: int, r: float, draws: int, seed: int) -> float:
    """Share of simulated sets of studies in which `joint_test` finds a planted metric."""
    draw = generator(seed, f"{design} {studies} {r}", "planted")
    return _mean(
        joint_test(simulate([design] * studies, r, draw), draw).p <= ALPHA for _ in range(draws)
    )


def sentinel_rate(studies: Sequence[StudyData], seeds: int, kind: str = "random") -> float:
    """How often a random metric is called significant on these human values, over many seeds."""
    rejected = []
    for seed in range(seeds):
        draw = generator(seed, kind, "sentinel")
        drawn = [s._replace(metric=draw.standard_normal(s.human.shape)) for s in studies]
        rejected.append(joint_test(drawn, draw).p <= ALPHA)
    return _mean(iter(rejected))


def tables(draws: int) -> Iterator[str]:
    """The Markdown, line by line."""
    yield f"Seed {SEED}, {draws:,} simulated sets per figure unless said otherwise; a rate of .05"
    yield f"then has a standard error of {math.sqrt(0.05 * 0.95 / draws):.4f}. A star marks what is"
    yield f"above {BOUND:.2f} (true nulls rejected) or below {COVERED:.2f} (coverage)."
    yield from _joint_table(draws)
    yield from _overlap_table(draws)
    yield from _other_sizes(draws)
    yield from _coverage_table(draws)
    yield from _planted_table(draws)
    yield from _power_tables(draws)


def _joint_table(draws: int) -> Iterator[str]:
    counts = (3, 6, 12)
    yield "\n### True nulls rejected by the joint test at .05\n"
    head = [f"{k} studies" for k in counts]
    yield from _head("methods", "cells", *head, "3 studies, cell by cell")
    for n in range(2, 8):
        for cells in (1, 2, 3, 4):
            row = [
                _rate(joint_size(Design(n, cells), k, draws, _draw(f"joint {n} {cells} {k}")))
                for k in counts
            ]
            wrong = cellwise_size(Design(n, cells), 3, draws, _draw(f"cellwise {n} {cells}"))
            yield _row(str(n), str(cells), *row, _rate(wrong))
    yield "\nThe metric orders methods alike in all cells of a study, people have method effects,"
    yield "unrelated to each other. The last column relabels each cell on its own, as one must not:"
    yield "it is there to show that the simulation can tell a wrong test from a right one."


def _overlap_table(draws: int) -> Iterator[str]:
    yield "\n### True nulls rejected at .05 where studies share methods\n"
    columns = ("studies", "methods", "in common", "shared by people", "joint", "names together")
    yield from _head(*columns)
    for own, common in ((0, 6), (3, 3), (5, 1)):
        for k in (3, 6):
            for share in (0.0, 0.5, 0.8):
                case = f"overlap {own} {common} {share} {k}"
                joint, together = overlap_size(own, common, share, k, draws, _draw(case))
                shown = (str(k), str(own + common), str(common), f"{share:.1f}")
                yield _row(*shown, _rate(joint), _rate(together))
    yield "\nThe metric orders methods alike in all studies; the fourth column is the share of the"
    yield "variance between methods that people show in every study, unrelated to the metric."


def _other_sizes(draws: int) -> Iterator[str]:
    yield "\n### True nulls rejected by the test of one cell and by Perm-Systems at .05\n"
    columns = ("D", "Spearman", "3 studies, r = 0", "3 studies, r = .6", "8 studies, r = .6")
    yield from _head("methods", *columns)
    names: tuple[Name, ...] = ("d", "spearman")
    for n in range(2, 8):
        single = [_rate(exact_size(n, name, draws, _draw(f"exact {n} {name}"))) for name in names]
        paired = [
            _rate(perm_systems_size(Design(n, 2), k, r, draws, _draw(f"systems {n} {k} {r}")))
            for k, r in ((3, 0.0), (3, 0.6), (8, 0.6))
        ]
        yield _row(str(n), *single, *paired)
    yield "\nThe first two columns are of one cell, the others of Perm-Systems with two cells per"
    yield "study and two metrics that correlate with people by r each."


def _coverage_table(draws: int) -> Iterator[str]:
    yield "\n### Coverage of the pooled interval and of the prediction interval, nominal .95\n"
    yield from _head("studies", "methods", "mean D", "spread", "pooled", "prediction")
    for k in (5, 8, 12):
        for label, sizes in (("4", [4]), ("6", [6]), ("2 to 6", [6, 5, 3, 2])):
            methods = [sizes[i % len(sizes)] for i in range(k)]
            for mean, spread in ((0.0, 0.0), (0.4, 0.0), (0.4, 0.3), (0.0, 0.6)):
                case = f"coverage {k} {label} {mean} {spread}"
                pooled, ahead = pooled_coverage(methods, mean, spread, draws, _draw(case))
                marks = (_coverage(pooled), _coverage(ahead))
                yield _row(str(k), label, f"{mean:.1f}", f"{spread:.1f}", *marks)
    yield "\nWith mean 0 and spread 0 the share that is not covered is the rejection rate of the"
    yield "test that the interval implies."


def _planted_table(draws: int) -> Iterator[str]:
    yield "\n### A planted metric in 8 studies: found, against what `power` promises\n"
    yield from _head("methods", "cells", "r", "promised", "found")
    for n, cells, r in ((4, 1, 0.5), (6, 1, 0.5), (6, 1, 0.3), (5, 2, 0.5), (3, 4, 0.5)):
        promised = power(n, 8, r, _draw(f"promised {n} {cells} {r}"), cells, draws=draws)
        found = found_rate(Design(n, cells), 8, r, draws, SEED)
        yield _row(str(n), str(cells), f"{r:.1f}", f"{promised:.2f}", f"{found:.2f}")
    draw = _draw("sentinel")
    rates = [sentinel_rate(simulate(TODAY, 0.0, draw, 1.0, PEOPLE_SHARED), 200) for _ in range(5)]
    yield "\nA random metric on five simulated sets of today's studies, 200 seeds each, is called"
    yield f"significant at rates of {', '.join(f'{rate:.3f}' for rate in rates)}."


def _power_tables(draws: int) -> Iterator[str]:
    yield "\n### Power today\n"
    yield "Four studies of 6, 5, 3 and 2 methods with 3, 2, 1 and 4 cells.\n"
    yield from _head("r", "cells order methods", "one metric", "one of twelve (Holm)")
    for r in (0.5, 0.7, 0.8, 0.9, 0.95):
        for label, shared in (("all alike", 1.0), ("half alike", 0.5)):
            single, family = (
                power_of(TODAY, r, _draw(f"today {r} {shared}"), ALPHA, size, draws, shared)
                for size in (1, 12)
            )
            yield _row(f"{r:.2f}", label, f"{single:.2f}", f"{family:.2f}")
    yield "\n### How many studies of how many methods would decide\n"
    yield "Power for one metric / for one of a family of twelve, one cell per study.\n"
    counts = (3, 4, 6, 8, 12, 16, 24)
    yield from _head("r", "methods", *(f"{k} studies" for k in counts))
    rows = power_table(range(2, 9), counts, (0.3, 0.5, 0.8), _draw("table"), draws=draws)
    for start in range(0, len(rows), len(counts)):
        some = rows[start : start + len(counts)]
        cells = [f"{row.single:.2f} / {row.family:.2f}" for row in some]
        yield _row(f"{some[0].r:.1f}", str(some[0].methods), *cells)
    yield "\n### Power of the test of one cell at true r = .8\n"
    yield from _head(
        "methods", "D", "Spearman", "smallest p", "asymptotic p at rho = 1 less a swap"
    )
    for n in (4, 5, 6, 7):
        pair = [exact_power(n, 0.8, name, draws, _draw(f"power {n}")) for name in ("d", "spearman")]
        x = np.arange(n, dtype=np.float64)
        y = np.concatenate([x[:-2], x[[-1, -2]]])
        test = exact_test(x, y, "spearman")
        printed = float(stats.spearmanr(x, y).pvalue)
        yield _row(
            str(n),
            *(f"{value:.2f}" for value in pair),
            f"{test.smallest:.4f}",
            f"{printed:.3f}, exact {test.p:.3f}",
        )


def _draw(case: str) -> np.random.Generator:
    return generator(SEED, case, "calibration")


def _mean(rejected: Iterator[bool]) -> float:
    return float(np.mean(list(rejected)))


def _rate(value: float) -> str:
    return f"{value:.3f}{'*' if value > BOUND else ''}"


def _coverage(value: float) -> str:
    return f"{value:.3f}{'*' if value < COVERED else ''}"


def _head(*columns: str) -> Iterator[str]:
    yield _row(*columns)
    yield "|" + "---|" * len(columns)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    for line in tables(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000):
        print(line, flush=True)
