"""Protocols on tables whose answers are known by hand, and on tables with little in them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from simulated_people import (
    simulated_arora,
    simulated_colin,
    simulated_gonzalez,
    simulated_hase,
    simulated_prasad,
)

from humetric.errors import HumetricError, UnknownNameError
from humetric.human.alignments import check_alignments
from humetric.human.analyse import analyse
from humetric.human.analysis import Analysis, Estimate, Statistic
from humetric.human.protocols import PROTOCOLS, find_protocol
from humetric.human.trials import check_trials


def draw(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def run(frame: pd.DataFrame, name: str, seed: int = 0, resamples: int = 299) -> Analysis:
    protocol = find_protocol(name)
    if protocol.table == "alignments":
        table = check_alignments(frame)
    else:
        table = check_trials(frame, protocol.required)
    return analyse(table, protocol, seed=seed, resamples=resamples)


def estimate(found: Analysis, measure: str, condition: str, cell: str | None = None) -> Estimate:
    rows = [
        e
        for e in found.findings.estimates
        if (e.measure, e.condition) == (measure, condition) and cell in (None, e.cell)
    ]
    assert len(rows) == 1
    return rows[0]


def statistics(found: Analysis, **wanted: str) -> list[Statistic]:
    return [
        s
        for s in found.findings.statistics
        if all(getattr(s, key) == value for key, value in wanted.items())
    ]


SMALL = {
    "hase2020": lambda: simulated_hase(draw(), {"lime": 0.1, "anchor": 0.0}, users=3, items=8),
    "gonzalez2021": lambda: simulated_gonzalez(draw(), {"none": 0.4, "lime": 0.6}, users=3),
    "gonzalez2021-selection": lambda: simulated_gonzalez(
        draw(), {"saliency": 0.7, "lime": 0.6}, users=3
    ),
    "arora2022": lambda: simulated_arora(draw(), {"none": 0.0, "lime": 0.05}, users=5),
    "colin2022": lambda: simulated_colin(draw(), {"none": (0.5, 0.6), "lime": (0.6, 0.7)}, users=4),
    "prasad2021": lambda: simulated_prasad(
        draw(), {"bert-base": 0.2, "bert-large": 0.1, "bow": 0.0}, cases=12
    ),
}


def test_every_protocol_is_tried_here() -> None:
    assert set(SMALL) == set(PROTOCOLS)


@pytest.mark.parametrize("name", SMALL)
def test_order_of_rows_does_not_matter_and_a_seed_repeats(name: str) -> None:
    frame = SMALL[name]()
    first = run(frame, name, seed=3).findings
    assert repr(first) == repr(run(frame, name, seed=3).findings)
    turned = run(frame.iloc[::-1].reset_index(drop=True), name, seed=3).findings
    values = {(e.cell, e.condition, e.measure): e.value for e in first.estimates}
    again = {(e.cell, e.condition, e.measure): e.value for e in turned.estimates}
    assert values == pytest.approx(again)
    assert any(e.measure.startswith(PROTOCOLS[name].primary) for e in first.estimates)


@pytest.mark.parametrize("name", SMALL)
def test_all_excluded(name: str) -> None:
    found = run(SMALL[name]().assign(excluded=1, reason="test"), name)
    assert found.findings.estimates == ()
    assert "Nothing is left to analyse" in found.findings.notes[0]
    assert sum(e.trials for e in found.screened.exclusions) == found.screened.total


@pytest.mark.parametrize("name", SMALL)
def test_header_only(name: str) -> None:
    with pytest.raises(HumetricError, match="header only"):
        run(SMALL[name]().iloc[:0], name)


@pytest.mark.parametrize("name", [name for name in SMALL if name != "prasad2021"])
def test_one_trial_each(name: str) -> None:
    """Values where there are any, no interval, and a note that says why."""
    frame = SMALL[name]()
    frame = frame.drop(columns="trial", errors="ignore")  # else they are all training
    one = frame.groupby(["condition"] + (["phase"] if name == "hase2020" else [])).head(1)
    found = run(one, name)
    assert found.findings.estimates
    for row in found.findings.estimates:
        if row.measure != "pre-accuracy":
            assert math.isnan(row.low), row
            assert row.note, row


@pytest.mark.parametrize("name", [name for name in SMALL if name != "prasad2021"])
def test_all_correct(name: str) -> None:
    frame = SMALL[name]().assign(correct=1)
    found = run(frame, name)
    primary = [e for e in found.findings.estimates if e.measure == PROTOCOLS[name].primary]
    if name != "arora2022":
        known = {"hase2020": 0.0, "colin2022": 1.0}.get(name, 1.0)
        assert {e.value for e in primary} == {known}
        assert all(math.isnan(e.low) and "do not vary" in e.note for e in primary)
    for row in found.findings.statistics:
        assert row.p != 0


@pytest.mark.parametrize("name", [name for name in SMALL if name != "prasad2021"])
def test_undefined_responses_are_left_out(name: str) -> None:
    frame = SMALL[name]()
    column = "response" if "response" in frame else "correct"
    holes = frame.astype({column: object}).copy()
    holes.loc[holes.index[::5], column] = None
    found = run(holes, name)
    assert all(math.isfinite(e.value) for e in found.findings.estimates)
    if name != "arora2022":
        lost = int(holes[column].isna().sum())
        counted = [n for n in found.findings.notes if "analysed trials have no 'correct'" in n]
        assert 0 < int(counted[0].split()[0]) <= lost


def test_a_trial_without_session_is_counted() -> None:
    frame = SMALL["colin2022"]().astype({"session": object})
    frame.loc[frame.index[0], "session"] = None
    found = run(frame, "colin2022")
    assert found.findings.notes == (
        "1 analysed trials have no 'session': they enter no figure of it.",
    )


def test_unknown_protocol() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'hase2020'"):
        find_protocol("hase2021")


def test_hase_by_hand() -> None:
    """Items answered in one phase only do not count; change is in percentage points."""
    answers = {
        ("s1", "a"): (0, 1),
        ("s1", "b"): (1, 1),
        ("s2", "a"): (1, 0),
        ("s2", "b"): (0, 1),
        ("s2", "c"): (0,),
    }
    rows = [
        (who, phase, item, right)
        for (who, item), given in answers.items()
        for phase, right in zip(("pre", "post"), given, strict=False)
    ]
    frame = pd.DataFrame(rows, columns=["participant", "phase", "item", "correct"])
    found = run(frame.assign(condition="lime", cell="text"), "hase2020")
    change = estimate(found, "accuracy-change", "lime")
    assert (change.value, change.n, change.participants) == (25.0, 4, 2)
    assert change.value - change.low == pytest.approx(change.high - change.value)
    assert found.findings.notes[0].startswith("1 items of a user")
    assert estimate(found, "pre-accuracy", "none").value == 50.0


def test_hase_by_test_regroups_the_same_responses() -> None:
    frames = [
        simulated_hase(draw(i), {"lime": 0.1, "anchor": 0.0}, users=3, items=8).assign(test=test)
        for i, test in enumerate(("forward", "counterfactual"))
    ]
    found = run(pd.concat(frames, ignore_index=True), "hase2020")
    whole = estimate(found, "accuracy-change", "lime")
    parts = [
        estimate(found, "accuracy-change-by-test", "lime", cell)
        for cell in ("forward", "counterfactual")
    ]
    assert whole.value == pytest.approx(np.mean([part.value for part in parts]))
    assert whole.n == sum(part.n for part in parts)
    slope = statistics(found, term="rating 4 to 5")[0]
    assert slope.n == 2 * 3 * 8  # two methods, the counterfactual test only


def test_hase_condition_without_baseline() -> None:
    frame = simulated_hase(draw(), {"lime": 0.1, "anchor": 0.0}, users=3, items=8)
    frame = frame[(frame["condition"] != "anchor") | (frame["phase"] == "post")]
    found = run(frame, "hase2020")
    assert math.isnan(estimate(found, "accuracy-change", "anchor").value)
    assert any("anchor: no item was answered in both phases" in n for n in found.findings.notes)


def test_gonzalez_tests_are_those_of_scipy_on_item_means() -> None:
    frame = simulated_gonzalez(draw(2), {"none": 0.4, "saliency": 0.6, "lime": 0.55}, learning=0.1)
    found = run(frame, "gonzalez2021")
    late = frame[frame["trial"] > 15].assign(right=lambda f: f["response"] == "model")
    groups = {
        name: rows.groupby("item")["right"].mean().to_numpy(float)
        for name, rows in late.groupby("condition")
    }
    anova = next(
        s
        for s in statistics(found, measure="accuracy-model-answer")
        if s.statistic.startswith("anova")
    )
    f = stats.f_oneway(*groups.values())
    assert (anova.value, anova.p) == (pytest.approx(f.statistic), pytest.approx(f.pvalue))
    pair = statistics(
        found, measure="accuracy-model-answer", term="above none", condition="saliency"
    )[0]
    expected = groups["saliency"].mean() - groups["none"].mean()
    assert pair.value == pytest.approx(expected)
    assert pair.low < expected < pair.high
    model = estimate(found, "accuracy-model-answer", "saliency")
    gold = estimate(found, "accuracy-gold-answer", "saliency")
    every = estimate(found, "accuracy-model-answer-all-trials", "saliency")
    assert model.value + gold.value == pytest.approx(1)
    assert (model.n, every.n) == (200, 350)
    assert gold.direction == "none"


def test_gonzalez_without_trial_numbers_says_so() -> None:
    frame = simulated_gonzalez(draw(), {"saliency": 0.5}, users=2).drop(columns="trial")
    found = run(frame, "gonzalez2021")
    assert "drop_first = 15 was not applied" in found.screened.notes[0]
    assert "no condition 'none'" in found.findings.notes[0]
    assert not [e for e in found.findings.estimates if e.measure.endswith("all-trials")]


def test_arora_by_hand_and_both_intervals() -> None:
    frame = simulated_arora(draw(4), {"none": 0.0, "lime": 0.05})
    found = run(frame, "arora2022", resamples=999)
    reduced = (frame["confidence_before"] - frame["confidence_after"]) * 100
    means = reduced.groupby(frame["condition"]).mean()
    assert estimate(found, "confidence-reduced-test", "lime").value == pytest.approx(means["lime"])
    boot, wald = statistics(found, measure="confidence-reduced-test", condition="lime")
    assert boot.statistic == "mixed-effects coefficient"
    assert wald.statistic == "mixed-effects coefficient, wald"
    # Balanced: the coefficient is the difference of means, whatever the cohorts do.
    assert boot.value == pytest.approx(means["lime"] - means["none"], abs=1e-4)
    # Responses of one participant are alike here, which only the bootstrap of people sees.
    assert boot.high - boot.low > 1.5 * (wald.high - wald.low)
    edits = frame[frame["condition"] == "lime"]
    share = 100 * edits["edits_highlighted"].sum() / edits["edits"].sum()
    assert estimate(found, "highlighted-all-edit", "lime").value == pytest.approx(share)
    part = 100 * edits["reduction_highlighted"].sum() / reduced[edits.index].sum() * 100
    assert estimate(found, "highlighted-reduction", "lime").value == pytest.approx(part)
    flips = 100 * (edits["confidence_after"] < 0.5).mean()
    assert estimate(found, "flipped-test", "lime").value == pytest.approx(flips)


def test_arora_without_control_cohorts_or_measure() -> None:
    frame = simulated_arora(draw(), {"lime": 0.0, "anchor": 0.0}, users=3)
    found = run(frame.drop(columns="cohort"), "arora2022")
    assert found.findings.statistics == ()
    assert "no condition 'none'" in found.findings.notes[0]
    assert "without a random intercept" in found.findings.notes[1]
    bare = frame[["participant", "condition", "item", "phase"]]
    with pytest.raises(HumetricError, match="add what was measured"):
        run(bare, "arora2022")


def test_colin_utility_is_the_ratio_of_mean_accuracies() -> None:
    frame = simulated_colin(
        draw(5), {"none": (0.5, 0.6, 0.6), "saliency": (0.6, 0.7, 0.75)}, careless=0.2
    )
    found = run(frame, "colin2022")
    failed = set(frame[(frame["catch"] == 1) & (frame["correct"] == 0)]["participant"])
    good = frame[~frame["participant"].isin(failed) & (frame["catch"] == 0)]
    by_session = good.groupby(["condition", "session"])["correct"].mean().unstack()
    utility = estimate(found, "utility", "saliency")
    expected = by_session.loc["saliency"].mean() / by_session.loc["none"].mean()
    assert utility.value == pytest.approx(expected)
    assert utility.low < expected < utility.high
    assert estimate(found, "accuracy-2", "none").value == pytest.approx(
        100 * by_session.loc["none", 2]
    )
    total = good[good["condition"] == "none"].groupby("participant")["response_time"].sum().mean()
    assert estimate(found, "total-time", "none").value == pytest.approx(total)
    assert found.screened.exclusions[0].participants == len(failed) > 0


def test_colin_without_baseline_and_with_a_useless_one() -> None:
    frame = simulated_colin(draw(), {"saliency": (0.5, 0.6)}, users=3)
    found = run(frame, "colin2022")
    assert "no condition 'none', so utility is undefined" in found.findings.notes[0]
    both = simulated_colin(draw(), {"none": (0.5, 0.6), "saliency": (0.5, 0.6)}, users=3)
    wrong = both["condition"].eq("none") & both["catch"].eq(0)
    found = run(both.assign(correct=both["correct"].where(~wrong, 0)), "colin2022")
    assert math.isnan(estimate(found, "utility", "saliency").value)


def test_prasad_by_hand() -> None:
    frame = simulated_prasad(
        draw(7), {"bert-base": 0.3, "bert-large": 0.2, "electra-base": 0.2, "electra-large": 0.1,
                  "bow": 0.0}, seeds=2,
    )  # fmt: skip
    found = run(frame, "prasad2021")
    own = frame[frame["model"] == "bert-base"]
    cases = (own["c"] - own["c_random"]).groupby(own["case"]).mean()
    assert estimate(found, "alignment-hard", "bert-base").value == pytest.approx(
        math.tanh(cases.mean())
    )
    test = statistics(found, condition="bert-base", statistic="paired t test")[0]
    t = stats.ttest_1samp(cases, 0)
    assert (test.value, test.p) == (pytest.approx(t.statistic), pytest.approx(t.pvalue))
    terms = [s.term for s in statistics(found, statistic="mixed-effects coefficient")]
    assert terms == [
        "transformers: large vs base",
        "transformers: electra vs bert",
        "transformers: electra:large",
        "smaller: bow vs bert-base",
    ]
    means = (frame["c"] - frame["c_random"]).groupby(frame["model"]).mean()
    size = statistics(found, term="transformers: large vs base")[0]
    assert size.value == pytest.approx(means["bert-large"] - means["bert-base"], abs=1e-4)
    r = statistics(found, term="accuracy")[0]
    assert r.n == 10
    assert len(statistics(found, statistic="pearson")) == 6


def test_prasad_refuses_rules_about_trials() -> None:
    from humetric.human.exclusions import Exclusions

    table = check_alignments(simulated_prasad(draw(), {"bow": 0.1}))
    with pytest.raises(HumetricError, match="no exclusion rule applies"):
        analyse(
            table, find_protocol("prasad2021"), Exclusions(drop_first=1), frozenset({"drop_first"})
        )
