"""Reading study folders, and figures as arrays."""

from __future__ import annotations

import re
import shutil
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest

from humetric.errors import HumetricError, UnknownNameError
from humetric.human.read import bundled_folder, digest, load_studies, read_study, study_folders

ROOT = Path(__file__).parents[2]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(bundled_folder() / "colin2022", tmp_path / "colin2022"))


def renamed(copy: Path, name: str) -> Path:
    text = (copy / "study.toml").read_text(encoding="utf-8")
    (copy / "study.toml").write_text(text.replace("colin2022", name), encoding="utf-8")
    return copy.rename(copy.with_name(name))


def unlike(folder: Path) -> Path:
    """The same form with other figures and no address: another experiment."""
    path = folder / "study.toml"
    path.write_text(re.sub(r"^(arxiv|url) = .*\n", "", path.read_text(), flags=re.MULTILINE))
    figures = folder / "results.csv"
    figures.write_text(figures.read_text().replace(",55.7,", ",55.8,", 1))
    return folder


def test_a_source_tree_finds_its_own_folder() -> None:
    assert bundled_folder().samefile(ROOT / "human_data")


def test_matrix_takes_cells_and_methods_in_the_order_asked_for() -> None:
    study = read_study(bundled_folder() / "hase2020")
    found = study.matrix("accuracy-change", ["tabular", "text"], ["composite", "lime"])
    assert found.cells == ("tabular", "text")
    np.testing.assert_array_equal(found.value, [[0.33, 11.25], [3.80, 0.99]])
    np.testing.assert_allclose(found.se, np.array([[10.30, 8.83], [11.09, 9.58]]) / 1.96, atol=6e-4)
    np.testing.assert_array_equal(found.precision, np.full((2, 2), 0.01))
    assert not found.oriented


def test_matrix_of_a_measure_has_the_cells_that_have_it_and_methods_only() -> None:
    study = read_study(bundled_folder() / "gonzalez2021")
    found = study.matrix("selection-accuracy")
    assert found.cells == ("high-vs-low", "high-vs-medium")
    assert found.methods == ("integrated-gradients", "saliency")
    np.testing.assert_array_equal(found.value, [[0.95, 0.89], [0.52, 0.85]])


def test_what_was_not_measured_is_nan() -> None:
    found = read_study(bundled_folder() / "arora2022").matrix("flipped-test")
    table = dict(zip(found.methods, found.value.T.tolist(), strict=True))
    assert table["coefficients"][0] == 16.0
    assert np.isnan(table["coefficients"][1])


def test_orientation_turns_what_is_better_low_once() -> None:
    study = read_study(bundled_folder() / "colin2022")
    time = study.matrix("total-time")
    np.testing.assert_array_equal(time.orient().value, -time.value)
    np.testing.assert_array_equal(time.orient().orient().value, -time.value)
    assert time.orient().oriented
    utility = study.matrix()
    np.testing.assert_array_equal(utility.orient().value, utility.value)


def test_a_measure_without_direction_orders_nothing() -> None:
    found = read_study(bundled_folder() / "gonzalez2021").matrix("accuracy-gold-answer")
    with pytest.raises(HumetricError, match="has none"):
        found.orient()


def test_unknown_names_are_answered_with_near_ones() -> None:
    study = read_study(bundled_folder() / "colin2022")
    with pytest.raises(UnknownNameError, match="Did you mean 'utility'"):
        study.matrix("utilty")
    with pytest.raises(UnknownNameError, match="'grad-cam'"):
        study.matrix("utility", methods=["gradcam"])
    with pytest.raises(UnknownNameError, match="'leaves'"):
        study.matrix("utility", ["leafs"])
    with pytest.raises(UnknownNameError, match="published metric of colin2022"):
        study.scores_matrix("insertion")
    with pytest.raises(HumetricError, match="has no primary measure"):
        read_study(bundled_folder() / "prasad2021").matrix()


def test_a_variant_swaps_one_figure_and_says_so() -> None:
    usual = read_study(bundled_folder() / "colin2022")
    other = read_study(bundled_folder() / "colin2022", variants=("plotted",))
    changed = [
        (a.cell, a.condition, b.value)
        for a, b in zip(usual.figures, other.figures, strict=True)
        if a.value != b.value
    ]
    assert changed == [("leaves", "gradient-input", 1.033)]
    assert other.label == usual.label.replace(")", "+plotted)")
    with pytest.raises(UnknownNameError, match="Known: plotted"):
        read_study(bundled_folder() / "colin2022", variants=("drawn",))
    assert load_studies(variants=["plotted"])["colin2022"] == other
    with pytest.raises(UnknownNameError, match="'plotted'"):
        load_studies(variants=["ploted"])


def test_variants_that_contradict_each_other_are_refused(copy: Path) -> None:
    path = copy / "variants.csv"
    row = path.read_text().splitlines()[1]
    path.write_text(path.read_text() + row.replace("plotted", "guessed") + "\n")
    assert read_study(copy, ["guessed"]).known_variants == ("plotted", "guessed")
    with pytest.raises(HumetricError, match="leaves / gradient-input / utility"):
        read_study(copy, ["guessed", "plotted"])


def test_a_place_is_a_study_or_a_folder_of_studies(copy: Path) -> None:
    folder = unlike(renamed(copy, "doe2026"))
    assert study_folders(folder) == study_folders(folder.parent) == [folder]
    assert list(load_studies([folder]))[-1] == "doe2026"
    assert list(load_studies([folder.parent]))[-1] == "doe2026"
    with pytest.raises(HumetricError, match=r"study\.toml"):
        study_folders(folder / "nowhere")


def test_two_studies_of_one_name_are_refused(copy: Path) -> None:
    with pytest.raises(HumetricError, match="already there"):
        load_studies([copy])


def test_a_copy_under_another_id_is_no_new_study(copy: Path) -> None:
    """By its arXiv number, by its address, and by its figures alone."""
    folder = renamed(copy, "doe2026")
    text = (folder / "study.toml").read_text()
    for kept, words in (("arxiv", "same arxiv"), ("url", "same url"), ("", "same figures")):
        dropped = "|".join({"arxiv", "url"} - {kept})
        bare = re.sub(rf"^({dropped}) = .*\n", "", text, flags=re.MULTILINE)
        (folder / "study.toml").write_text(bare)
        with pytest.raises(HumetricError, match=words):
            load_studies([folder])


def test_an_address_written_in_another_way_is_the_same(copy: Path) -> None:
    folder = renamed(copy, "doe2026")
    text = (folder / "study.toml").read_text()
    text = re.sub(r"^url = .*\n", "", text, flags=re.MULTILINE)
    text = text.replace('"2112.04417"', '"2112.04417v2"')
    (folder / "study.toml").write_text(text)
    with pytest.raises(HumetricError, match="same arxiv"):
        load_studies([folder])


def test_the_digest_is_of_the_content(copy: Path) -> None:
    first = digest(copy)
    assert first == digest(bundled_folder() / "colin2022")
    path = copy / "results.csv"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    (copy / "notes.txt").write_text("not part of it")
    assert digest(copy) == first
    path.write_bytes(path.read_bytes().replace(b"1.0649", b"1.0648"))
    assert digest(copy) != first
    assert read_study(copy).label == f"colin2022 v1 ({digest(copy)})"


def test_a_study_cannot_be_changed() -> None:
    study = read_study(bundled_folder() / "hase2020")
    with pytest.raises(FrozenInstanceError):
        study.version = 2  # type: ignore[misc]


def test_a_broken_study_is_not_read(copy: Path) -> None:
    text = (copy / "results.csv").read_text()
    (copy / "results.csv").write_text(text.replace("higher", "upwards"))
    with pytest.raises(HumetricError, match=r"results.csv, row 2, direction.*\n(.*\n)+.*more"):
        read_study(copy)
