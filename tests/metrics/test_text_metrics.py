"""Metrics on texts: closed forms on a linear model, the numpy reference, each case by itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from support import engine_for
from text_support import bag, reordered, setting
from torch import Tensor

from humetric import blackbox
from humetric.engine.engine import Engine
from humetric.metrics import METRICS, Scores
from humetric.metrics.ranking import ranks
from humetric.tasks.cases import Cases
from humetric.tasks.setting import Setting

CARDS = [METRICS.make(name).card for name in METRICS]
TEXT = [card.id for card in CARDS if "sentiment" in card.tasks and card.scope == "case"]
ASKING = ["deletion", "insertion", "mu-fidelity", "comprehensiveness", "sufficiency"]


def score(name: str, engine: Engine, attribution: Tensor, **parameters: float) -> Scores:
    (found,) = engine.run([METRICS.make(name, parameters).program(attribution, engine.cases)])
    assert isinstance(found, Scores), found
    return found


def noise(made: Setting) -> Tensor:
    draw = torch.Generator().manual_seed(5)
    return torch.randn(len(made), *made.task.features, generator=draw, dtype=torch.float64)


def effects(engine: Engine) -> Tensor:
    """(cases, words, classes): what masking a word takes from each logit of a bag of words."""
    cases = engine.cases
    task, texts = cases.text()
    module = cases.text_module()
    ids, attention, _ = cases.x.unbind(1)
    with torch.no_grad():
        away = module.embed(ids) - module.embed(torch.full_like(ids, task.removed))
        each = away @ module.head.weight.T / attention.sum(1)[:, None, None]  # type: ignore[union-attr,operator]
    return torch.stack([texts.tokens.sum(each[:, :, c]) for c in range(each.shape[2])], 2)


def own(cases: Cases, values: Tensor) -> Tensor:
    return values.gather(2, cases.target[:, None, None].expand(-1, values.shape[1], 1))[:, :, 0]


def probability(engine: Engine, case: int, gone: list[int], values: Tensor) -> float:
    """Softmax of the intact logits less the effects of what is gone."""
    with torch.no_grad():
        logits = engine.module(*engine.cases.x[case : case + 1].unbind(1))[0]
    left = logits - values[case, gone].sum(0)
    return float(left.softmax(0)[engine.cases.target[case]])


@pytest.mark.parametrize("name", ["deletion", "insertion"])
@pytest.mark.parametrize("steps", [4, 32])
def test_areas_in_closed_form(name: str, steps: int) -> None:
    engine = engine_for(setting(model=bag()))
    values = effects(engine)
    attribution = own(engine.cases, values)
    found = score(name, engine, attribution, steps=steps)
    assert found.curve is not None
    for i, n in enumerate(engine.cases.lengths):
        order = attribution[i, :n].argsort(descending=True).tolist()
        points = min(n, steps)
        counts = np.round(np.arange(points + 1) * n / points).astype(int)
        curve = [
            probability(engine, i, order[c:] if name == "insertion" else order[:c], values)
            for c in counts
        ]
        np.testing.assert_allclose(found.curve[i, : points + 1], curve, atol=1e-10)
        assert found.curve[i, points + 1 :].isnan().all()
        area = np.trapezoid(curve, counts / n)
        assert float(found.value[i]) == pytest.approx(area, abs=1e-10)


@pytest.mark.parametrize("name", ["comprehensiveness", "sufficiency"])
def test_falls_in_closed_form(name: str) -> None:
    engine = engine_for(setting(model=bag()))
    values = effects(engine)
    attribution = own(engine.cases, values)
    found = score(name, engine, attribution)
    for i, n in enumerate(engine.cases.lengths):
        order = attribution[i, :n].argsort(descending=True).tolist()
        falls = []
        for share in (0.01, 0.05, 0.1, 0.2, 0.5):
            k = max(1, round(share * n))
            gone = order[:k] if name == "comprehensiveness" else order[k:]
            falls.append(probability(engine, i, [], values) - probability(engine, i, gone, values))
        assert float(found.value[i]) == pytest.approx(np.mean(falls), abs=1e-10)


def test_mu_fidelity_is_one_for_the_true_effects() -> None:
    engine = engine_for(setting(model=bag()))
    found = score("mu-fidelity", engine, own(engine.cases, effects(engine))).value
    for value, n in zip(found.tolist(), engine.cases.lengths, strict=True):
        assert math.isnan(value) if n == 1 else value == pytest.approx(1)


@pytest.mark.parametrize("name", ASKING)
@pytest.mark.parametrize("task", ["sentiment", "nli", "qa"])
def test_engine_equals_numpy_reference(name: str, task: str) -> None:
    """blackbox knows nothing of tokens: it removes words of a vector of ones."""
    made = setting(task)
    engine = engine_for(made)
    attribution = noise(made)
    found = score(name, engine, attribution).value
    other = engine_for(made)  # asked row by row
    subsets = engine.cases.rng("mu-fidelity")
    for i, (n, rng) in enumerate(zip(engine.cases.lengths, engine.cases.rng("ties"), strict=True)):

        def f(rows: np.ndarray, i: int = i) -> np.ndarray:
            from humetric.engine.questions import GroupMasks, Questions
            from humetric.tasks.partition import identity

            words = other.cases.features
            bits = np.ones((len(rows), words), dtype=bool)
            bits[:, : rows.shape[1]] = rows > 0.5
            masks = GroupMasks(torch.from_numpy(bits), identity(words))
            (answers,) = other.ask([Questions(torch.full((len(rows),), i), masks)])
            return (answers.logit if name == "mu-fidelity" else answers.probability).numpy()

        peer = getattr(blackbox, name.replace("-", "_"))
        mine = attribution[i, :n].numpy()
        if name == "mu-fidelity":
            drawn = blackbox.draw_subsets(n, max(1, round(0.2 * n)), 200, subsets[i])
            reference = peer(f, np.ones(n), mine, subsets=drawn)
        else:
            reference = peer(f, np.ones(n), mine, ties=rng.permutation(n))
            reference = getattr(reference, "area", reference)
        assert float(found[i]) == pytest.approx(reference, abs=1e-9, nan_ok=True)


def test_map_only_metrics_over_real_words() -> None:
    made = setting()
    engine = engine_for(made)
    attribution = noise(made)
    complexity = score("complexity", engine, attribution).value
    sparseness = score("sparseness", engine, attribution).value
    for i, n in enumerate(engine.cases.lengths):
        size = attribution[i, :n].abs().numpy()
        share = size / size.sum()
        entropy = -(share * np.log(share)).sum() / np.log(n) if n > 1 else math.nan
        assert float(complexity[i]) == pytest.approx(entropy, abs=1e-12, nan_ok=True)
        gini = np.abs(size[:, None] - size).sum() / (2 * n * size.sum())
        assert float(sparseness[i]) == pytest.approx(gini, abs=1e-12)


@pytest.mark.parametrize("name", TEXT)
@pytest.mark.parametrize("task", ["sentiment", "nli", "qa"])
def test_order_and_longer_cases_do_not_matter(name: str, task: str) -> None:
    made = setting(task)
    attribution = noise(made)
    whole = score(name, engine_for(made), attribution).value
    for order in ([2, 1], [1], [0, 2]):
        part = reordered(made, order)
        engine = engine_for(part, batch_size=3)
        words = engine.cases.features
        found = score(name, engine, attribution[order][:, :words]).value
        torch.testing.assert_close(found, whole[order], rtol=0, atol=1e-9, equal_nan=True)


@pytest.mark.parametrize("name", TEXT)
def test_what_lies_beyond_a_case_is_ignored(name: str) -> None:
    made = setting()
    attribution = noise(made)
    engine = engine_for(made)
    clean = score(name, engine, engine.cases.real(attribution)).value
    dirty = attribution.clone()
    for i, n in enumerate(engine.cases.lengths):
        dirty[i, n:] = 1e6
    found = score(name, engine_for(made), dirty).value
    torch.testing.assert_close(found, clean, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", TEXT)
def test_extreme_maps_and_ranges(name: str) -> None:
    made = setting("nli")
    low, high = METRICS.make(name).card.range
    for extreme in (torch.zeros, torch.ones):
        value = score(name, engine_for(made), extreme(noise(made).shape)).value
        assert all(math.isnan(v) or low - 1e-9 <= v <= high + 1e-9 for v in value.tolist())


def test_ties_are_the_case_s_own_and_words_beyond_come_last() -> None:
    engine = engine_for(setting())
    rank = ranks(torch.zeros(engine.cases.shape), engine.cases)
    for own_rank, n in zip(rank.tolist(), engine.cases.lengths, strict=True):
        assert sorted(own_rank[:n]) == list(range(n))
        assert own_rank[n:] == list(range(n, len(own_rank)))
    assert rank[0].tolist() != list(range(engine.cases.features))


def test_equal_points_of_several_methods_are_asked_once() -> None:
    made = setting()
    engine = engine_for(made)
    attribution = noise(made)
    programs = [METRICS.make("deletion").program(a, engine.cases) for a in (attribution,) * 3]
    programs.append(METRICS.make("comprehensiveness").program(attribution, engine.cases))
    engine.run(programs)
    assert engine.rows == sum(n + 1 for n in engine.cases.lengths)
