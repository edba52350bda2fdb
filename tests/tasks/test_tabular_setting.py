"""Tabular settings: three removals, networks and black boxes, against averages written by hand."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from support import engine_for
from tabular_support import COLUMNS as MADE_UP
from tabular_support import network, rows, table_setting

from humetric import blackbox
from humetric.data.embedded import census
from humetric.engine.questions import about, intact
from humetric.errors import AccessError, HumetricError, UnknownNameError
from humetric.metrics import METRICS, Scores
from humetric.models.convnet import WEIGHTS
from humetric.models.tabular import MLP, Encoding
from humetric.seeding import generator
from humetric.tasks.embedded_tabular import load_tabular_setting
from humetric.tasks.imputation import fit_imputer
from humetric.tasks.named import load_setting
from humetric.tasks.setting import Setting, outputs
from humetric.tasks.table import Column
from humetric.tasks.tabular import REMOVALS
from humetric.tasks.tabular_setting import tabular_setting

IDS = ["tabular/census/mlp", "tabular/census/logistic", "tabular/census/trees"]
COLUMNS = (Column("size"), Column("kind", ("a", "b", "c")), Column("age"))
ROWS = np.array([[1.0, 0, 30], [2.5, 2, 41], [-1, 1, 29], [0, 2, 64]])
BACKGROUND = np.array([[0.0, 1, 20], [4, 1, 60], [2, 2, 40], [6, 0, 36]])


def small(**changes: Any) -> Setting:
    """A small table and an untrained network."""
    torch.manual_seed(3)
    network = MLP((0, 3, 0), (6,))
    network.encoding.fit(torch.from_numpy(BACKGROUND).float())
    given: dict[str, Any] = {
        "model": network,
        "rows": ROWS,
        "background": BACKGROUND,
        "draws": 3,
        **changes,
    }
    return tabular_setting("tabular/small/test", columns=COLUMNS, **given)


def census_setting(id: str, removal: str, cases: int = 3) -> Setting:
    chosen = json.loads((WEIGHTS / id / "cases.json").read_text())
    return load_tabular_setting(id, chosen, chosen["cases"][:cases], removal, draws=6)


def fills(removal: str, setting: Setting, case: int) -> np.ndarray:
    """(draws, columns): what removed columns become, by hand and before rounding."""
    background = census.rows("background")[0]
    if removal == "expectation":
        return background[:6]
    if removal == "mean":
        values = []
        for column, known in zip(census.COLUMNS, background.T, strict=True):
            counts = [np.sum(known == v) for v in range(len(column.categories))]
            values.append(float(np.argmax(counts)) if counts else float(np.mean(known)))
        return np.array([values])
    assert setting.table is not None
    row = setting.x[case : case + 1].double().numpy()
    rng = generator(0, setting.ids[case], "imputation")
    return fit_imputer(setting.table).draws(row, 6, [rng])[0]


def by_hand(
    setting: Setting, module: Any, filled: np.ndarray, case: int, probability: bool
) -> Callable[[np.ndarray], np.ndarray]:
    """From rows of 1 (kept) and 0 (removed) to the model's answers, averaged over the fills."""
    x, target = setting.x[case].double().numpy(), int(setting.target[case])

    def f(kept: np.ndarray) -> np.ndarray:
        total = np.zeros(len(kept))
        for fill in filled:
            rows = np.where(kept == 1, x, fill)
            with torch.inference_mode():
                logits = module(torch.from_numpy(rows))
            chosen = logits.softmax(1) if probability else logits
            total += chosen[:, target].numpy()
        return total / len(filled)

    return f


@pytest.mark.parametrize("removal", REMOVALS)
@pytest.mark.parametrize("id", [IDS[0], IDS[2]])
def test_metrics_equal_the_numpy_reference(id: str, removal: str) -> None:
    setting = census_setting(id, removal)
    engine = engine_for(setting)
    cases = engine.cases
    draw = torch.Generator().manual_seed(5)
    attribution = torch.randn(cases.shape, generator=draw, dtype=torch.float64)
    filled = [fills(removal, setting, i).astype(np.float32).astype(float) for i in range(3)]
    for name in ("deletion", "insertion", "comprehensiveness", "sufficiency", "mu-fidelity"):
        (found,) = engine.run([METRICS.make(name, {}).program(attribution, cases)])
        assert isinstance(found, Scores), found
        for i, (ties, subsets) in enumerate(zip(cases.rng("ties"), cases.rng(name), strict=True)):
            f = by_hand(setting, engine.module, filled[i], i, name != "mu-fidelity")
            ones, own, tolerance = np.ones(12), attribution[i].numpy(), 1e-9
            if name == "mu-fidelity":
                kept = blackbox.draw_subsets(12, 2, 200, subsets)
                expected = blackbox.mu_fidelity(f, ones, own, subsets=kept)
                if removal == "mean":  # what the row has already makes ties, but for the last bit
                    assert (filled[i] == setting.x[i].numpy()).any()
                    tolerance = 0.02
            else:
                reference = getattr(blackbox, name)(f, ones, own, ties=ties.permutation(12))
                expected = getattr(reference, "area", reference)
            assert float(found.value[i]) == pytest.approx(expected, abs=tolerance), (name, i)


class Seen:
    """A black box that keeps the rows it was asked about; certain of nothing."""

    def __init__(self) -> None:
        self.rows: list[np.ndarray] = []
        self.lock = threading.Lock()  # cannot be copied

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        with self.lock:
            self.rows.append(rows.copy())
        return 1 / (1 + np.exp(rows[:, 0] - 1))


@pytest.mark.parametrize("removal", REMOVALS)
def test_a_value_is_never_mixed(removal: str) -> None:
    """Whatever is removed, a category is one of the background's or the row's own."""
    seen = Seen()
    setting = small(model=seen, removal=removal)
    engine = engine_for(setting, precision="bf16")
    bits = np.random.default_rng(0).random((len(ROWS), 40, 3)) < 0.5
    engine.ask([about(engine.cases, list(bits))])
    rows = np.concatenate(seen.rows)
    assert rows.dtype == np.float64
    assert set(rows[:, 1]) <= {0.0, 1.0, 2.0}
    allowed = set(ROWS[:, 0]) | set(BACKGROUND[:, 0]) | {BACKGROUND[:, 0].mean()}
    assert set(rows[:, 0]) <= allowed
    task = setting.task
    keep = torch.tensor([[0.2, 0.7, 0.9]])
    task.mix(keep, torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[7.0, 8.0, 9.0]]))
    assert keep.tolist() == [[7, 2, 3]]


def test_fills_are_what_the_removal_says() -> None:
    assert small().baseline.tolist() == [BACKGROUND[:3].tolist()]
    assert small(removal="mean").baseline.tolist() == [[[3.0, 1.0, 39.0]]]
    drawn = small(removal="imputation", draws=9).baseline
    assert drawn.shape == (4, 9, 3)
    versions = {small(removal=removal).version for removal in REMOVALS}
    versions |= {small(draws=2).version, small(background=BACKGROUND[::-1]).version}
    assert len(versions) == 5, "other answers, another version"


def test_imputed_draws_belong_to_the_case() -> None:
    together = small(removal="imputation", ids=list("abcd"))
    alone = small(removal="imputation", rows=ROWS[2:3], ids=["c"])
    assert torch.equal(together.baseline[2], alone.baseline[0])


def test_predictions_are_explained_unless_targets_are_given() -> None:
    made = small()
    assert made.target.tolist() == outputs(made.model.module, made.x).argmax(1).tolist()
    other = small(target=[1, 0, 1, 1], label=[1, 1, 1, 1])
    assert other.right.tolist() == [True, False, True, True]
    assert made.task.features == (3,)
    assert made.model.gives == {"predict", "gradient", "internals"}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_an_encoding_keeps_its_precision(dtype: torch.dtype) -> None:
    """Means of a thousand would be rounded by up to two in bfloat16, and the rows with them."""
    rows = torch.tensor([[1001.0, 2], [1003, 0], [1002, 1]])
    encoding = Encoding((0, 3)).fit(rows)
    model = MLP((0, 3), ())
    model.encoding = encoding
    before = model.encode(rows)
    moved = model.to(dtype)
    assert moved.encoding.shift.dtype == moved.encoding.scale.dtype == torch.float32
    assert torch.equal(moved.encode(rows), before)
    assert before[:, 0].tolist() == pytest.approx([-1, 1, 0])
    assert before[:, 1:].tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert encoding.source.tolist() == [0, 1, 1, 1]
    assert moved(rows).dtype == moved.head.weight.dtype
    assert moved.encode(rows.double()).dtype == torch.float64


def test_what_a_linear_model_adds_up_to() -> None:
    linear, deep = MLP((0, 3, 0), ()), MLP((0, 3, 0), (4,))
    x = torch.from_numpy(ROWS).float()
    total = linear.contributions(x).sum(1) + linear.head.bias
    torch.testing.assert_close(total, linear(x))
    assert (linear.reads, deep.reads) == ({"coefficients"}, {"features"})
    torch.testing.assert_close(deep.head(deep.features(x)), deep(x))
    with pytest.raises(AccessError, match="not linear"):
        deep.contributions(x)
    with pytest.raises(AccessError, match="no hidden layer"):
        linear.features(x)


def test_a_black_box_gives_predictions_and_nothing_else() -> None:
    setting = small(model=Seen())
    assert setting.model.gives == {"predict"}
    cases = engine_for(setting).cases
    with pytest.raises(AccessError, match=r"needs gradient access.* gives only predict"):
        cases.module()
    answers = engine_for(setting).ask([intact(cases)])[0]
    second = 1 / (1 + np.exp(ROWS[:, 0] - 1))
    expected = np.where(setting.target.numpy() == 1, second, 1 - second)
    assert answers.probability.numpy() == pytest.approx(expected, abs=1e-9)
    assert answers.logit.numpy() == pytest.approx(np.log(expected), abs=1e-9)
    sure = small(model=lambda rows: np.stack((rows[:, 0] * 0, rows[:, 0] * 0 + 1), 1))
    found = engine_for(sure).ask([intact(engine_for(sure).cases)])[0]
    assert found.logit.tolist() == [0, 0, 0, 0], "certain, and finite"


@pytest.mark.parametrize(
    ("predict", "message"),
    [
        (lambda r: np.full((len(r), 2), 0.6), r"sum to 1.* shape \(4, 2\), e\.g\. \[0\.6, 0\.6\]"),
        (lambda r: np.full((len(r), 1), 1.0), r"gave an array of shape \(4, 1\)"),
        (lambda r: np.full((3, 2), 0.5), r"shape \(4, classes\).* gave an array of shape \(3, 2\)"),
        (lambda r: np.zeros((len(r), 2, 1)), r"array of shape \(4, 2, 1\)\."),
        (lambda r: 0.5, r"array of shape \(\)\."),
        (lambda r: np.full(len(r), 1.5), r"e\.g\. \[-0\.5, 1\.5\]"),
        (
            lambda r: np.where(r[:, :1] == -1, np.nan, np.full((len(r), 2), 0.5)),
            r"e\.g\. \[nan, nan\]",
        ),
    ],
)
def test_what_is_no_probability_is_refused(predict: Any, message: str) -> None:
    """The first bad row is shown, not the first row."""
    with pytest.raises(HumetricError, match=message):
        small(model=predict)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": ROWS[:, :2]}, r"Expected rows of shape \(rows, 3\).* got \(4, 2\)"),
        ({"rows": ROWS + np.eye(3)[1]}, r"categories from 0 to 2 in column kind of the rows"),
        ({"background": BACKGROUND + np.inf}, r"finite numbers .* of the background"),
        ({"rows": [["a", "b", "c"]] * 4}, "plain numbers .* 'a'"),
        ({"label": [1]}, "Expected 4 labels but got 1"),
        ({"label": [0, 1, 2, 0]}, r"labels from 0 to 1 .* got \[0, 1, 2, 0\]"),
        ({"model": MLP((0, 3, 0), (4,), classes=1)}, r"two classes or more but got \(4, 1\)"),
        ({"target": [0, 1, 2, 0]}, r"targets from 0 to 1 but got \[0, 1, 2, 0\]"),
        ({"ids": ["a", "a", "b", "c"]}, "Expected 4 different ids but got 3"),
        ({"draws": 0}, "Expected 1 to 4 draws"),
        ({"draws": 5}, "background rows that there are, but got 5: give more"),
    ],
)
def test_bad_rows_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(HumetricError, match=message):
        small(**changes)


def test_an_unknown_removal_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'imputation'"):
        small(removal="imputaton")
    with pytest.raises(UnknownNameError, match="Known: expectation, imputation, mean"):
        census_setting(IDS[0], "zero")


def test_few_background_rows_are_enough_where_none_is_averaged_over() -> None:
    assert small(removal="mean", draws=32).baseline.shape == (1, 1, 3)
    assert small(removal="imputation", draws=32).baseline.shape == (4, 32, 3)


@pytest.mark.parametrize("id", IDS)
def test_an_embedded_setting_is_what_is_on_record(id: str) -> None:
    setting = load_setting(id)
    rows = json.loads((WEIGHTS / id / "cases.json").read_text())["cases"]
    assert len(setting) == len(rows) == 84
    assert setting.target.tolist() == [row["predicted"] for row in rows]
    assert setting.label.tolist() == [row["label"] for row in rows]
    assert setting.target.tolist() == outputs(setting.model.module, setting.x, 7).argmax(1).tolist()
    assert setting.classes == census.CLASSES
    assert setting.region is not None
    drawn: Sequence[Any] = [census.draw(row["index"], "pool").values for row in rows]
    assert setting.x.tolist() == [list(values) for values in drawn]
    assert setting.region.tolist() == [list(census.relevant(values)) for values in drawn]
    assert setting.table is not None
    assert len(setting.table.background) == 1000
    background = {tuple(row) for row in setting.table.background.tolist()}
    assert not background & {tuple(map(float, values)) for values in drawn}
    assert torch.equal(setting.baseline[0], torch.tensor(setting.table.background[:32]).float())
    assert len(load_setting(id, 4)) == 4
    with pytest.raises(HumetricError, match="expected 1 to 84, got 85"):
        load_setting(id, 85)


def test_other_rows_than_the_recorded_ones_are_refused() -> None:
    rows: list[dict[str, Any]] = [{"index": 3, "sha256": "0" * 64, "label": 0, "predicted": 0}]
    with pytest.raises(HumetricError, match="1 of 1 are others"):
        load_tabular_setting(IDS[0], {"data": "census", "data_version": 1}, rows)


def test_methods_that_need_gradients_are_for_networks() -> None:
    for id, gradients in zip(IDS, (True, True, False), strict=True):
        assert ("gradient" in load_setting(id, 4).model.gives) == gradients
    logistic = load_setting(IDS[1], 4)
    assert logistic.model.refuses("internals", "coefficients") == ""
    assert "gives only predict" in load_setting(IDS[2], 4).model.refuses("gradient")


def test_a_network_of_other_columns_is_refused() -> None:
    with pytest.raises(HumetricError, match="it encodes \\(0, 3\\)"):
        table_setting(MLP((0, 3)))


def test_what_would_be_misread_is_refused() -> None:
    frame = pd.DataFrame(rows(6, 3), columns=[c.name for c in MADE_UP])
    assert torch.equal(own_rows(frame).x, own_rows(frame.to_numpy()).x)
    with pytest.raises(HumetricError, match="in this order but got income, married, hours"):
        own_rows(frame[frame.columns[::-1]])
    with pytest.raises(HumetricError, match=r"names of the model's 2 classes but got \['a'\]"):
        table_setting(classes=("a",))
    with pytest.raises(HumetricError, match="got str: for a model of scikit-learn"):
        table_setting("model")  # type: ignore[arg-type]
    with pytest.raises(HumetricError, match="Expected columns as humetric"):
        tabular_setting("tabular/a/b", network(), ["age"], rows(2), background=rows(40))  # type: ignore[list-item]


def own_rows(given: Any) -> Setting:
    return tabular_setting("tabular/a/b", network(), MADE_UP, given, background=rows(40))


def test_a_black_box_that_raises_is_quoted() -> None:
    def predict(x: np.ndarray) -> np.ndarray:
        raise KeyError("no such column")

    with pytest.raises(HumetricError, match=r"predict raised KeyError: 'no such column', when .*5"):
        table_setting(predict)
