"""Counterfactual simulation: what is asked, what is said, and what rules do."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from simulated_support import world

from humetric.metrics.simulated.counterfactual_simulation import (
    CASES,
    Changed,
    balanced,
    evidence,
    left,
    people,
    says_flipped,
)

YES, NO = (Changed(np.array([True, False]), flips) for flips in (True, False))


def test_half_of_what_is_asked_flips() -> None:
    """Sixteen cases, each once, eight of which flip, where all cases can do both."""
    panel = world(0).panel
    for items in people(panel, [[YES, NO]] * panel.learning, 5):
        assert len(items) == len({item.case for item in items}) == CASES
        assert sum(item.change.flips for item in items) == CASES // 2


def test_cases_that_can_do_one_thing_only_stand_for_that() -> None:
    """Balance is kept where it can be, and fewer are asked where it cannot."""
    rng = np.random.default_rng(0)
    changes = [[NO]] * 12 + [[YES, NO]] * 12
    items = balanced(list(range(24)), changes, rng)
    assert sum(item.change.flips for item in items) == len(items) / 2 == 8
    assert balanced(list(range(24)), [[NO]] * 24, rng) == []
    few = balanced(list(range(24)), [[NO]] * 21 + [[YES]] * 3, rng)
    assert sum(item.change.flips for item in few) == len(few) / 2 == 3


def test_what_is_left_is_between_the_map_and_no_map() -> None:
    """By hand: 2 of 5 parts of the map are changed, and one of three features."""
    changed = np.array([True, False, False])
    for trust in (0.0, 0.25, 1.0):
        expected = trust * 3 / 5 + (1 - trust) * 2 / 3
        assert left(np.array([2.0, 3.0, 0.0]), changed, trust) == pytest.approx(expected)
        expected = trust * -3 / 5 + (1 - trust) * 2 / 3
        assert left(np.array([2.0, -3.0, 0.0]), changed, trust) == pytest.approx(expected)
        assert left(np.zeros(3), changed, trust) == pytest.approx(2 / 3)
        assert left(np.ones(3), changed, trust) == pytest.approx(2 / 3)


def test_a_rule_is_asked_whether_it_holds() -> None:
    """Where a rule is all there is; beside other things the map is read."""
    rule = {"rule": {"conditions": [{"index": 1}]}}
    first, second = np.array([True, False]), np.array([False, True])
    assert evidence(np.array([5.0, 0.0]), rule, first, 1.0) == 1
    assert evidence(np.array([5.0, 0.0]), rule, second, 1.0) == 0
    assert evidence(np.array([5.0, 0.0]), rule | {"path": {}}, first, 1.0) == pytest.approx(0)


def test_the_half_with_least_left_is_called_flipped() -> None:
    """It sees numbers only: neither flips nor outputs. Ties go by no explanation, then by coin."""
    coin = np.array([0.4, 0.3, 0.2, 0.1])
    seen = np.array([0.1, 0.9, 0.2, 0.8])
    assert says_flipped(seen, np.zeros(4), coin).tolist() == [True, False, True, False]
    plain = np.array([0.9, 0.1, 0.8, 0.2])
    assert says_flipped(np.zeros(4), plain, coin).tolist() == [False, True, False, True]
    assert says_flipped(np.zeros(4), np.zeros(4), coin).tolist() == [False, False, True, True]


def test_flips_are_what_the_model_says() -> None:
    """On a linear model the true map tells most changes apart, its negative the other way."""
    where = world(2)
    right, wrong = (where.run("counterfactual-simulation", sign * where.true) for sign in (1, -1))
    assert right.value.mean() > 0.05
    assert wrong.value.mean() < -0.1


def test_a_model_that_nothing_flips_gives_no_value() -> None:
    """Undefined, not 0: nobody can be asked."""
    where = world(2)
    where.engine.module = _Constant()  # type: ignore[assignment]
    found = where.run("counterfactual-simulation", where.true)
    assert found.value.isnan().all()


class _Constant(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Far from any boundary; cases of both outputs keep theirs."""
        return torch.zeros(len(x), 2)
