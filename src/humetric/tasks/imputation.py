"""Imputation: a column's value given the others, by multinomial logistic regression.

As Hase & Bansal (2020, appendix A.1): no feature engineering, so that probabilities are calibrated.
Numbers are predicted by their bin (quartiles of the background); within a bin its median stands for
all. Fitted on the background rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.special import log_softmax, softmax

from humetric.tasks.table import Table, Values

PENALTY = 1.0
"""Half of it times the squared weights is added to the summed cross-entropy."""


@dataclass(frozen=True)
class Imputer:
    """A regression for each column."""

    table: Table
    weights: tuple[NDArray[np.float64], ...]
    """(1 + width of the other columns, values of the column); the first row is the intercept."""
    typical: tuple[Values, ...]
    """The value that stands for each category or bin."""

    def chances(self, rows: Values, column: int) -> Values:
        """(rows, values): probability of each category or bin of a column, given the others."""
        found: Values = softmax(_design(self.table, rows, column) @ self.weights[column], axis=1)
        return found

    def draws(self, rows: Values, count: int, rngs: list[np.random.Generator]) -> Values:
        """(rows, count, columns): each column drawn given all others of the row as it is.

        Columns that are removed together are drawn as if the others were still known.
        """
        out = np.empty((len(rows), count, rows.shape[1]))
        uniform = np.stack([rng.random((count, rows.shape[1])) for rng in rngs])
        for j, typical in enumerate(self.typical):
            ends = self.chances(rows, j).cumsum(1)
            place = (uniform[:, :, j, None] > ends[:, None, :-1]).sum(2)
            out[:, :, j] = typical[place]
        return out


def fit_imputer(table: Table) -> Imputer:
    """Fit all columns on the background; deterministic."""
    bins, sizes = table.bins(table.background), table.sizes()
    weights = tuple(
        _regression(_design(table, table.background, j), bins[:, j], size)
        for j, size in enumerate(sizes)
    )
    return Imputer(table, weights, tuple(table.typical(j) for j in range(len(sizes))))


def _design(table: Table, rows: Values, without: int) -> Values:
    """An intercept and the other columns: numbers standardised, categories as 0 and 1."""
    parts = [np.ones((len(rows), 1))]
    for j, column in enumerate(table.columns):
        if j == without:
            continue
        if column.number:
            known = table.background[:, j]
            parts.append(((rows[:, j] - known.mean()) / max(known.std(), 1e-6))[:, None])
        else:
            parts.append((rows[:, j, None] == np.arange(len(column.categories))).astype(float))
    return np.concatenate(parts, axis=1)


def _regression(design: Values, label: NDArray[np.int64], classes: int) -> Values:
    """Weights (width, classes) of a penalised multinomial regression; the intercept is free."""
    truth = np.eye(classes)[label]
    shape = (design.shape[1], classes)
    free = np.ones((shape[0], 1))
    free[0] = 0

    def loss(flat: Values) -> tuple[float, Values]:
        weight = flat.reshape(shape)
        logs = log_softmax(design @ weight, axis=1)
        value = -(truth * logs).sum() + PENALTY / 2 * (free * weight**2).sum()
        gradient = design.T @ (np.exp(logs) - truth) + PENALTY * free * weight
        return float(value), gradient.ravel()

    found = optimize.minimize(loss, np.zeros(shape[0] * classes), jac=True, method="L-BFGS-B")
    return np.asarray(found.x).reshape(shape)
