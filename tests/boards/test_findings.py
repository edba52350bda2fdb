"""The page of findings: every sentence says what its numbers say, and no more."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from agreement_data import evidence, study
from board_results import like_people

from humetric.agreement.across import Contest, across
from humetric.agreement.report import Agreement
from humetric.boards.findings.answer import (
    answer,
    between,
    headline,
    members,
    of_family,
    other_tier,
)
from humetric.boards.findings.controls import controls, simulated
from humetric.boards.findings.facts import Findings, Simulated, Standing, findings, standings
from humetric.boards.findings.forest import forest
from humetric.boards.findings.page import data, markdown
from humetric.boards.findings.power import Power, power_with
from humetric.boards.findings.sentences import cells, of_study, power, takes, why
from humetric.human.read import load_studies
from humetric.stats.compare import PermSystems

MINUS = "\N{MINUS SIGN}"
UP = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


@pytest.fixture(scope="module")
def plain() -> Findings:
    """Published figures alone."""
    return findings(load_studies())


def standing(verdict: str = "undecided", **changes: Any) -> Standing:
    """A judged metric over three studies whose interval covers 0."""
    of = Standing(
        "deletion", "faithfulness", "judged", verdict, ("published",), ("a", "b", "c"), (), 3,
        (6, 6, 6), 0.3, -0.1, 0.7, 0.2, 0.001, 0.9, {"a": 0.3, "b": 0.3, "c": 0.3},
    )  # fmt: skip
    return replace(of, **changes)


GOOD = standing("agrees in these studies", t=0.9, low=0.5, high=1.0, p=0.001, holm=0.014)
BAD = standing(
    "disagrees in these studies", metric="insertion", t=-0.9, low=-1, high=-0.5, p=0.001, holm=0.014
)


class TestHeadline:
    def test_a_metric_that_agrees(self) -> None:
        said = headline([GOOD])
        assert said.startswith("**Yes, in these studies: deletion (faithfulness) goes with human")
        assert "T +0.90, interval +0.50 to +1.00, 3 studies, 3 cells, Holm p .014" in said
        assert "against" not in said

    def test_two_that_agree_go_and_one_goes(self) -> None:
        other = replace(GOOD, metric="student-gain", family="simulated")
        assert "deletion (faithfulness) and student-gain (simulated) go with" in headline(
            [GOOD, other]
        )

    def test_a_metric_that_disagrees_is_no_good_news(self) -> None:
        said = headline([BAD, standing()])
        assert said.startswith("**No metric goes with human success**")
        assert (
            f"insertion (faithfulness) goes against it in these studies (insertion: T {MINUS}0.90"
            in said
        )
        both = headline([GOOD, BAD])
        assert both.startswith("**Yes")
        assert "But insertion (faithfulness) goes against" in both

    def test_undecided_is_neither(self) -> None:
        said = headline([standing(), standing("too few studies", studies=("a",))])
        assert said.startswith("**Undecided")
        assert "none to go against" in said

    def test_too_few_studies_say_how_many_there_are(self) -> None:
        said = headline([standing("too few studies", studies=("a", "b"))])
        assert said.startswith("**Nobody can say yet.**")
        assert said.endswith("the most that any has is 2.")

    @pytest.mark.parametrize("some", [[], [standing("too few studies", t=math.nan, studies=())]])
    def test_no_evidence(self, some: list[Standing]) -> None:
        assert headline(some).startswith("**No evidence.**")


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (GOOD, "orders methods as people's success does, whichever"),
        (BAD, "orders methods against people's success, whichever"),
        (standing(), "undecided: the interval covers 0"),
        (
            standing(low=0.05, p=0.03, holm=0.4),
            "does not cover 0, but its p of .030 is .400 as one of 14 metrics (Holm)",
        ),
        (
            standing(low=0.05, p=0.001, holm=0.01, turns=("a",)),
            "undecided: T does not keep its sign without a",
        ),
        (standing("too few studies", studies=("a",)), "too few studies (1 of at least 3), and the"),
        (standing("not evidence", tier="toy"), "not evidence; the interval covers 0"),
        (
            standing("not evidence", tier="toy", p=0.01, low=0.1),
            "not evidence; the interval does not cover 0 (p .010 as the only metric)",
        ),
        (standing("no verdict", tier="stand-in"), "no verdict from stand-ins"),
        (standing(t=math.nan, in_sample=("colin2022",)), "derived from colin2022 and nothing else"),
        (standing(t=math.nan), "no two methods with scores"),
    ],
)
def test_why_a_metric_is_what_it_is(of: Standing, expected: str) -> None:
    said = why(of, 14)
    assert expected in said
    assert ("covers 0" in said) == (
        of.defined and of.p > 0.05 and of.verdict[:3] in "undtoonot no "
    )


def test_cells_that_differ_in_sign_say_so() -> None:
    assert cells(standing(by_cell={"a/x": 0.5})) == []
    (same,) = cells(standing(by_cell={"a/x": 0.5, "a/y": 0.0}))
    assert same == "In its cells D goes from +0.00 (a/y) to +0.50 (a/x)."
    (differ,) = cells(standing(by_cell={"a/x": 0.5, "a/y": -0.2}))
    assert differ.startswith(f"Its cells do not agree on the sign: D goes from {MINUS}0.20 (a/y)")


class TestPower:
    def test_what_it_would_take(self) -> None:
        weak = Power((6,), 0.2, 0.05, math.nan, 12.0, math.nan)
        assert "power 0.20 (0.05 as the best of 14 metrics), and not even one of 0.95" in power(
            weak, 14
        )
        assert "To find one of 0.8 with power 0.8 the study would need 12 methods. As the" in power(
            weak, 14
        )
        assert power(weak, 14).endswith("would need more than 40 methods.")
        assert takes(weak).endswith("for power 0.8 the study would need 12 methods.")
        strong = Power((7, 7, 7, 7), 0.98, 0.86, 0.65, 5.0, 6.0)
        assert "one of 0.65 or more with power 0.8" in power(strong, 14)
        assert "need" not in power(strong, 14) + takes(strong)
        half = Power((7, 6), 0.9, 0.5, 0.75, 5.0, 9.0)
        assert power(half, 14).endswith(
            "As the best of 14 metrics each of the 2 studies would need 9 methods."
        )

    def test_needs_fit_together(self) -> None:
        """As many methods as needed have the power, one fewer has not; four can never have it."""
        one = power_with((6,), 14, 0)
        n = int(one.needed)
        assert power_with((n,), 14, 0).single >= 0.8 > power_with((n - 1,), 14, 0).single
        assert one.single < power_with((6, 6), 14, 0).single
        assert one.needed < one.needed_of_many
        assert power_with((4,), 14, 0).single == 0
        assert power_with((), 14, 0).methods == ()
        many = power_with((7, 7, 7, 7), 14, 0)
        assert 0 < many.detectable < 0.8 <= many.single


class TestFamilies:
    def test_counts(self, plain: Findings) -> None:
        some = (GOOD, replace(BAD, metric="mu-fidelity"), standing(metric="insertion"))
        said = of_family(replace(plain, standings=some), "faithfulness")
        assert said == (
            f"Faithfulness: of {len(members(plain, 'faithfulness'))} metrics 3 have "
            "published or replica scores (1 agreeing, "
            "1 disagreeing, 1 without a decision)."
        )
        many = len(members(plain, "simulated"))
        assert f"none of {many} metrics has published" in of_family(plain, "simulated")
        assert {"forward-simulation", "student-gain"} <= set(members(plain, "simulated"))
        assert members(plain, "perceptual") == ["feature-similarity", "perceptual-similarity"]

    def test_what_it_was_derived_from_is_shown_and_not_judged(self, plain: Findings) -> None:
        assert "to be judged by; perceptual-similarity (mean D +0.52) only" in of_family(
            plain, "perceptual"
        )

    def test_between(self) -> None:
        def contest(difference: float, p: float) -> Contest:
            return Contest(
                "deletion",
                "student-gain",
                "judged",
                PermSystems(difference, p, {"a": difference}),
            )

        assert "cannot be compared" in between([])
        assert "none is told apart (smallest Holm p .080)" in between(
            [contest(0.4, 0.04), contest(0.3, 0.5)]
        )
        above = between([contest(-0.4, 0.01)])
        assert above.endswith(
            "1 is told apart: student-gain above deletion by +0.40 (Holm p .010)."
        )
        assert "deletion above student-gain" in between([contest(0.4, 0.01)])


class TestControls:
    def null(self, t: float) -> Standing:
        return standing("sentinel", metric="random", family="sentinel", t=t,
                        by_study={"a": t, "b": t, "c": t, "d": 9.0})  # fmt: skip

    def said(self, plain: Findings, *some: Standing) -> str:
        bare = replace(plain.agreement, contests=())
        return " ".join(controls(replace(plain, agreement=bare, standings=some), "judged"))

    def test_a_sentinel_as_far_from_0_as_the_best_metric(self, plain: Findings) -> None:
        """On the same studies: a fourth does not count."""
        assert "random is as far from 0 as deletion, so its T alone" in self.said(
            plain, standing(), self.null(-0.3)
        )
        assert "none is as far from 0 as deletion" in self.said(plain, standing(), self.null(0.2))

    def test_a_baseline_that_is_as_good(self, plain: Findings) -> None:
        base = standing(metric="complexity", family="baseline", t=0.3)
        assert "no less than deletion" in self.said(plain, standing(), base)
        assert ", less than deletion" in self.said(plain, standing(), replace(base, t=0.2))

    def test_chance(self, plain: Findings) -> None:
        assert "gets as far from 0 with probability .200" in self.said(plain, standing())
        assert "only with probability .001" in self.said(plain, GOOD)
        assert "No metric has published or replica scores" in self.said(plain)

    def test_simulated_users_beside_their_own_controls(self) -> None:
        assert "more than its controls" in simulated(Simulated("student-gain", 0.1, 0.0, 0.05, 4))
        no = simulated(Simulated("student-gain", 0.05, 0.0, 0.05, 4))
        assert "no more than its controls (no explanation 0.00, shuffled ones 0.05" in no


def test_intervals_cover_zero_exactly_where_p_is_large() -> None:
    """From made-up studies to standings: agreeing, disagreeing and neither."""
    names = ("deletion", "insertion", "mu-fidelity")
    several = {f"s{i}": study(f"s{i}", [UP]) for i in range(4)}
    values = {"deletion": UP, "insertion": UP[::-1], "mu-fidelity": [3, 1, 2, 6, 4, 5.0]}
    every = [e for s in several for name in names for e in evidence(name, s, [values[name]])]
    found = Agreement((), tuple(across(every, several, names, 0)), (), (), several, names, 0, "")
    of = {s.metric: s for s in standings(found.across, found, {})}
    assert (of["deletion"].low > 0, of["deletion"].high) == (True, 1.0)
    assert (of["insertion"].low, of["insertion"].high < 0) == (-1.0, True)
    assert of["deletion"].verdict == "agrees in these studies"
    assert headline(list(of.values())).startswith("**Yes, in these studies: deletion")
    for s in of.values():
        assert s.covers_zero == (s.p > 0.05)
        if s.covers_zero:
            assert s.low <= 0 <= s.high
    assert [s.metric for s in standings(found.across, found, {})] == [
        "deletion", "mu-fidelity", "insertion",
    ]  # fmt: skip


class TestPage:
    def test_published_figures_alone(self, plain: Findings) -> None:
        """Today: one study with scores that may judge, so nothing is decided, whatever they are."""
        text = markdown(plain)
        assert "**Nobody can say yet.**" in text
        assert "embedded run" not in answer(plain)
        assert (
            "| perceptual-similarity | perceptual | colin2022 / husky-wolf* | 6 | +1.00 |" in text
        )
        assert "| arora2022 | confidence-reduced-test | 1 | 3 | 1 of 1 cells | 0 |" in text
        assert "Without published or replica scores: counterfactual-simulation" in text
        assert "nan" not in text
        assert "None" not in text
        assert markdown(findings(load_studies())) == text

    def test_data_are_finite_and_say_the_same(self, plain: Findings) -> None:
        found = json.loads(data(plain), parse_constant=lambda word: pytest.fail(word))
        assert found["answer"] == answer(plain)
        (deletion,) = [s for s in found["standings"] if s["metric"] == "deletion"]
        assert (deletion["family"], deletion["methods"]) == ("faithfulness", [6])

    def test_a_study_says_whether_anything_could_be_found(self, plain: Findings) -> None:
        (colin,) = [s for s in plain.studies if s.study == "colin2022"]
        assert of_study(colin) == "none"
        few = tuple(replace(s, smallest=0.333) for s in colin.standings)
        assert "none could be (smallest p .333)" in of_study(replace(colin, standings=few))
        one = (replace(colin.standings[0], holm=0.01),)
        assert of_study(replace(colin, standings=one)) == "deletion (+0.25)"
        assert of_study(replace(colin, standings=())) == "no published or replica scores"


@pytest.mark.parametrize(
    ("level", "heading", "words"),
    [
        ("toy", "## The embedded run: not evidence", "**Not evidence.**"),
        ("stand-in", "## Stand-ins: no verdict", "**No verdict.**"),
    ],
)
def test_a_perfect_metric_on_a_toy_decides_nothing(
    plain: Findings, level: str, heading: str, words: str
) -> None:
    found = findings(load_studies(), like_people(level))
    text = markdown(found)
    assert heading in text
    assert words in text
    assert answer(found).startswith(answer(plain).split(" What the embedded")[0])
    assert "insertion" not in answer(found)
    said = other_tier(found, "toy" if level == "toy" else "stand-in")
    assert "those whose interval does not cover 0 are insertion (+1.00)" in said


def test_cells_are_of_the_level_that_t_is_of() -> None:
    """Colin et al. printed deletion, so that a replica of it is shown and changes nothing."""
    found = findings(load_studies(), like_people("replica", "deletion"))
    (mine,) = [s for s in found.of("judged") if s.metric == "deletion"]
    assert mine.levels == ("published",)
    assert np.mean(list(mine.by_cell.values())) == pytest.approx(mine.t)
    assert sum(c.metric == "deletion" and c.primary for c in found.agreement.cells) == 4


def test_a_replica_is_judged() -> None:
    found = findings(load_studies(), like_people("replica"))
    (mine,) = [s for s in found.of("judged") if s.metric == "insertion"]
    assert (mine.t, mine.levels, mine.verdict) == (1.0, ("replica",), "too few studies")
    assert "(as people): T +1.00, interval" in answer(found)
    assert "the interval does not cover 0" in answer(found)


def test_the_figure_has_every_t_and_draws_it_where_it_belongs(plain: Findings) -> None:
    drawn = ElementTree.fromstring(forest(plain))
    words = ["".join(t.itertext()) for t in drawn.iter("{http://www.w3.org/2000/svg}text")]
    shown = [s for s in plain.standings if s.defined]
    assert {s.metric for s in shown} <= set(words)
    circles = [float(c.attrib["cx"]) for c in drawn.iter("{http://www.w3.org/2000/svg}circle")]
    assert len(circles) == len(shown)
    edge = replace(plain, standings=(GOOD, replace(GOOD, t=-1.0), replace(GOOD, t=0.0)))
    places = ElementTree.fromstring(forest(edge)).iter("{http://www.w3.org/2000/svg}circle")
    good, low, middle = (float(c.attrib["cx"]) for c in places)
    assert (good - middle) / (middle - low) == pytest.approx(0.9, abs=0.01)
    assert forest(plain) == forest(plain)
    empty = ElementTree.fromstring(forest(replace(plain, standings=())))
    assert not list(empty.iter("{http://www.w3.org/2000/svg}circle"))
