"""The index of published boards, and that boards do not depend on the machine."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from inspect import Parameter, signature
from typing import Any

import numpy as np
import pytest
from board_results import SETTING, drawn, like_people, result_of

from humetric.boards.files import board_files, judged
from humetric.boards.leaderboards import costs
from humetric.boards.leaderboards.defaults import Default, load_defaults
from humetric.boards.leaderboards.leads import leads, table, undecided
from humetric.boards.leaderboards.page import index_files
from humetric.boards.of_settings import duration
from humetric.boards.task_board import boards_of
from humetric.human.read import load_studies
from humetric.results.result import Result, Spent
from humetric.stats.steady import six, steady

MEANS = {"lime": 0.2, "rise": 0.21, "saliency": 0.4, "edge": 0.6, "random": 0.7}


def published(result: Result, **about: Any) -> Result:
    """A result as it is read from a pack."""
    spent = Spent(seconds=90.4, calls=4000, gradients=120, revisions={"abc123"})
    spent.metrics["deletion"] = [3200, 100]
    of = {"features": [16, 100], "channels": 3, "device": "cpu", "precision": "fp32", **about}
    provenance = {"cases": {SETTING: 24}, **result.provenance, "about": {SETTING: of}}
    return replace(result, provenance=provenance, spent={SETTING: spent},
                   calls={(SETTING, "lime"): 257.0})  # fmt: skip


def made(**about: Any) -> Result:
    return published(result_of(drawn(MEANS), metrics=("deletion",)), **about)


@pytest.mark.parametrize(
    ("of", "library", "features", "channels", "square", "calls"),
    [
        ("deletion", "Quantus", 64 * 64, 3, True, 12288),
        ("deletion", "Quantus", 20, 1, False, 20),
        ("deletion", "Xplique", 64 * 64, 3, True, 11),
        ("mu-fidelity", "Quantus", 64 * 64, 3, True, 101),
        ("mu-fidelity", "Quantus", 223, 1, False, None),
        ("mu-fidelity", "Xplique", 5, 1, False, 201),
        ("occlusion", "Xplique", 64 * 64, 3, True, 21 * 21 + 1),
        ("occlusion", "Xplique", 12, 1, False, 4 + 1),
        ("occlusion", "Xplique", 2, 1, False, 1),
        ("occlusion", "captum", 12, 1, False, 13),
        ("shapley", "captum", 12, 1, False, 301),
    ],
)
def test_defaults_of_other_libraries(
    of: str, library: str, features: int, channels: int, square: bool, calls: int | None
) -> None:
    (default,) = [d for d in load_defaults() if d.of == of and d.library.startswith(library)]
    assert default.calls(features, channels, square) == calls


def test_quantus_flips_as_often_as_is_said() -> None:
    """Pixel flipping with its defaults, its calls counted."""
    quantus = pytest.importorskip("quantus")
    import torch

    class Counting(torch.nn.Module):
        rows = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            Counting.rows += len(x)
            return torch.stack([x.flatten(1).sum(1), -x.flatten(1).sum(1)], 1)

    metric = quantus.PixelFlipping(disable_warnings=True)
    x = np.random.default_rng(0).random((2, 3, 4, 4), dtype=np.float32)
    maps = np.random.default_rng(1).random((2, 1, 4, 4), dtype=np.float32)
    metric(model=Counting().eval(), x_batch=x, y_batch=np.array([0, 1]), a_batch=maps, device="cpu")
    (default,) = [d for d in load_defaults() if d.name.startswith("PixelFlipping")]
    assert Counting.rows == 2 * (default.calls(16, 3, True) or 0)


def installed(default: Default) -> bool:
    name, _, wanted = default.library.partition(" ")
    try:
        return version(name.lower()) == wanted
    except PackageNotFoundError:
        return False


def test_defaults_are_those_of_the_installed_libraries() -> None:
    """Parameters that a name states are the defaults of what it names."""
    checked = 0
    for default in filter(installed, load_defaults()):
        called, _, inside = default.name.removesuffix(")").partition("(")
        if default.library.startswith("captum"):
            import captum.attr as library
        else:
            import quantus as library
        thing: Any = library
        for part in called.split("."):
            thing = getattr(thing, part)
        parameters = signature(thing).parameters
        for stated in inside.split(", "):
            name, _, value = stated.partition("=")
            assert parameters[name].default is not Parameter.empty
            assert str(parameters[name].default) == value, default.name
            checked += 1
    if not checked:
        pytest.skip("neither captum nor Quantus of the stated version is installed")


def test_costs_stand_beside_the_defaults() -> None:
    result = made()
    found = {cost.of: cost for cost in costs.costs(result)}
    assert set(found) == {"deletion", "lime"}
    assert found["deletion"].ours == 32
    assert found["deletion"].others == {"Quantus": (16 + 100) * 3 / 2, "Xplique": 11}
    assert found["lime"].others == {"captum": 25, "Xplique": 150}
    brief = costs.brief([result])
    assert "| deletion | 32 | 174 | — | 11 |" in brief
    assert "1 settings" in costs.totals(result)
    assert "4,000 forward rows" in costs.totals(result)


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (119, "119 s"), (600, "10 min"), (9000, "2.5 h")]
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_leaders_are_those_that_nobody_beats() -> None:
    result = made()
    (lead,) = leads(boards_of(result).tasks, result)
    assert set(lead.methods) == {"lime", "rise"}
    assert lead.decided
    assert "**lime, rise**" in "\n".join(table([lead]))


def test_a_control_in_the_lead_decides_nothing() -> None:
    result = published(result_of(drawn({"lime": 0.3, "random": 0.3, "edge": 0.9})))
    lead = leads(boards_of(result).tasks, result)[0]
    assert "random" in lead.controls
    assert not lead.decided
    assert table([lead]) == []
    assert undecided([lead]) == ["deletion"]


def test_boards_say_what_was_run() -> None:
    note = "Its makers trained it on this data."
    page = board_files(made(notes=[note]))["methods.md"]
    assert f"| {SETTING} [^1] | 24 | no study | fp32, cpu | 90 s | 4,000 + 120 | abc123 |" in page
    assert "To know of these settings: [^1]" in page
    assert page.endswith(f"[^1]: {SETTING}: {note}\n")


def test_notes_are_on_the_metric_board_too() -> None:
    result = published(like_people("stand-in"), notes=["Another model than people saw."])
    files = board_files(result, judged(result))
    assert f"- {SETTING}: Another model than people saw." in files["metrics.md"]


def test_tables_in_markdown_are_narrow() -> None:
    names = ("deletion", "insertion", "mu-fidelity", "comprehensiveness", "sufficiency",
             "complexity", "sparseness")  # fmt: skip
    rows = [row for name in names for row in drawn(MEANS, metric=name)]
    page = board_files(result_of(rows, metrics=names))["methods.md"]
    heads = [line for line in page.splitlines() if line.startswith("| method |")]
    assert [head.count("|") - 2 for head in heads] == [6, 1]


def test_the_index_is_honest_about_little(monkeypatch: pytest.MonkeyPatch) -> None:
    files = index_files({"embedded": made()}, load_studies())
    page = files["README.md"]
    assert files == index_files({"embedded": made()}, load_studies())
    for said in ("no evidence", "nothing on real data yet", "**Nobody can say yet.**",
                 "too few studies", "(costs.md)", "(embedded/methods.md)"):  # fmt: skip
        assert said in page, said
    assert len(page.split()) < 1100, "two screens"
    assert "PixelFlipping" in files["costs.md"]


def test_real_data_come_first() -> None:
    real = published(like_people("replica"))
    page = index_files({"standard": real, "embedded": made()}, load_studies())["README.md"]
    assert page.index("**standard** (real data") < page.index("**embedded**")
    assert "standard: in " in page.replace("**standard**", "standard")
    assert "nothing on real data" not in page
    assert (
        "standard: 1 setting of 1 with fewer than the suite's 48 cases so far (4 or more)" in page
    )
    assert f"too few cases to tell any two methods apart on {SETTING}" in page


@pytest.mark.parametrize("seed", range(3))
def test_another_order_of_sums_changes_nothing(seed: int) -> None:
    """Means that differ in their last bits, as between two builds of numpy, give the same files."""
    result = like_people("replica")
    tied = [(f"c{i}", m, "deletion", 0.0625) for m in ("lime", "rise") for i in range(8)]
    more = result_of(drawn(MEANS, 8), metrics=("deletion",))
    for one in (result, more, result_of(tied, metrics=("deletion",))):
        noise = np.random.default_rng(seed).uniform(-4e-16, 4e-16, len(one.scores))
        moved = replace(one, scores=one.scores.assign(value=one.scores["value"] * (1 + noise)))
        assert board_files(moved, judged(moved)) == board_files(one, judged(one))


def test_steady_rounding() -> None:
    assert six(0.1 + 0.2) == six(0.3) == 0.3
    assert six(1e-17) == 0.0
    assert str(six(-1e-17)) == "0.0"
    assert six(float("nan")) is None
    assert steady(0.0625 + 1e-17) == steady(0.0625 - 1e-17)
