"""Reports of importance alignment made by hand, for tests of the model board and its picture."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from humetric.alignment.accuracy import Accuracy
from humetric.alignment.arithmetic import Pair
from humetric.alignment.measure import Measured
from humetric.alignment.report import Report, make_report
from humetric.methods import METHODS

MODELS = {"bert-small": ("bert", 10), "bert-base": ("bert", 20), "bilstm": ("infersent", 5),
          "bow": ("bag-of-words", 4)}  # fmt: skip
CASES = 24


def measured(name: str, seed: int) -> Measured:
    """A model with made-up correlations; the first case of the hard oracle is undefined."""
    rng = np.random.default_rng(seed)
    family, size = MODELS[name]
    pairs = {
        oracle: tuple(
            Pair(float(rng.normal(0.2, 0.3)), float(rng.normal(0, 0.3)), 0, "")
            for _ in range(CASES)
        )
        for oracle in ("hard", "soft", "expert")
    }
    undefined = Pair(math.nan, math.nan, -1, "the oracle does not vary")
    pairs["hard"] = (undefined, *pairs["hard"][1:])
    right = np.arange(CASES) % 4 == seed % 4  # commonly wrong: 24 less 4 x 6
    right[:8] = False
    return Measured(
        setting=f"nli/inference/{name}", version="1", task="nli", level="tokens",
        method=METHODS.make("integrated-gradients").card, source="planted", annotators=1,
        informed=(1, 2, 3), family=family, parameters=size,
        ids=tuple(f"case-{i}" for i in range(CASES)), right=right, pairs=pairs, absent={},
        oracles={o: tuple(rng.random((CASES, 9))) for o in pairs},
    )  # fmt: skip


@cache
def report() -> Report:
    found = [measured(name, seed) for seed, name in enumerate(MODELS)]
    shares = {
        m.setting: Accuracy(
            0.5 + 0.1 * i, 0.4, {"all": 0.6 + 0.1 * (i % 2), "subsequence": 0.3 * i}, {"all": 0.2}
        )
        for i, m in enumerate(found)
    }  # fmt: skip
    return make_report(found, shares, seed=0)
