"""Paths across the decision boundary, checked against everything that was sampled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from support import engine_for
from tabular_support import found_by, network, table_setting
from text_support import NEAR, bert, loud
from text_support import setting as text_setting
from torch import Tensor

import humetric
from humetric.engine.engine import Engine
from humetric.engine.questions import instead
from humetric.methods import METHODS
from humetric.methods.changes import Changes, RowChanges, WordChanges, changes_of
from humetric.methods.explanation import Explanation
from humetric.models.tabular import MLP
from humetric.models.text import TextModel
from humetric.tasks.setting import Setting

SAMPLES = 80

SETTINGS = {
    "table": lambda: table_setting(network(loud=2.0)),
    "table, four classes": lambda: table_setting(network(classes=4, loud=2.0)),
    "table, black box": lambda: table_setting(_box),
    "text": lambda: text_setting(model=loud(bert()), neighbours=NEAR),
    "reviews": lambda: humetric.load_setting("sentiment/reviews/bilstm", 6),
}


def _box(x: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        return network(loud=2.0)(torch.from_numpy(x).float()).double().softmax(1).numpy()


def count_of(changes: Changes, feature: int) -> int:
    """How many options a feature has."""
    assert isinstance(changes, WordChanges | RowChanges)
    options = changes.options[feature]
    return len(options) if isinstance(options, list) else len(options.words)


@dataclass(frozen=True)
class Found:
    """A setting's paths, and what was sampled for them."""

    engine: Engine
    explanation: Explanation
    changes: list[Changes]
    drawn: list[np.ndarray]

    def margins(self, case: int, chosen: np.ndarray) -> np.ndarray:
        """Asked once more, by itself."""
        rows = [
            own.inputs(chosen) if i == case else self.engine.cases.x[:0].cpu()
            for i, own in enumerate(self.changes)
        ]
        return self.engine.ask([instead(self.engine.cases, rows)])[0].margin.numpy()

    def chosen(self, case: int) -> list[np.ndarray]:
        """The case after none, one, two ... steps of its path."""
        rows = [np.full(self.changes[case].features, -1)]
        for step in self.explanation.cases[case]["path"]["steps"]:
            many = count_of(self.changes[case], step["index"])
            texts = [self.changes[case].becomes(step["index"], k) for k in range(many)]
            nxt = rows[-1].copy()
            nxt[step["index"]] = texts.index(step["to"])
            rows.append(nxt)
        return rows


@pytest.fixture(params=SETTINGS, scope="module")
def found(request: pytest.FixtureRequest) -> Found:
    engine = engine_for(SETTINGS[request.param]())
    method = METHODS.make("decision-boundary", {"samples": SAMPLES})
    explanation = found_by(engine, method.explain(engine.cases))  # type: ignore[arg-type]
    changes = changes_of(engine.cases)
    rngs = engine.cases.rng("decision-boundary")
    drawn = [c.nearby(r, SAMPLES) for c, r in zip(changes, rngs, strict=True)]
    return Found(engine, explanation, changes, drawn)


def test_every_path_ends_across_and_only_there(found: Found) -> None:
    crossed = 0
    for i, one in enumerate(found.explanation.cases):
        path = one["path"]
        margins = [path["start"], *(step["margin"] for step in path["steps"])]
        asked = found.margins(i, np.stack(found.chosen(i)))
        np.testing.assert_allclose(asked, margins, atol=1e-6)
        if path["steps"]:
            crossed += 1
            assert margins[-1] < 0 < margins[0]
            assert path["edits"] == len(path["steps"]) == len({s["index"] for s in path["steps"]})
    assert crossed


def test_no_sample_crosses_with_fewer_edits(found: Found) -> None:
    for i, one in enumerate(found.explanation.cases):
        across = found.margins(i, found.drawn[i]) < 0
        assert one["path"]["crossing"] == across.sum()
        assert bool(one["path"]["steps"]) == bool(across.any())
        if across.any():
            fewest = (found.drawn[i][across] >= 0).sum(1).min()
            assert one["path"]["edits"] == fewest
            assert any((row == found.chosen(i)[-1]).all() for row in found.drawn[i][across])


def test_each_step_moves_the_margin_least(found: Found) -> None:
    for i, one in enumerate(found.explanation.cases):
        rows = found.chosen(i)
        for before, after, step in zip(rows, rows[1:], one["path"]["steps"], strict=False):
            left = np.flatnonzero(rows[-1] != before)
            tried = np.repeat(before[None], len(left), axis=0)
            tried[np.arange(len(left)), left] = rows[-1][left]
            margin = float(found.margins(i, before[None])[0])
            moved = np.abs(found.margins(i, tried) - margin)
            assert moved.min() == pytest.approx(abs(step["margin"] - margin), abs=1e-6)
            assert (after != before).sum() == 1


def test_of_several_the_nearest_in_the_last_layer_is_taken(found: Found) -> None:
    engine, module = found.engine, found.engine.cases.model.module

    def seen(x: Tensor) -> Tensor:
        if isinstance(module, TextModel):
            ids, attention, types = x[:, :, : int(x[0, 1].sum())].unbind(1)
            return module.features(module.embed(ids), attention, types)[0]
        assert isinstance(module, MLP)
        return module.features(x)[0]

    for i, one in enumerate(found.explanation.cases):
        rows = found.drawn[i]
        margins = found.margins(i, rows)
        fewest = (margins < 0) & ((rows >= 0).sum(1) == one["path"]["edits"])
        if not one["path"]["steps"]:
            continue
        goal = found.chosen(i)[-1]
        if not isinstance(module, TextModel | MLP):  # a black box: the nearest margin
            far = (margins - one["path"]["start"]) ** 2
        else:
            inputs = found.changes[i].inputs(rows).to(engine.cases.x)
            own = seen(engine.cases.x[i : i + 1])
            far = np.array([float((seen(x[None]) - own).square().sum()) for x in inputs])
        best = far[fewest].min()
        taken = far[[bool((row == goal).all()) for row in rows]]
        assert taken[0] == pytest.approx(best, rel=1e-6, abs=1e-9)


def test_the_map_has_what_each_edit_moves(found: Found) -> None:
    for row, one in zip(found.explanation.attribution, found.explanation.cases, strict=True):
        expected, before = torch.zeros_like(row), one["path"]["start"]
        for step in one["path"]["steps"]:
            expected[step["index"]] = abs(step["margin"] - before)
            before = step["margin"]
        torch.testing.assert_close(row, expected)


def deaf() -> Setting:
    """A model that says the same of every row."""
    return table_setting(lambda x: np.full(len(x), 0.8))


def test_where_nothing_crosses_the_map_is_zero_and_says_so() -> None:
    engine = engine_for(deaf())
    method = METHODS.make("decision-boundary", {"samples": 50})
    explanation = found_by(engine, method.explain(engine.cases))  # type: ignore[arg-type]
    assert not explanation.attribution.any()
    for one in explanation.cases:
        assert one["path"]["steps"] == []
        assert one["path"]["crossing"] == 0
        assert one["path"]["samples"] == 50


def test_a_path_to_an_output_that_the_model_does_not_give() -> None:
    """A path that starts beyond the boundary leads back over it."""
    own = table_setting(network(loud=2.0))
    other = table_setting(network(loud=2.0), target=[1 - int(t) for t in own.target])
    engines = [engine_for(s) for s in (own, other)]
    program = METHODS.make("decision-boundary", {"samples": SAMPLES}).explain
    here, there = (found_by(e, program(e.cases)) for e in engines)  # type: ignore[arg-type]
    torch.testing.assert_close(here.attribution, there.attribution)
    for one, two in zip(here.cases, there.cases, strict=True):
        assert one["path"]["crossing"] == two["path"]["crossing"]
        assert two["path"]["start"] < 0
        if two["path"]["steps"]:
            assert two["path"]["steps"][-1]["margin"] > 0
    assert any(one["path"]["steps"] for one in there.cases)
