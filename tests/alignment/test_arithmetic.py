"""The arithmetic of importance alignment against closed forms and a plain-numpy reference."""

from __future__ import annotations

import math

import numpy as np
import pytest
from alignment_reference import alignment_of, c_of
from scipy import stats

from humetric.alignment.arithmetic import (
    CLIP,
    CONSTANT_IMPORTANCE,
    CONSTANT_ORACLE,
    NO_OTHER,
    REDRAWS,
    align,
    constant,
    drawn,
    fisher,
    pair,
)


def made(cases: int = 40, seed: int = 0) -> tuple[list[np.ndarray], ...]:
    """Importances of cases of 2 to 30 tokens, their oracle and a list of other oracles."""
    rng = np.random.default_rng(seed)
    importances, owns, others = [], [], []
    for _ in range(cases):
        n = int(rng.integers(2, 30))
        owns.append((rng.random(n) < 0.3).astype(float))
        importances.append(np.abs(rng.normal(size=n) + owns[-1]))
        others.append([(rng.random(n) < 0.1).astype(float) for _ in range(30)])
    return importances, owns, others


def test_equal_to_the_reference() -> None:
    importances, owns, others = made()
    pairs = [
        pair(a, o, ((lambda t=t: t) for t in tried))
        for a, o, tried in zip(importances, owns, others, strict=True)
    ]
    found = align(np.array([p.c for p in pairs]), np.array([p.c_random for p in pairs]))
    assert found.n + found.undefined == 40
    assert found.undefined > 0  # some oracles are constant
    assert found.value == pytest.approx(alignment_of(importances, owns, others), abs=1e-9)
    for p, a, o in zip(pairs, importances, owns, strict=True):
        assert p.c == pytest.approx(c_of(a, o), abs=1e-9, nan_ok=True)


def test_paired_t_test_is_scipys() -> None:
    rng = np.random.default_rng(1)
    c, c_random = rng.normal(0.3, 1, 25), rng.normal(0, 1, 25)
    c[3], c_random[7] = math.nan, math.nan
    kept = ~np.isnan(c - c_random)
    found = align(c, c_random)
    wanted = stats.ttest_rel(c[kept], c_random[kept])
    assert found.t == pytest.approx(wanted.statistic, rel=1e-12)
    assert found.p == pytest.approx(wanted.pvalue, rel=1e-12)
    assert (found.n, found.undefined) == (23, 2)


def test_a_map_that_is_the_oracle_is_at_the_top() -> None:
    rng = np.random.default_rng(2)
    owns = [(rng.random(25) < 0.4).astype(float) for _ in range(60)]
    others = [(rng.random(25) < 0.4).astype(float) for _ in range(60)]
    top = [pair(o, o, (lambda x=x: x,)) for o, x in zip(owns, others, strict=True)]
    found = align(np.array([p.c for p in top]), np.array([p.c_random for p in top]))
    assert all(p.c == pytest.approx(math.atanh(CLIP)) for p in top)
    assert found.value > 0.998
    flat = [
        pair(rng.permutation(o), o, (lambda x=x: x,)) for o, x in zip(owns, others, strict=True)
    ]
    near = align(np.array([p.c for p in flat]), np.array([p.c_random for p in flat]))
    assert abs(near.value) < 0.1
    assert near.p > 0.05


def test_two_tokens_and_opposites_are_clipped() -> None:
    assert fisher(np.array([0.1, 0.2]), np.array([0.0, 1.0])) == math.atanh(0.999)
    assert fisher(np.array([0.2, 0.1]), np.array([0.0, 1.0])) == -math.atanh(0.999)


def test_scale_does_not_matter_however_small() -> None:
    a, o = np.array([1.0, 2.0, 4.0, 3.0]), np.array([0.0, 1.0, 1.0, 0.0])
    assert fisher(a * 1e-200, o) == pytest.approx(fisher(a, o), rel=1e-12)


def test_undefined_cases_say_why() -> None:
    a, o, flat = np.array([1.0, 2.0, 4.0]), np.array([0.0, 1.0, 1.0]), np.zeros(3)
    assert pair(a, flat, (lambda: o,)).why == CONSTANT_ORACLE
    assert pair(np.ones(3), o, (lambda: o,)).why == CONSTANT_IMPORTANCE
    assert pair(np.array([0.3]), np.array([1.0]), ()).why == CONSTANT_IMPORTANCE  # one token
    assert pair(a, o, ()).why == NO_OTHER
    assert constant(np.array([1.0, 1.0 + 1e-15]))
    assert math.isnan(align(np.array([math.nan]), np.array([0.0])).value)


def test_one_draw_and_twenty_redraws() -> None:
    a, o, flat = np.array([1.0, 2.0, 4.0]), np.array([0.0, 1.0, 1.0]), np.zeros(3)
    asked = 0

    def nothing() -> np.ndarray:
        nonlocal asked
        asked += 1
        return flat

    failed = pair(a, o, [nothing] * 100)
    assert failed.why == NO_OTHER
    assert math.isnan(failed.c_random)
    assert not math.isnan(failed.c)
    assert asked == 1 + REDRAWS == 21
    last = pair(a, o, [*[nothing] * 20, lambda: o])
    assert (last.other, last.why) == (20, "")
    assert pair(a, o, [*[nothing] * 21, lambda: o]).why == NO_OTHER


def test_shapes_must_fit() -> None:
    with pytest.raises(ValueError, match="one value per token"):
        fisher(np.ones(3), np.ones(4))


def test_draws_do_not_depend_on_order() -> None:
    ids = [f"case-{i}" for i in range(9)]
    told = [f"reason {i % 7}" for i in range(9)]
    order = [4, 2, 8, 0, 1, 7, 3, 6, 5]
    straight = drawn(ids, told, 3)
    mixed = drawn([ids[i] for i in order], [told[i] for i in order], 3)
    for place, i in enumerate(order):
        assert [ids[j] for j in straight[i]] == [ids[order[j]] for j in mixed[place]]
    assert drawn(ids, told, 4) != straight


def test_no_case_is_its_own_other() -> None:
    for own, others in enumerate(drawn(["a", "b", "c", "d"], ["x", "y", "x", ""], 0)):
        assert own not in others
    # Cases 0 and 2 say the same.
    assert set(drawn(["a", "b", "c", "d"], ["x", "y", "x", ""], 0)[0]) == {1, 3}


def test_others_are_drawn_evenly() -> None:
    ids = [f"case-{i}" for i in range(6)]
    first = [drawn(ids, [""] * 6, seed)[0][0] for seed in range(600)]
    counts = np.bincount(first, minlength=6)
    assert counts[0] == 0
    assert stats.chisquare(counts[1:]).pvalue > 0.001
