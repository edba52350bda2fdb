"""What holds of every simulated user who learns from explained cases."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import torch
from simulated_support import World, means, noise, with_target, world

from humetric.metrics import METRICS
from humetric.metrics.panel import LEARNING, Shown
from humetric.metrics.simulated import forward_simulation, student_gain, utility_simulation

GAINS = ("forward-simulation", "counterfactual-simulation", "student-gain", "utility-simulation")
USERS = (*GAINS, "leakage-adjusted-simulatability")
SEEDS = 20
NOTHING = {"utility-simulation": 1.0}
"""The value of a user whom explanations do not help, if not 0."""


@pytest.fixture(scope="module")
def worlds() -> list[World]:
    """One world per seed."""
    return [world(seed) for seed in range(SEEDS)]


def gain(where: World, user: str, attribution: torch.Tensor) -> float:
    """What explanations of one world are worth."""
    return where.run(user, attribution).value.mean().item() - NOTHING.get(user, 0.0)


@pytest.mark.parametrize("user", USERS)
def test_a_perfect_explanation_helps(user: str, worlds: list[World]) -> None:
    """True weights: positive over the seeds, beyond chance."""
    mean, p = means([gain(w, user, w.true) for w in worlds])
    assert mean > 0.03
    assert p < 0.001


@pytest.mark.parametrize("user", GAINS)
def test_a_random_explanation_is_worth_nothing(user: str, worlds: list[World]) -> None:
    """Indistinguishable from no explanation over the seeds."""
    mean, p = means([gain(w, user, noise(i, w.true)) for i, w in enumerate(worlds)])
    assert abs(mean) < 0.03
    assert p > 0.05


@pytest.mark.parametrize("user", GAINS)
def test_shuffled_explanations_are_worth_nothing(user: str, worlds: list[World]) -> None:
    """The control beside every value, on average over the seeds."""
    found = [w.run(user, w.true) for w in worlds]
    mean, _ = means([f.controls["shuffled"].mean().item() - NOTHING.get(user, 0) for f in found])
    assert abs(mean) < 0.03


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("level", [1.0, 0.0, -1.0])
def test_a_uniform_explanation_changes_nothing(user: str, level: float) -> None:
    """Nothing is highlighted more than the rest: exactly the value of no explanation."""
    where = world(3)
    found = where.run(user, torch.full_like(where.true, level))
    assert torch.equal(found.value, found.controls["none"])
    assert found.value.isfinite().all()


@pytest.mark.parametrize("user", USERS)
def test_the_same_comes_out_again(user: str) -> None:
    """In another process, and whatever was asked before."""
    first, second = world(5), world(5)
    second.run(user, noise(1, second.true))
    assert torch.equal(first.run(user, first.true).value, second.run(user, second.true).value)


@pytest.mark.parametrize("user", USERS)
def test_replicates_are_named_and_counted(user: str) -> None:
    """As many as were asked for, each with a value and its controls."""
    where = world(5)
    found = where.run(user, where.true, draws=4)
    assert len(set(found.names)) == len(found.names) == len(found.value) == 4
    assert all(len(values) == 4 for values in found.controls.values())
    low, high = METRICS.make(user).card.range
    assert ((found.value >= low) & (found.value <= high)).all()


def test_what_is_shown_does_not_name_the_method() -> None:
    """Whoever reads an explanation cannot know whose it is."""
    assert {f.name for f in fields(Shown)} <= {
        "attribution",
        "explanation",
        "again",
        "rivals",
        "memo",
    }


@pytest.mark.parametrize(
    ("user", "module"),
    [
        ("forward-simulation", forward_simulation),
        ("utility-simulation", utility_simulation),
    ],
)
def test_the_reader_does_not_see_what_the_model_says_at_test(
    user: str, module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other outputs of the test cases: it reads the same, and expects the same."""
    where, real, given, said = world(7), module.guesses, [], []

    def record(*arguments: Any) -> Any:
        given.append(arguments[:3])
        said.append(real(*arguments))
        return said[-1]

    monkeypatch.setattr(module, "guesses", record)
    panel, people = where.panel, module.draws(where.panel, user, 3, 15, 21)
    other = with_target(panel, panel.cases.target.clone())
    other.cases.target[LEARNING:] = 1 - other.cases.target[LEARNING:]
    seen = [np.ones((LEARNING, 10))] * 3
    first = module.accuracy(panel, people, seen)
    half = len(given)
    second = module.accuracy(other, people, seen)
    for before, after in zip(given[:half], given[half:], strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(said[:half], said[half:], strict=True))
    assert np.allclose(first, 1 - second)


def test_the_student_does_not_see_what_the_model_says_at_test() -> None:
    """Other outputs of the test cases: it is as often wrong as it was right."""
    where = world(7)
    panel, people = where.panel, student_gain.draws(where.panel, "student-gain", 3, 20, 36)
    other = with_target(panel, panel.cases.target.clone())
    other.cases.target[LEARNING:] = 1 - other.cases.target[LEARNING:]
    seen = [np.ones((LEARNING, 10))] * 3
    first = student_gain.accuracy(panel, people, seen, 3)
    second = student_gain.accuracy(other, people, seen, 3)
    assert np.allclose(first, 1 - second)


def test_utility_is_the_ratio_of_mean_accuracies() -> None:
    """Replicates are linearised; their mean is not the mean of ratios."""
    where = world(7)
    found = where.run("utility-simulation", where.true)
    people = utility_simulation.draws(where.panel, "utility-simulation", 20, 15, 21)
    of = utility_simulation.terms(where.panel.cases)
    seen = utility_simulation.highlights(where.true, of, LEARNING)
    own = utility_simulation.accuracy(where.panel, people, [seen] * 20)
    plain = utility_simulation.accuracy(where.panel, people, [np.ones_like(seen)] * 20)
    assert found.value.mean().item() == pytest.approx(own.mean() / plain.mean())
