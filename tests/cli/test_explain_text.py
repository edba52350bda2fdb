"""``humetric explain`` of texts as a person meets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Humetric

from humetric.run.evaluate import evaluate
from humetric.suites import load_suite
from humetric.tasks.named import load_setting

FAST = ["--method", "saliency", "--method", "random"]


def test_a_text_in_the_terminal(humetric: Humetric, tmp_path: Path) -> None:
    found = humetric("explain", "sentiment/reviews/bilstm", "--case", "2", *FAST)
    assert found.returncode == 0, found.stderr
    made = load_setting("sentiment/reviews/bilstm", cases=2)
    assert made.texts is not None
    said = " ".join(found.stdout.split())
    assert f"sentiment/reviews/bilstm, case {made.ids[1]}" in said
    assert made.texts.raw[1][0] in said
    assert f"true label: {made.classes[int(made.label[1])]}" in said
    assert all(len(line) <= 100 for line in found.stdout.splitlines())
    assert "\x1b" not in found.stdout
    assert not list(tmp_path.iterdir())
    suite = load_suite("embedded")
    for name in ("saliency", "random"):
        run = evaluate(made, suite.method(name), ["deletion", "sufficiency"], device="cpu")
        own = run[run["case"] == made.ids[1]].set_index("metric")["value"]
        assert f"deletion ↓ {own['deletion']:.3f}" in said
        assert f"sufficiency ↓ {own['sufficiency']:.3f}".replace("-", "\N{MINUS SIGN}") in said


def test_an_answer_on_a_page(humetric: Humetric, tmp_path: Path) -> None:
    arguments = ["explain", "qa/adversarial/low", "--case", "5", *FAST]
    (tmp_path / "new").mkdir()
    found = humetric(*arguments, "-o", "new/x.html")
    assert found.returncode == 0, found.stderr
    assert "is drawn in new/x.html." in found.stdout
    text = (tmp_path / "new" / "x.html").read_text()
    made = load_setting("qa/adversarial/low", cases=5)
    assert f"<h1>qa/adversarial/low, case {made.ids[4]}</h1>" in text
    assert "As people would see it: top 10 words of the answer's start and of its end" in text


def test_default_methods_are_those_that_the_model_allows(humetric: Humetric) -> None:
    linear = humetric("explain", "sentiment/deception/tfidf", "--case", "1")
    assert linear.returncode == 0, linear.stderr
    assert "skipped" not in linear.stderr
    heads = [line.split("  ")[0] for line in linear.stdout.splitlines() if "  words from" in line]
    assert heads == ["occlusion", "random (control)"]
    asked = humetric("explain", "sentiment/deception/tfidf", "--case", "1", *FAST)
    assert asked.returncode == 0
    assert "skipped saliency on sentiment/deception/tfidf: it needs" in asked.stderr
    assert "saliency skipped: it needs" in asked.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sentiment/review/bert"], "Did you mean 'sentiment/reviews/bert'"),
        (["sentiment/reviews/bert", "--case", "reviews-9999"], "Unknown case of"),
        (["sentiment/reviews/bert", "--case", "85"], "expected a number from 1 to 84"),
        (["sentiment/reviews/bert", "-o", "x.png"], "texts and tables are shown as HTML, or in"),
        (["sentiment/reviews/bert", "-o", "x.pdf"], "ends in .html but got 'x.pdf'"),
        (["image/leaf/cnn"], "Expected a file for the image: give one that ends in .png or .html"),
    ],
)
def test_mistakes_are_explained_without_a_trace(
    humetric: Humetric, tmp_path: Path, arguments: list[str], message: str
) -> None:
    found = humetric("explain", *arguments, *([] if "--case" in arguments else ["--case", "1"]))
    assert found.returncode == 2
    assert message in " ".join(found.stderr.split())
    assert "Traceback" not in found.stderr
    assert not found.stdout
    assert not list(tmp_path.iterdir())
