"""Small tables and models of them whose answers are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from humetric.engine.engine import Engine
from humetric.engine.questions import Program
from humetric.methods.explanation import Explanation
from humetric.models.tabular import MLP, Predict, TabularModel
from humetric.tasks.cases import Cases
from humetric.tasks.setting import Setting
from humetric.tasks.table import Column
from humetric.tasks.tabular_setting import tabular_setting

COLUMNS = (
    Column("age"),
    Column("work", ("farm", "mill", "office")),
    Column("hours", decimals=1),
    Column("married", ("no", "yes")),
    Column("income"),
)
SIZES = (0, 3, 0, 2, 0)


def rows(count: int, seed: int = 0) -> np.ndarray:
    """Random rows; income is mostly zero."""
    rng = np.random.default_rng(seed)
    return np.stack(
        [
            rng.integers(18, 80, count),
            rng.integers(0, 3, count),
            rng.normal(38, 9, count).round(1),
            rng.integers(0, 2, count),
            np.where(rng.random(count) < 0.8, 0, rng.integers(1, 90, count)),
        ],
        axis=1,
    ).astype(float)


def network(hidden: tuple[int, ...] = (8, 8), classes: int = 2, loud: float = 3.0) -> MLP:
    """An untrained network whose outputs move when a row does."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        made = MLP(SIZES, hidden, classes)
    made.encoding.fit(torch.from_numpy(rows(300, 9)))
    for weight in made.parameters():
        weight.data *= loud
    return made


def table_setting(
    model: TabularModel | Predict | None = None, cases: int = 6, **options: Any
) -> Setting:
    """Cases of the table, by default of an untrained network."""
    given = {"background": rows(200, 5), "draws": 8} | options
    module = network() if model is None else model
    return tabular_setting("tabular/made/up", module, COLUMNS, rows(cases, 3), **given)


def found_by(engine: Engine, program: Program[Explanation]) -> Explanation:
    """What a method that asks questions returns."""
    (found,) = engine.run([program])
    if isinstance(found, Exception):
        raise found
    return found


def asked(cases: Cases, row: np.ndarray) -> tuple[float, int]:
    """Margin of the first case's explained class for a row, and the class that is given."""
    with torch.no_grad():
        logits = cases.model.module(torch.from_numpy(row[None]).to(cases.x))[0].double()
    target = int(cases.target[0])
    others = torch.cat((logits[:target], logits[target + 1 :]))
    return float(logits[target] - others.max()), int(logits.argmax())
