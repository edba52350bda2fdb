"""The headline: does a metric order methods as people do, over all studies at once?"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humetric.stats.concordance import Precision, signs
from humetric.stats.enumeration import (
    EXACT,
    SLACK,
    convolve,
    reach,
    relabellings,
    share_at_most_extreme,
    share_beyond,
    tally,
)

DRAWS = 99_999
ALPHA = 0.05
"""Level of `JointTest.chance`."""

AT_ONCE = 20_000
"""Relabellings looked at together, so that many methods do not need much memory."""


class StudyData(NamedTuple):
    """A metric and a human measure of the methods of a study, higher is better in both.

    A cell is a data set and model. NaN where a value is missing.
    """

    name: str
    metric: NDArray[np.float64]
    """(rows, methods); a row is a cell unless ``cell`` says otherwise."""
    human: NDArray[np.float64]
    """(rows, methods)"""
    metric_precision: Precision = 0.0
    """(rows, methods), or one for all: differences below it are ties."""
    human_precision: Precision = 0.0
    cell: tuple[int, ...] = ()
    """The cell that each row belongs to, where a cell has several rows (the metric on several
    models): D of a cell is the mean over its defined rows, so that cells count alike."""

    @property
    def cells(self) -> tuple[int, ...]:
        """The cell of each row."""
        return self.cell or tuple(range(len(self.human)))


class JointTest(NamedTuple):
    """Agreement over studies and its test. NaN throughout where no study has a defined cell."""

    t: float
    """Unweighted mean of T over studies, from -1 to 1."""
    studies: dict[str, float]
    """T of each study: unweighted mean of D over its defined cells."""
    p: float
    """Two-sided."""
    smallest: float
    """The smallest p that these data could have given."""
    permutations: int
    """Relabellings that p rests on: all there are, or as many as were drawn."""
    exact: bool
    leave_one_out: dict[str, float]
    """T without each study; NaN where it was the only one."""
    chance: float = math.nan
    """The largest |T| that is still chance (p > .05); infinite if all are. T -+ chance is an
    interval by inversion of the test: the values that, if T were spread around them as relabelling
    spreads it around 0, could have given this T. It covers 0 exactly where p > .05, and like p it
    is about these studies."""


def joint_test(
    studies: Sequence[StudyData], generator: np.random.Generator, b: int = DRAWS
) -> JointTest:
    """T = mean over studies of the mean over cells of D, and its two-sided permutation p.

    If the metric has nothing to do with people, its values could as well have belonged to other
    methods of the study. So methods are relabelled: jointly over the cells of a study, because a
    metric may order methods alike everywhere and people may do so too, without any relation
    between the two (relabelling cell by cell takes that for repeated evidence); and independently
    between studies. p is the share of relabellings with |T| >= |observed|. It is exact where the
    distribution of the sum can be worked out by convolving those of the studies, which is nearly
    always; else ``b`` relabellings are drawn and p = (count + 1) / (b + 1). A study of more than
    eight methods is always sampled.

    What comes out where there is little:

    - One method, or people who tie all methods: no pair, so the cell is undefined and left out; a
      study without a defined cell is dropped.
    - Two methods: T of the study is flipped or not. It moves T, but adds only a factor of two to
      the number of relabellings; two-method studies alone give p >= 2 / 2^k for k of them.
    - A metric that ties all methods of a study has T = 0 there, and the study counts.
    - Missing metric values (NaN) travel with the relabelling; a cell that is undefined under a
      relabelling is left out of the study's mean, and relabellings that leave a whole study
      undefined are not counted. A method without a metric and a human value together in any cell
      is dropped before.

    A small p speaks about these studies. It protects no claim about new studies: if a metric
    agreed in some and disagreed in others by the nature of the studies, this test would not know.
    """
    _check_names([study.name for study in studies])
    per_study: dict[str, float] = {}
    enumerated: list[NDArray[np.float64]] = []
    large: list[StudyData] = []
    for study in map(_trimmed, studies):
        n = study.human.shape[1]
        values = study_t(study, None if n <= EXACT else np.arange(n)[None])
        if math.isnan(values[0]):
            continue
        per_study[study.name] = float(values[0])
        if n <= EXACT:
            enumerated.append(_defined(values))
        else:
            large.append(study)
    if not per_study:
        return JointTest(math.nan, {}, math.nan, math.nan, 0, True, {})
    k = len(per_study)
    total = math.fsum(per_study.values())
    rest = {
        name: (total - value) / (k - 1) if k > 1 else math.nan for name, value in per_study.items()
    }
    parts = [tally(values) for values in enumerated]
    smallest = share_at_most_extreme(parts)
    whole = convolve(parts) if not large else None
    if whole is not None:
        p, permutations = share_beyond(whole, total), math.prod(map(len, enumerated))
        chance = reach(whole, ALPHA) / k
        return JointTest(total / k, per_study, p, smallest, permutations, True, rest, chance)
    drawn = np.zeros(b)
    for values in enumerated:
        drawn += values[generator.integers(0, len(values), b)]
    for study in large:
        drawn += study_t(study, _sampled(study.human.shape[1], generator, b))
    drawn = _defined(drawn)
    count = int((np.abs(drawn) >= abs(total) - SLACK).sum())
    least = 1 / (len(drawn) + 1)
    smallest = least if large else max(least, smallest)
    p = (count + 1) / (len(drawn) + 1)
    chance = reach(tally(drawn), ALPHA, seen=1) / k
    return JointTest(total / k, per_study, p, smallest, len(drawn), False, rest, chance)


def max_t(
    metrics: Mapping[str, Sequence[StudyData]], generator: np.random.Generator, b: int = DRAWS
) -> dict[str, float]:
    """Two-sided p of each metric's T, adjusted for looking at all of them (Westfall and Young).

    All metrics are relabelled alike in each of ``b`` draws, so their dependence is used where Holm
    must assume the worst. |T| is divided by its standard deviation over the draws, since metrics
    that lack a study or tie methods have another spread; then step-down: a metric is compared with
    the largest among itself and those less extreme. The chance of any false rejection is at most
    alpha. Studies of the same name must have the same human values; a metric without a value in a
    study has none of it in its T. NaN for a metric without any defined study.
    """
    names = list(metrics)
    people: dict[str, NDArray[np.float64]] = {}
    for of_metric in metrics.values():
        _check_names([study.name for study in of_metric])
        for study in of_metric:
            known = people.setdefault(study.name, study.human)
            if not np.array_equal(known, study.human, equal_nan=True):
                raise ValueError(
                    f"Expected the same human values of {study.name!r} with every metric but they "
                    "differ: give all metrics the same methods and cells, NaN where one has none."
                )
    totals = np.zeros((len(names), b + 1))
    counts = np.zeros((len(names), b + 1))
    for study_name, human in people.items():
        n = human.shape[1]
        # The unchanged order first, then b others: of all that there are, or drawn afresh.
        if n <= EXACT:
            orders = None
            others = generator.integers(0, math.factorial(n), b)
        else:
            orders = np.concatenate([np.arange(n)[None], _sampled(n, generator, b)])
            others = np.arange(1, b + 1)
        chosen = np.concatenate([[0], others])
        for row, name in enumerate(names):
            for study in metrics[name]:
                if study.name == study_name:
                    _check(study)
                    values = study_t(study, orders)
                    if math.isnan(values[0]):  # Undefined as it is: not a part of T.
                        continue
                    values = values[chosen]
                    totals[row] += np.nan_to_num(values)
                    counts[row] += ~np.isnan(values)
    t = np.divide(totals, counts, out=np.zeros_like(totals), where=counts > 0)
    spread = np.sqrt((t**2).mean(1, keepdims=True))
    extreme = np.abs(np.divide(t, spread, out=np.zeros_like(t), where=spread > 0))
    adjusted = dict.fromkeys(names, math.nan)
    rows = [row for row in np.argsort(-extreme[:, 0], kind="stable") if counts[row, 0] > 0]
    largest = np.zeros(b)
    found = []
    for row in reversed(rows):
        largest = np.maximum(largest, extreme[row, 1:])
        count = int((largest >= extreme[row, 0] - SLACK).sum())
        found.append((names[row], (count + 1) / (b + 1)))
    least = 0.0
    for name, p in reversed(found):
        least = max(least, p)
        adjusted[name] = least
    return adjusted


def study_t(study: StudyData, orders: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
    """T of a study under each relabelling (k, methods) of the metric's values; NaN if undefined.

    Without ``orders`` under all n! of them, the unchanged one first. In a cell D(pi) = sum over
    i < j of H_ij M_pi(i)pi(j) / number of those pairs that people did not tie and of which both
    metric values are defined, with H and M the signs of differences of people and metric.
    """
    cells, n = study.human.shape
    metric_precision = np.broadcast_to(study.metric_precision, (cells, n))
    human_precision = np.broadcast_to(study.human_precision, (cells, n))
    upper = np.triu_indices(n, 1)
    total = len(orders) if orders is not None else math.factorial(n)
    if not study.human.size:
        return np.full(total, np.nan)
    top, bottom = np.zeros((cells, total)), np.zeros((cells, total))
    people = np.stack(
        [signs(h, p)[upper] for h, p in zip(study.human, human_precision, strict=True)], 1
    ).astype(np.float32)
    # Cells in which the metric orders methods alike are looked up together.
    alike: dict[bytes, list[int]] = {}
    ordered, both = [], []
    for cell in range(cells):
        known = ~np.isnan(study.metric[cell])
        ordered.append(signs(study.metric[cell], metric_precision[cell]).ravel())
        both.append((known[:, None] & known).ravel())
        alike.setdefault(ordered[-1].tobytes() + known.tobytes(), []).append(cell)
    for start in range(0, total, AT_ONCE):
        some = slice(start, start + AT_ONCE)
        at = _pairs(n)[some] if orders is None else _pair_index(orders[some])
        for group in alike.values():
            first, compared = group[0], np.abs(people[:, group])
            top[group, some] = (ordered[first].astype(np.float32)[at] @ people[:, group]).T
            if both[first].all():
                bottom[group, some] = compared.sum(0)[:, None]
            else:
                bottom[group, some] = (both[first].astype(np.float32)[at] @ compared).T
    d = np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)
    defined = (bottom > 0).astype(np.float64)
    if len(set(study.cells)) < cells:  # the mean within a cell comes before that over cells
        within = np.equal.outer(np.unique(study.cells), study.cells).astype(np.float64)
        count = within @ defined
        d = np.divide(within @ d, count, out=np.zeros_like(count), where=count > 0)
        defined = (count > 0).astype(np.float64)
    count = defined.sum(0)
    found = np.full(total, np.nan)
    np.divide(d.sum(0), count, out=found, where=count > 0)
    return found


@functools.cache
def _pairs(n: int) -> NDArray[np.intp]:
    return _pair_index(relabellings(n))


def _pair_index(orders: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where M_pi(i)pi(j) stands in the flat matrix, for all relabellings and pairs i < j."""
    n = orders.shape[1]
    i, j = np.triu_indices(n, 1)
    at: NDArray[np.intp] = orders[:, i] * n + orders[:, j]
    return at


def _sampled(n: int, generator: np.random.Generator, b: int) -> NDArray[np.intp]:
    return generator.permuted(np.tile(np.arange(n, dtype=np.intp), (b, 1)), axis=1)


def _defined(values: NDArray[np.float64]) -> NDArray[np.float64]:
    known: NDArray[np.float64] = values[~np.isnan(values)]
    return known


def _trimmed(study: StudyData) -> StudyData:
    """The study without methods that never have both values."""
    _check(study)
    keep = ~(np.isnan(study.metric) | np.isnan(study.human)).all(0)
    if keep.all():
        return study
    shape = study.human.shape
    return StudyData(
        study.name,
        study.metric[:, keep],
        study.human[:, keep],
        np.broadcast_to(study.metric_precision, shape)[:, keep],
        np.broadcast_to(study.human_precision, shape)[:, keep],
        study.cell,
    )


def _check(study: StudyData) -> None:
    if study.metric.ndim != 2 or study.metric.shape != study.human.shape:
        raise ValueError(
            f"Expected (cells, methods) of metric and human values in {study.name!r} but got "
            f"{study.metric.shape} and {study.human.shape}: put NaN where a value is missing."
        )
    if study.cell and len(study.cell) != len(study.human):
        raise ValueError(
            f"Expected the cell of each of {len(study.human)} rows of {study.name!r} but got "
            f"{len(study.cell)}: name one for each row, or none at all."
        )


def _check_names(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise ValueError(f"Expected each study once but got {', '.join(sorted(names))}.")
