"""A search that several methods want is made once, whenever they come to ask for it."""

from __future__ import annotations

import pytest
import torch
from support import engine_for
from tabular_support import table_setting
from torch import Tensor

from humetric.engine.questions import Program, empty, intact
from humetric.methods import METHODS, anchor, shared
from humetric.methods.changes import changes_of
from humetric.run.work import explanations
from humetric.tasks.cases import Cases


def test_who_comes_during_the_search_waits_for_it() -> None:
    engine, searches = engine_for(table_setting()), []

    def search() -> Program[Tensor]:
        searches.append(1)
        for _ in range(3):
            (found,) = yield [intact(engine.cases)]
        return found.logit

    def late(rounds: int) -> Program[Tensor]:
        for _ in range(rounds):
            yield [empty(engine.cases)]
        return (yield from shared(engine.cases, "it", search))

    first, *others = engine.run([late(rounds) for rounds in (0, 1, 2, 5)])
    assert len(searches) == 1
    assert isinstance(first, Tensor)
    for other in others:
        assert other is first


def test_a_search_that_fails_fails_for_all() -> None:
    engine = engine_for(table_setting())

    def search() -> Program[Tensor]:
        yield [intact(engine.cases)]
        raise ValueError("no way")

    programs = [shared(engine.cases, "it", search) for _ in range(3)]
    assert [str(found) for found in engine.run(programs)] == ["no way"] * 3


def test_composite_shows_the_rules_of_anchor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Composite asks for them a round later, after lime's questions."""
    import humetric

    searches = []

    def rules_of(cases: Cases, wanted: anchor.Wanted) -> Program[list[anchor.Rule]]:
        searches.append(len(changes_of(cases)))
        return original(cases, wanted)

    original = anchor.rules_of
    monkeypatch.setattr(anchor, "rules_of", rules_of)
    engine = engine_for(humetric.load_setting("tabular/census/mlp", 2))
    few = {"samples": 20, "rule_samples": 300, "path_samples": 30}
    found = explanations(
        [METHODS.make("anchor", {"samples": 300}), METHODS.make("composite", few)], engine
    )
    assert searches == [2]
    assert not any(isinstance(each, Exception) for each in found.values())
    assert torch.isfinite(found["composite"].attribution).all()  # type: ignore[union-attr]
    assert [c["rule"] for c in found["anchor"].cases] == [  # type: ignore[union-attr]
        c["rule"]
        for c in found["composite"].cases  # type: ignore[union-attr]
    ]
