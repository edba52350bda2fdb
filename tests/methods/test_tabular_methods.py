"""Methods on rows of a table: a number per column, whatever the model makes of a column."""

from __future__ import annotations

import itertools
from math import factorial

import numpy as np
import pytest
import torch
from support import engine_for
from tabular_support import COLUMNS, SIZES, network, rows, table_setting
from torch import Tensor

from humetric.engine.engine import Engine
from humetric.engine.questions import empty, intact
from humetric.errors import HumetricError
from humetric.methods import METHODS
from humetric.methods.shapley import coalitions, values
from humetric.run.plan import refusal
from humetric.run.work import explain as run_methods
from humetric.tasks.setting import Setting
from humetric.tasks.table import Column
from humetric.tasks.tabular_setting import tabular_setting

CASES = 4
FEW = {"lime": 60, "kernel-shap": 24, "smoothgrad": 3, "decision-boundary": 60, "anchor": 300}


def makes(name: str) -> dict[str, int]:
    return {"samples": FEW[name]} if name in FEW else {}


def explained(name: str, engine: Engine, **parameters: object) -> Tensor:
    found = run_methods([METHODS.make(name, parameters or makes(name))], engine)[name]
    assert isinstance(found, Tensor), found
    return found


def fitting(setting: Setting) -> list[str]:
    return [name for name in METHODS if not refusal(METHODS.make(name), setting)]


def linear(classes: int = 2) -> Setting:
    return table_setting(network((), classes), CASES)


SETTINGS = {"network": lambda: table_setting(cases=CASES), "linear": linear}


@pytest.mark.parametrize("kind", SETTINGS)
class TestContract:
    """What tests/test_contract.py asks of methods on images."""

    def test_all_that_fit_explain_every_column(self, kind: str) -> None:
        setting = SETTINGS[kind]()
        engine = engine_for(setting, precision="fp32")
        names = fitting(setting)
        assert {"saliency", "lime", "anchor", "decision-boundary", "shapley"} <= set(names)
        assert ("coefficients" in names) == (kind == "linear")
        for name in names:
            found = explained(name, engine)
            assert found.shape == (CASES, len(COLUMNS))
            if not METHODS.make(name).card.signed:
                assert found.min() >= 0

    def test_a_case_alone_is_as_in_company_and_the_same_again(self, kind: str) -> None:
        setting = SETTINGS[kind]()
        for name in fitting(setting):
            whole = explained(name, engine_for(setting))
            alone = explained(name, engine_for(setting, start=2, stop=3))
            torch.testing.assert_close(alone, whole[2:3], rtol=1e-9, atol=1e-9)


def test_integrated_gradients_are_complete() -> None:
    """They sum to f(x) - f(mean of the encoded background rows)."""
    setting = table_setting(cases=CASES)
    engine = engine_for(setting)
    found = explained("integrated-gradients", engine, points=2000)
    model, cases = engine.cases.tabular_module(), engine.cases
    start = model.encode(cases.baseline[0]).mean(0, keepdim=True)
    with torch.no_grad():
        whole, nothing = model(cases.x), model.from_encoded(start)
    gap = whole.gather(1, cases.target[:, None])[:, 0] - nothing[0, cases.target]
    torch.testing.assert_close(found.sum(1), gap, rtol=0, atol=2e-3)


def test_on_a_linear_model_all_that_compare_with_the_background_agree() -> None:
    engine = engine_for(linear())
    exact = explained("shapley", engine)
    for name, near in (("integrated-gradients", 1e-7), ("occlusion", 1e-9), ("kernel-shap", 1e-9)):
        torch.testing.assert_close(explained(name, engine), exact, rtol=0, atol=near)
    model, cases = engine.cases.tabular_module(), engine.cases
    with torch.no_grad():
        logit = model(cases.x).gather(1, cases.target[:, None])[:, 0]
    bias = model.head.bias[cases.target]  # type: ignore[union-attr,index]
    added = explained("coefficients", engine)
    torch.testing.assert_close(added.sum(1) + bias, logit, rtol=0, atol=1e-9)
    torch.testing.assert_close(added, explained("gradient-input", engine), rtol=0, atol=1e-9)


def test_saliency_is_the_norm_over_a_columns_numbers() -> None:
    engine = engine_for(linear())
    weight = engine.cases.model.module.head.weight  # type: ignore[union-attr]
    source = [j for j, size in enumerate(SIZES) for _ in range(max(1, size))]
    for row, target in zip(explained("saliency", engine), engine.cases.target, strict=True):
        own = weight[target]
        for j in range(len(SIZES)):
            part = own[[k for k, column in enumerate(source) if column == j]]
            assert row[j] == pytest.approx(float(part.norm()), abs=1e-9)


def test_shapley_values_by_all_orders_of_joining() -> None:
    rng = np.random.default_rng(0)
    n, score = 4, rng.normal(size=(1, 16))
    by_hand = np.zeros(n)
    for order in itertools.permutations(range(n)):
        joined = 0
        for j in order:
            by_hand[j] += score[0, joined | 1 << j] - score[0, joined]
            joined |= 1 << j
    np.testing.assert_allclose(values(score)[0], by_hand / factorial(n), atol=1e-12)
    assert coalitions(2).tolist() == [[False, False], [True, False], [False, True], [True, True]]


def test_kernel_shap_with_all_coalitions_is_exact() -> None:
    engine = engine_for(table_setting(cases=CASES))
    exact, regression = explained("shapley", engine), explained("kernel-shap", engine, samples=30)
    torch.testing.assert_close(regression, exact, rtol=0, atol=1e-6)
    whole, nothing = engine.ask([intact(engine.cases), empty(engine.cases)])
    torch.testing.assert_close(exact.sum(1), whole.logit - nothing.logit, rtol=0, atol=1e-9)


def test_exact_values_of_many_columns_are_refused() -> None:
    columns = [Column(f"c{j}") for j in range(13)]
    draw = np.random.default_rng(0).normal(size=(40, 13))
    setting = tabular_setting(
        "tabular/wide/one",
        lambda x: 1 / (1 + np.exp(-x.sum(1))),
        columns,
        draw[:2],
        background=draw[2:],
        draws=2,
    )
    engine = engine_for(setting)
    found = run_methods([METHODS.make("shapley")], engine)["shapley"]
    assert isinstance(found, HumetricError)
    assert "8,192 questions" in str(found)


def test_lime_recovers_a_linear_model() -> None:
    """The probability is the weighted sum of what is kept: LIME's weights are those."""
    true = np.array([0.1, -0.05, 0.2, 0.02, -0.1])
    setting = table_setting(
        lambda x: 0.5 + (x / 100) @ true,
        CASES,
        background=np.zeros((40, 5)),
        draws=1,
        target=[1] * CASES,
    )
    engine = engine_for(setting)
    found = explained("lime", engine, samples=200, ridge=1e-9)
    expected = engine.cases.x / 100 * torch.from_numpy(true)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-8)


def test_what_people_see_of_lime_adds_up() -> None:
    engine = engine_for(table_setting(cases=CASES))
    found = METHODS.make("lime", {"samples": 100}).explain(engine.cases)
    (explanation,) = engine.run([found])  # type: ignore[list-item]
    assert not isinstance(explanation, Exception)
    for i, one in enumerate(explanation.cases):  # type: ignore[attr-defined]
        shown = one["lime"]
        weights = [f["weight"] for f in shown["features"]]
        assert len(weights) == 5
        assert shown["sum"] == pytest.approx(sum(weights))
        assert shown["probability"] == pytest.approx(shown["sum"] + shown["intercept"])
        order = explanation.attribution[i].abs().argsort(descending=True)  # type: ignore[attr-defined]
        assert [f["index"] for f in shown["features"]] == order.tolist()
        name = engine.cases.named(i)[shown["features"][0]["index"]]
        assert shown["features"][0]["feature"] == name
        assert " = " in name


def test_a_black_box_is_asked_and_never_differentiated() -> None:
    module = network()

    def predict(x: np.ndarray) -> np.ndarray:
        assert x.dtype == np.float64
        with torch.no_grad():
            return module(torch.from_numpy(x).float()).double().softmax(1).numpy()

    box, open_ = table_setting(predict, CASES), table_setting(module, CASES)
    reason = refusal(METHODS.make("saliency"), box)
    assert reason == "needs gradient access, but tabular/made/up gives only predict"
    names = fitting(box)
    assert {"lime", "anchor", "shapley", "occlusion", "decision-boundary", "random"} <= set(names)
    assert not {"integrated-gradients", "coefficients", "smoothgrad"} & set(names)
    one, other = (explained("lime", engine_for(s, precision="fp32")) for s in (box, open_))
    torch.testing.assert_close(one, other, rtol=0, atol=1e-5)


def test_magnitude_is_distance_from_the_mean_whatever_the_column() -> None:
    background = np.zeros((100, 5))
    background[:, 0] = np.tile([30, 50], 50)
    background[:25, 3] = 1
    background[:, 4] = np.arange(100)
    setting = table_setting(cases=2, background=background)
    made = rows(2, 3)
    found = explained("magnitude", engine_for(setting))
    np.testing.assert_allclose(found[:, 0], np.abs(made[:, 0] - 40) / 10, atol=1e-6)
    share = np.where(made[:, 3] == 1, 0.25, 0.75)
    np.testing.assert_allclose(found[:, 3], np.sqrt((1 - share) / share), atol=1e-6)
