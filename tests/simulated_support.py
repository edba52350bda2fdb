"""A table whose model goes by three of ten columns, for simulated users to learn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from humetric.engine.engine import Engine
from humetric.engine.placement import place
from humetric.methods.explanation import Explanation
from humetric.metrics import METRICS
from humetric.metrics.panel import LEARNING, Panel, Replicates, Shown
from humetric.tasks.setting import Setting
from humetric.tasks.table import Column
from humetric.tasks.tabular_setting import tabular_setting

COLUMNS = tuple(Column(f"column{i}", ("low", "middle", "high")) for i in range(10))
WEIGHT = np.array([4.0, -3.0, 2.5, 0, 0, 0, 0, 0, 0, 0])
"""Of each column's category, counted from -1 to 1."""


def predict(rows: np.ndarray) -> np.ndarray:
    """Probabilities of a linear model without a bias."""
    p = 1 / (1 + np.exp(-((rows - 1) @ WEIGHT)))
    return np.stack([1 - p, p], axis=1)


@dataclass(frozen=True)
class World:
    """A panel, an engine about it, and what the model really goes by."""

    panel: Panel
    engine: Engine
    true: Tensor
    """(learning cases, columns): what each column adds to the margin of the explained output."""

    def show(self, attribution: Tensor, more: tuple[dict[str, object], ...] = ()) -> Shown:
        """What a method with these maps shows."""
        return Shown(attribution, Explanation(attribution, more), _nobody)

    def run(self, metric: str, attribution: Tensor, **parameters: int) -> Replicates:
        """What a simulated user does with maps."""
        work = METRICS.make(metric, parameters).simulation()
        (found,) = self.engine.run([work.simulate(self.panel, self.show(attribution))])
        if isinstance(found, Exception):
            raise found
        return found


def _nobody(setting: Setting) -> Explanation:
    raise AssertionError("this simulated user may not ask for another explanation")


def world(seed: int, cases: int = 84) -> World:
    """Rows of random categories; in every second case of an output the model is right."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (4 * cases, 10)).astype(float)
    rows = rows[np.abs((rows - 1) @ WEIGHT) > 0.1]
    said = predict(rows).argmax(1)
    ones, zeros = np.flatnonzero(said == 1)[: cases // 2], np.flatnonzero(said == 0)[: cases // 2]
    order = np.stack((zeros, ones), axis=1).ravel()
    rows, said = rows[order], said[order]
    label = np.where(np.arange(cases) // 2 % 2 == 0, said, 1 - said)
    setting = tabular_setting(
        "tabular/world/linear",
        predict,
        COLUMNS,
        rows,
        background=np.random.default_rng(99).integers(0, 3, (60, 10)).astype(float),
        label=label.tolist(),
        ids=[f"world-{i:03d}" for i in range(cases)],
    )
    placed = setting.place(place("cpu", "fp32"))
    found = placed.cases(0, cases, seed)
    panel = Panel(found, LEARNING, setting.label, setting.right.numpy(), setting)
    sign = np.where(said[:LEARNING] == 1, 1.0, -1.0)[:, None]
    true = torch.from_numpy((rows[:LEARNING] - 1) * WEIGHT * sign)
    return World(panel, Engine(found, placed.fast_module), true)


def noise(seed: int, of: Tensor) -> Tensor:
    """Maps that know nothing."""
    drawn = np.random.default_rng(seed).standard_normal(tuple(of.shape))
    return torch.from_numpy(drawn)


def means(values: list[float]) -> tuple[float, float]:
    """The mean, and the p value of its being 0."""
    return float(np.mean(values)), float(stats.ttest_1samp(values, 0).pvalue)


def with_target(panel: Panel, target: Tensor) -> Panel:
    """The same panel with another output of the model."""
    return replace(panel, cases=replace(panel.cases, target=target))
