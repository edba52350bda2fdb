"""Training on rows: what stops it, that it repeats itself, and that what ships is what it chose."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open

from humetric.data.embedded import census
from humetric.errors import UnknownNameError
from humetric.models import stored, train_tabular
from humetric.models.convnet import WEIGHTS
from humetric.models.tabular_weights import load, parameters, probabilities
from humetric.models.train_tabular import RECIPES, Boosting, Network, fit_network, train
from humetric.models.training import CASES, MARGIN

BRIEF: dict[str, Network | Boosting] = {
    "tabular/census/mlp": Network(hidden=(8, 8), rate=0.05, epochs=12),
    "tabular/census/logistic": Network(hidden=(), rate=0.02, epochs=3),
    "tabular/census/trees": Boosting(trees=5, depth=2, rate=0.3),
}


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("setting", RECIPES)
def test_files_come_out_the_same_twice(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(train_tabular.RECIPES, setting, BRIEF[setting])
    for run, seed in (("one", 5), ("two", 6)):
        torch.manual_seed(seed)
        np.random.seed(seed)
        train(setting, tmp_path / run, count=500)
    one, two = ((tmp_path / r / setting / "model.safetensors").read_bytes() for r in ("one", "two"))
    assert one == two
    model = load(tmp_path / "one" / setting / "model.safetensors")
    values, labels = census.rows("train", 500)
    assert ((probabilities(model, values)[:, 1] > 0.5) == labels).mean() > 0.6


def test_the_best_weights_are_kept_and_the_validation_rows_are_not_fitted() -> None:
    """Labels of the validation rows are turned round: the better the fit, the worse their loss."""
    values, labels = census.rows("train", 1500)
    labels = labels.copy()
    labels[1200:] = 1 - labels[1200:]
    recipe = Network(hidden=(8,), rate=0.02, epochs=30, patience=2)
    made = fit_network(recipe, values, labels, 300)
    x, y = torch.tensor(values, dtype=torch.float32), torch.tensor(labels)
    kept = train_tabular._loss(made, x[1200:], y[1200:])
    first = fit_network(replace(recipe, epochs=1), values, labels, 300)
    assert kept == train_tabular._loss(first, x[1200:], y[1200:])
    assert torch.equal(made.head.weight, first.head.weight), "the first epoch's"
    longer = fit_network(recipe, *census.rows("train", 1500), 300)
    assert train_tabular._loss(longer, x[:1200], y[:1200]) < 0.55
    ages = values[:1200, 0]
    assert made.encoding.shift[0].item() == pytest.approx(ages.mean(), rel=1e-6)
    assert made.encoding.scale[0].item() == pytest.approx(ages.std(ddof=1), rel=1e-6)


@pytest.mark.parametrize("setting", RECIPES)
def test_what_ships_is_on_record(setting: str) -> None:
    """Balanced cases, in which every run of four holds each kind once, clear of the boundary."""
    file = WEIGHTS / setting / "model.safetensors"
    listing = json.loads((WEIGHTS / setting / "cases.json").read_text())
    rows, labels = census.rows("pool")
    score = probabilities(load(file), rows)[:, 1]
    assert round(float(((score > 0.5) == labels).mean()), 4) == listing["pool_accuracy"]
    assert 0.82 < listing["pool_accuracy"] < 0.87
    assert len(listing["cases"]) == CASES
    for row in listing["cases"]:
        assert row["label"] == labels[row["index"]]
        assert row["predicted"] == (score[row["index"]] > 0.5)
        assert row["sha256"] == census.digest(rows[row["index"]].tolist())
        assert abs(score[row["index"]] - 0.5) > MARGIN
    for start in range(0, CASES, 4):
        four = listing["cases"][start : start + 4]
        assert len({(row["label"], row["predicted"]) for row in four}) == 4
    with safe_open(file, framework="numpy") as weights:
        about = weights.metadata()
    assert about["setting"] == setting
    assert about["data_version"] == str(census.VERSION) == str(listing["data_version"])


def test_the_network_is_the_study_s() -> None:
    model = stored.load(WEIGHTS / "tabular/census/mlp/model.safetensors")
    assert [layer.out_features for layer in model.body[::2]] == [50, 50]
    assert model.gives == {"predict", "gradient", "internals"}
    plain = stored.load(WEIGHTS / "tabular/census/logistic/model.safetensors")
    assert plain.reads == {"coefficients"}
    assert parameters(plain) == 2 * (32 + 1)
    sizes = [file.stat().st_size for file in (WEIGHTS / "tabular").rglob("*.safetensors")]
    assert sum(sizes) < 100_000


def test_unknown_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'tabular/census/trees'"):
        train_tabular.main(["tabular/census/tree", "--output", str(tmp_path)])
