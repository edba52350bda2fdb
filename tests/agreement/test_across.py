"""Across studies: T, corrections and verdicts, on made-up studies whose truth is known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from agreement_data import evidence, study

from humetric.agreement.across import Across, across, contests, verdict
from humetric.agreement.evidence import Evidence, sentinels
from humetric.human.read import load_studies
from humetric.human.study import Study
from humetric.stats.joint import JointTest
from humetric.stats.power import power

UP = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def one(found: list[Across], metric: str, tier: str = "judged") -> Across:
    (mine,) = [a for a in found if a.metric == metric and a.tier == tier]
    return mine


def several(k: int) -> dict[str, Study]:
    return {f"s{i}": study(f"s{i}", [UP]) for i in range(k)}


def everywhere(metric: str, k: int, values: list[float]) -> list[Evidence]:
    return [e for i in range(k) for e in evidence(metric, f"s{i}", [values])]


class TestVerdicts:
    def test_agreement_everywhere(self) -> None:
        found = across(everywhere("good", 4, UP), several(4), ["good"], 0)
        assert one(found, "good").test.t == 1.0
        assert one(found, "good").verdict == "agrees in these studies"

    def test_disagreement_everywhere(self) -> None:
        found = across(everywhere("bad", 4, UP[::-1]), several(4), ["bad"], 0)
        assert one(found, "bad").verdict == "disagrees in these studies"

    def test_two_studies_are_too_few(self) -> None:
        found = across(everywhere("good", 2, UP), several(2), ["good"], 0)
        assert one(found, "good").holm <= 0.05
        assert one(found, "good").verdict == "too few studies"

    def test_a_sign_that_one_study_carries_decides_nothing(self) -> None:
        test = JointTest(0.3, {"a": 1.0, "b": -0.05, "c": -0.05}, 0.01, 0.001, 10, True,
                         {"a": -0.05, "b": 0.475, "c": 0.475})  # fmt: skip
        assert verdict(test, 0.01, "judged", "metric") == "undecided"

    def test_toys_and_stand_ins_get_none(self) -> None:
        for level, words in (("toy", "not evidence"), ("stand-in", "no verdict")):
            listed = [
                e
                for i in range(4)
                for e in evidence("good", f"s{i}", [UP], level=level)  # type: ignore[arg-type]
            ]
            (mine,) = across(listed, several(4), ["good"], 0)
            assert mine.tier == level
            assert mine.verdict == words
            assert math.isnan(mine.holm)

    def test_absent_members_of_the_family_count(self) -> None:
        """A p that is significant alone is not among many, whether the others have evidence."""
        listed = everywhere("good", 3, [1.0, 2.0, 4.0, 3.0, 6.0, 5.0])
        alone = one(across(listed, several(3), ["good"], 0), "good")
        family = ["good", *(f"absent-{i}" for i in range(400))]
        among = one(across(listed, several(3), family, 0), "good")
        assert alone.holm == pytest.approx(alone.test.p)
        assert among.holm == pytest.approx(min(1.0, 401 * alone.test.p))
        assert (alone.verdict, among.verdict) == ("agrees in these studies", "undecided")


class TestWhatEnters:
    def test_studies_that_a_metric_was_derived_from_do_not(self) -> None:
        listed = everywhere("good", 3, UP)
        listed += evidence("good", "s3", [UP[::-1]], derived_from="s3")
        mine = one(across(listed, several(4), ["good"], 0), "good")
        assert set(mine.test.studies) == {"s0", "s1", "s2"}
        assert mine.in_sample == ("s3",)

    def test_the_nearest_level_of_a_study(self) -> None:
        listed = evidence("m", "s0", [UP], level="published")
        listed += evidence("m", "s0", [UP[::-1]], level="replica")
        mine = one(across(listed, several(1), ["m"], 0), "m")
        assert mine.test.t == 1.0
        assert mine.levels == {"s0": "published"}

    def test_lower_is_better_is_turned_on_both_sides(self) -> None:
        studies = {"s0": study("s0", [UP], direction="lower")}
        listed = evidence("cost", "s0", [UP], direction="lower")
        listed += evidence("gain", "s0", [UP])
        found = across(listed, studies, ["cost", "gain"], 0)
        assert one(found, "cost").test.t == 1.0
        assert one(found, "gain").test.t == -1.0

    def test_two_models_of_a_cell_are_two_rows(self) -> None:
        listed = evidence("m", "s0", [UP], made_on="first")
        listed += evidence("m", "s0", [UP[::-1]], made_on="second")
        assert one(across(listed, several(1), ["m"], 0), "m").test.t == 0.0

    def test_a_method_that_the_metric_lacks_is_left_out(self) -> None:
        listed = evidence("m", "s0", [UP[:5]], methods=["m0", "m1", "m2", "m3", "m5"])
        mine = one(across(listed, several(1), ["m"], 0), "m")
        assert mine.test.t == 1.0
        assert mine.test.permutations == math.factorial(5)

    def test_the_control_enters_the_sensitivity_check_only(self) -> None:
        studies = {"s0": study("s0", [[3.0, 2.0, 1.0]], control=[0.0])}
        listed = evidence("m", "s0", [[1.0, 2.0, 3.0, 0.0]], methods=["m0", "m1", "m2", "random"])
        mine = one(across(listed, studies, ["m"], 0), "m")
        assert mine.test.t == -1.0
        assert mine.controlled.t == 0.0  # three pairs reversed, three with the control right

    def test_cells_that_people_do_not_separate_can_be_left_out(self) -> None:
        studies = {
            "s0": study("s0", [UP], se=0.1),
            "s1": study("s1", [[1.0, 1.1, 1.2, 1.3, 1.4, 1.5]], se=2.0),
        }
        listed = everywhere("m", 1, UP) + evidence("m", "s1", [UP[::-1]])
        mine = one(across(listed, studies, ["m"], 0), "m")
        assert mine.test.t == 0.0
        assert mine.separated.studies == {"s0": 1.0}

    @pytest.mark.parametrize(
        ("values", "t", "studies"),
        [
            ([1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 0.0, 1),
            ([math.nan] * 6, math.nan, 0),
            ([1.0, *[math.nan] * 5], math.nan, 0),
            ([1.0, 2.0, *[math.nan] * 4], 1.0, 1),
        ],
    )
    def test_little_or_nothing_to_compare(
        self, values: list[float], t: float, studies: int
    ) -> None:
        mine = one(across(evidence("m", "s0", [values]), several(1), ["m"], 0), "m")
        assert mine.test.t == pytest.approx(t, nan_ok=True)
        assert mine.studies == studies
        assert mine.verdict == "too few studies"

    def test_pooling_starts_at_five_studies(self) -> None:
        draw = np.random.default_rng(0)
        for k, there in ((4, False), (6, True)):
            values = [draw.permutation(UP).tolist() for _ in range(k)]
            listed = [e for i in range(k) for e in evidence("m", f"s{i}", [values[i]])]
            pooled = one(across(listed, several(k), ["m"], 0), "m").pooled
            assert (pooled is not None) == there
            if pooled is not None:
                assert pooled.predict_low <= pooled.low <= pooled.mean <= pooled.high


def test_contests_find_the_better_metric() -> None:
    listed = everywhere("good", 5, UP)
    worse = everywhere("complexity", 5, [2.0, 5.0, 1.0, 6.0, 3.0, 4.0])
    listed += [replace(e, kind="baseline") for e in worse]
    (found,) = contests(listed, several(5), ["complexity"], 0)
    assert (found.first, found.second) == ("good", "complexity")
    assert found.result.difference > 0.5
    assert found.result.p < 0.05


def test_random_sentinels_reject_at_the_nominal_rate() -> None:
    """Over 200 seeds, on the bundled studies as they are."""
    studies = load_studies()
    p = []
    for seed in range(200):
        listed = [e for e in sentinels(studies, seed) if e.metric == "random"]
        p.append(one(across(listed, studies, [], seed), "random").test.p)
    assert 0.0 <= np.mean(np.array(p) <= 0.05) <= 0.09  # .05 + 2.6 standard errors
    assert 0.3 < np.mean(np.array(p) <= 0.5) < 0.6


def test_the_name_hash_rejects_at_the_nominal_rate_under_other_names() -> None:
    """Its order of the bundled methods is one of many: relabelled, it is significant in 5%."""
    import hashlib

    studies = load_studies()
    rejected = 0
    for seed in range(200):
        listed = []
        for e in sentinels(studies, 0):
            if e.metric == "name-hash":
                salted = [
                    int(hashlib.sha256(f"{seed} {m}".encode()).hexdigest()[:8], 16)
                    for m in e.methods
                ]
                listed.append(Evidence(**(vars(e) | {"value": np.array(salted, dtype=np.float64)})))
        rejected += one(across(listed, studies, [], 0), "name-hash").test.p <= 0.05
    assert rejected / 200 <= 0.09


def test_a_planted_metric_is_found_as_often_as_the_power_table_promises() -> None:
    """Eight simulated studies of six methods, true correlation .8."""
    draw = np.random.default_rng(1)
    promised = power(6, 8, 0.8, np.random.default_rng(2), family=12, draws=2000)
    found = 0
    for _ in range(60):
        studies, listed = {}, []
        for i in range(8):
            human = draw.standard_normal(6)
            metric = 0.8 * human + 0.6 * draw.standard_normal(6)
            studies[f"s{i}"] = study(f"s{i}", [human.tolist()])
            listed += evidence("planted", f"s{i}", [metric.tolist()])
        family = ["planted", *(f"other-{i}" for i in range(11))]
        found += one(across(listed, studies, family, 0), "planted").verdict.startswith("agrees")
    assert found / 60 >= promised - 0.1


def test_joint_relabelling_is_the_test_that_is_used() -> None:
    """Three cells that order methods alike are no threefold evidence."""
    studies = {"s0": study("s0", [UP, UP, UP])}
    mine = one(across(evidence("m", "s0", [UP, UP, UP]), studies, ["m"], 0), "m")
    assert mine.test.p == pytest.approx(2 / math.factorial(6))


class TestMixedLevels:
    """Published scores of some metrics and a replica of others, in one study."""

    def listed(self) -> list[Evidence]:
        found = evidence("paper", "s0", [UP, UP], level="published", made_on="the paper")
        found += evidence("paper", "s0", [UP[::-1], UP[::-1]], made_on="one")
        found += evidence("run", "s0", [UP, UP[::-1]], made_on="one")
        found += evidence("run", "s0", [UP], made_on="two")
        return found

    def test_corrections_and_contests_share_rows(self) -> None:
        studies = {"s0": study("s0", [UP, UP])}
        listed = [*self.listed(), *sentinels(studies, 0)]
        found = across(listed, studies, ["paper", "run", "random"], 0)
        assert one(found, "paper").test.t == 1.0
        assert one(found, "paper").max_t <= one(found, "run").max_t <= 1.0
        assert math.isnan(one(found, "random").max_t)

    def test_contests_are_at_the_nearest_level_of_both(self) -> None:
        """The paper's own scores cannot be held against a run's: both are taken from the run."""
        studies = {"s0": study("s0", [UP, UP])}
        listed = [replace(e, kind="baseline") if e.metric == "run" else e for e in self.listed()]
        (found,) = contests(listed, studies, ["run"], 0)
        # On setting "one": -1 against 1 in the first cell, -1 against -1 in the second.
        assert found.result.difference == pytest.approx(-1.0)

    def test_settings_are_averaged_within_a_cell_first(self) -> None:
        """Two settings of a cell (D = 1, 1) and one of another (-1): T is 0, not 1/3."""
        studies = {"s0": study("s0", [UP, UP])}
        assert one(across(self.listed(), studies, ["run"], 0), "run").test.t == pytest.approx(0.0)


def test_only_a_metric_with_a_value_of_the_control_has_a_check() -> None:
    studies = {"s0": study("s0", [[3.0, 2.0, 1.0]], control=[0.0])}
    mine = one(across(evidence("m", "s0", [[1.0, 2.0, 3.0]]), studies, ["m"], 0), "m")
    assert mine.test.t == -1.0
    assert math.isnan(mine.controlled.t)


def cues() -> Study:
    """m2 shows the highlights of m1 and something besides; it enters for those who see that."""
    plain = study("s0", [[1.0, 2.0, 3.0]])
    assert plain.primary is not None
    return replace(
        plain,
        conditions=(*plain.conditions[:2], replace(plain.conditions[2], same_highlights_as="m1")),
        primary=replace(plain.primary, methods=("m0", "m1"), sensitivity=("m2",)),
    )


def test_conditions_with_cues_enter_for_metrics_that_see_them() -> None:
    blind = evidence("blind", "s0", [[1.0, 2.0, 0.0]])
    seeing = [replace(e, sees=("cues",)) for e in evidence("seeing", "s0", [[1.0, 2.0, 0.0]])]
    found = across(blind + seeing, {"s0": cues()}, ["blind", "seeing"], 0)
    assert one(found, "blind").test.t == 1.0
    assert one(found, "seeing").test.t == pytest.approx(-1 / 3)


def test_separation_is_of_the_methods_that_both_have() -> None:
    """People tell m0 from the rest, but not the rest from each other: a metric without m0."""
    studies = {"s0": study("s0", [[9.0, 1.0, 1.1, 1.2, 1.3]], se=0.5)}
    whole = one(across(evidence("m", "s0", [UP[:5]]), studies, ["m"], 0), "m")
    part = evidence("m", "s0", [UP[:4]], methods=["m1", "m2", "m3", "m4"])
    assert whole.separated.studies
    assert not one(across(part, studies, ["m"], 0), "m").separated.studies


def test_methods_that_studies_share_are_checked_together() -> None:
    """Four studies of the same methods: the same order in all is one order."""
    mine = one(across(everywhere("good", 4, UP), several(4), ["good"], 0), "good")
    assert mine.test.p < 1e-6
    assert mine.shared.p == pytest.approx(2 / 720, abs=0.003)
    assert mine.shared.relabellings == 720
    alone = one(across(everywhere("good", 1, UP), several(1), ["good"], 0), "good")
    assert math.isnan(alone.shared.p)


def test_williams_is_a_supplement_where_there_is_one_row() -> None:
    listed = evidence("good", "s0", [[1.0, 2.0, 3.0, 4.0, 6.0, 5.0]])
    listed += [replace(e, kind="baseline") for e in evidence("size", "s0", [UP[::-1]])]
    (found,) = contests(listed, several(1), ["size"], 0)
    assert found.williams.t > 0
    two = {"s0": study("s0", [UP, UP])}
    more = [*listed, *(replace(e, cell="c1") for e in listed)]
    assert math.isnan(contests(more, two, ["size"], 0)[0].williams.p)
