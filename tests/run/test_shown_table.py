"""A row of a table as it is shown, and what methods have to show beside their maps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from support import linear_setting
from tabular_support import rows, table_setting
from text_looks import small
from torch import Tensor

from humetric.errors import HumetricError
from humetric.methods import METHODS, Method
from humetric.methods.explanation import Explanation
from humetric.metrics import METRICS
from humetric.run.look import look
from humetric.run.shown_image import shown_image
from humetric.run.shown_table import shown_table
from humetric.run.shown_text import shown_text
from humetric.tasks.cases import Cases


def test_a_row_is_shown_as_people_read_it() -> None:
    made = table_setting()
    found = look(made, 2, [METHODS.make("occlusion")], [METRICS.make("deletion")], shown_table)
    age, work, hours, married, income = rows(6, 3)[1]
    assert found.shown.columns == ("age", "work", "hours", "married", "income")
    assert found.shown.values == (
        f"{age:.0f}", ("farm", "mill", "office")[int(work)], f"{hours:.1f}",
        ("no", "yes")[int(married)], f"{income:.0f}",
    )  # fmt: skip


def test_another_class_than_the_model_s_is_told_apart() -> None:
    real = table_setting()
    other = replace(real, target=1 - real.target)
    found = [look(made, 1, [], [], shown_table).shown.predicted for made in (real, other)]
    assert found == [True, False]


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
