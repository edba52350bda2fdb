"""One cell: coefficients, exact p, intervals; and evidence from runs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from agreement_data import evidence, study
from board_results import result_of

from humetric.agreement.cell import CellAgreement, cell_agreement, measured
from humetric.agreement.evidence import of_run
from humetric.agreement.report import agreement
from humetric.cards import MethodCard
from humetric.errors import HumetricError, UnknownNameError
from humetric.human.read import load_studies
from humetric.results.result import Result


def compared(human: list[float], metric: list[float], se: float = math.nan) -> CellAgreement:
    of = study("s0", [human], se=se)
    (one,) = evidence("m", "s0", [metric])
    return cell_agreement(one, of, measured(of, "success"), 0)


def test_five_methods_and_a_rho_of_point_nine() -> None:
    """The exact p of D; scipy's asymptotic p of rho would be .037."""
    found = compared([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 5.0, 4.0])
    assert found.spearman == pytest.approx(0.9)
    assert found.concordance.d == pytest.approx(0.8)
    assert found.test.p == pytest.approx(0.0833, abs=1e-4)
    assert found.test.smallest == pytest.approx(2 / 120)


def test_two_methods_can_never_be_significant() -> None:
    found = compared([1.0, 2.0], [1.0, 2.0])
    assert found.concordance.d == 1.0
    assert found.test.p == 1.0
    assert math.isnan(found.pearson)


@pytest.mark.parametrize("metric", [[1.0, math.nan, math.nan], [math.nan] * 3])
def test_fewer_than_two_methods_are_undefined(metric: list[float]) -> None:
    found = compared([1.0, 2.0, 3.0], metric)
    assert math.isnan(found.concordance.d)
    assert math.isnan(found.test.p)


def test_people_who_tie_everything_are_undefined() -> None:
    assert math.isnan(compared([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]).concordance.d)


def test_noise_of_people() -> None:
    apart = compared([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], se=0.01)
    assert apart.separated is True
    assert apart.people == (1.0, 1.0)
    noisy = compared([1.0, 1.1, 1.2, 1.3], [1.0, 2.0, 3.0, 4.0], se=1.0)
    assert noisy.separated is False
    assert noisy.people.low < 0 < noisy.people.high
    assert compared([1.0, 2.0], [1.0, 2.0]).separated is None


def test_hase_and_bansal_do_not_separate_their_methods() -> None:
    """By its published intervals, in both domains."""
    hase = load_studies()["hase2020"]
    human = measured(hase, "accuracy-change")
    for cell in human.cells:
        (one,) = [
            replace(e, study="hase2020", cell=cell)
            for e in evidence("m", "hase2020", [[1.0, 2.0, 3.0, 4.0, 5.0]], methods=human.methods)
        ]
        assert cell_agreement(one, hase, human, 0).separated is False


def test_highlights_that_are_the_same_enter_once() -> None:
    arora = load_studies()["arora2022"]
    names = measured(arora, "flipped-test").methods
    assert "linear-student" in names
    assert "linear-student-global-cues" not in names
    assert "linear-student-global-cues" in measured(arora, "flipped-test", sees_cues=True).methods


def run_result() -> Result:
    """Six methods whose deletion orders them as utility on husky-wolf does, and one more."""
    human = load_studies()["colin2022"].matrix()
    rows = [
        (f"case-{c}", name, "deletion", float(-value + 0.001 * c))
        for c in range(5)
        for name, value in zip(human.methods, human.value[0], strict=True)
    ]
    rows += [(f"case-{c}", "random", "deletion", 0.5) for c in range(5)]
    result = result_of(rows, metrics=("deletion",), setting="image/x/net")
    names = [*human.methods, "random"]
    pair = {"study": "colin2022", "cell": "husky-wolf", "evidence": "toy"}
    return replace(
        result,
        methods={n: MethodCard(n, 1, "", "", ("image",)) for n in names},
        provenance={**result.provenance, "pairs": {"image/x/net": [pair]}},
        calls={("image/x/net", n): float(i) for i, n in enumerate(names)},
    )


def test_a_run_that_orders_as_people_do() -> None:
    found = agreement(load_studies(), run_result())
    (cell,) = [c for c in found.cells if c.level == "toy" and c.primary and c.metric == "deletion"]
    assert cell.concordance.d == 1.0
    assert cell.made_on == "image/x/net"
    assert "random" not in cell.methods
    assert cell.cases == (1.0, 1.0)
    assert {a.verdict for a in found.across if a.tier == "toy"} == {"not evidence"}


def test_the_price_of_a_method_is_a_baseline() -> None:
    listed = of_run(run_result(), load_studies())
    (calls,) = [e for e in listed if e.metric == "model-calls"]
    assert calls.kind == "baseline"
    assert calls.aligned(["random"])[0] == -6.0


def test_undefined_cases_are_left_out_of_a_mean() -> None:
    result = run_result()
    scores = result.scores.copy()
    scores.loc[scores["case"] == "case-4", "value"] = np.nan
    (deletion,) = [
        e for e in of_run(replace(result, scores=scores), load_studies()) if e.metric == "deletion"
    ]
    at = deletion.methods.index("random")
    assert deletion.value[at] == pytest.approx(0.5)


def test_a_pairing_with_an_unknown_study_says_what_to_do() -> None:
    result = run_result()
    pair = {"study": "doe2026", "cell": "x", "evidence": "toy"}
    result = replace(result, provenance={"pairs": {"image/x/net": [pair]}})
    with pytest.raises(HumetricError, match="--human-data"):
        agreement(load_studies(), result)


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="deletion"):
        agreement(load_studies(), only_metrics=["deletoin"])
    with pytest.raises(UnknownNameError, match="colin2022"):
        agreement(load_studies(), only_studies=["colin2021"])


def test_other_cells_of_a_primary_measure_are_shown_and_not_pooled() -> None:
    arora = load_studies()["arora2022"]
    assert arora.primary is not None
    human = measured(arora, arora.primary.measure)
    assert human.cells[0] == "bert"
    assert "logistic-regression" in human.cells
    (one,) = evidence("m", "arora2022", [[1.0, 2.0, 3.0]], methods=human.methods)
    for cell in human.cells:
        found = cell_agreement(replace(one, cell=cell), arora, human, 0)
        assert found.primary == (cell == "bert")
    seen = measured(arora, arora.primary.measure, sees_cues=True)
    assert seen.methods == (*arora.primary.methods, "linear-student-global-cues")
