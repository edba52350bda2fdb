"""A row of a table as it is shown, and what methods have to show beside their maps."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch
from support import engine_for, linear_setting
from text_looks import small
from torch import Tensor

from humetric.errors import HumetricError
from humetric.methods import METHODS, Method
from humetric.methods.explanation import Explanation
from humetric.metrics import METRICS
from humetric.run.look import Scene, look
from humetric.run.shown_image import shown_image
from humetric.run.shown_table import shown_table
from humetric.run.shown_text import shown_text
from humetric.tasks.cases import Cases
from humetric.tasks.setting import Setting


class Column(NamedTuple):
    """A stand-in for a table's column."""

    name: str
    names: tuple[str, ...] = ()

    def text(self, value: float) -> str:
        return self.names[int(value)] if self.names else f"{value:g}"


TABLE = SimpleNamespace(columns=(Column("age"), Column("sector", ("public", "private"))))


def scene(real: Setting, row: int) -> Scene:
    """A row of a stand-in table, answered by another setting's model."""
    made: Any = SimpleNamespace(
        id="tabular/two/stand-in",
        task=SimpleNamespace(id="tabular"),
        table=TABLE,
        x=torch.tensor([[38.0, 1.0], [52.5, 0.0]], dtype=torch.float64),
    )
    return Scene(made, row, engine_for(real, start=row, stop=row + 1), [], {})


def test_a_row_is_shown_as_people_read_it() -> None:
    real = linear_setting()
    first, second = (shown_table(scene(real, row)) for row in (0, 1))
    assert first.columns == ("age", "sector")
    assert (first.values, second.values) == (("38", "private"), ("52.5", "public"))


def test_another_class_than_the_model_s_is_told_apart() -> None:
    real = linear_setting()
    other = replace(real, target=1 - real.target)
    assert [shown_table(scene(made, 0)).predicted for made in (real, other)] == [True, False]


def test_tables_are_not_mixed_up_with_others() -> None:
    with pytest.raises(HumetricError, match=r"Expected rows of a table but .* task sentiment"):
        look(small(), 1, [METHODS.make("random")], [], shown_table, device="cpu")
    with pytest.raises(HumetricError, match=r"Expected rows of a table but .* task image"):
        look(linear_setting(), 1, [METHODS.make("random")], [], shown_table, device="cpu")


def telling(name: str, **more: Any) -> Method:
    """A method that shows each case's own id, and something of the setting."""

    def explain(cases: Cases) -> Explanation | Tensor:
        own = tuple({"note": f"case {case}"} for case in cases.ids)
        return Explanation(torch.ones(cases.shape), own, more)

    return Method(replace(METHODS.make("random").card, id=name), explain)


def test_what_is_beside_the_map_is_kept() -> None:
    made = small()
    methods = [telling("first", cues=[["good"]]), telling("second"), METHODS.make("occlusion")]
    found = look(made, 3, methods, [METRICS.make("deletion")], shown_text, device="cpu")
    assert list(found.maps) == ["first", "second", "occlusion"]
    own = {"note": f"case {made.ids[2]}"}
    assert found.more == {"first": own, "second": own}
    assert found.about == {"first": {"cues": [["good"]]}}
    assert found.classes == made.classes
    assert set(found.values) == {(name, "deletion") for name in found.maps}


def test_methods_that_ask_may_show_more_and_others_fail_alone() -> None:
    def asking(cases: Cases) -> Any:
        yield []
        return Explanation(torch.ones(cases.shape), ({"rule": {"reached": True}},))

    def broken(cases: Cases) -> Explanation:
        return Explanation(torch.ones(cases.shape), ({}, {}))  # of two cases, where one is asked

    card = METHODS.make("random").card
    methods = [
        Method(replace(card, id="asking"), asking),
        Method(replace(card, id="broken"), broken),
    ]
    found = look(linear_setting(), 1, methods, [], shown_image, device="cpu")
    assert found.more == {"asking": {"rule": {"reached": True}}}
    assert list(found.maps) == ["asking"]
    (failure,) = found.failures
    assert failure.method == "broken"
    assert "of each of 1 cases" in failure.message
