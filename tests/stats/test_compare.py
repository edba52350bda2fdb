"""One metric against another: Williams' t and Perm-Systems."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from humetric.stats.calibration import perm_systems_size
from humetric.stats.compare import perm_systems, williams
from humetric.stats.joint import StudyData, joint_test
from humetric.stats.power import Design


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def independent_williams(values: NDArray[np.float64]) -> float:
    """The same t from the data: the determinant by numpy, the formula as Williams wrote it."""
    n = values.shape[1]
    r = np.corrcoef(values)
    top = (n - 1) * (1 + r[1, 2])
    bottom = 2 * (n - 1) / (n - 3) * np.linalg.det(r)
    bottom += ((r[0, 1] + r[0, 2]) ** 2 / 4) * (1 - r[1, 2]) ** 3
    return float((r[0, 1] - r[0, 2]) * np.sqrt(top / bottom))


@pytest.mark.parametrize("n", [4, 7, 30])
def test_williams_against_data(n: int) -> None:
    values = draw(n).normal(size=(3, n))
    r = np.corrcoef(values)
    found = williams(r[0, 1], r[0, 2], r[1, 2], n)
    assert found.t == pytest.approx(independent_williams(values))
    assert found.p == pytest.approx(2 * stats.t.cdf(-abs(found.t), n - 3))


def test_williams_by_hand() -> None:
    """r12 = .5, r13 = .3, r23 = .4, n = 20, so |R| = 1 - .25 - .09 - .16 + .12 = .62 and
    t = .2 sqrt(19 * 1.4 / (2 * 19 / 17 * .62 + .16 * .216)) = .2 sqrt(26.6 / 1.420442)."""
    found = williams(0.5, 0.3, 0.4, 20)
    assert found.t == pytest.approx(0.2 * math.sqrt(26.6 / 1.420442), rel=1e-6)


def test_williams_level() -> None:
    """Two equally good metrics, eight methods, 4,000 times."""
    g = draw(5)
    people, *own = g.normal(size=(3, 4_000, 8))
    rejected = []
    for i in range(4_000):
        a, b = (0.6 * people[i] + 0.8 * e[i] for e in own)
        r = np.corrcoef([people[i], a, b])
        rejected.append(williams(r[0, 1], r[0, 2], r[1, 2], 8).p <= 0.05)
    assert 0.038 <= np.mean(rejected) <= 0.062


def test_williams_at_the_edges() -> None:
    assert williams(0.5, 0.5, 1.0, 9) == (0.0, 1.0)
    assert math.isnan(williams(0.5, 0.3, 0.2, 3).p)
    assert math.isnan(williams(0.5, math.nan, 0.2, 9).t)
    assert williams(0.5, 0.3, 0.2, 9).t == -williams(0.3, 0.5, 0.2, 9).t


def pair(n: int, cells: int, seed: int, name: str = "a") -> tuple[StudyData, StudyData]:
    first, second, human = draw(seed).normal(size=(3, cells, n))
    return StudyData(name, first, human), StudyData(name, second, human)


def test_difference_of_t() -> None:
    studies = [pair(5, 2, 0, "a"), pair(3, 1, 1, "b"), pair(2, 3, 2, "c")]
    first, second = zip(*studies, strict=True)
    found = perm_systems(first, second, draw())
    a, b = joint_test(first, draw()), joint_test(second, draw())
    assert found.difference == pytest.approx(a.t - b.t)
    assert found.studies == pytest.approx({k: a.studies[k] - b.studies[k] for k in a.studies})
    mirrored = perm_systems(second, first, draw())
    assert mirrored.difference == pytest.approx(-found.difference)
    assert mirrored.p == pytest.approx(found.p)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_p_against_swapping_by_hand(n: int) -> None:
    first, second = pair(n, 2, n)
    ranks = [stats.rankdata(s.metric, axis=1) for s in (first, second)]
    ts = []
    for swap in itertools.product([False, True], repeat=n):
        x, y = np.where(swap, ranks[1], ranks[0]), np.where(swap, ranks[0], ranks[1])
        t = [joint_test([StudyData("a", m, first.human)], draw()).t for m in (x, y)]
        ts.append(t[0] - t[1])
    scaled = np.abs(ts) * math.sqrt(n / (n - 1))
    found = perm_systems([first], [second], draw())
    assert found.difference == pytest.approx(ts[0])
    assert found.p == pytest.approx(np.mean(scaled >= abs(ts[0]) - 1e-9))


def test_scale_does_not_matter() -> None:
    first, second = pair(5, 2, 3)
    stretched = second._replace(metric=np.exp(3 * second.metric))
    assert perm_systems([first], [stretched], draw()) == perm_systems([first], [second], draw())


def test_two_methods_are_swapped_together() -> None:
    human = np.array([[1.0, 2.0]])
    first = [StudyData(str(i), human, human) for i in range(6)]
    second = [StudyData(str(i), -human, human) for i in range(6)]
    found = perm_systems(first, second, draw())
    assert (found.difference, found.p) == (2.0, 2 / 2**6)


def test_the_same_metric_twice() -> None:
    first, _ = pair(5, 2, 4)
    assert perm_systems([first], [first], draw())[:2] == (0.0, 1.0)


def test_common_methods_and_studies_only() -> None:
    first, second = pair(5, 1, 5)
    gap = second.metric.copy()
    gap[0, 2] = math.nan
    keep = [0, 1, 3, 4]
    small = [StudyData("a", s.metric[:, keep], s.human[:, keep]) for s in (first, second)]
    found = perm_systems([first], [second._replace(metric=gap)], draw())
    assert found.difference == perm_systems(small[:1], small[1:], draw()).difference
    none = perm_systems([first], [second._replace(name="other")], draw())
    assert math.isnan(none.p)
    with pytest.raises(ValueError, match="same methods and human values"):
        perm_systems([first], [second._replace(human=second.human + 1)], draw())


def test_many_methods_are_sampled() -> None:
    g = draw(6)
    human = g.normal(size=(1, 20))
    good = StudyData("a", human + 0.3 * g.normal(size=(1, 20)), human)
    bad = StudyData("a", g.normal(size=(1, 20)), human)
    found = perm_systems([good], [bad], g, b=999)
    assert found.p <= 0.01
    assert (found.p * 1_000) % 1 == pytest.approx(0, abs=1e-9)


def test_level() -> None:
    assert perm_systems_size(Design(5, 2), 3, 0.6, 300, draw(7)) <= 0.09
