"""Settings of real pictures, from a made-up folder; and the three of the suite on the mirror."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from lite_support import random_network
from PIL import Image

from humetric.data.sources import Source, digest, rows
from humetric.data.sources.source import Part
from humetric.errors import HumetricError
from humetric.settings import files, images, load_real
from humetric.settings.declared import Training
from humetric.settings.files import cases_file
from humetric.settings.images import Album, Sample, chosen_cases, decoded
from humetric.settings.pictures import DOGS, IMAGES, LEAVES
from humetric.tasks.setting import Setting, outputs

ROOT = Path(__file__).resolve().parents[2]
MIRROR = Path(os.environ.get("HUMETRIC_MIRROR", ROOT.parent / "shared" / "mirror"))
NEEDED = {name: MIRROR / "datasets" / name for declared in IMAGES for name in declared.sources[:1]}
WEIGHTS = MIRROR / "models" / "efficientnet_lite0" / "model.safetensors"

COUNT = 14


@pytest.fixture
def album(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Album:
    """Noise that is bright or dark, and a network with random weights."""
    torch.set_num_threads(1)
    random_network(tmp_path, monkeypatch)
    monkeypatch.setattr(files, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setenv("HUMETRIC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HUMETRIC_MIRROR", str(tmp_path))
    rng = np.random.default_rng(0)
    for i in range(COUNT):
        label = i % 2
        place = tmp_path / "datasets" / "shades" / "test" / ("dark", "light")[label]
        place.mkdir(parents=True, exist_ok=True)
        noise = rng.integers(0, 128, (256, 260, 3)) + 127 * label
        Image.fromarray(noise.astype(np.uint8)).save(place / f"{i:02d}.png")
    folder = tmp_path / "datasets" / "shades" / "test"
    part = Part("test", 1, digest(folder), COUNT)
    made_up = {"shades": Source("shades", "images", "Shades", "none", "nobody 2000", (part,))}

    def pool() -> list[Sample]:
        return [Sample(row, row["label"]) for row in rows("shades", "test", sources=made_up)]

    return Album(
        "image/shades/lite0",
        "shades",
        ("dark", "light"),
        pool,
        lambda: decoded(pool()[::4]),
        recipe="every fourth",
    )


def task(album: Album) -> Training:
    folder = files.trained_here(album.id)
    return Training(album.id, folder, folder / "state", say=lambda line: None)


def loaded(album: Album, count: int | None = None) -> Setting:
    chosen = json.loads(cases_file(album.id).read_text())
    return images.load(album, chosen, chosen["cases"][:count], "mean")


def test_a_head_is_trained_cases_are_chosen_and_loaded(album: Album) -> None:
    with pytest.raises(HumetricError, match="run humetric train image/shades/lite0"):
        album.weights()
    album.train(task(album))
    chosen_cases(album, task(album))
    text = cases_file(album.id).read_text()
    chosen = json.loads(text)
    assert set(chosen["cases"][0]) == {"id", "label", "predicted", "sha256"}
    assert chosen["pool"] == COUNT
    assert str(files.SHIPPED.parent) not in text, "no paths of this machine"
    setting = loaded(album, 3)
    assert len(setting) == 3
    assert setting.notes == ()
    assert setting.task.features == (224, 224)
    assert setting.reference is not None
    assert len(setting.reference) == len(chosen["cases"]), "of all cases, if fewer than 24"
    assert setting.ids == tuple(row["id"] for row in chosen["cases"][:3])
    said = outputs(setting.model.module, setting.x).argmax(1)
    assert torch.equal(said, setting.target)
    assert setting.display is not None
    dark = setting.display.float().mean((1, 2, 3)) < 127
    assert torch.equal(dark, setting.label == 0)
    whole = loaded(album)
    share = float(whole.right.double().mean())
    assert chosen["accuracy"] == pytest.approx(share, abs=0.15)


def test_other_pixels_other_weights_and_missing_pictures_are_told(album: Album) -> None:
    album.train(task(album))
    chosen_cases(album, task(album))
    first = {sample.id: sample for sample in album.pool()}[loaded(album, 1).ids[0]].row["path"]
    kept = first.read_bytes()
    Image.new("RGB", (256, 256), (9, 9, 9)).save(first)
    (note,) = loaded(album).notes
    assert note.startswith(f"1 of {len(loaded(album))} pictures decode to other pixels")
    first.write_bytes(kept)

    other = replace(album, training=lambda: decoded(album.pool()[1::4]))
    album_file = files.trained_here(album.id) / images.FILE
    album_file.unlink()
    other.train(task(album))
    setting = loaded(other)
    assert setting.notes[0].startswith("trained on this machine")
    said = outputs(setting.model.module, setting.x).argmax(1)
    assert torch.equal(said, setting.target), "its own predictions are explained"

    first.unlink()
    with pytest.raises(HumetricError, match="Expected the pictures of shades but 1 of"):
        loaded(other)


def test_training_goes_by_what_is_there(album: Album) -> None:
    album.train(task(album))
    file = files.trained_here(album.id) / images.FILE
    first, when = file.read_bytes(), file.stat().st_mtime_ns
    album.train(task(album))
    assert file.stat().st_mtime_ns == when, "nothing is trained again"
    album.train(replace(task(album), again=True))
    assert file.stat().st_mtime_ns > when
    assert file.read_bytes() == first, "and the same comes out"


@pytest.mark.parametrize("declared", IMAGES, ids=lambda declared: declared.id)
def test_declared_cases_hold_no_picture_and_enough_of_each_output(declared: object) -> None:
    chosen = json.loads(cases_file(declared.id).read_text())  # type: ignore[attr-defined]
    cases = chosen["cases"]
    assert len(cases) == images.CASES
    assert len({row["id"] for row in cases}) == len(cases)
    for prefix in (4, 16, 48):
        assert sum(row["predicted"] for row in cases[:prefix]) * 2 == prefix
    wrong = [row["predicted"] != row["label"] for row in cases]
    assert sum(wrong[:24]) >= sum(wrong) * 24 / 60, "errors come first"
    assert sum(wrong) > 0


@pytest.mark.parametrize("declared", IMAGES, ids=lambda declared: declared.id)
def test_the_page_says_what_was_recorded(declared: object) -> None:
    chosen = json.loads(cases_file(declared.id).read_text())  # type: ignore[attr-defined]
    wrong = sum(row["predicted"] != row["label"] for row in chosen["cases"])
    accuracy = f"{chosen['accuracy']:.3f}".lstrip("0")
    expected = f"| {chosen['pool']} | {accuracy} | {len(chosen['cases'])} | {wrong} |"
    page = (ROOT / "docs" / "standard.md").read_text()
    (line,) = [r for r in page.splitlines() if r.startswith(f"| `{chosen['setting']}` |")]
    assert line.endswith(expected)
    if "animal alone" in chosen:
        for name in ("background alone", "animal alone", "background of the other"):
            both = [f"{chosen[key]:.3f}" for key in (name, f"unflawed head: {name}")]
            assert "| {} | {} |".format(*(v.lstrip("0") for v in both)) in page, name


def test_the_husky_head_goes_by_the_background() -> None:
    """What was measured when cases were chosen, and stands in the published pages."""
    chosen = json.loads(cases_file("image/husky-wolf/lite0").read_text())
    assert chosen["background alone"] > chosen["animal alone"] + 0.3
    assert chosen["background of the class"] > chosen["background of the other"] + 0.2
    swapped = "borders swapped: called by the border"
    assert chosen[swapped] > chosen[f"unflawed head: {swapped}"] + 0.4
    assert not (files.SHIPPED / "image/husky-wolf/lite0" / images.FILE).exists(), "no licence"


@pytest.mark.skipif(
    not WEIGHTS.is_file() or not NEEDED["imagenet_sample"].is_dir(),
    reason=f"no pictures or weights in {MIRROR}; set HUMETRIC_MIRROR",
)
@pytest.mark.parametrize("album", [LEAVES, DOGS], ids=lambda album: album.id)
def test_recorded_predictions_are_the_models(album: Album, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUMETRIC_MIRROR", str(MIRROR))
    setting = load_real(album.id, 4)
    said = outputs(setting.model.module, setting.x).argmax(1)
    assert torch.equal(said, setting.target)
    assert not any("trained on this machine" in note for note in setting.notes)
    assert setting.reference is not None
    assert len(setting.reference) == 24
