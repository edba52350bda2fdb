"""Texts in the terminal and on a page: nothing hurts, nothing is lost, all is where it is."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from page_reader import Reader, printed
from rich.cells import cell_len
from text_looks import cut_short, looked, of_one, small

from humetric.boards.page_parts import cell
from humetric.boards.pieces import clean, pieces, verdict
from humetric.boards.scale import Scale, word_scale
from humetric.boards.text_page import number, text_page
from humetric.boards.text_terminal import level
from humetric.results.result import Failure, Skip
from humetric.run.look import Look
from humetric.run.shown_text import ShownText
from humetric.tasks.words import Span

HOSTILE = "<script>alert(1)</script> &amp; \"onmouseover='x' \x1b[31mred\x07 \u202eback ]]> [bold]"
BOTH = ("integrated-gradients", "random")


def broken() -> Look[ShownText]:
    """A method that failed, one that was skipped, a metric that failed, one that is undefined."""
    found = looked(small(), 1, ("saliency", "occlusion", "random"))
    values = {p: v for p, v in found.values.items() if p[0] == "random"}
    del values["random", "deletion"]
    values["random", "complexity"] = float("nan")
    return replace(
        found,
        maps={"random": found.maps["random"]},
        values=values,
        curves={p: c for p, c in found.curves.items() if p in values},
        failures=(
            Failure(found.setting, "saliency", "", "ValueError: <b>no</b>"),
            Failure(found.setting, "random", "deletion", "no deletion"),
        ),
        skips=(Skip(found.setting, "occlusion", "needs <i>gradients</i>"),),
    )


@pytest.mark.parametrize("task", ["sentiment", "nli", "qa"])
def test_a_page_is_whole_by_itself(task: str) -> None:
    found = looked(small(task))
    text = text_page(found)
    reader = Reader(text)
    assert not reader.tags & {"script", "link", "img", "iframe", "object"}
    assert not re.search(r"(src|href)=|url\(|@import|https?://|\son\w+=", text)
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text
    for pair in found.values:
        assert f"<b>{cell(found, *pair)}</b>" in text
    assert text.count("<polyline") == 2 * len(found.maps)


def test_hostile_words_stay_text() -> None:
    found = looked(of_one(HOSTILE, classes=["<u>bad", "<u>good"]), 1, BOTH)
    page = text_page(found)
    for raw in ("<script>alert", "<u>", "\x1b", "\x07", "\u202e"):
        assert raw not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&amp;amp;" in page
    assert "script" not in Reader(page).tags
    shown = printed(found, 400)
    assert "<script>alert(1)</script>" in shown
    assert "[bold]" in shown
    for control in ("\x1b", "\x07", "\u202e"):
        assert control not in shown


def test_control_characters_and_spaces() -> None:
    assert clean("a\tb\nc\x00\x9b\u2066d\ud800") == "a b c" + "\ufffd" * 3 + "d\ufffd"
    family = "\U0001f468\u200d\U0001f469 \u0627\u0644"  # joined emoji and Arabic are left alone
    assert clean(family) == family


def test_every_word_of_a_page_has_its_number() -> None:
    found = looked(small(), 1)
    reader = Reader(text_page(found))
    for i, (name, values) in enumerate(found.maps.items(), 1):
        words = reader.of("w", i)
        assert [text for text, _ in words] == list(found.shown.words)
        assert [about["title"] for _, about in words] == [number(v) for v in values]
        reached = {w for w, (_, about) in enumerate(words) if about["tabindex"] == "0"}
        assert reached == set(found.shown.top[name][0])
        largest = np.abs(values).max()
        for value, (_, about) in zip(values, words, strict=True):
            strength = float(about["style"].removeprefix("--a:"))
            assert strength == pytest.approx(abs(value) / largest, abs=0.0051)
            if found.methods[name].signed and abs(value) > 0.01 * largest:
                assert ("plus" in about["class"].split()) == (value > 0)


def test_answers_are_marked_where_they_are() -> None:
    found = looked(small("qa"), 1, BOTH)
    passage = found.shown.segments[1].text
    partly = replace(found.shown, answer=Span(6, 12), gold=Span(4, 9))  # within "river flooded"
    look = replace(found, shown=partly)
    parts = pieces(partly, 1)
    assert "".join(p.text for p in parts) == passage
    assert "".join(p.text for p in parts if p.answer) == passage[6:12]
    assert "".join(p.text for p in parts if p.gold) == passage[4:9]
    assert not any(p.answer or p.gold for p in pieces(partly, 0))
    assert "the {ri«ver} fl»ooded" in " ".join(printed(look).split())
    reader = Reader(text_page(look))
    for section in (0, 1):
        answer = [(t, a) for t, a in reader.of("answer", section) if "Line" not in t]
        assert "".join(t for t, _ in answer) == passage[6:12]
        gold = [(t, a) for t, a in reader.of("gold", section) if "dashed" not in t]
        assert "".join(t for t, _ in gold) == passage[4:9]


def test_highlights_of_a_span_are_whole_words_of_its_start_and_its_end() -> None:
    found = looked(small("qa"), 1, ("integrated-gradients",))
    reader = Reader(text_page(found))
    words = found.shown.words
    for kind, top in zip(("start", "end"), found.shown.top["integrated-gradients"], strict=True):
        marked = [t for t, _ in reader.of(kind, 1) if t not in ("start", "end", "both")]
        assert marked == [words[w] for w in sorted(top)]


@pytest.mark.parametrize("colours", [False, True])
@pytest.mark.parametrize("width", [30, 100])
@pytest.mark.parametrize("task", ["sentiment", "nli", "qa"])
def test_lines_fit_the_terminal(task: str, width: int, colours: bool) -> None:
    found = looked(small(task), 1, BOTH)
    shown = re.sub(r"\x1b\[[\d;]*m", "", printed(found, width, colours))
    assert all(cell_len(line) <= width for line in shown.splitlines())
    whole = " ".join(shown.split())
    assert f"{verdict(found)}." in whole
    for name, metric in found.values:
        assert f"{metric} " in whole
        assert cell(found, name, metric) in whole


def test_wide_letters_and_long_words_fit_the_terminal() -> None:
    text = "good \U0001f44d\U0001f3fd " + "\u6620\u753b" * 40 + " " + "x" * 70 + " \u2764\ufe0f"
    shown = printed(looked(of_one(text), 1, ("occlusion",)), 40)
    assert all(cell_len(line) <= 40 for line in shown.splitlines())
    assert "\U0001f44d\U0001f3fd" in shown


def test_strengths_without_colours() -> None:
    found = looked(of_one("a b c d e"), 1, BOTH)
    values = np.array([1.0, -0.5, 0.05, 0.2, -0.99])
    maps = {"integrated-gradients": values, "random": np.array([0.0, 0.4, 0.7, 0.09, 1.0])}
    shown = printed(replace(found, maps=maps)).splitlines()
    assert "a[+3] b[-2] c d[+1] e[-3]" in shown
    assert "a b[2] c[3] d e[3]" in shown
    assert [level(s) for s in (0.1, 0.33, 0.34, -0.66, 0.67, -1.0)] == [1, 1, 2, 2, 3, 3]


def test_strengths_with_colours() -> None:
    found = looked(of_one("a b c"), 1, ("integrated-gradients",))
    maps = {"integrated-gradients": np.array([2.0, -2.0, 0.0])}
    shown = printed(replace(found, maps=maps), colours=True)
    assert "\x1b[38;2;255;255;255;48;2;190;24;30ma\x1b[0m" in shown
    assert "\x1b[38;2;255;255;255;48;2;20;80;200mb\x1b[0m" in shown
    assert " c\n" in shown


def test_scales_of_words() -> None:
    assert word_scale(np.array([-1.0, 3.0]), True) == Scale(-3.0, 3.0, True)
    assert word_scale(np.array([1.0, 3.0]), False) == Scale(0.0, 3.0, False)
    assert word_scale(np.array([-1.0, 3.0]), False) == Scale(-1.0, 3.0, False)
    for signed in (True, False):
        nothing = word_scale(np.zeros(4), signed)
        assert nothing.share(0.0) == 0
    assert word_scale(np.full(3, 2.0), False).share(2.0) == 1
    assert Scale(-2.0, 2.0, True).share(-1.0) == -0.5
    assert Scale(-1.0, 3.0, False).share(0.0) == 0.25


def test_what_is_missing_is_said() -> None:
    found = broken()
    text = text_page(found)
    Reader(text)
    assert "<b>no</b>" not in text
    assert "<i>gradients" not in text
    assert "failed. ValueError: &lt;b&gt;no&lt;/b&gt;" in text
    assert "skipped: it needs &lt;i&gt;gradients" in text
    assert "deletion <b>failed</b>" in text
    assert text.count("<polyline") == 1
    shown = printed(found, 200)
    assert "saliency failed. ValueError: <b>no</b>" in shown
    assert "occlusion skipped: it needs <i>gradients</i>" in shown
    assert "deletion ↓ failed" in shown
    assert "complexity ↓ —" in shown


def test_text_that_was_not_read_is_told_apart() -> None:
    text = " ".join(["the soup arrived cold"] * 250)
    found = looked(cut_short(text), 1, ("random",))
    read = len(found.maps["random"])
    rest = text.split(" ", read)[read]
    assert f"{1000 - read} words were" in text_page(found)
    for section in (0, 1):
        unread = [t.strip() for t, _ in Reader(text_page(found)).of("unread", section)]
        assert rest in unread
    assert f"{1000 - read} words are not seen by the model" in printed(found)


def test_labels_and_answers_in_a_line() -> None:
    found = looked(small(classes=["bad", "good"]), 1, ("random",))
    first = verdict(found)
    assert first.startswith(f"true label: {found.label}; predicted label: {found.target}, ")
    assert f"probability {found.probability:.3f}" in first
    other = replace(found, shown=replace(found.shown, predicted=False))
    assert "explained label: " in verdict(other)
    asked = looked(small("qa"), 1, ("random",))
    assert "true answer: “the mill”; model's answer: “" in verdict(asked)
