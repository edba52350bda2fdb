"""Exported trees say what scikit-learn says, alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from humetric.errors import HumetricError
from humetric.models import trees
from humetric.models.convnet import WEIGHTS
from humetric.models.trees import Trees, load, of_scikit_learn, save


def data(rows: int, seed: int, classes: int = 2) -> tuple[Any, Any]:
    """Rows with ties and fractions, and labels that depend on pairs of columns."""
    rng = np.random.default_rng(seed)
    x = np.column_stack((rng.normal(size=(rows, 3)), rng.integers(0, 4, (rows, 3))))
    score = x[:, 0] * (x[:, 3] - 1.5) + (x[:, 4] > 1) * x[:, 1] + rng.normal(size=rows) / 2
    return x, np.digitize(score, np.linspace(-1, 1, classes + 1)[1:-1])


def fitted(**settings: Any) -> GradientBoostingClassifier:
    return GradientBoostingClassifier(random_state=0, **settings).fit(*data(800, 0))


@pytest.mark.parametrize(
    "settings",
    [
        {"n_estimators": 30, "max_depth": 4},
        {"n_estimators": 12, "max_depth": 1, "learning_rate": 0.7},
        {"n_estimators": 8, "max_depth": None, "max_leaf_nodes": 16, "subsample": 0.5},
        {"n_estimators": 3, "max_depth": 3, "min_impurity_decrease": 1e9},
    ],
)
def test_probabilities_are_those_of_scikit_learn(settings: dict[str, Any]) -> None:
    """Fractions are compared in single precision by both; the last trees are single leaves."""
    model = fitted(**settings)
    exported = of_scikit_learn(model)
    x = data(5000, 1)[0]
    on_edges = np.tile(x[:1], (40, 1))
    for row, node in zip(on_edges, np.flatnonzero(exported.feature >= 0), strict=False):
        row[exported.feature[node]] = exported.threshold[node]
    for rows in (x, on_edges):
        found = exported.predict(rows)
        assert np.abs(found - model.predict_proba(rows)).max() < 1e-9
        assert np.array_equal(found.sum(1), np.ones(len(rows)))


def test_a_row_alone_is_as_among_others(monkeypatch: pytest.MonkeyPatch) -> None:
    exported, x = of_scikit_learn(fitted(n_estimators=20, max_depth=4)), data(300, 2)[0]
    together = exported.predict(x)
    assert np.array_equal(np.concatenate([exported.predict(row[None]) for row in x]), together)
    monkeypatch.setattr(trees, "BLOCK", 7)
    assert np.array_equal(exported.predict(x), together)
    assert exported.predict(x[:0]).shape == (0, 2)


def test_trees_by_hand() -> None:
    """One tree: column 1 at 2.5; on its right column 0 at 0."""
    one = Trees(
        root=np.array([0], np.int32),
        feature=np.array([1, -1, 0, -1, -1], np.int32),
        threshold=np.array([2.5, 0, 0, 0, 0]),
        left=np.array([1, -1, 3, -1, -1], np.int32),
        right=np.array([2, -1, 4, -1, -1], np.int32),
        value=np.array([9, 1.0, 9, 2.0, 4.0]),
        prior=np.array([0.25]),
    )
    rows = np.array([[5, 2.5], [-5, 0], [0, 3], [-1, 9], [0.5, 2.6]])
    assert one.log_odds(rows).tolist() == [1.25, 1.25, 2.25, 2.25, 4.25]
    with pytest.raises(
        HumetricError, match=r"at least 2 columns but got an array of shape \(3, 1\)"
    ):
        one.predict(np.zeros((3, 1)))


def test_files_keep_every_bit_and_others_are_refused(tmp_path: Path) -> None:
    exported = of_scikit_learn(fitted(n_estimators=5, max_depth=4))
    save(exported, tmp_path / "new" / "trees.safetensors", {"data": "test"})
    again = load(tmp_path / "new" / "trees.safetensors")
    x = data(50, 3)[0]
    assert np.array_equal(again.predict(x), exported.predict(x))
    with pytest.raises(
        HumetricError, match=r"Expected trees but model\.safetensors holds something"
    ):
        load(WEIGHTS / "tabular/census/mlp/model.safetensors")


def test_what_cannot_be_exported_is_refused() -> None:
    three = GradientBoostingClassifier(n_estimators=2).fit(*data(300, 0, classes=3))
    with pytest.raises(HumetricError, match=r"of two classes.* of 3 classes"):
        of_scikit_learn(three)
    with pytest.raises(HumetricError, match="loss='log_loss'"):
        of_scikit_learn(fitted(n_estimators=2, loss="exponential"))
    deep = of_scikit_learn(fitted(n_estimators=2, max_depth=6))
    with pytest.raises(HumetricError, match="at most 16 leaves but number 0 has more"):
        deep.predict(data(5, 0)[0])


def test_no_rounding_sends_a_row_elsewhere_in_the_shipped_trees() -> None:
    """Census rows are whole numbers and thresholds halves: single precision has them exactly."""
    shipped = load(WEIGHTS / "tabular/census/trees/model.safetensors")
    inner = shipped.feature >= 0
    assert (shipped.threshold[inner] % 0.5 == 0).all()
    assert len(shipped.root) == 50
    assert np.bincount(np.searchsorted(shipped.root, np.flatnonzero(~inner), "right")).max() <= 16


def test_scikit_learn_is_not_needed_to_predict() -> None:
    program = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from humetric.tasks.named import load_setting\n"
        "print(load_setting('tabular/census/trees', 4).target.tolist())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[0, 0, 1, 1]\n", done.stderr
