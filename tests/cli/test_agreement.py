"""``humetric agreement`` as a person and as a program call it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from study_data import study_like

from humetric.cli import app


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        app(["agreement", *words])
    said = capsys.readouterr()
    return int(stop.value.code or 0), said.out, said.err


def test_tables_fit_and_say_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "--published")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 100
    for words in (
        "Metric board. Published and replica evidence",
        "too few studies",
        "perceptual-similarity",
        "sentinel",
        "power at a true correlation of .8",
        "human data: arora2022 v1",  # of the sentinels
        "colin2022 v1",
        "methods shared between studies: integrated-gradients in 3",
    ):
        assert words in " ".join(out.split())


def test_json_rows_have_their_keys(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "--published", "--metric", "deletion", "--json")
    data = json.loads(out)
    assert code == 0
    keys = {"metric", "study", "cell", "measure", "coefficient"}
    assert all(keys <= set(row) for row in data["agreement"])
    (r,) = [
        row["value"]
        for row in data["agreement"]
        if (row["cell"], row["measure"], row["coefficient"])
        == ("husky-wolf", "utility", "pearson-raw")
    ]
    assert r == pytest.approx(-0.93, abs=0.01)


def test_a_variant_is_named_and_moves_the_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for extra in ((), ("--variant", "plotted")):
        _, out, _ = call(capsys, "--published", "--json", *extra)
        data = json.loads(out)
        (r,) = [
            row["value"]
            for row in data["agreement"]
            if (row["metric"], row["cell"], row["coefficient"])
            == ("perceptual-similarity", "all, raw", "pearson")
        ]
        found.append(round(r, 2))
    assert found == [-0.75, -0.77]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--study", "colin2021"), "Did you mean 'colin2022'"),
        (("--metric", "deletoin"), "Did you mean 'deletion'"),
        (("--variant", "ploted"), "plotted"),
        (("nowhere",), "humetric run --out nowhere"),
        (("runs/embedded", "--published"), "either a run or --published"),
    ],
)
def test_mistakes_get_a_sentence(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], expected: str
) -> None:
    code, _, err = call(capsys, *words)
    assert code == 2
    assert expected in " ".join(err.split())


def test_adding_a_study_is_adding_a_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Figures that differ from colin2022's, in its form: a second study, and T is over two."""
    study_like("colin2022", tmp_path / "doe2026")
    code, out, err = call(capsys, "--published", "--human-data", str(tmp_path), "--json")
    assert code == 0, err
    (whole,) = [
        row
        for row in json.loads(out)["agreement"]
        if (row["metric"], row["study"], row["coefficient"]) == ("deletion", None, "t")
    ]
    assert whole["n"] == 2
