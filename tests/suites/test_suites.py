"""Suites load, name what exists, and say what is wrong with a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from humetric.errors import HumetricError, UnknownNameError
from humetric.suites import FOLDER, known_suites, load_suite
from humetric.tasks.named import known_settings


@pytest.mark.parametrize("name", known_suites())
def test_names_in_a_suite_exist(name: str) -> None:
    suite = load_suite(name)
    assert suite.id == name
    for method in suite.methods:
        assert suite.method(method).card.id == method
    for metric in suite.metrics:
        assert suite.metric(metric).card.id == metric
    assert {row.id for row in suite.settings} <= set(known_settings())
    assert set(suite.parameters) <= {*suite.methods, *suite.metrics}


def test_parameters_reach_the_card() -> None:
    card = load_suite().method("lime").card
    assert card.parameters["samples"] == 256
    assert card.parameters["cells"] == 8


def test_a_suite_may_say_in_which_precision_models_are_asked() -> None:
    assert load_suite().precision == "fp32"
    assert load_suite("standard").precision == "bf16"


def test_unknown_suite() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'embedded'"):
        load_suite("embeded")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("cases = 24", "cases = 0"), r"cases: input should be greater than 0, got '0'"),
        (("cases = 24", "case = 24"), r"case: extra inputs are not permitted"),
        (('evidence = "toy"', 'evidence = "good"'), r"settings.0.pairs.0.evidence"),
        (("seed = 0", "seed = "), "is not valid TOML"),
        (("lime = {", "lmie = {"), r"parameters of 'lmie'"),
        (('id = "embedded"', 'id = "../x"'), r"id: string should match pattern"),
        (("metrics = [", "metrics = []\nx = ["), r"metrics: "),
    ],
)
def test_a_bad_file_is_explained(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    text = (FOLDER / "embedded.toml").read_text()
    assert change[0] in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(*change))
    with pytest.raises(HumetricError, match=message):
        load_suite(str(path))


def test_a_missing_or_binary_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(HumetricError, match="Cannot read the suite"):
        load_suite(str(tmp_path / "none.toml"))
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(HumetricError, match="not valid TOML"):
        load_suite(str(tmp_path / "binary.toml"))


def test_unknown_method_and_parameter(tmp_path: Path) -> None:
    text = (FOLDER / "embedded.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(text.replace("lime = { samples", "lime = { sample"))
    with pytest.raises(UnknownNameError, match=r"parameter of method lime 'sample'.*'samples'"):
        load_suite(str(path)).method("lime")
    with pytest.raises(UnknownNameError, match="Did you mean 'saliency'"):
        load_suite().method("salency")
