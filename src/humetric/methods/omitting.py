"""Omission as Hase & Bansal (2020, appendix A.1): what an answer loses when a feature is not known.

- A word is not known when its embeddings are zero.
- A column is not known when its value is: f(x) - E f(x with another value), the expectation being
  over p(value | the other columns) of a multinomial logistic regression fitted to the background
  (tasks/imputation.py). Every category is asked, and of numbers the middle of every bin, and
  weighted by its probability: nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from humetric.engine.questions import Answers, Program, View, about, instead
from humetric.models.text import TextModel, Zeroed
from humetric.tasks.cases import Cases
from humetric.tasks.imputation import Imputer, fit_imputer
from humetric.tasks.table import Values


def zeroed(cases: Cases, module: TextModel, target: Tensor) -> View:
    """Texts as a model sees them whose removed words have embeddings of zero."""
    task, _ = cases.text()
    return View(Zeroed(module), replace(task, removed=Zeroed.ZERO, removal="mask"), target)


def losses(cases: Cases, view: View | None, read: Callable[[Answers], Tensor]) -> Program[Tensor]:
    """(cases, features): what an answer (read off by ``read``) loses without each feature.

    ``view`` says who is asked; for texts it must be one whose removed words are zeroed.
    """
    found = torch.zeros(cases.shape, dtype=torch.float64)
    if cases.texts is not None:
        bits = [
            np.concatenate((np.ones((1, n), bool), ~np.eye(n, dtype=bool))) for n in cases.lengths
        ]
        (answers,) = yield [replace(about(cases, bits), view=view)]
        for i, values in enumerate(read(answers).split([len(b) for b in bits])):
            found[i, : len(values) - 1] = values[0] - values[1:]
        return found
    imputer = cases.once_per_setting(("imputer",), lambda: fit_imputer(cases.rows()))
    rows = cases.x.cpu().double().numpy()
    inputs = torch.from_numpy(with_each_value(imputer, rows)).to(cases.x.dtype)
    (answers,) = yield [instead(cases, list(inputs), view)]
    values = read(answers).view(len(cases), -1).split([1, *imputer.table.sizes()], 1)
    for j, value in enumerate(values[1:]):
        chances = torch.from_numpy(imputer.chances(rows, j))
        found[:, j] = values[0][:, 0] - (chances * value).sum(1)
    return found


def with_each_value(imputer: Imputer, rows: Values) -> Values:
    """(rows, 1 + values, columns): each row as it is, then with each value of each column."""
    found = [rows]
    for j, typical in enumerate(imputer.typical):
        for value in typical:
            changed = rows.copy()
            changed[:, j] = value
            found.append(changed)
    return np.stack(found, axis=1)
