"""LIME against captum's, given the same samples."""

from __future__ import annotations

import numpy as np
import pytest
from captum_lime import captum_lime, samples_of
from support import engine_for

import humetric
from humetric.methods import METHODS
from humetric.run.work import explain as run_methods

pytest.importorskip("sklearn", reason="captum's Lime needs scikit-learn")


@pytest.mark.parametrize("name", ["sentiment/reviews/bert", "sentiment/deception/bert"])
def test_weights_are_captums(name: str) -> None:
    engine = engine_for(humetric.load_setting(name, 3), precision="fp32")
    own = run_methods([METHODS.make("lime", {"samples": 200})], engine)["lime"]
    assert not isinstance(own, Exception)
    theirs = captum_lime(engine.cases, samples_of(engine.cases, 200), 50)
    for row, weights in zip(own.numpy(), theirs, strict=True):
        mine = row[: len(weights)]
        assert np.corrcoef(mine, weights)[0, 1] > 0.99
        np.testing.assert_allclose(mine, weights, atol=1e-4)
