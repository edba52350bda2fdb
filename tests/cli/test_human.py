"""``humetric human`` as a person or a program meets it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command import Humetric
from study_data import study_like

from humetric.human.read import bundled_folder, load_studies

STUDIES = list(load_studies())


def test_bundled_studies_are_in_order(humetric: Humetric) -> None:
    found = humetric("human", "validate")
    assert found.returncode == 0, found.stderr
    assert found.stdout == f"In order: {', '.join(STUDIES)}.\n"
    assert json.loads(humetric("human", "validate", "--json").stdout) == []


def test_problems_have_a_place_and_a_remedy(humetric: Humetric, tmp_path: Path) -> None:
    for name in ("hase2020", "arora2022"):
        shutil.copytree(bundled_folder() / name, tmp_path / "mine" / name)
    path = tmp_path / "mine" / "hase2020" / "results.csv"
    path.write_text(path.read_text().replace("text,lime", "text,lyme", 1))
    found = humetric("human", "validate", "mine")
    assert found.returncode == 1
    assert "In order: arora2022." in found.stdout
    words = " ".join(found.stderr.split())
    assert "hase2020/results.csv, row 2, condition: expected a condition of study.toml" in words
    assert "but got 'lyme'. Did you mean 'lime'?" in words
    data = humetric("human", "validate", "mine/hase2020", "--json")
    assert data.returncode == 1
    first = json.loads(data.stdout)[0]
    assert (first["row"], first["column"]) == (2, "condition")


def test_validate_needs_a_study(humetric: Humetric) -> None:
    found = humetric("human", "validate", "nowhere")
    assert found.returncode == 2
    assert "study.toml" in found.stderr


@pytest.mark.parametrize("study", STUDIES)
def test_show_fits_a_terminal(humetric: Humetric, study: str) -> None:
    for measure in load_studies()[study].measures:
        found = humetric("human", "show", study, "--measure", measure.id)
        assert found.returncode == 0, found.stderr
        assert max(map(len, found.stdout.splitlines())) <= 100
        assert measure.id in found.stdout
        assert "…" not in found.stdout


def test_show_prints_protocol_caveats_and_figures(humetric: Humetric) -> None:
    found = humetric("human", "show", "hase2020").stdout
    for words in (
        "Hase and Bansal (2020)",
        "2,166 responses",
        "Caveats",
        "regroups the responses of Table 1",
        "11.25 [2.42, 20.08]",
        "Source: Table 1, page 5545",
    ):
        assert words in " ".join(found.split())


def test_show_marks_what_is_not_printed(humetric: Humetric) -> None:
    assert "1.065 =" in humetric("human", "show", "colin2022").stdout
    other = humetric("human", "show", "colin2022", "--variant", "plotted").stdout
    assert "1.033 ~" in other
    assert "88.77 ?" in humetric("human", "show", "nguyen2021").stdout


def test_show_as_json_has_all_and_no_nan(humetric: Humetric) -> None:
    text = humetric("human", "show", "colin2022", "--json").stdout
    data = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert (len(data["figures"]), len(data["scores"])) == (132, 53)
    assert data["figures"][0]["se"] is None
    one = json.loads(
        humetric("human", "show", "colin2022", "--json", "--measure", "total-time").stdout
    )
    assert len(one["figures"]) == 18


def test_show_a_study_of_ones_own_and_draw_it(humetric: Humetric, tmp_path: Path) -> None:
    study_like("hase2020", tmp_path / "doe2026")
    (tmp_path / "out").mkdir()
    found = humetric(
        "human", "show", "doe2026", "--human-data", "doe2026", "--plot", "out/rating.png",
        "--measure", "rating",
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert "doe2026 v1 (" in found.stdout
    assert "rating is drawn in out/rating.png" in found.stdout
    assert (tmp_path / "out" / "rating.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["colin2020"], "Did you mean 'colin2022'"),
        (["colin2022", "--measure", "utilty"], "Did you mean 'utility'"),
        (["colin2022", "--variant", "drawn"], "Known: plotted"),
        (["colin2022", "--plot", "figure.jpg"], ".png or .svg or .pdf"),
        (["colin2022", "--human-data", "nowhere"], "check the path"),
    ],
)
def test_slips_are_explained(humetric: Humetric, arguments: list[str], words: str) -> None:
    found = humetric("human", "show", *arguments)
    assert found.returncode == 2
    assert words in " ".join(found.stderr.split())


def test_list_studies(humetric: Humetric) -> None:
    table = humetric("list", "studies").stdout
    assert "…" not in table
    assert "confidence-reduced-test" in table
    rows = {row["study"]: row for row in json.loads(humetric("list", "studies", "--json").stdout)}
    assert list(rows) == STUDIES
    colin = rows["colin2022"]
    assert (colin["cells"], colin["compares"], colin["people"]) == (3, "6 methods", 1150)
    pair = {"suite": "embedded", "setting": "image/leaf/cnn", "study": "colin2022"}
    assert pair | {"cell": "leaves", "evidence": "toy"} in colin["pairs"]
    assert rows["prasad2021"]["primary"] == "none"


def test_a_plot_makes_no_folders(humetric: Humetric, tmp_path: Path) -> None:
    found = humetric("human", "show", "hase2020", "--plot", "no/such/place.png")
    assert found.returncode == 2
    assert "there is no folder no/such" in " ".join(found.stderr.split())
    assert list(tmp_path.iterdir()) == []


def test_a_variant_of_another_study_is_refused(humetric: Humetric) -> None:
    assert humetric("human", "show", "colin2022", "--variant", "plotted").returncode == 0
    found = humetric("human", "show", "hase2020", "--variant", "plotted")
    assert found.returncode == 2
    assert "Unknown variant of hase2020 'plotted'" in " ".join(found.stderr.split())


def test_agreement_says_why_a_study_has_nothing(humetric: Humetric) -> None:
    found = humetric("agreement", "--study", "prasad2021")
    assert found.returncode == 0
    assert "prasad2021 has no comparison to show: " in " ".join(found.stdout.split())


def test_a_bundled_id_is_taken(humetric: Humetric, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("participant,condition,item\n")
    words = ("human", "analyse", "r.csv", "--protocol", "colin2022", "--out", "mine")
    found = humetric(*words, "--study", "colin2022")
    assert found.returncode == 2
    assert "'colin2022' is a bundled one" in " ".join(found.stderr.split())
