"""Prototype and omission: what they ask, against everything done by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from prototype_support import EACH, equipped, equipped_table, made
from support import engine_for
from tabular_support import COLUMNS, network, table_setting
from text_support import setting, small
from torch import Tensor

from humetric.engine.engine import Engine
from humetric.engine.placement import place
from humetric.methods import METHODS
from humetric.methods.explanation import Explanation
from humetric.models.prototypes import PrototypeModel, PrototypeModels, Shown, models_of
from humetric.run.plan import refusal
from humetric.run.work import Counter, explanations
from humetric.tasks.imputation import fit_imputer
from humetric.tasks.setting import Setting

WORDS = ("sentiment", "nli")


def explained(name: str, engine: Engine, **parameters: object) -> Explanation:
    found = explanations([METHODS.make(name, parameters)], engine)[name]
    if isinstance(found, Exception):
        raise found
    return found


def models(engine: Engine) -> PrototypeModels:
    assert engine.cases.prototypes is not None
    return engine.cases.prototypes


def without(engine: Engine, module: Any, case: int, word: int | None) -> Tensor:
    """What a text model says of a case, the embeddings of a word zeroed by hand."""
    _, texts = engine.cases.text()
    count = int(texts.tokens.counts[case])
    ids, attention, types = engine.cases.x[case : case + 1, :, :count].unbind(1)
    with torch.no_grad():
        embedded = module.embed(ids)
        if word is not None:
            embedded[0, texts.tokens.word[case, :count] == word] = 0
        found: Tensor = module.from_embeddings(embedded, attention, types)[0]
    return found


def expected_without(engine: Engine, ask: Any, case: int, column: int) -> float:
    """E ask(row with another value of a column), listed value by value."""
    cases = engine.cases
    imputer = fit_imputer(cases.rows())
    row = cases.x[case].double().numpy()
    chances = imputer.chances(row[None], column)[0]
    assert chances.sum() == pytest.approx(1)
    total = 0.0
    for chance, value in zip(chances, imputer.typical[column], strict=True):
        changed = row.copy()
        changed[column] = value
        total += float(chance) * ask(torch.from_numpy(changed[None]))
    return total


def nearest(model: PrototypeModel, activations: Tensor) -> tuple[int, int]:
    """Predicted class, and the most similar prototype of it."""
    best = int(activations.argmax())
    return int(model.layer.owner[best]), best


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("task", WORDS)
def test_importances_of_words_are_those_of_embeddings_zeroed_by_hand(
    task: str, fixed: bool
) -> None:
    engine = engine_for(equipped(task))
    found = explained("prototype", engine, fixed=fixed)
    model = models(engine).variant(fixed)
    assert found.attribution.abs().max() > 0.5, "else nothing would be compared"
    for case, length in enumerate(engine.cases.lengths):
        whole = without(engine, model, case, None)
        prediction, best = nearest(model, whole)
        told = found.cases[case]["prototype"]
        assert (told["prediction"], told["class"]) == (prediction, prediction)
        assert told["similarity"] == pytest.approx(10 * float(whole[best]))
        for word in range(length):
            drop = 10 * float(whole[best] - without(engine, model, case, word)[best])
            assert float(found.attribution[case, word]) == pytest.approx(drop, abs=1e-9)


@pytest.mark.parametrize("fixed", [False, True])
def test_importances_of_columns_are_expectations_listed_by_hand(fixed: bool) -> None:
    engine = engine_for(equipped_table())
    found = explained("prototype", engine, fixed=fixed)
    model = models(engine).variant(fixed)
    assert found.attribution.abs().max() > 0.5
    for case in range(len(engine.cases)):
        with torch.no_grad():
            whole = model(engine.cases.x[case : case + 1])[0]
        _, best = nearest(model, whole)

        def ask(row: Tensor, best: int = best) -> float:
            with torch.no_grad():
                return float(model(row)[0, best])

        for column in range(len(COLUMNS)):
            drop = 10 * (float(whole[best]) - expected_without(engine, ask, case, column))
            assert float(found.attribution[case, column]) == pytest.approx(drop, abs=1e-6)


@pytest.mark.parametrize("task", WORDS)
def test_omission_is_the_drop_of_the_models_own_probability(task: str) -> None:
    engine = engine_for(setting(task))
    found = explained("omission", engine).attribution
    module, targets = engine.cases.model.module, engine.cases.target.tolist()
    for case, length in enumerate(engine.cases.lengths):
        share = without(engine, module, case, None).softmax(0)[targets[case]]
        for word in range(length):
            less = without(engine, module, case, word).softmax(0)[targets[case]]
            assert float(found[case, word]) == pytest.approx(float(share - less), abs=1e-9)
    assert found.abs().max() > 1e-3, "else nothing would be compared"


@pytest.mark.parametrize("blind", [False, True])
def test_omission_of_columns_asks_networks_and_black_boxes(blind: bool) -> None:
    module = network().double()

    def ask(row: Tensor | np.ndarray, target: int = 1) -> Any:
        with torch.no_grad():
            return module(torch.as_tensor(row)).softmax(1).numpy()

    made_of = (lambda rows: ask(rows)) if blind else network()
    engine = engine_for(table_setting(made_of, 3))
    found = explained("omission", engine).attribution
    for case, target in enumerate(engine.cases.target.tolist()):
        whole = ask(engine.cases.x[case : case + 1])[0, target]
        for column in range(len(COLUMNS)):

            def share(row: Tensor, target: int = target) -> float:
                return float(ask(row)[0, target])

            drop = whole - expected_without(engine, share, case, column)
            assert float(found[case, column]) == pytest.approx(drop, abs=1e-6)


def test_a_row_alone_is_as_in_company() -> None:
    rows = equipped_table()
    for name in ("prototype", "omission"):
        whole = explained(name, engine_for(rows))
        alone = explained(name, engine_for(rows, start=2, stop=3, batch_size=3))
        torch.testing.assert_close(alone.attribution, whole.attribution[2:3], rtol=1e-9, atol=1e-9)


class TestShown:
    def test_what_is_beside_a_map(self) -> None:
        engine = engine_for(equipped())
        found = explained("prototype", engine, shown=2, threshold=0.2)
        _, texts = engine.cases.text()
        kept = []
        for case, more in enumerate(found.cases):
            assert set(more) == {"prototype"}
            told = more["prototype"]
            assert set(told) == {
                "similarity", "class", "case", "label", "importances", "threshold", "fixed",
                "prediction",
            }  # fmt: skip
            assert told["threshold"] == 0.2
            assert 0 <= told["similarity"] <= 10
            shown = models(engine).own().shown
            assert (told["case"], told["label"]) in [(s.content[0], s.label) for s in shown]
            assert told["label"] == told["class"]
            row = found.attribution[case, : engine.cases.lengths[case]]
            top = sorted(row.abs().tolist(), reverse=True)[:2]
            sizes = [abs(f["importance"]) for f in told["importances"]]
            assert sizes == pytest.approx([v for v in top if v >= 0.2])
            for f in told["importances"]:
                assert f["feature"] == texts.words[case][f["index"]]
                assert f["importance"] == pytest.approx(float(row[f["index"]]))
            kept.append(len(sizes))
        assert max(kept) == 2

    def test_a_threshold_may_leave_nothing(self) -> None:
        found = explained("prototype", engine_for(equipped()), threshold=10.0)
        assert [more["prototype"]["importances"] for more in found.cases] == [[]] * 6

    def test_pairs_are_shown_by_segment_and_rows_by_column(self) -> None:
        pair = explained("prototype", engine_for(equipped("nli"))).cases[0]["prototype"]["case"]
        assert [name for name, _ in pair] == ["premise", "hypothesis"]
        row = explained("prototype", engine_for(equipped_table())).cases[0]["prototype"]
        assert [name for name, _ in row["case"]] == [c.name for c in COLUMNS]
        values = dict(row["case"])
        assert values["work"] in ("farm", "mill", "office")
        assert values["age"].isdigit()
        assert {f["feature"] for f in row["importances"]} <= {c.name for c in COLUMNS}

    def test_another_prediction_than_the_explained_one_is_visible(self) -> None:
        """Prototypes with classes exchanged: what they predict is the other class."""
        plain = equipped_table()
        assert plain.prototypes is not None
        own = plain.prototypes.own()
        vectors = own.layer.vectors.detach()
        swapped = torch.cat((vectors[EACH:], vectors[:EACH]))
        other = made(
            own.extractor,
            own.layer.owner.tolist(),
            swapped,
            [Shown(s.content) for s in (*own.shown[EACH:], *own.shown[:EACH])],
            float(own.layer.scale),
        )
        first = explained("prototype", engine_for(plain))
        second = explained(
            "prototype", engine_for(equipped_table(prototypes=models_of(other, other)))
        )
        for a, b in zip(first.cases, second.cases, strict=True):
            assert a["prototype"]["prediction"] == 1 - b["prototype"]["prediction"]
            assert a["prototype"]["case"] == b["prototype"]["case"]
            assert b["prototype"]["label"] is None
        torch.testing.assert_close(first.attribution, second.attribution)
        targets = plain.target.tolist()
        said = [
            [more["prototype"]["prediction"] for more in found.cases] for found in (first, second)
        ]
        assert said[0] != targets or said[1] != targets


class TestPlanning:
    @pytest.mark.parametrize("name", ["prototype", "omission"])
    def test_cards_say_what_misleads(self, name: str) -> None:
        card = METHODS.make(name).card
        assert card.tasks == ("sentiment", "nli", "tabular")
        assert card.signed
        assert "Hase & Bansal 2020" in card.reference

    def test_settings_without_what_is_needed_are_skipped_with_the_reason(self) -> None:
        plain, rows = setting(), table_setting()
        want = METHODS.make("prototype")
        for made_, id in ((plain, plain.id), (rows, rows.id)):
            expected = f"needs a prototype model, which {id} does not have"
            assert refusal(want, made_) == expected
        assert refusal(want, equipped()) == refusal(want, equipped_table()) == ""
        lone = setting(model=small("tfidf"))
        expected = f"needs an embedding layer, which {lone.id} does not have"
        assert refusal(METHODS.make("omission"), lone) == expected
        blind = table_setting(lambda x: np.full(len(x), 0.4))
        assert refusal(METHODS.make("omission"), blind) == ""

    def test_models_are_copied_once_for_all_chunks(self) -> None:
        placed = equipped_table().place(place("cpu", "fp64"))
        chunks = [placed.cases(0, 3), placed.cases(3, 6)]
        one, other = (c.prototypes.own() for c in chunks if c.prototypes is not None)
        assert one is other
        assert one.layer.vectors.dtype == torch.float64
        assert not one.layer.vectors.requires_grad

    @pytest.mark.parametrize("make", [equipped, equipped_table])
    def test_a_dry_run_counts_what_is_asked(self, make: Any) -> None:
        plain: Setting = make()
        real, dry = engine_for(plain), engine_for(plain, engine=Counter)
        for engine in (real, dry):
            explained("prototype", engine)
            explained("omission", engine)
        assert real.rows == dry.rows > 2 * len(plain)

    def test_the_weights_are_part_of_the_settings_version(self) -> None:
        plain, with_models = table_setting(), equipped_table()
        assert plain.version != with_models.version
        assert with_models.version == equipped_table().version
