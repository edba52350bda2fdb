"""The training recipe: the choice of cases, reproducibility, and the files it writes."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from humetric.data.embedded import SPLITS
from humetric.errors import HumetricError, UnknownNameError
from humetric.models import training
from humetric.models.convnet import load, normalise
from humetric.models.training import Recipe, Split, choose, fit, probabilities

MEAN, STD = [0.5] * 3, [0.25] * 3
BRIEF = Recipe(epochs=8, batch=16)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Batches this small are slower on more threads, much slower on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def dots(count: int, *, seed: int, conflicts: bool = False) -> Split:
    """Noise, dark for cue 0 and light for cue 1; labels follow it always or half of the time."""
    rng = np.random.default_rng(seed)
    cues = np.arange(count) % 2
    labels = (cues + np.arange(count) // 2) % 2 if conflicts else cues
    images = rng.integers(0, 128, (count, 64, 64, 3)) + 100 * cues[:, None, None, None]
    return Split(images.astype(np.uint8), labels, cues)


def test_choice_is_balanced_in_pool_order_and_away_from_the_boundary() -> None:
    labels = np.array([0, 0, 0, 1, 1, 0, 1, 1, 0, 1, 0])
    scores = np.array([0.495, 0.1, 0.9, 0.8, 0.2, 0.3, 0.505, 0.7, 0.6, 0.4, 0.0])
    assert choose(labels, scores, 8) == [1, 4, 3, 2, 5, 9, 7, 8]


def test_choice_needs_errors() -> None:
    labels = np.arange(40) % 2
    with pytest.raises(HumetricError, match="class 0 wrongly but got 0"):
        choose(labels, labels.astype(float), 8)


def test_fit_learns_repeats_and_leaves_the_global_generator_alone() -> None:
    data = dots(64, seed=0)
    before = torch.get_rng_state()
    model = fit(data, MEAN, STD, BRIEF)
    again = fit(data, MEAN, STD, BRIEF).state_dict()
    assert torch.equal(before, torch.get_rng_state())
    for name, value in model.state_dict().items():
        assert torch.equal(value, again[name]), name
    fresh = dots(40, seed=1)
    scores = probabilities(model, normalise(fresh.images, MEAN, STD))
    assert ((scores > 0.5) == fresh.labels).all()


def test_hints_change_the_features_but_not_the_form_of_the_model() -> None:
    data = dots(32, seed=0)
    brief = Recipe(epochs=1, batch=16)
    plain = fit(data, MEAN, STD, brief).state_dict()
    hinted = fit(data._replace(hints=np.arange(32) % 3), MEAN, STD, brief).state_dict()
    assert plain.keys() == hinted.keys()
    assert not torch.equal(plain["features.0.0.weight"], hinted["features.0.0.weight"])


def test_only_pair_has_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SPLITS, "pool", 8)
    assert training.collect("leaf", "pool").hints is None
    drawn = training.collect("pair", "pool")
    assert drawn.hints is not None
    np.testing.assert_array_equal(drawn.hints % 2, drawn.labels)


def test_files_say_what_the_model_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    splits = {"train": dots(64, seed=0), "pool": dots(40, seed=1, conflicts=True)}
    monkeypatch.setattr(training, "collect", lambda name, split: splits[split])
    monkeypatch.setitem(training.RECIPES, "habitat", BRIEF)
    monkeypatch.setattr(training, "CASES", 20)
    for run in ("one", "two"):
        training.train("habitat", tmp_path / run)
    for file in ("model.safetensors", "cases.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()

    model, metadata = load(tmp_path / "one" / "model.safetensors")
    listing = json.loads((tmp_path / "one" / "cases.json").read_text())
    assert metadata["torch"] == torch.__version__
    assert json.loads(metadata["cue_agreement"]) == 1
    assert json.loads(metadata["pool_accuracy"]) == listing["pool_accuracy"] == 0.5
    pool = splits["pool"].images[[case["index"] for case in listing["cases"]]]
    scores = probabilities(model, normalise(pool, listing["mean"], listing["std"]))
    assert (scores > 0.5).tolist() == [case["predicted"] for case in listing["cases"]]


def test_unknown_data_sets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="habitat, leaf, pair"):
        training.main(["leafs", "--output", str(tmp_path)])
