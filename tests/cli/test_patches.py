"""``humetric patches``: the table over sizes and numbers of patches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Humetric

from humetric import METHODS, METRICS, load_setting, run_settings

METHOD_NAMES = ("saliency", "edge", "random", "constant")
WORDS = ("patches", "image/leaf/cnn", *(w for m in METHOD_NAMES for w in ("--method", m)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose maps the table can read."""
    folder = tmp_path_factory.mktemp("run")
    run_settings(
        [load_setting("image/leaf/cnn", 24)],
        [METHODS.make(name) for name in METHOD_NAMES],
        [METRICS.make("feature-similarity")],
        "cpu",
        out=folder,
    )
    return folder


def test_the_usual_column_is_what_a_run_finds(humetric: Humetric, folder: Path) -> None:
    before = sorted(folder.rglob("*.safetensors"))
    found = humetric(*WORDS, "--out", str(folder), "--device", "cpu", "--json")
    assert found.returncode == 0, found.stderr
    table = json.loads(found.stdout)
    assert len(table["rows"]) == 4 * 2 * 4
    usual = {r["method"]: r for r in table["rows"] if (r["share"], r["patches"]) == (0.25, 1)}
    result = run_settings(
        [load_setting("image/leaf/cnn", 24)],
        [METHODS.make(name) for name in METHOD_NAMES],
        [METRICS.make("feature-similarity")],
        "cpu",
        out=folder,
    )
    means = result.scores.groupby("method")["value"].mean()
    for name in METHOD_NAMES[:3]:
        assert usual[name]["mean"] == pytest.approx(means[name], abs=1e-6)
        assert usual[name]["low"] < usual[name]["mean"] < usual[name]["high"]
        assert usual[name]["defined"] == 24
    assert (usual["constant"]["mean"], usual["constant"]["defined"]) == (None, 0)
    orders = {(o["share"], o["patches"]): o["spearman"] for o in table["order"]}
    assert orders[0.25, 1] == pytest.approx(1)
    assert sorted(folder.rglob("*.safetensors")) == before, "all maps were there"


def test_the_table_fits_a_terminal(humetric: Humetric, folder: Path) -> None:
    found = humetric(*WORDS, "--out", str(folder), "--device", "cpu")
    assert found.returncode == 0
    lines = found.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[1].split()[:4] == ["method", "1/8", "1/6", "1/4"]
    assert [line.split()[0] for line in lines[-2:]] == ["constant", "order"]


def test_maps_are_made_where_there_are_none(humetric: Humetric, tmp_path: Path) -> None:
    found = humetric("patches", "image/pair/cnn", "--method", "edge", "--out", str(tmp_path))
    assert found.returncode == 0, found.stderr
    assert len(list(tmp_path.rglob("map/edge-*.safetensors"))) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("image/nothing/cnn",), "image/nothing/cnn"),
        (("image/leaf/cnn", "--metric", "deletion"), "metric of patches"),
        (("sentiment/deception/tfidf", "--method", "random"), "Expected a setting of images"),
    ],
)
def test_wrong_names(
    humetric: Humetric, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    found = humetric("patches", *words, "--out", str(tmp_path))
    assert found.returncode == 2
    assert message in " ".join(found.stderr.split())


def test_without_weights_it_says_how_to_get_them(
    humetric: Humetric, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HUMETRIC_MIRROR", raising=False)
    monkeypatch.setattr("humetric.data.sources.lookup.find_spec", lambda name: None)
    words = ("--metric", "perceptual-similarity", "--out", str(folder), "--device", "cpu")
    found = humetric("patches", "image/leaf/cnn", "--method", "edge", *words)
    assert found.returncode == 1
    assert "HUMETRIC_MIRROR is not set" in " ".join(found.stderr.split())
