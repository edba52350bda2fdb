"""The figure of a measure shows every published value and interval."""

from __future__ import annotations

import pytest

from humetric.human.plot import SUFFIXES, draw, image
from humetric.human.read import bundled_folder, read_study
from humetric.human.study import Study


@pytest.fixture(scope="module")
def arora() -> Study:
    return read_study(bundled_folder() / "arora2022")


def test_one_panel_per_cell_with_all_values_and_intervals(arora: Study) -> None:
    figure = draw(arora, "confidence-reduced-test")
    assert [axes.get_title() for axes in figure.axes] == ["logistic-regression", "bert"]
    bert = figure.axes[1]
    points = {float(line.get_xdata()[0]) for line in bert.lines if line.get_marker() == "o"}
    assert points == {9.2, 6.1, 10.4, 14.9, 23.6}
    bars = {tuple(line.get_xdata()) for line in bert.lines if len(line.get_xdata()) == 2}
    assert {(6.6, 11.9), (4.1, 8.2), (7.7, 13.3), (11.6, 18.4), (19.7, 27.6)} <= bars
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names[-1] == "none"
    assert len(names) == 6


def test_labels_stay_inside_the_figure() -> None:
    for id in ("arora2022", "colin2022", "nguyen2021"):
        study = read_study(bundled_folder() / id)
        measure = study.primary.measure if study.primary else study.measures[0].id
        figure = draw(study, measure)
        figure.canvas.draw()
        box = figure.bbox
        words = [t for axes in figure.axes for t in (*axes.get_yticklabels(), axes.title)]
        for text in (*words, *figure.texts):
            if text.get_text():
                found = text.get_window_extent()
                assert found.x0 >= 0, text.get_text()
                assert found.x1 <= box.x1, text.get_text()
                assert found.y0 >= 0, text.get_text()
                assert found.y1 <= box.y1, text.get_text()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_are_the_same_every_time(arora: Study, suffix: str) -> None:
    first = image(arora, "simulation-accuracy", suffix)
    assert first == image(arora, "simulation-accuracy", suffix)
    assert first[:8].startswith({".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix])
