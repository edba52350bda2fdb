"""What is written passes the check of study folders and is read back with the same numbers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from simulated_people import simulated_colin, simulated_hase, simulated_prasad

from humetric.errors import HumetricError
from humetric.human.alignments import check_alignments
from humetric.human.analyse import analyse
from humetric.human.analysis import Analysis
from humetric.human.measures import meaning
from humetric.human.protocols import Randomness, find_protocol
from humetric.human.protocols.colin2022 import Sessions, utility
from humetric.human.read import load_studies, read_study
from humetric.human.trials import check_trials
from humetric.human.validate import problems
from humetric.human.write import write_study


def colin(**conditions: tuple[float, ...]) -> Analysis:
    frame = simulated_colin(np.random.default_rng(0), conditions, users=6, careless=0.2)
    protocol = find_protocol("colin2022")
    return analyse(check_trials(frame, protocol.required), protocol, resamples=199)


THREE = {"none": (0.5, 0.6), "saliency": (0.6, 0.7), "occlusion": (0.6, 0.7)}


def test_round_trip(tmp_path: Path) -> None:
    found = colin(**THREE, control=(0.5, 0.6))
    folder = write_study(found, tmp_path, "simulated-study", 2026)
    assert problems(folder) == []
    study = read_study(folder)
    figures = {(f.cell, f.condition, f.measure): f for f in study.figures}
    assert len(figures) == len(found.findings.estimates)
    for row in found.findings.estimates:
        figure = figures[row.cell, row.condition, row.measure]
        for name in ("value", "low", "high", "se"):
            expected, came = getattr(row, name), getattr(figure, name)
            assert came == expected or (math.isnan(came) and math.isnan(expected))
        assert (figure.n, figure.unit, figure.status) == (row.n, row.unit, "responses")
    assert len(study.statistics) == len(found.findings.statistics)
    assert study.primary is not None
    assert study.primary.measure == "utility"
    assert study.primary.methods == ("occlusion", "saliency")
    assert study.measure("utility").derived_from == ("accuracy-1", "accuracy-2")
    assert study.matrix().value.shape == (1, 2)
    kinds = {c.id: c.kind for c in study.conditions}
    assert kinds["control"] == "control"
    assert kinds["none"] == "none"
    assert "wrong catch trials" in study.exclusions
    assert study.participants == found.screened.kept["participant"].nunique()


def test_boards_find_it_beside_the_bundled_studies(tmp_path: Path) -> None:
    write_study(colin(**THREE), tmp_path, "simulated-study", 2026)
    assert "simulated-study" in load_studies([tmp_path])


def test_one_method_is_not_pooled(tmp_path: Path) -> None:
    folder = write_study(
        colin(none=(0.5, 0.6), saliency=(0.6, 0.7)), tmp_path, "simulated-study", 2026
    )
    study = read_study(folder)
    assert study.primary is None
    assert study.not_pooled == "Fewer than two methods have a utility in every cell."


def test_models_are_not_pooled(tmp_path: Path) -> None:
    frame = simulated_prasad(np.random.default_rng(0), {"bert-base": 0.2, "bow": 0.1}, cases=9)
    found = analyse(check_alignments(frame), find_protocol("prasad2021"))
    study = read_study(write_study(found, tmp_path, "simulated-models", 2026))
    assert study.unit == "model"
    assert study.not_pooled == "Models are compared, not methods."
    assert study.methods == ("bert-base", "bow")


def test_undefined_figures_become_caveats(tmp_path: Path) -> None:
    frame = simulated_hase(np.random.default_rng(0), {"lime": 0.1, "anchor": 0.0}, users=3, items=8)
    frame = frame[(frame["condition"] != "anchor") | (frame["phase"] == "post")]
    protocol = find_protocol("hase2020")
    found = analyse(check_trials(frame, protocol.required), protocol, resamples=99)
    study = read_study(write_study(found, tmp_path, "simulated-hase", 2026))
    assert ("anchor", "accuracy-change") not in {(f.condition, f.measure) for f in study.figures}
    assert any("accuracy-change of anchor in text is undefined" in c for c in study.caveats)


def test_by_test_cells_regroup(tmp_path: Path) -> None:
    frame = simulated_hase(np.random.default_rng(0), {"lime": 0.1, "anchor": 0.0}, users=3, items=8)
    protocol = find_protocol("hase2020")
    table = check_trials(frame.assign(test="forward"), protocol.required)
    study = read_study(
        write_study(analyse(table, protocol, resamples=99), tmp_path, "simulated-hase", 2026)
    )
    assert study.cell("forward").regroups == ("text",)
    assert study.measure("accuracy-change-by-test").derived_from == ("accuracy-change",)


def test_nothing_is_replaced_unasked(tmp_path: Path) -> None:
    found = colin(**THREE)
    folder = write_study(found, tmp_path, "simulated-study", 2026)
    (folder / "notes.md").write_text("kept")
    with pytest.raises(HumetricError, match="--force"):
        write_study(found, tmp_path, "simulated-study", 2026)
    write_study(found, tmp_path, "simulated-study", 2026, overwrite=True)
    assert (folder / "notes.md").read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir()] == ["simulated-study"]


def test_wrong_ids_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(HumetricError, match="Expected a study id"):
        write_study(colin(**THREE), tmp_path, "My Study", 2026)
    slip = colin(none=(0.5, 0.6), saliencyy=(0.6, 0.7))
    with pytest.raises(HumetricError, match="Did you mean 'saliency'"):
        write_study(slip, tmp_path, "simulated-study", 2026)
    assert list(tmp_path.iterdir()) == []


def test_every_measure_has_words() -> None:
    assert meaning("flipped-test", ("confidence-reduced-test",)).derived_from == (
        "confidence-reduced-test",
    )
    assert meaning("seconds-all-trials", ("seconds",)).derived_from == ("seconds",)
    assert meaning("something-else", ()).kind == "other"


def test_standard_errors_hold_the_shared_baseline_fixed(tmp_path: Path) -> None:
    """A baseline of people who differ widens the interval and leaves the standard error alone."""
    answers = np.full((8, 1), 10.0)
    method = Sessions(np.array([[9.0], [7], [8], [6], [9], [8], [7], [10]]), answers)
    found = []
    for right in ([5.0] * 8, [1.0, 9, 2, 8, 3, 7, 5, 5]):
        baseline = Sessions(np.array(right)[:, None], answers)
        draw = Randomness(np.random.default_rng(0), 999)
        found.append(utility("all", "lime", method, baseline, draw)[0])
    same, varied = found
    assert same.value == varied.value == pytest.approx(1.6)
    assert same.se == varied.se > 0
    assert varied.high - varied.low > 1.5 * (same.high - same.low)
    study = read_study(write_study(colin(**THREE), tmp_path, "simulated", 2026))
    assert "hold the baseline fixed" in study.standard_errors
