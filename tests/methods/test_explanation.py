"""What a method has to show beside its map: checked, stored, handed over between processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from support import engine_for, net_setting

from humetric.engine.placement import place
from humetric.engine.questions import Program, intact
from humetric.errors import InvalidExplanationError
from humetric.methods import METHODS, Method
from humetric.methods.explanation import Explanation
from humetric.methods.files import methods_in
from humetric.metrics import METRICS
from humetric.results.store import Store
from humetric.run.evaluate import as_method, by_id, run_into
from humetric.run.isolated import Limits
from humetric.run.plan import make_plan
from humetric.run.records import chunk_of
from humetric.run.work import explain, explanations
from humetric.tasks.cases import Cases


def rule(cases: Cases) -> Program[Explanation]:
    """A method of several rounds whose search finds more than a map."""
    (whole,) = yield [intact(cases)]
    found = [{"rule": [f"{p:.2f}", id]} for p, id in zip(whole.probability, cases.ids, strict=True)]
    return Explanation(torch.ones(cases.shape), tuple(found), {"note": "a rule per case."})


def test_beside_the_map_of_each_case() -> None:
    engine = engine_for(net_setting())
    (found,) = explanations([as_method(rule)], engine).values()
    assert isinstance(found, Explanation)
    assert [c["rule"][1] for c in found.cases] == list(engine.cases.ids)
    (map_,) = explain([as_method(rule)], engine).values()
    assert torch.equal(found.attribution, map_)  # type: ignore[arg-type]
    (plain,) = explanations([METHODS.make("constant")], engine).values()
    assert isinstance(plain, Explanation)
    assert plain.more == {}


@pytest.mark.parametrize(
    ("cases", "setting", "message"),
    [
        (({"a": 1},), {}, "each of 4 cases from wrong but got it of 1"),
        ((), {"a": torch.ones(1)}, "plain data beside the map of wrong"),
        ((), {"a": float("nan")}, "finite numbers"),
        ((), ["a"], "by kind but got list"),
        ((), {1: "a"}, "mapping from kinds"),
        (({}, {}, {}, 3), {}, "by kind but got int"),
    ],
)
def test_what_cannot_be_stored_is_refused(cases: Any, setting: Any, message: str) -> None:
    def wrong(given: Cases) -> Explanation:
        return Explanation(torch.ones(given.shape), cases, setting)

    (found,) = explanations([as_method(wrong)], engine_for(net_setting())).values()
    assert isinstance(found, InvalidExplanationError)
    assert message in str(found)


def test_the_map_is_checked_too() -> None:
    def wrong(given: Cases) -> Explanation:
        return Explanation(torch.ones(2), setting={"note": "x"})

    (found,) = explanations([as_method(wrong)], engine_for(net_setting())).values()
    assert isinstance(found, InvalidExplanationError)


def run(method: Method, folder: Path, isolate: Limits | None) -> Any:
    made = net_setting()
    placed = {made.id: made.place(place("cpu"))}
    metrics = [METRICS.make("sparseness")]
    plan = make_plan([made], [method], metrics, chunk=3)
    result = run_into(
        folder,
        plan,
        placed,
        by_id([method]),
        by_id(metrics),
        batches={made.id: 4},
        seed=0,
        isolate=isolate,
    )
    stored = [
        chunk_of(item, placed[made.id], 0, Store(folder)).map(method.card) for item in plan.items
    ]
    return result, stored


def test_kept_with_the_record(tmp_path: Path) -> None:
    result, stored = run(as_method(rule), tmp_path, None)
    assert not result.failures
    assert result.notes() == ["rule on image/noise/cnn: a rule per case."]
    assert [c["rule"][1] for found in stored for c in found.cases] == list(net_setting().ids)


def test_from_a_process_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "import torch\n"
        "from humetric import method\n"
        "from humetric.methods.explanation import Explanation\n"
        '@method("with-rules", version=1, reference="none")\n'
        "def mine():\n"
        '    """A constant map and a rule."""\n'
        "    def explain(cases):\n"
        "        rules = tuple({'rule': id} for id in cases.ids)\n"
        "        return Explanation(torch.ones(cases.shape), rules, {'note': 'made up.'})\n"
        "    return explain\n"
    )
    (name,) = methods_in(path)
    try:
        result, stored = run(METHODS.make(name), tmp_path / "out", Limits())
        assert not result.failures
        assert result.more == {("image/noise/cnn", name): {"note": "made up."}}
        assert [c["rule"] for found in stored for c in found.cases] == list(net_setting().ids)
    finally:
        METHODS._factories.pop(name)
