"""Prototype models of real texts, as shipped: training texts that no file holds."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from humetric.data.sources.lookup import SOURCES, look
from humetric.models.prototype_fit import in_order, latents, predictions
from humetric.models.text_inputs import Inputs
from humetric.settings import REAL, files
from humetric.settings.corpora import ROTTEN_TOMATOES
from humetric.settings.prototypes import NAMES, SCORES, prototypes
from humetric.settings.sentiment import PROTOTYPES, TOMATOES, TOMATOES_BILSTM
from humetric.settings.text import Learner
from humetric.tasks.named import load_setting

ROOT = Path(__file__).resolve().parents[2]
MIRROR = Path(os.environ.get("HUMETRIC_MIRROR", ROOT.parent / "shared" / "mirror"))
ID = TOMATOES_BILSTM.id
MADE = REAL[ID].load.args[2]  # type: ignore[attr-defined]

pytestmark = pytest.mark.skipif(
    not (MIRROR / "datasets" / "rotten_tomatoes").is_dir()
    or look(SOURCES["all-MiniLM-L6-v2"]) is None,
    reason=f"no Rotten Tomatoes in {MIRROR}, or no all-MiniLM-L6-v2 (humetric sources)",
)


@pytest.fixture(autouse=True)
def mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUMETRIC_MIRROR", str(MIRROR))


@pytest.mark.parametrize("learner", [TOMATOES_BILSTM, TOMATOES], ids=lambda learner: learner.kind)
def test_prototypes_are_training_texts_and_the_files_only_name_them(learner: Learner) -> None:
    made = REAL[learner.id].load.args[2]  # type: ignore[attr-defined]
    models = prototypes(learner.id, made)
    assert models is not None
    training = {s.id: s for s in ROTTEN_TOMATOES.training()}
    held = {s.segments for s in ROTTEN_TOMATOES.pool()}
    for fixed, name in NAMES.items():
        file = files.trained(learner.id, name)
        with safe_open(file, framework="pt") as stored:
            told, tensors = json.loads(stored.metadata()["shown"]), set(stored.keys())
        assert file.stat().st_size < 500_000
        assert not any("embedding" in t or "weight_ih" in t for t in tensors)
        model = models.variant(fixed)
        assert len(model.shown) == 2 * PROTOTYPES.prototypes
        assert [s.content for s in model.shown] == [training[one["id"]].segments for one in told]
        assert not {s.content for s in model.shown} & held
        shown = learner.inputs([training[one["id"]] for one in told])
        with torch.no_grad():
            near = (latents(model, shown) - model.layer.vectors).square().sum(1)
        assert float((near / model.layer.scale).max()) < 1e-3, "each is its own prototype"


def test_accuracy_is_what_was_measured() -> None:
    chosen = json.loads(files.cases_file(ID).read_text())
    models, data = prototypes(ID, MADE), MADE.pool()
    assert models is not None
    some: Inputs = next(iter(in_order(data)))
    for fixed, score in SCORES.items():
        right = (predictions(models.variant(fixed), some) == some.target.numpy()).mean()
        assert abs(right - chosen[score]) < 0.1, "on the first 200 of 2,133"
        assert chosen[score] > 0.78


def test_the_setting_offers_them() -> None:
    setting = load_setting(ID, 2)
    assert setting.prototypes is not None
    assert setting.prototypes.version in setting.version
