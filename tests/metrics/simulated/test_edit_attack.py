"""Edit attack on models whose words are worth a known amount, so that reductions have closed forms.

The simulated people share nothing with these forms but the protocol.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import comb, sqrt

import numpy as np
import pytest
import torch
from edit_support import Maps, opened, shown_by, sum_setting, true_weights
from scipy.special import expit
from text_support import setting as small
from torch import Tensor

from humetric import METRICS, evaluate
from humetric import load_setting as embedded
from humetric.engine.placement import place
from humetric.errors import HumetricError
from humetric.metrics.panel import Replicates, Shown
from humetric.metrics.simulated.edit_attack import Achieved, Person, achieved, cohorts
from humetric.metrics.simulated.editor import EDITS, Memory, Sheet, Try, line
from humetric.metrics.simulated.terms import highlights, terms
from humetric.run.evaluate import as_method, run_settings
from humetric.run.execute import execute
from humetric.run.isolated import Limits
from humetric.run.plan import make_plan
from humetric.tasks.cases import Cases
from humetric.tasks.rewritten import parts_of
from humetric.tasks.setting import Setting

ALL = ("edit-attack", "edit-attack-flips", "edit-attack-training")


def run(
    setting: Setting, shown: Shown, metric: str = ALL[0], seed: int = 0, live: int = 0
) -> Replicates:
    panel, engine = opened(setting, seed)
    program = METRICS.make(metric, {"live": live}).simulation().simulate(panel, shown)
    (found,) = engine.run([program])
    assert isinstance(found, Replicates), found
    return found


def people(setting: Setting, maps: Maps, seed: int = 0, live: int = 0) -> list[Achieved]:
    """What five people leave behind, text by text."""
    panel, engine = opened(setting, seed)
    shown = shown_by(setting, maps)
    seen = highlights(shown.attribution, terms(panel.cases), panel.learning)
    cues = np.zeros((2, terms(panel.cases).size))
    (found,) = engine.run([achieved(panel, shown, [Person(i, seen, live, cues) for i in range(5)])])
    assert isinstance(found, list), found
    return found


def constant(setting: Setting) -> Tensor:
    return torch.ones(len(setting), *setting.task.features)


@cache
def world(seed: int = 0) -> Setting:
    """Texts of 300 words that come again, half of them mostly words that speak for each class."""
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(300)]
    weight = rng.normal(0, 0.5, 300)
    tilt = [np.exp(sign * weight) for sign in rng.choice([-1, 1], 84)]
    texts = [" ".join(rng.choice(words, 30, replace=False, p=t / t.sum())) for t in tilt]
    return sum_setting(
        texts, dict(zip(words, weight.tolist(), strict=True)), label=rng.integers(0, 2, 84).tolist()
    )


class TestClosedForm:
    def test_training(self) -> None:
        """True weights take out the best eight words; random ones the positive among any eight."""
        rng = np.random.default_rng(1)
        worth = rng.normal(0.1, 0.4, (74, 17))
        words = [[f"c{i}w{j}" for j in range(17)] for i in range(74)]
        weights = {
            word: value
            for own, values in zip(words, worth.tolist(), strict=True)
            for word, value in zip(own, values, strict=True)
        }
        setting = sum_setting([" ".join(own) for own in words], weights, bias=5.0)
        worth, total = worth[:20], worth[:20].sum(1) + 5
        best = np.sort(worth, axis=1)[:, -EDITS:].clip(min=0).sum(1)
        assert (total - best > 0).all()  # nothing flips, so that every subset of eight is as likely
        subsets = np.array(list(itertools.combinations(range(17), EDITS)))
        reached = np.maximum(worth, 0)[:, subsets].sum(2)
        drop = expit(total)[:, None] - expit(total[:, None] - reached)
        shown, seeds = shown_by(setting, true_weights), 8
        found = [run(setting, shown_by(setting, true_weights), ALL[2], s) for s in range(seeds)]
        exact = expit(total) - expit(total - best)
        np.testing.assert_allclose(found[0].value.numpy(), exact, atol=1e-9)
        none = np.array([f.controls["none"].mean() for f in found])
        mixed = np.array([f.controls["shuffled"].mean() for f in found])
        error = sqrt(drop.var(1).sum() / 5) / 20 / sqrt(seeds)
        assert error < 0.05 * (exact.mean() - drop.mean())
        assert abs(none.mean() - drop.mean()) < 3.5 * error
        assert abs(mixed.mean() - drop.mean()) < 3.5 * error
        assert len(shown.attribution) == 24

    def test_test(self) -> None:
        """With explanations all good words are known, without them those that were tried.

        The first two training cases have 90 words, 50 of them worth .5 and 40 worth -.5; a test
        case has five and four words of each. All other training cases have too few words to edit.
        """
        rng = np.random.default_rng(2)
        good = [[f"g{i}x{j}" for j in range(50)] for i in range(2)]
        bad = [[f"b{i}x{j}" for j in range(40)] for i in range(2)]
        texts = [" ".join(rng.permutation(g + b)) for g, b in zip(good, bad, strict=True)]
        texts += [f"u{i} v{i}" for i in range(22)]
        for _ in range(50):
            own = [w for g in good for w in rng.choice(g, 5, replace=False)]
            own += [w for b in bad for w in rng.choice(b, 4, replace=False)]
            texts.append(" ".join(rng.permutation(own)))
        weights = {w: 0.5 for g in good for w in g} | {w: -0.5 for b in bad for w in b}
        setting = sum_setting(texts, weights, bias=5.0)
        hits = hits_without()
        reduced = expit(6) - expit(6 - 0.5 * np.arange(EDITS + 1))
        assert hits.sum() == pytest.approx(1)
        expected = float((hits * reduced).sum())
        seeds = 16
        found = [run(setting, shown_by(setting, true_weights), seed=s) for s in range(seeds)]
        np.testing.assert_allclose(found[0].value.numpy(), reduced[EDITS], atol=1e-9)
        each = np.stack([f.controls["none"].numpy().reshape(5, 10).mean(1) for f in found])
        error = each.std(ddof=1) / sqrt(each.size)
        assert error < 0.03 * (reduced[EDITS] - expected)
        assert abs(each.mean() - expected) < 3.5 * error
        mixed = np.stack([f.controls["shuffled"].numpy().reshape(5, 10).mean(1) for f in found])
        assert abs(mixed.mean() - expected) < 3.5 * mixed.std(ddof=1) / sqrt(mixed.size)


def hits_without() -> np.ndarray:
    """The distribution of good words among eight without explanations.

    Of each training case eight of 90 words were tried: of a test case's words, five good and four
    bad of 90, some are known. Known good words go first, then unknown ones in any order; there are
    always enough of them that known bad ones are never tried.
    """
    one = {
        (g, b): comb(5, g) * comb(4, b) * comb(81, EDITS - g - b) / comb(90, EDITS)
        for g in range(6)
        for b in range(5)
        if g + b <= EDITS
    }
    found = np.zeros(EDITS + 1)
    for (known, p), (more, q) in itertools.product(one.items(), one.items()):
        g, b = known[0] + more[0], known[1] + more[1]
        if g >= EDITS:
            found[EDITS] += p * q
            continue
        left, fine, poor = EDITS - g, 10 - g, 8 - b
        for k in range(left + 1):
            if k <= fine and left - k <= poor:
                chance = comb(fine, k) * comb(poor, left - k) / comb(fine + poor, left)
                found[g + k] += p * q * chance
    return found


class TestProtocol:
    def test_budget_and_stops(self) -> None:
        """Eight edits at most, none after a flip, never half of the words."""
        flips = 0
        for person in people(world(), true_weights, live=3) + people(world(), constant):
            assert [len(person.training), len(person.test)] == [20, 10]
            for sheet in (*person.training, *person.test):
                words = [t.word for t in sheet.tried]
                assert len(words) == len(set(words)) <= EDITS
                assert 2 * len(sheet.deleted) < len(sheet.term)
                assert sheet.flipped or len(words) == EDITS or len(sheet.deleted) == sheet.most
                flips += sheet.flipped
                if sheet.flipped:
                    assert sheet.deleted[-1] == words[-1]
                    assert sheet.now < 0.5
                else:
                    assert sheet.now > 0.5
        assert flips > 50

    def test_confidence_is_the_models(self) -> None:
        """What is kept adds up to what the model says without these words."""
        setting = world()
        worth = true_weights(setting).numpy()
        undone = 0
        for person in people(setting, constant):
            for sheet in person.test:
                total = worth[sheet.case].sum()
                for t in sheet.tried:
                    assert (t.word in sheet.deleted) == (worth[sheet.case, t.word] > 1e-5)
                    undone += t.word not in sheet.deleted
                gone = worth[sheet.case, sheet.deleted].sum()
                assert sheet.reduced == pytest.approx(expit(total) - expit(total - gone))
        assert undone > 10

    def test_short_texts(self) -> None:
        """One word of three may go, none of two: such a case is undefined, not 0."""
        texts = ["a b c"] * 24 + ["a b"] * 25 + ["a b c"] * 25
        setting = sum_setting(texts, {"a": 2.0, "b": 1.0, "c": 0.5})
        for metric in ALL[:2]:
            found = run(setting, shown_by(setting, true_weights), metric)
            short = [len(setting.texts.words[setting.ids.index(n.split(": ")[1])]) == 2  # type: ignore[union-attr]
                     for n in found.names]  # fmt: skip
            assert found.value.isnan().tolist() == short
            assert found.controls["none"].isnan().tolist() == short
        reduced = run(setting, shown_by(setting, true_weights)).value
        assert reduced.nanmean() == pytest.approx(expit(3.5) - expit(1.5))

    def test_flips_and_names(self) -> None:
        setting = world()
        shown = shown_by(setting, true_weights)
        value, flips, trained = (run(setting, shown, name) for name in ALL)
        assert set(flips.value.tolist()) == {0.0, 1.0}
        assert list(value.names) == list(flips.names)
        assert len(set(value.names)) == 50
        assert list(trained.names) == list(setting.ids[:20])
        assert value.names[10].startswith("cohort 2: ")
        assert flips.value.mean() > flips.controls["none"].mean() + 0.1

    def test_same_again(self) -> None:
        setting = world()
        one, other = (run(setting, shown_by(setting, true_weights), seed=3) for _ in range(2))
        torch.testing.assert_close(one.value, other.value, rtol=0, atol=0)
        torch.testing.assert_close(one.controls["shuffled"], other.controls["shuffled"])
        third = run(setting, shown_by(setting, true_weights), seed=4)
        assert not torch.equal(one.controls["none"], third.controls["none"])

    def test_pairs(self) -> None:
        """Words of both texts can be taken out, and are not the same word."""
        rng = np.random.default_rng(5)
        words = [f"w{i}" for i in range(40)]
        pairs = [
            (" ".join(rng.choice(words, 12)), " ".join(rng.choice(words, 6))) for _ in range(84)
        ]
        weights = dict(zip(words, rng.normal(0, 0.5, 40).tolist(), strict=True))
        setting = sum_setting(pairs, weights, task="nli")
        found = run(setting, shown_by(setting, true_weights), live=2)
        assert found.value.mean() > found.controls["none"].mean()
        assert setting.texts is not None
        parts = {
            setting.texts.segment[sheet.case][word]
            for person in people(setting, true_weights)
            for sheet in person.training
            for word in sheet.deleted
        }
        assert parts == {0, 1}

    def test_answers_are_no_words(self) -> None:
        with pytest.raises(HumetricError, match="answers are places"):
            parts_of(small("qa"))
        with pytest.raises(HumetricError, match="features are tokens"):
            parts_of(small(split="tokens"))


class TestLeaks:
    def test_cohorts_are_apart(self) -> None:
        panel, _ = opened(world())
        cases = np.concatenate(cohorts(panel))
        assert len(set(cases.tolist())) == 50
        assert cases.min() >= panel.learning

    def test_only_training_cases_are_explained(self) -> None:
        seen: list[Setting] = []
        setting = world()
        run(setting, shown_by(setting, true_weights, seen), live=20)
        ids = {name.split(" without ")[0] for other in seen for name in other.ids}
        assert ids == set(setting.ids[:20])

    def test_no_name_of_a_method(self) -> None:
        """Two methods with one map leave the same behind."""

        def one(cases: Cases) -> Tensor:
            return named(cases)

        def other(cases: Cases) -> Tensor:
            return named(cases)

        def named(cases: Cases) -> Tensor:
            return (cases.x[:, 0] * 7919 % 11).float()  # of these texts every token is a word

        metrics = [METRICS.make(name, {"live": 2}) for name in ALL]
        table = evaluate(world(), [one, other], metrics, device="cpu")
        both = [rows["value"].to_numpy() for _, rows in table.groupby("method")]
        np.testing.assert_array_equal(*both)

    def test_what_happens_in_other_test_cases(self) -> None:
        """A test case's value depends on no other test case."""
        setting = world()
        panel, _ = opened(setting)
        changed = [int(case) for own in cohorts(panel) for case in own[1:]]
        maps = shown_by(setting, true_weights)
        one = run(setting, maps)
        assert setting.texts is not None
        texts = [raw[0] for raw in setting.texts.raw]
        vocabulary = sorted({w for t in texts for w in t.split()})
        module = setting.model.module
        weights = {w: float(module.weight.detach()[5 + i]) for i, w in enumerate(vocabulary)}  # type: ignore[index]
        for case in changed:
            texts[case] = " ".join(reversed(texts[case].split()[:15]))
        said = {"target": setting.target.tolist(), "label": setting.label.tolist()}
        other = sum_setting(texts, weights, **said)
        two = run(other, shown_by(other, true_weights))
        first = [i for i, name in enumerate(one.names) if i % 10 == 0]
        assert [one.names[i] for i in first] == [two.names[i] for i in first]
        torch.testing.assert_close(one.value[first], two.value[first])
        assert not torch.allclose(one.value, two.value)

    def test_the_truth_is_not_seen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Labels decide who is asked about which cases, so that they are balanced, and no more."""
        setting = world()
        fixed = cohorts(opened(setting)[0])
        monkeypatch.setattr("humetric.metrics.simulated.edit_attack.cohorts", lambda panel: fixed)
        other = replace(setting, label=1 - setting.label)
        one, two = (run(made, shown_by(made, true_weights), live=2) for made in (setting, other))
        torch.testing.assert_close(one.value, two.value, rtol=0, atol=0)

    def test_without_an_explanation(self) -> None:
        """One map for all words shows nothing: the value is the control's, to the last bit."""
        for metric in ALL:
            found = run(world(), shown_by(world(), constant), metric, live=2)
            torch.testing.assert_close(found.value, found.controls["none"], rtol=0, atol=0)
            torch.testing.assert_close(found.controls["shuffled"], found.value, rtol=0, atol=0)

    def test_shuffled_is_none(self) -> None:
        """On 16 worlds, shuffled true weights help no more than no explanation; true ones do."""
        gains: dict[str, list[tuple[float, float]]] = {ALL[0]: [], ALL[2]: []}
        for seed in range(16):
            setting = world(seed)
            shown = shown_by(setting, true_weights)
            for metric, found in ((metric, run(setting, shown, metric, seed)) for metric in gains):
                none = found.controls["none"].mean()
                both = found.value.mean() - none, found.controls["shuffled"].mean() - none
                gains[metric].append((float(both[0]), float(both[1])))
        for each in gains.values():
            own, mixed = np.array(each).T
            error = mixed.std(ddof=1) / sqrt(len(each))
            assert abs(mixed.mean()) < 3 * error
            assert error < 0.2 * own.mean()
            assert own.mean() > 3 * own.std(ddof=1) / sqrt(len(each))


class TestExplainedAnew:
    def test_live(self) -> None:
        """So many training cases are explained after every edit that is kept and leaves more."""
        setting = world()
        for live in (0, 1, 3):
            seen: list[Setting] = []
            run(setting, shown_by(setting, true_weights, seen), live=live)
            ids = [name for other in seen for name in other.ids]
            assert len(ids) == len(set(ids))
            assert {name.split(" without ")[0] for name in ids} == set(setting.ids[:live])
            assert len(seen) <= EDITS
        for other in seen:
            assert other.texts is not None
            for name, words in zip(other.ids, other.texts.words, strict=True):
                whole, _, gone = name.partition(" without ")
                before = setting.texts.words[setting.ids.index(whole)]  # type: ignore[union-attr]
                deleted = {int(n) for n in gone.split()}
                assert list(words) == [w for i, w in enumerate(before) if i not in deleted]

    def test_new_explanations_are_heeded(self) -> None:
        """A method that shows nothing but in changed texts helps where it is asked about them."""
        setting = world()

        def late(other: Setting) -> Tensor:
            right = " without " in other.ids[0]
            return true_weights(other) if right else constant(other)

        old, new = (run(setting, shown_by(setting, late), ALL[2], live=n) for n in (0, 20))
        assert new.value.mean() > old.value.mean() + 0.1
        some = run(setting, shown_by(setting, late), ALL[2], live=5)
        torch.testing.assert_close(some.value[5:], old.value[5:], rtol=0, atol=0)
        torch.testing.assert_close(some.value[:5], new.value[:5], rtol=0, atol=0)

    @pytest.mark.parametrize("live", [-1, 21])
    def test_live_out_of_range(self, live: int) -> None:
        for name in ALL:
            with pytest.raises(HumetricError, match="live from 0 to 20"):
                METRICS.make(name, {"live": live})


@pytest.mark.slow
def test_in_a_process_of_its_own() -> None:
    """A method that is not built in explains changed texts in its own process, to the same end."""

    def lengths(cases: Cases) -> Tensor:
        found = torch.zeros(cases.shape)
        for row, words in zip(found, cases.texts.words, strict=True):  # type: ignore[union-attr]
            row[: len(words)] = torch.tensor([float(len(word) % 3) for word in words])
        return found

    method, metric = as_method(lengths), METRICS.make(ALL[0], {"live": 1})
    method = replace(method, card=replace(method.card, source="somebody's"))
    setting = embedded("sentiment/deception/tfidf", cases=1)
    found = [
        execute(
            make_plan([setting], [method], [metric], 12),
            {setting.id: setting.place(place("cpu"))},
            {"lengths": method},
            {ALL[0]: metric},
            batches={setting.id: 16},
            isolate=limits,
        )
        for limits in (None, Limits(60, 4))
    ]
    assert not [f for each in found for f in each.failures]
    one, other = (each.scores["value"].tolist() for each in found)
    assert one == other


class TestMemo:
    def test_three_metrics_are_one_simulation(self) -> None:
        setting, seen = world(), []
        shown = shown_by(setting, true_weights, seen)
        panel, engine = opened(setting)
        rows = []
        for name in ALL:
            program = METRICS.make(name, {"live": 2}).simulation().simulate(panel, shown)
            (found,) = engine.run([program])
            assert isinstance(found, Replicates), found
            rows.append(engine.rows)
        assert rows[0] > 0
        assert rows == [rows[0]] * 3
        asked = len(seen)
        program = METRICS.make(ALL[0], {"live": 4}).simulation().simulate(panel, shown)
        engine.run([program])
        assert engine.rows > rows[0]
        assert len(seen) > asked

    def test_in_a_run(self) -> None:
        """A run hands each method a memo of its own, on each setting."""
        made: list[int] = []

        def counting(cases: Cases) -> Tensor:
            made.append(len(cases))
            return torch.arange(float(len(cases)))[:, None] + torch.arange(float(cases.features))

        counts = []
        for names in (ALL[:1], ALL):
            made.clear()
            metrics = [METRICS.make(name, {"live": 2}) for name in names]
            found = run_settings([world()], [as_method(counting)], metrics, device="cpu")
            assert not found.failures
            counts.append(list(made))
        assert counts[0] == counts[1]
        assert set(found.controls) == {(world().id, "counting", name) for name in ALL}


class TestReader:
    def sheet(self, worth: Sequence[float], term: Sequence[int] | None = None) -> Sheet:
        some = np.array(worth, dtype=np.float64)
        of = np.arange(len(some)) if term is None else np.array(term)
        return Sheet(0, of, 0.9, np.linspace(0, 0.9, len(some)), some, some)

    def test_order(self) -> None:
        """Largest first, ties by the coin; a word that did not work waits wherever it stands."""
        sheet = self.sheet([1, 3, 2, 3, 3], [0, 1, 2, 3, 1])
        assert sheet.pick() == 1
        assert not sheet.told(1, 0.95, False)
        assert sheet.now == 0.9
        assert sheet.pick() == 3
        assert sheet.told(3, 0.8, False)
        assert sheet.pick() == 2

    def test_rounding_is_no_reduction(self) -> None:
        sheet = self.sheet([1, 2, 3])
        assert not sheet.told(2, 0.9 - 1e-9, False)

    def test_memory_of_highlights_and_tries(self) -> None:
        """What speaks for one output speaks against the other; tries outweigh highlights."""
        memory = Memory(2, 4)
        memory.note(0, np.array([0, 1, 2]), np.array([3.0, 0.0, 1.0]))
        first, second = memory.of(0).highlight, memory.of(1).highlight
        np.testing.assert_allclose(first, [2, 0.5, 1, 1])
        np.testing.assert_allclose(second, [0, 1.5, 1, 1])
        tried = self.sheet([1, 1, 1, 1])
        tried.tried += [Try(0, 0.0, -1.0), Try(3, 0.0, 1.0)]
        memory.add(0, tried)
        worth = memory.of(0).worth
        assert worth.argmax() == 3
        assert worth.argmin() == 0

    def test_trust(self) -> None:
        """Highlights that keep what they promise are believed, others are not."""
        above = np.array([-1.0, 0.0, 2.0])
        kept = [Try(0, x, 0.2 * (x + 1)) for x in (3.0, 2.0, 1.0, 0.0)]
        broken = [Try(0, x, 0.2 * (4 - x)) for x in (3.0, 2.0, 1.0, 0.0)]
        np.testing.assert_allclose(line(kept, above), 0.2 * (above + 1), atol=1e-12)
        np.testing.assert_allclose(np.ptp(line(broken, above)), 0)
        assert (np.diff(line([], above)) > 0).all()

    def test_cues(self) -> None:
        """Words that are said to speak for an output are remembered at test, as far as trusted."""
        setting = world()
        words = sorted({w for own in setting.texts.words for w in own})  # type: ignore[union-attr]
        weight = setting.model.module.weight.tolist()[-len(words) :]  # type: ignore[operator,union-attr]
        ranked = [words[i] for i in np.argsort(weight)]
        cues = [[{"word": w, "weight": 1.0} for w in own[:40]] for own in (ranked, ranked[::-1])]
        plain = run(setting, shown_by(setting, true_weights))
        helped = run(setting, shown_by(setting, true_weights, cues=cues))
        wrong = run(setting, shown_by(setting, true_weights, cues=cues[::-1]))
        means = [found.value.mean() for found in (wrong, plain, helped)]
        assert (np.diff(means) > 0.03).all()
        torch.testing.assert_close(helped.controls["none"], plain.controls["none"])
        sees = [METRICS.make(name).card.sees for name in ALL]
        assert sees == [("cues",), ("cues",), ()]


def test_small_panels() -> None:
    """A panel that is too small is refused by the planner, with a reason."""
    few = replace(world(), panel=lambda: world().first(60))
    found = run_settings([few.first(2)], [as_method(constant)], [METRICS.make(ALL[0])], "cpu")
    assert "24 cases that are explained and 50 more" in found.skips[0].reason
