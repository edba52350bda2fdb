"""``humetric explain`` as a person meets it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from command import Humetric
from PIL import Image

from humetric.methods import METHODS, Method


def test_a_figure_of_a_case(humetric: Humetric, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    found = humetric(
        "explain", "image/leaf/cnn", "--case", "2",
        "--method", "saliency", "--method", "edge", "-o", "new/leaf.PNG",
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert "Case leaf-0003 of image/leaf/cnn is drawn in new/leaf.PNG." in found.stdout
    image = Image.open(tmp_path / "new" / "leaf.PNG")
    assert "case leaf-0003" in image.info["Title"]
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["leaf.PNG"]


def test_a_page_has_the_default_methods_with_the_suite_s_parameters(
    humetric: Humetric, tmp_path: Path
) -> None:
    found = humetric("explain", "image/habitat/cnn", "--case", "habitat-0003", "-o", "x.html")
    assert found.returncode == 0, found.stderr
    text = (tmp_path / "x.html").read_text()
    for name in ("saliency", "integrated-gradients", "occlusion", "random (control)"):
        assert f'<th scope="row">{name}</th>' in text
    assert "<h1>image/habitat/cnn, case habitat-0003</h1>" in text
    assert "lime" not in text
    humetric("explain", "image/leaf/cnn", "--case", "1", "--method", "lime", "-o", "x.html")
    assert "samples = 256" in (tmp_path / "x.html").read_text()


def test_the_help_names_the_default_methods(humetric: Humetric) -> None:
    said = " ".join(humetric("explain", "--help").stdout.split())
    assert "By default saliency, integrated-gradients, occlusion, random." in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["image/leaf/cmn"], "Did you mean 'image/leaf/cnn'"),
        (["image/leaf/cnn", "--method", "salency"], "Did you mean 'saliency'"),
        (["image/leaf/cnn", "--method", "edge", "--method", "edge"], "edge came twice"),
        (["image/leaf/cnn", "--case", "laef-0002"], "Did you mean 'leaf-0002'"),
        (["image/leaf/cnn", "--case", "85"], "expected a number from 1 to 84"),
        (["image/leaf/cnn", "-o", "x.pdf"], "ends in .png or .html but got 'x.pdf'"),
        (["image/leaf/cnn", "-o", "x"], "ends in .png or .html but got 'x'"),
        (["image/leaf/cnn", "-o", "folder.png"], "Cannot write folder.png: it is a folder"),
        (["image/leaf/cnn", "-o", "file/x.png"], "Cannot write file/x.png"),
        (["image/leaf/cnn", "--suite", "embed"], "Did you mean 'embedded'?"),
        (["image/leaf/cnn", "--device", "cuda:7"], "The device 'cuda:7' cannot be used here"),
    ],
)
def test_mistakes_are_explained_without_a_trace(
    humetric: Humetric, tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "file").write_text("in the way")
    extra = [] if "--case" in arguments else ["--case", "1"]
    extra += [] if "-o" in arguments else ["-o", "x.png"]
    found = humetric("explain", *arguments, *extra)
    assert found.returncode == 2
    assert message in " ".join(found.stderr.split())
    assert "Traceback" not in found.stderr
    assert not (tmp_path / "x.png").exists()


def test_failures_and_skips_are_said_and_shown(
    humetric: Humetric, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edge, constant = METHODS.make("edge"), METHODS.make("constant")
    text_only = Method(replace(constant.card, tasks=("text",)), constant.explain)
    monkeypatch.setitem(METHODS._factories, "constant", lambda: text_only)
    arguments = ["explain", "image/leaf/cnn", "--case", "1", "-o", "x.html"]
    arguments += ["--method", "constant", "--method", "random"]
    skipped = humetric(*arguments)
    assert skipped.returncode == 0
    assert "skipped constant on image/leaf/cnn: it is for text, not for image" in skipped.stderr
    monkeypatch.setitem(
        METHODS._factories, "edge", lambda: Method(edge.card, lambda cases: cases.x)
    )
    failed = humetric(*arguments, "--method", "edge")
    assert failed.returncode == 1
    said = " ".join(failed.stderr.split())
    assert "failed: edge on image/leaf/cnn. Expected an attribution of shape" in said
    text = (tmp_path / "x.html").read_text()
    assert "edge failed. Expected an attribution" in text
    assert "constant was skipped" in text
