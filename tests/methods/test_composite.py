"""Composite: the four explanations as they are alone, and the mean of their ranks."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from prototype_support import equipped, equipped_table
from support import engine_for
from tabular_support import found_by

from humetric.methods import METHODS
from humetric.methods.composite import mean_rank
from humetric.tasks.setting import Setting

SETTINGS = {"text": equipped, "table": equipped_table}
ALONE = {
    "lime": ("lime", {"samples": 60}),
    "anchor": ("rule", {"samples": 300}),
    "decision-boundary": ("path", {"samples": 60}),
    "prototype": ("prototype", {"fixed": True}),
}


def rounded(data: Any) -> Any:
    """Plain data without the last digits, in which batches of another size differ."""
    return json.loads(json.dumps(data), parse_float=lambda digits: round(float(digits), 9))


@pytest.mark.parametrize("kind", SETTINGS)
def test_shows_what_the_four_show_alone(kind: str) -> None:
    setting: Setting = SETTINGS[kind]()
    sizes = {"samples": 60, "rule_samples": 300, "path_samples": 60}
    engine = engine_for(setting)
    whole = found_by(engine, METHODS.make("composite", sizes).explain(engine.cases))  # type: ignore[arg-type]
    maps = []
    for name, (shown, given) in ALONE.items():
        engine = engine_for(setting)  # nothing is shared with the first
        alone = found_by(engine, METHODS.make(name, given).explain(engine.cases))  # type: ignore[arg-type]
        maps.append(alone.attribution)
        for one, other in zip(whole.cases, alone.cases, strict=True):
            expected = other[shown] | ({"shown": 1} if shown == "path" else {})
            assert rounded(one[shown]) == rounded(expected)
    torch.testing.assert_close(whole.attribution, mean_rank(maps, engine.cases.lengths))
    assert all(set(one) == {"lime", "rule", "path", "prototype"} for one in whole.cases)


def test_ranks_are_of_a_cases_own_features_and_ties_share() -> None:
    maps = [
        torch.tensor([[3.0, 1.0, 2.0], [5.0, 4.0, 9.0]]),
        torch.tensor([[0.0, 0.0, 7.0], [1.0, 1.0, 0.0]]),
    ]
    found = mean_rank(maps, (3, 2))
    first = [(3 + 1.5) / 6, (1 + 1.5) / 6, (2 + 3) / 6]
    second = [(2 + 1.5) / 4, (1 + 1.5) / 4, 0]
    torch.testing.assert_close(found, torch.tensor([first, second], dtype=torch.float64))
