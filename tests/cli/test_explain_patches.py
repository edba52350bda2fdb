"""``humetric explain --patches`` as a person meets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Humetric
from PIL import Image

from humetric import METHODS, METRICS, load_setting
from humetric.engine.placement import place
from humetric.run.shown_patches import look_at_patches

WORDS = ("explain", "image/leaf/cnn", "--patches", "--device", "cpu")
DASH = "\N{EN DASH}"


def chosen(*names: str) -> list[str]:
    return [word for name in names for word in ("--method", name)]


def test_the_picture_is_written_and_the_terminal_says_where_patches_are(
    humetric: Humetric, tmp_path: Path
) -> None:
    found = humetric(*WORDS, *chosen("saliency", "constant"), "-o", "leaf.PNG")
    assert found.returncode == 0, found.stderr
    image = Image.open(tmp_path / "leaf.PNG")
    assert image.info["Title"] == "Highlighted patches of image/leaf/cnn"
    lines = found.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[0].startswith("image/leaf/cnn: a patch of 16 x 16 pixels per case")
    assert lines[-1] == "Patches of image/leaf/cnn are drawn in leaf.PNG."
    look = look_at_patches(
        load_setting("image/leaf/cnn").place(place("cpu")),
        [METHODS.make("saliency")],
        METRICS.make("feature-similarity"),
        chunk=12,
        seed=0,
    )
    of = look.highlighted["saliency"]
    rows = [line.split() for line in lines[3:7]]
    assert rows[0][:3] == ["saliency", f"{of.mean:.3f}", "smooth"]
    assert rows[2][:3] == ["constant", DASH, "smooth"]
    for row, cases in zip((rows[0][3:], rows[1][1:]), look.classes.values(), strict=True):
        corners = [of.found.corner[case.row, 0].tolist() for case in cases]
        assert " ".join(row) == " | ".join(f"{y},{x}" for y, x in corners)
    assert rows[3] == ["serrated", *" | ".join([DASH] * 5).split()]


def test_the_metric_of_the_suite_and_its_parameters_are_taken(
    humetric: Humetric, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where its weights are missing, patches are drawn all the same, and it is said once."""
    monkeypatch.delenv("HUMETRIC_MIRROR", raising=False)
    monkeypatch.setattr("humetric.data.sources.lookup.find_spec", lambda name: None)
    (tmp_path / "own.toml").write_text(
        'id = "own"\nversion = 1\nsummary = "s"\ncases = 24\nchunk = 12\nmethods = ["edge"]\n'
        'metrics = ["deletion", "perceptual-similarity"]\n[[settings]]\nid = "image/leaf/cnn"\n'
        "[parameters.perceptual-similarity]\npatches = 3\nshare = 0.125\n"
    )
    words = (*WORDS, "--suite", "own.toml", *chosen("edge", "random"), "-o", "x.png")
    found = humetric(*words)
    assert found.returncode == 1
    assert (tmp_path / "x.png").exists()
    assert "3 patches of 8 x 8 pixels per case, as perceptual-similarity cuts" in found.stdout
    said = " ".join(found.stderr.split())
    assert said.count("failed: perceptual-similarity of edge, random on image/leaf/cnn.") == 1
    assert said.count("HUMETRIC_MIRROR is not set") == 1
    assert max(map(len, found.stdout.splitlines())) <= 100


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("sentiment/deception/tfidf", "-o", "x.png"), "Expected a setting of images (image/"),
        (("tabular/census/mlp", "-o", "x.png"), "got tabular/census/mlp"),
        (("image/leaf/cmn", "-o", "x.png"), "Did you mean 'image/leaf/cnn'"),
        (("image/leaf/cnn", "-o", "x.html"), "ends in .png but got 'x.html'"),
        (("image/leaf/cnn",), "Expected a file for the patches"),
        (("image/leaf/cnn", "--case", "3", "-o", "x.png"), "--patches without --case"),
        (("image/leaf/cnn", "--method", "salency", "-o", "x.png"), "Did you mean 'saliency'"),
    ],
)
def test_what_cannot_be_shown_is_refused(
    humetric: Humetric, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    found = humetric("explain", "--patches", *words)
    assert found.returncode == 2
    assert message in " ".join(found.stderr.split())
    assert not list(tmp_path.iterdir())


def test_without_patches_a_case_is_needed(humetric: Humetric) -> None:
    found = humetric("explain", "image/leaf/cnn", "-o", "x.png")
    assert found.returncode == 2
    assert "Expected a case to show" in found.stderr
