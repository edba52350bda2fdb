"""LIME against captum's on an embedded model: the same cases, samples and weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from captum_lime import captum_lime, samples_of
from measure import Action
from racing import Race

import humetric
from humetric.engine.engine import Engine
from humetric.engine.placement import place
from humetric.methods import METHODS
from humetric.run.plan import find_batch_size
from humetric.run.work import explain
from humetric.tasks.setting import PlacedSetting

pytestmark = [pytest.mark.speed, pytest.mark.usefixtures("one_thread")]

CASES, SAMPLES = 6, 256
AT_ONCE = (16, 64, SAMPLES + 1)
"""What captum may ask in one forward pass; the best of these counts."""


@dataclass(frozen=True)
class Work:
    """Cases of sentiment/deception/bert."""

    setting: PlacedSetting
    samples: list[np.ndarray]

    def engine(self) -> Engine:
        batch = find_batch_size(self.setting, "auto")
        return Engine(self.setting.cases(0, CASES), self.setting.fast_module, torch.float32, batch)

    def ours(self) -> None:
        found = explain([METHODS.make("lime", {"samples": SAMPLES})], self.engine())["lime"]
        assert isinstance(found, torch.Tensor), found

    def captums(self, at_once: int) -> Action:
        cases = self.setting.cases(0, CASES)
        return lambda: captum_lime(cases, self.samples, at_once)


@pytest.fixture(scope="module")
def work() -> Work:
    placed = humetric.load_setting("sentiment/deception/bert", CASES).place(place("cpu"))
    return Work(placed, samples_of(placed.cases(0, CASES), SAMPLES))


@pytest.mark.parametrize("at_once", AT_ONCE)
def test_no_slower_than_captum_at_its_best(race: Race, work: Work, at_once: int) -> None:
    """Seconds of captum's Lime / of ours; the bound holds for each, hence for captum's best."""
    name = f"captum's Lime, {at_once} at once / humetric's"
    assert race(name, work.captums(at_once), work.ours, at_least=1.0).value >= 1.0


def test_much_faster_than_captum_as_it_comes(race: Race, work: Work) -> None:
    """captum asks one perturbation at a time unless told otherwise."""
    found = race("captum's Lime, 1 at once / humetric's", work.captums(1), work.ours, at_least=5)
    assert found.value >= 5
