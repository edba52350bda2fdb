"""A text case as it is shown: values of a run, words and answers where they are, top words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from support import linear_setting
from text_looks import FEW, MEASURES, NAMES, SPANS, cut_short, looked, of_one, small
from text_support import QUESTIONS

from humetric.errors import HumetricError
from humetric.methods import METHODS
from humetric.run.evaluate import evaluate
from humetric.run.look import UNKNOWN, look
from humetric.run.shown_image import shown_image
from humetric.run.shown_text import TOP, segments_of, shown_text
from humetric.tasks.text import TextTask
from humetric.tasks.words import Span


@pytest.mark.parametrize("task", ["sentiment", "nli", "qa"])
def test_values_are_those_of_a_run(task: str) -> None:
    made = small(task)
    methods = [METHODS.make(name, FEW.get(name)) for name in NAMES]
    run = evaluate(made, methods, MEASURES, device="cpu", precision="fp64", chunk=3)
    expected = run.set_index(["case", "method", "metric"])["value"]
    found = looked(made, 3, precision="fp64")
    assert len(found.values) == len(NAMES) * len(MEASURES)
    for pair, value in found.values.items():
        assert value == pytest.approx(expected[(found.case, *pair)], abs=1e-9, nan_ok=True), pair
    for key, curve in found.curves.items():
        assert (curve.share[0], curve.share[-1]) == (0, 1)
        area = np.trapezoid(curve.probability, curve.share)
        assert area == pytest.approx(found.values[key], abs=1e-9)


def test_words_are_where_they_stand_in_the_text() -> None:
    texts = ("  the  the end", "\u200b end .")
    found = segments_of(("a", "b"), texts, ("the", "the", "end", "end"), (0, 0, 0, 1))
    assert found[0].words == (Span(2, 5), Span(7, 10), Span(11, 14))
    assert found[1].words == (Span(2, 5),)
    assert (found[0].first, found[1].first) == (0, 3)


def test_answers_are_marked_by_their_characters() -> None:
    found = looked(small("qa"), 1, ("random",))
    assert found.shown.gold == Span(*SPANS[0])
    passage = QUESTIONS[0][1]
    assert found.label == passage[18:26] == "the mill"
    assert found.shown.answer is not None
    assert found.target == passage[slice(*found.shown.answer)]
    assert found.shown.predicted


def test_a_true_answer_that_is_not_known() -> None:
    made = small("qa")
    found = looked(replace(made, label=torch.full_like(made.label, -1)), 2, ("random",))
    assert found.label == UNKNOWN
    assert found.shown.gold is None


def test_another_output_than_the_model_s_is_told_apart() -> None:
    made = small()
    other = replace(made, target=1 - made.target)
    assert looked(made, 1, ("random",)).shown.predicted
    assert not looked(other, 1, ("random",)).shown.predicted


def test_top_words_are_the_highest_signed_ones() -> None:
    found = looked(small(), 1, ("occlusion", "saliency"))
    for name, values in found.maps.items():
        (top,) = found.shown.top[name]
        assert len(top) == TOP < len(values)
        assert list(top) == np.argsort(-values, kind="stable")[:TOP].tolist()
    (few,) = looked(small(), 2, ("occlusion",)).shown.top["occlusion"]
    assert sorted(few) == [0, 1]


def test_a_span_s_top_words_come_from_its_start_and_from_its_end() -> None:
    """Integrated gradients are linear in the score: the map is the mean of both ends' maps."""
    made = small("qa")
    found = looked(made, 3, ("integrated-gradients", "occlusion"), precision="fp64")
    assert isinstance(made.task, TextTask)
    ends = [
        looked(replace(made, task=replace(made.task, ends=(end,))), 3, tuple(found.maps), "fp64")
        for end in (0, 1)
    ]
    for name in found.maps:
        maps = [end.maps[name] for end in ends]
        np.testing.assert_allclose(sum(maps) / 2, found.maps[name], atol=1e-9)
        assert not np.allclose(maps[0], maps[1])
        for top, own in zip(found.shown.top[name], maps, strict=True):
            assert list(top) == np.argsort(-own, kind="stable")[:TOP].tolist()


def test_long_texts_are_shown_whole_and_say_what_was_not_read() -> None:
    text = " ".join(["the soup arrived cold"] * 250)
    whole = looked(of_one(text), 1, ("saliency", "random"))
    assert len(whole.shown.words) == len(whole.maps["saliency"]) == 1000
    assert whole.shown.cut == 0
    part = looked(cut_short(text), 1, ("saliency",))
    assert part.shown.segments[0].text == text
    assert part.shown.cut == 1000 - len(part.maps["saliency"]) > 0


def test_emoji_are_words_like_others() -> None:
    found = looked(of_one("good \U0001f44d\U0001f3fd film \u2764\ufe0f !"), 1, ("occlusion",))
    assert found.shown.words == ("good", "\U0001f44d\U0001f3fd", "film", "\u2764\ufe0f", "!")


def test_images_and_texts_are_not_mixed_up() -> None:
    with pytest.raises(HumetricError, match=r"Expected an image setting but .* task sentiment"):
        look(small(), 1, [METHODS.make("random")], [], shown_image, device="cpu")
    with pytest.raises(HumetricError, match="Expected texts but these are cases of the task image"):
        look(linear_setting(), 1, [METHODS.make("random")], [], shown_text, device="cpu")
