"""Boosted trees as plain arrays: trained elsewhere, asked here, a black box to everything else.

``of_scikit_learn`` takes a fitted GradientBoostingClassifier of two classes; ``Trees.predict``
gives the same probabilities without scikit-learn and goes where a function from rows to
probabilities is wanted, as in ``tabular_setting(..., model=load(path).predict)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file
from scipy.special import expit

from humetric.errors import HumetricError

ARCHITECTURE = "trees"
LEAVES = 16
"""At most so many in a tree, as many as a tree of depth 4 has."""
BLOCK = 2048
"""Rows at once, so that what is kept for them stays in the cache."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]


@dataclass(frozen=True)
class Trees:
    """All nodes of all trees, one after another; ``left`` and ``right`` count from 0 overall."""

    root: Integers
    """(trees,): the first node of each."""
    feature: Integers
    """(nodes,): the column that is compared; -1 in a leaf."""
    threshold: Floats
    """(nodes,): rows with at most this go left."""
    left: Integers
    right: Integers
    value: Floats
    """(nodes,): what a leaf adds to the log-odds of the second class."""
    prior: Floats
    """(1,): log-odds before any tree."""

    def predict(self, rows: Floats) -> Floats:
        """Probabilities (rows, 2) of rows (rows, columns), compared in single precision."""
        second = expit(self.log_odds(rows))
        return np.stack((1 - second, second), axis=1)

    def log_odds(self, rows: Floats) -> Floats:
        """(rows,): log-odds of the second class."""
        values = np.asarray(rows).astype(np.float32)
        if values.ndim != 2 or values.shape[1] <= self.feature.max():
            raise HumetricError(
                f"Expected rows of at least {self.feature.max() + 1} columns but got an array of "
                f"shape {values.shape}."
            )
        found = np.empty(len(values))
        for start in range(0, len(values), BLOCK):
            found[start : start + BLOCK] = self._log_odds(values[start : start + BLOCK])
        return found

    def _log_odds(self, values: NDArray[np.float32]) -> Floats:
        """Every comparison that fails strikes out leaves; the first that is left is the answer.

        What one column's value strikes out of all trees is looked up by the place of the value
        among the column's thresholds (Lucchese et al. 2015, QuickScorer, in whole tables).
        """
        left = np.full((len(values), len(self.root)), (1 << LEAVES) - 1, dtype=np.uint16)
        for column, thresholds, kept in self._tables.columns:
            left &= kept[np.searchsorted(thresholds, values[:, column], side="left")]
        leaf = _FIRST[left] + self._tables.offset
        found: Floats = self.prior[0] + self._tables.leaves[leaf].sum(axis=1)
        return found

    @cached_property
    def _tables(self) -> _Tables:
        leaves = np.zeros((len(self.root), LEAVES))
        strikes = [self._lay_out(tree, leaves[tree]) for tree in range(len(self.root))]
        columns = []
        for column in sorted(set(self.feature[self.feature >= 0].tolist())):
            own = [
                (self.threshold[node], tree, mask)
                for tree, struck in enumerate(strikes)
                for node, mask in struck
                if self.feature[node] == column
            ]
            thresholds = np.unique([threshold for threshold, _, _ in own])
            kept = np.full((len(thresholds) + 1, len(self.root)), (1 << LEAVES) - 1, np.uint16)
            for threshold, tree, mask in own:
                kept[np.searchsorted(thresholds, threshold) + 1 :, tree] &= np.uint16(mask)
            columns.append((column, thresholds, kept))
        offset = np.arange(len(self.root), dtype=np.int32) * LEAVES
        return _Tables(tuple(columns), offset, leaves.ravel())

    def _lay_out(self, tree: int, leaves: Floats) -> list[tuple[int, int]]:
        """Leaves of a tree from left to right; for each comparison, the leaves kept if it fails."""
        struck: list[tuple[int, int]] = []

        def visit(node: int, first: int) -> int:
            """Number of leaves before the next node to the right."""
            if first >= LEAVES:
                raise HumetricError(
                    f"Expected trees of at most {LEAVES} leaves but number {tree} has more: train "
                    "with max_depth=4 or less."
                )
            if self.feature[node] < 0:
                leaves[first] = self.value[node]
                return first + 1
            middle = visit(int(self.left[node]), first)
            struck.append((node, ((1 << LEAVES) - 1) & ~((1 << middle) - (1 << first))))
            return visit(int(self.right[node]), middle)

        visit(int(self.root[tree]), 0)
        return struck


class _Tables(NamedTuple):
    """What rows are looked up in."""

    columns: tuple[tuple[int, Floats, NDArray[np.uint16]], ...]
    """Column, its thresholds, and (thresholds + 1, trees) which leaves are not struck out."""
    offset: Integers
    leaves: Floats


_MASKS = np.arange(1 << LEAVES, dtype=np.int64)
_FIRST: Integers = np.log2(np.maximum(_MASKS & -_MASKS, 1)).astype(np.int32)
"""The lowest bit that is set, for every mask."""


def of_scikit_learn(fitted: Any) -> Trees:
    """The trees of a fitted GradientBoostingClassifier of two classes, log-loss and no ``init``."""
    if len(fitted.classes_) != 2 or fitted.loss != "log_loss" or fitted.init is not None:
        raise HumetricError(
            "Expected a GradientBoostingClassifier of two classes with loss='log_loss' and "
            f"init=None but got {fitted!r} of {len(fitted.classes_)} classes."
        )
    trees = [estimator.tree_ for estimator in fitted.estimators_[:, 0]]
    root = np.cumsum([0, *(tree.node_count for tree in trees)])[:-1]
    share = fitted.init_.class_prior_[1]

    def joined(name: str, shift: bool = False) -> Integers:
        parts = [getattr(tree, name) for tree in trees]
        moved = [
            np.where(p < 0, -1, p + (r if shift else 0)) for p, r in zip(parts, root, strict=True)
        ]
        found: Integers = np.concatenate(moved).astype(np.int32)
        return found

    return Trees(
        root=root.astype(np.int32),
        feature=joined("feature"),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        left=joined("children_left", True),
        right=joined("children_right", True),
        value=fitted.learning_rate * np.concatenate([tree.value[:, 0, 0] for tree in trees]),
        prior=np.array([np.log(share / (1 - share))]),
    )


def save(trees: Trees, path: Path, about: Mapping[str, str] | None = None) -> None:
    """Write the arrays; in double precision, since a rounded threshold sends rows elsewhere."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {field.name: getattr(trees, field.name) for field in fields(trees)}
    save_file(arrays, path, {**(about or {}), "architecture": ARCHITECTURE})


def load(path: Path) -> Trees:
    """The trees in a file that :func:`save` wrote."""
    with safe_open(path, framework="numpy") as file:
        names = {field.name for field in fields(Trees)}
        if (file.metadata() or {}).get("architecture") != ARCHITECTURE or names != set(file.keys()):
            raise HumetricError(
                f"Expected trees but {path.name} holds something else: write them with "
                "humetric.models.trees.save."
            )
        return Trees(**{name: file.get_tensor(name) for name in names})
