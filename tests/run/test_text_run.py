"""Whole runs on texts: stored, resumed, counted, isolated, and the same whoever is there."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from prototype_support import equipped
from text_support import reordered, setting, small
from torch import Tensor

from humetric import evaluate
from humetric.engine.placement import place
from humetric.methods import METHODS, Method
from humetric.metrics import METRICS, Metric
from humetric.results.read import read_result
from humetric.run.evaluate import by_id, run_into, run_settings
from humetric.run.isolated import Limits
from humetric.run.plan import costs, make_plan
from humetric.tasks.cases import Cases

KEYS = ["setting", "case", "method", "metric"]
NAMES = [name for name in METHODS if "sentiment" in METHODS.make(name).card.tasks]


def methods() -> list[Method]:
    less = {"lime": 40, "kernel-shap": 40, "smoothgrad": 4, "anchor": 300, "decision-boundary": 60}
    few: dict[str, dict[str, int]] = {n: {"samples": count} for n, count in less.items()}
    few["composite"] = {"samples": 40, "rule_samples": 300, "path_samples": 60}
    made = [METHODS.make(n, few.get(n, {})) for n in NAMES]
    return [
        m if m.card.id != "integrated-gradients" else METHODS.make(m.card.id, {"points": 8})
        for m in made
    ]


def metrics() -> list[Metric]:
    """Those that are for texts and have a value per case."""
    made = [METRICS.make(name) for name in METRICS]
    return [m for m in made if "sentiment" in m.card.tasks and m.card.scope == "case"]


@pytest.mark.parametrize("task", ["sentiment", "nli", "qa"])
def test_all_methods_and_metrics(task: str) -> None:
    result = run_settings([equipped(task)], methods(), metrics(), precision="fp64", chunk=2)
    assert not result.failures
    unfit = {n for n in NAMES if task not in METHODS.make(n).card.tasks} | {"coefficients"}
    assert {s.method for s in result.skips} == unfit
    undefined = result.scores[result.scores["value"].isna()]
    blank = undefined["method"].isin(["anchor", "decision-boundary"])  # no rule, no way across
    assert set(undefined[blank]["metric"]) <= {"mu-fidelity", "complexity", "sparseness"}
    undefined = undefined[~blank]
    assert set(undefined["metric"]) <= {"mu-fidelity", "complexity"}  # constant maps, single words
    other = run_settings(
        [reordered(equipped(task), [2, 0])],
        methods()[::-1],
        metrics()[::-1],
        precision="fp64",
        batch_size=3,
    ).scores
    joined = other.merge(result.scores, on=KEYS, suffixes=("", "_whole"))
    assert len(joined) == len(other) == 2 * (len(NAMES) - len(unfit)) * len(metrics())
    pd.testing.assert_series_equal(
        joined["value"], joined["value_whole"], check_names=False, rtol=0, atol=1e-9
    )


def test_plain_models() -> None:
    for name in ("bilstm", "tfidf"):
        made = setting(model=small(name), removal="delete")
        result = run_settings([made], methods(), [METRICS.make("deletion")])
        assert not result.failures
        assert "occlusion" in set(result.scores["method"])
    assert {s.method for s in result.skips} >= {"saliency", "attention"}
    assert "coefficients" in set(result.scores["method"])


def test_dry_run_counts_what_is_asked() -> None:
    made = setting()
    chosen = [m for m in methods() if m.card.id not in ("coefficients", "attention")]
    plan = make_plan([made], chosen, metrics(), chunk=2)
    placed = {made.id: made.place(place("cpu"))}
    expected = list(costs(plan, placed, by_id(chosen), by_id(metrics()), 0))
    result = run_settings([made], chosen, metrics(), chunk=2)
    asked, counted = result.provenance["model_calls"], sum(c.forward for c in expected)
    # Equal points of a curve and of a set of shares are asked once, and ties decide which are.
    assert abs(asked - counted) <= 0.02 * asked


def test_stored_results_are_read_back_and_not_computed_again(tmp_path: Path) -> None:
    chosen = [m for m in methods() if m.card.id in ("saliency", "occlusion", "random")]
    first = run_settings([setting()], chosen, metrics(), out=tmp_path, chunk=2)
    again = run_settings([setting()], chosen, metrics(), out=tmp_path, chunk=2)
    assert first.provenance["model_calls"] > 0
    assert again.provenance["model_calls"] == 0
    pd.testing.assert_frame_equal(first.scores, again.scores)
    read = read_result(tmp_path)
    assert read.curves == first.curves
    key = ("sentiment/tiny/test", "case-0003", "saliency", "deletion")  # a single word
    assert len(first.curves[key]) == 2
    first.write_tables(tmp_path)
    text = (tmp_path / "curves.json").read_text()
    assert "NaN" not in text
    assert json.loads(text)


def test_a_method_of_your_own_in_its_own_process(tmp_path: Path) -> None:
    from humetric.methods.files import methods_in

    path = tmp_path / "mine.py"
    path.write_text(
        "import torch\n"
        "from humetric import method\n"
        '@method("word-length", version=1, reference="none", tasks=("sentiment",))\n'
        "def mine():\n"
        '    """As many letters as a word has."""\n'
        "    def explain(cases):\n"
        "        found = torch.zeros(cases.shape)\n"
        "        for row, words in zip(found, cases.texts.words):\n"
        "            row[: len(words)] = torch.tensor([float(len(w)) for w in words])\n"
        "        return found\n"
        "    return explain\n"
    )
    (name,) = methods_in(path)
    try:
        made, chosen = setting(), [METHODS.make(name)]
        placed = {made.id: made.place(place("cpu"))}
        result = run_into(
            tmp_path / "out",
            make_plan([made], chosen, [METRICS.make("sparseness")], chunk=6),
            placed,
            by_id(chosen),
            by_id([METRICS.make("sparseness")]),
            batches={made.id: 4},
            seed=0,
            isolate=Limits(),
        )
        assert not result.failures
        assert len(result.scores) == len(made)
    finally:
        METHODS._factories.pop(name)


def test_a_plain_function_explains_texts() -> None:
    def letters(cases: Cases) -> Tensor:
        return cases.real(cases.x.new_ones(cases.shape).float().cumsum(1))

    scores = evaluate(setting(), letters, ["deletion", "comprehensiveness"])
    assert scores["value"].notna().all()
