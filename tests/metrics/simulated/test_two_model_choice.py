"""Two-model choice: closed forms, symmetry, chance, and what the reader may not know."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from question_support import embedded, noise, run, show
from torch import Tensor

from humetric import METHODS, METRICS, load_setting
from humetric.metrics.panel import LEARNING, Panel
from humetric.metrics.simulated.lexical import reading, readings
from humetric.metrics.simulated.two_model_choice import choice
from humetric.run.evaluate import run_settings

NAME = "two-model-choice"
SEEDS = 10


def like_the_reader(panel: Panel) -> Tensor:
    """Maps of the words that the reader finds relevant."""
    maps = torch.zeros(panel.learning, panel.cases.features, dtype=torch.float64)
    for row, own in zip(maps, readings(panel), strict=True):
        row[: len(own.relevant)] = torch.from_numpy(own.relevant).double()
    return maps


def test_the_model_with_more_relevant_words_is_chosen() -> None:
    words = [
        "Who",
        "built",
        "the",
        "mill?",
        "Ada",
        "sang.",
        "Nela",
        "built",
        "a",
        "mill",
        "in",
        "Velby.",
    ]
    own = reading(words, [0] * 4 + [1] * 8)
    relevant = np.flatnonzero(own.relevant).tolist()
    assert relevant == [1, 3, 6, 7, 9, 11], "built, mill? Nela built mill Velby."
    many, dark = np.zeros(12), np.ones(12)
    many[[1, 6, 7]] = 0.1
    dark[[1, 6, 7, 9]] = 0
    assert choice(own, many, dark) == 1.0, "3 words against 2, however dark"
    assert choice(own, dark, many) == 0.0
    assert choice(own, dark, dark) == 0.5
    assert choice(own, dark * 0, many * 0) == 0.5


def test_one_value_for_each_rival_and_question() -> None:
    panel = embedded()
    good, bad = like_the_reader(panel), noise(panel, 0)
    found = run(NAME, panel, show(good, worse=bad, same=good))
    ids = panel.cases.ids
    assert found.names == [*(f"same: {i}" for i in ids), *(f"worse: {i}" for i in ids)]
    same, worse = found.value.chunk(2)
    assert same.tolist() == [0.5] * len(ids)
    assert worse.mean() > 0.95
    assert found.controls["none"].tolist() == [0.5] * 2 * len(ids)


def test_which_model_is_shown_first_does_not_matter() -> None:
    panel = embedded()
    for seed in range(3):
        one, other = noise(panel, seed), noise(panel, 100 + seed)
        first, second = (
            run(NAME, panel, show(a, rival=b)) for a, b in ((one, other), (other, one))
        )
        assert torch.equal(first.value, 1 - second.value)
        assert set(first.value.tolist()) == {0.0, 0.5, 1.0}


def test_shuffled_explanations_are_as_good_as_none() -> None:
    """.5 on average over the seeds, though the maps as they are tell the models apart."""
    found = []
    for seed in range(SEEDS):
        panel = embedded(seed=seed)
        good = like_the_reader(panel) + noise(panel, seed) / 9
        found.append(run(NAME, panel, show(good, rival=noise(panel, 50 + seed))))
    assert np.mean([f.value.mean() for f in found]) > 0.95
    each = torch.stack([f.controls["shuffled"] for f in found])
    error = 0.5 / (each.numel() * 20) ** 0.5  # 20 shuffles, of variance 1/4 at most
    assert each.mean().item() == pytest.approx(0.5, abs=4 * error)
    assert each.std() > 0, "it is no constant"


def test_neither_models_output_nor_the_truth_matters() -> None:
    panel, other = embedded("false"), embedded("last word")
    blind = replace(
        panel,
        cases=replace(panel.cases, target=other.cases.target),
        label=panel.label * 0 - 1,
        right=~panel.right,
    )
    shown = show(noise(panel, 1), rival=noise(panel, 2))
    one, two = run(NAME, panel, shown), run(NAME, blind, shown)
    assert torch.equal(one.value, two.value)
    assert torch.equal(one.controls["shuffled"], two.controls["shuffled"])


def test_rivals_see_the_same_questions_in_a_run() -> None:
    """Embedded HIGH against LOW and MEDIUM, where a random map tells nothing."""
    high = load_setting("qa/original/high", cases=1)
    names = ("span-guess", "span-guess-gold", NAME)
    result = run_settings([high], [METHODS.make("random")], [METRICS.make(n) for n in names])
    assert not result.failures
    scores = result.scores.set_index("metric").value
    assert len(scores[NAME]) == 2 * LEARNING
    assert scores[NAME].tolist() == [0.5] * 2 * LEARNING, "the same noise for every model"
    assert len(scores["span-guess"]) == LEARNING
    assert scores["span-guess-gold"].isna().sum() >= 12, "HIGH is often right"
