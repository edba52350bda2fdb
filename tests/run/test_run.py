"""Runs: what is planned is what is done; a method that fails costs itself only."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch
from support import linear_setting, net_setting, reordered
from torch import Tensor

from humetric import METHODS, METRICS, evaluate, run_settings
from humetric.engine.placement import place
from humetric.errors import HumetricError
from humetric.methods import Method, method
from humetric.metrics import Work
from humetric.models.model import Model
from humetric.results.store import Store
from humetric.run.evaluate import as_method, by_id
from humetric.run.plan import costs, make_plan
from humetric.tasks.cases import Cases
from humetric.tasks.named import load_setting

MASKING = ["occlusion", "lime", "kernel-shap", "rise"]


def few(name: str, **parameters: int) -> Method:
    """A method with few samples, where it takes any."""
    return METHODS.make(name, {"samples": 30} | parameters if name in MASKING[1:] else None)


def all_metrics() -> list:  # type: ignore[type-arg]
    """Those with a value per case that need nothing beside what is shipped."""
    made = [METRICS.make(name) for name in METRICS]
    return [m for m in made if m.card.scope == "case" and not m.card.weights]


def test_one_row_per_case_method_and_metric() -> None:
    scores = evaluate(net_setting(), ["saliency", "random"], ["deletion", "complexity"])
    assert len(scores) == 4 * 2 * 2
    assert not scores.duplicated(["setting", "case", "method", "metric"]).any()
    assert scores["value"].notna().all()


def test_chunks_order_and_company_do_not_matter() -> None:
    setting = net_setting(cases=5)
    methods = [few(name, cells=3) for name in ("saliency", "smoothgrad", *MASKING)]
    whole = run_settings([setting], methods, all_metrics(), precision="fp64").scores
    other = run_settings(
        [reordered(setting, [4, 2, 0])],
        methods[::-1][:3],
        all_metrics()[::-1],
        precision="fp64",
        chunk=2,
        batch_size=7,
    ).scores
    keys = ["setting", "case", "method", "metric"]
    joined = other.merge(whole, on=keys, suffixes=("", "_whole"))
    assert len(joined) == len(other) == 3 * 3 * sum("image" in m.card.tasks for m in all_metrics())
    assert (joined["value"] - joined["value_whole"]).abs().max() < 1e-9


def test_dry_run_counts_what_is_asked() -> None:
    setting = net_setting(cases=5)
    methods = [few(name) for name in ("saliency", "smoothgrad", "random", *MASKING)]
    plan = make_plan([setting], methods, all_metrics(), chunk=2)
    assert [(i.start, i.stop) for i in plan.items] == [(0, 2), (2, 4), (4, 5)]
    placed = {setting.id: setting.place(place("cpu"))}
    expected = list(costs(plan, placed, by_id(methods), by_id(all_metrics()), 0))
    result = run_settings([setting], methods, all_metrics(), chunk=2)
    assert sum(c.forward for c in expected) == result.provenance["model_calls"]
    assert sum(c.backward for c in expected) == 5 * (1 + 80)


def test_dry_run_counts_what_simulated_users_are_shown(tmp_path: Path) -> None:
    """24 learning cases beside the four that are scored; then nothing, since all is there."""
    setting, method = load_setting("tabular/census/logistic", 4), METHODS.make("occlusion")
    user = METRICS.make("forward-simulation")
    plan = make_plan([setting], [method], [user], chunk=12)
    placed = {setting.id: setting.place(place("cpu"))}

    def expected() -> list[int]:
        found = costs(plan, placed, by_id([method]), by_id([user]), 0, Store(tmp_path))
        return [cost.forward for cost in found]

    before = expected()
    each = before[-1] // 4
    assert before == [12 * each, 12 * each, 4 * each]
    result = run_settings([setting], [method], [user], "cpu", chunk=12, out=tmp_path)
    assert result.provenance["model_calls"] == sum(before)
    assert sum(expected()) == 0


def test_a_black_box_skips_methods_that_need_gradients() -> None:
    setting = linear_setting()
    closed = Model(setting.model.id, setting.model.module, frozenset({"predict"}))
    setting = replace(setting, model=closed)
    methods = [METHODS.make(name) for name in ("saliency", "grad-cam", "occlusion", "random")]
    result = run_settings([setting], methods, all_metrics())
    assert {s.name for s in result.skips} == {"saliency", "grad-cam", "feature-similarity"}
    assert all("access, but image/linear/test gives only predict" in s.reason for s in result.skips)
    assert set(result.scores["method"]) == {"occlusion", "random"}
    assert not result.failures
    with pytest.raises(HumetricError, match="saliency cannot run on image/linear/test: it needs"):
        evaluate(setting, "saliency")


def test_grad_cam_is_skipped_where_no_layer_is_named() -> None:
    plan = make_plan([linear_setting()], [METHODS.make("grad-cam")], all_metrics(), 4)
    assert "needs a named layer" in plan.skips[0].reason


def test_a_method_for_another_task_is_skipped() -> None:
    text_only = method("text-only", version=1, reference="test", tasks=("nli", "qa"))(
        lambda: lambda cases: cases.x
    )()
    plan = make_plan([linear_setting()], [text_only], all_metrics(), 4)
    assert plan.skips[0].reason == "is for nli, qa, not for image"


def raises(cases: Cases) -> Tensor:
    raise KeyError("no such layer")


def wrong_shape(cases: Cases) -> Tensor:
    return cases.x


def not_a_number(cases: Cases) -> Tensor:
    return torch.full(cases.shape, torch.nan)


def not_a_tensor(cases: Cases) -> Tensor:
    return cases.x[:, 0].tolist()  # type: ignore[return-value]


def complex_numbers(cases: Cases) -> Tensor:
    return torch.zeros(cases.shape, dtype=torch.complex64)


def raises_later(cases: Cases):  # type: ignore[no-untyped-def]
    from humetric.engine.questions import intact

    yield [intact(cases)]
    raise ZeroDivisionError("in the second round")


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (raises, "KeyError: 'no such layer'"),
        (wrong_shape, r"shape \(4, 64, 64\) from wrong-shape but got \(4, 3, 64, 64\)"),
        (not_a_number, "4096 of 4096 are NaN or infinite for case case-0000"),
        (not_a_tensor, "Expected a torch.Tensor from not-a-tensor but got list"),
        (complex_numbers, "Expected real numbers"),
        (raises_later, "ZeroDivisionError: in the second round"),
    ],
)
def test_a_bad_method_costs_itself_only(bad, message: str) -> None:  # type: ignore[no-untyped-def]
    methods = [as_method(bad), METHODS.make("random"), few("lime")]
    result = run_settings([net_setting()], methods, all_metrics())
    assert set(result.scores["method"]) == {"random", "lime"}
    assert len(result.failures) == 1
    with pytest.raises(HumetricError, match=message):
        evaluate(net_setting(), bad)


def test_a_bad_metric_costs_itself_only() -> None:
    def broken(*_: object) -> None:
        raise ValueError("bad reduction")

    bad = replace(METRICS.make("complexity"), work=Work(broken))  # type: ignore[arg-type]
    result = run_settings(
        [net_setting()], [METHODS.make("random")], [bad, METRICS.make("sparseness")]
    )
    assert set(result.scores["metric"]) == {"sparseness"}
    assert result.failures[0].metric == "complexity"
    assert "bad reduction" in result.failures[0].message


def test_settings_must_differ() -> None:
    setting = net_setting()
    with pytest.raises(HumetricError, match="image/noise/cnn came twice"):
        evaluate([setting, setting], "random")


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("lime", {"samples": 0}, "samples of lime to be at least 1 but got 0"),
        ("lime", {"samples": "many"}, "parameter samples of lime to be of type int but got 'many'"),
        ("smoothgrad", {"sigma": True}, "sigma of smoothgrad to be of type float"),
        ("rise", {"cell": 3}, "Did you mean 'cells'"),
    ],
)
def test_bad_parameters_are_explained(
    name: str, parameters: dict[str, object], message: str
) -> None:
    with pytest.raises(HumetricError, match=message):
        METHODS.make(name, parameters)


def test_numbers_that_make_no_sense_are_explained() -> None:
    with pytest.raises(HumetricError, match="at least one case but got 0"):
        evaluate(net_setting(), "random", chunk=0)
    assert len(evaluate(net_setting(), "random", "sparseness")) == 4


def test_ids_must_differ() -> None:
    with pytest.raises(HumetricError, match="random came twice"):
        evaluate(net_setting(), ["random", "random"])


def test_a_run_is_written_whole_and_can_be_read(tmp_path: Path) -> None:
    result = run_settings([net_setting()], [METHODS.make("constant")], all_metrics())
    folder = tmp_path / "new" / "run"
    result.write_tables(folder)
    assert sorted(p.name for p in folder.iterdir()) == ["curves.json", "scores.csv"]
    again = pd.read_csv(folder / "scores.csv")
    pd.testing.assert_frame_equal(again, result.scores, check_dtype=False)
    curves = json.loads((folder / "curves.json").read_text())
    assert len(curves) == 4 * 2
    assert len(curves[0]["curve"]) == 33


def test_registering_twice_from_elsewhere_is_refused() -> None:
    with pytest.raises(HumetricError, match=r"already declared in humetric\.methods\.gradients"):
        method("saliency", version=1, reference="test")(lambda: lambda cases: cases.x)


@pytest.mark.parametrize("name", ["", "My Method", "a/b", "x" * 65, "<b>", "a\nb"])
def test_ids_are_plain(name: str) -> None:
    with pytest.raises(HumetricError, match="lower-case letters"):
        method(name, version=1, reference="test")(lambda: lambda cases: cases.x)()
    METHODS._factories.pop(name, None)
