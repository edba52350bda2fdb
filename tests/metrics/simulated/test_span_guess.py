"""Span guess: closed forms, a perfect explanation, and what the reader may not know."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from question_support import embedded, noise, panel_of, perfect, run, show

from humetric.metrics.simulated.lexical import reading, shades
from humetric.metrics.simulated.span_guess import answers, guess, guesses, learned
from humetric.tasks.answers import f1

SEEDS = 20
QUESTION = "Who built the mill?"
PASSAGE = "Ada sang. Nela Lund built the mill in Velby. It burned."
WORDS = [*QUESTION.split(), *PASSAGE.split()]


def marked(**shade: float) -> str:
    """What the reader marks where some words are highlighted."""
    own = reading(WORDS, [0] * 4 + [1] * 11)
    shades_of = np.array([shade.get(word.strip(".?"), 0.0) for word in WORDS])
    first, last = guess(own, shades_of)
    return " ".join(WORDS[first : last + 1])


def test_without_highlights_it_marks_the_longest_run_that_it_believes_in() -> None:
    assert marked() == "Nela Lund"


def test_what_is_darkest_wins_over_belief() -> None:
    """1 - 1/2 for the darkest word, 1/2 - 1/2 for a word that is believed in."""
    assert marked(sang=1.0) == "sang."
    assert marked(mill=1.0) == "mill"


def test_belief_wins_over_faint_highlights() -> None:
    """Two believed words of evidence .5 against one: 2 (.5 - .6 / 2) > .6 / 2, but not at .7."""
    assert marked(sang=0.6, Who=1.0) == "Nela Lund"
    assert marked(sang=0.7, Who=1.0) == "sang."


def test_belief_decides_between_equally_dark_words() -> None:
    assert marked(sang=1.0, Velby=1.0) == "Velby."


def test_a_gap_is_bridged_if_both_ends_are_worth_it() -> None:
    """ "the" costs half of the strongest evidence, and both of its neighbours are worth half."""
    assert marked(built=1.0, mill=1.0) == "built", "bridging is worth nothing"
    assert marked(built=1.0, the=0.1, mill=1.0) == "built the mill"


def test_it_stays_within_a_sentence() -> None:
    assert marked(sang=1.0, Nela=1.0) == "Nela", 'and not "sang. Nela"'


def test_it_marks_ten_words_at_most() -> None:
    words = ["Who?", *"abcdefghijklmno"]
    own = reading(words, [0] + [1] * 15)
    first, last = guess(own, np.array([0.0, 0.9, *[1.0] * 13, 0.9]))
    assert last - first == 9


@pytest.mark.parametrize("answers", ["true", "last word", "false"])
def test_a_perfect_explanation_is_read_without_a_fault(answers: str) -> None:
    """However good or bad the model's answer, and much better than without."""
    panel = embedded(answers)
    found = run("span-guess", panel, show(perfect(panel)))
    assert found.value.tolist() == [1.0] * panel.learning
    assert found.controls["none"].mean() < 0.8


@pytest.mark.parametrize(("answers", "chance"), [("true", 0.0), ("last word", 0.1), ("false", 0.1)])
def test_noise_and_shuffled_explanations_are_worth_what_none_are(
    answers: str, chance: float
) -> None:
    """Over 10 maps of noise and 20 shuffles. Where belief is never right, a few hits by chance are
    more than none."""
    panel = embedded(answers)
    found = run("span-guess", panel, show(perfect(panel)))
    shuffled, none = (found.controls[name].mean().item() for name in ("shuffled", "none"))
    blind = [
        run("span-guess", panel, show(noise(panel, s))).value.mean() for s in range(SEEDS // 2)
    ]
    for mean in (shuffled, float(np.mean(blind))):
        assert none - 0.03 < mean < none + 0.03 + chance
    assert (none == 0) == (chance > 0)


def test_nothing_to_see_leaves_belief_alone() -> None:
    panel = embedded("true")
    flat = torch.full((panel.learning, panel.cases.features), 2.0, dtype=torch.float64)
    for attribution in (flat, -noise(panel, 0), torch.zeros_like(flat)):
        found = run("span-guess", panel, show(attribution))
        assert torch.equal(found.value, found.controls["none"])
        assert torch.equal(found.controls["shuffled"], found.controls["none"])
    assert 0.2 < found.value.mean() < 0.9, "it can answer some questions by itself"


def test_shuffled_explanations_are_no_better_than_none() -> None:
    """Where belief knows nothing (no word in common, an answer anywhere) they are as good: one word
    of twelve is right by chance."""
    value, none, shuffled = [], [], []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        texts, said = [], []
        for _ in range(24):
            names = rng.permutation([f"{a}{b}" for a in "bdfg" for b in "aei"]).tolist()
            passage = " of ".join(names)
            at = int(rng.integers(12)) * 6
            texts.append(("who?", passage))
            said.append((at, at + 2))
        panel = panel_of(texts, said, seed=seed)
        found = run("span-guess", panel, show(perfect(panel)))
        value.append(found.value.mean())
        none.append(found.controls["none"].mean())
        shuffled.append(found.controls["shuffled"].mean())
    assert np.mean(value) == 1
    # Of 480 questions, and of 9600 shuffles in which "of" and the question get their share.
    assert np.mean(none) == pytest.approx(1 / 12, abs=4 * (1 / 12 * 11 / 12 / 480) ** 0.5)
    assert np.mean(shuffled) < 1 / 12 + 0.02
    assert np.mean(shuffled) == pytest.approx(np.mean(none), abs=0.05)


def test_it_learns_from_other_questions_whether_to_follow_highlights() -> None:
    """F1 elsewhere: highlights 0 + 1, 1 + 1 and 1 + 0; belief 1 + 0, 0 + 0 and 0 + 1."""
    said = ["a lamp", "the mill", "Ada"]
    assert learned(["lamp", "mill", "no"], ["x", "y", "Ada"], said) == ["lamp", "mill", "no"]
    assert learned(["lamp", "x", "no"], ["y", "mill", "Ada"], said) == ["y", "x", "no"]
    assert learned(["no"], ["lamp"], ["lamp"]) == ["no"], "highlights, where there is nothing else"


def test_the_reader_knows_neither_the_models_answer_nor_the_true_one() -> None:
    """Of the question that it is asked; of others it has learned what the model said."""
    panel, other = embedded("false"), embedded("true")
    seen = shades(noise(panel, 3), panel)
    blind = replace(panel, label=panel.label * 0 - 1, right=~panel.right)
    blind = replace(blind, cases=replace(panel.cases, target=other.cases.target))
    assert guesses(blind, seen) == guesses(panel, seen)
    plain = guesses(panel, [own * 0 for own in seen])
    said, changed = answers(panel, panel.cases.target), answers(blind, blind.cases.target)
    marked = guesses(panel, seen)
    found = learned(marked, plain, said)
    for i in range(panel.learning):
        assert learned(marked, plain, [*said[:i], changed[i], *said[i + 1 :]])[i] == found[i]
    one, two = (run("span-guess", p, show(noise(p, 3))) for p in (panel, blind))
    assert not torch.equal(one.value, two.value), "but the score does"


def test_it_comes_out_again_in_any_company() -> None:
    """What the reader marks does not depend on other cases, and values not on the panel's rest."""
    whole, attribution = embedded("false"), noise(embedded("false"), 4)
    found = run("span-guess", whole, show(attribution))
    again = run("span-guess", embedded("false"), show(attribution))
    assert torch.equal(found.value, again.value)
    for name in ("none", "shuffled"):
        assert torch.equal(found.controls[name], again.controls[name])
    assert tuple(found.names) == whole.cases.ids
    seen, part = shades(attribution, whole), replace(whole, learning=5)
    assert guesses(part, shades(attribution[:5], part)) == guesses(whole, seen)[:5]
    assert tuple(run("span-guess", part, show(attribution[:5])).names) == whole.cases.ids[:5]


class TestGold:
    def test_who_follows_a_perfect_explanation_is_not_biased(self) -> None:
        panel = embedded("false")
        found = run("span-guess-gold", panel, show(perfect(panel)))
        assert found.value.tolist() == [0.0] * panel.learning
        assert found.controls["none"].mean() > 0.2, "and who has none answers the question"

    def test_it_is_the_same_guess_as_span_guess(self) -> None:
        panel = embedded("false")
        attribution = perfect(panel)
        attribution[::2] = 0
        seen = shades(attribution, panel)
        said, true = answers(panel, panel.cases.target), answers(panel, panel.label)
        plain = guesses(panel, [own * 0 for own in seen])
        marked = learned(guesses(panel, seen), plain, said)
        for name, other in (("span-guess", said), ("span-guess-gold", true)):
            found = run(name, panel, show(attribution)).value.tolist()
            assert found == [f1(own, text) for own, text in zip(marked, other, strict=True)]
            assert 0 < sum(found) < panel.learning

    def test_it_is_undefined_where_both_answers_have_a_word_in_common_or_none_is_known(
        self,
    ) -> None:
        texts = [(QUESTION, PASSAGE)] * 3
        one = PASSAGE.index("Nela"), PASSAGE.index(" built")
        other, last = (one[0] + 5, one[1]), (len(PASSAGE) - 7, len(PASSAGE))
        panel = panel_of(texts, [one, last, one], [other, other, other])
        label = panel.label.clone()
        label[2] = -1
        found = run("span-guess-gold", replace(panel, label=label), show(perfect(panel)))
        assert found.value.isnan().tolist() == [True, False, True]
        assert found.controls["none"].isnan().tolist() == [True, False, True]
        assert found.controls["none"][1].item() == pytest.approx(2 / 3)
