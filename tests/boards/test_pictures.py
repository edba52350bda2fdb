"""The pictures of the metric board: what they say, and that nothing lies on anything else."""

from __future__ import annotations

import functools
import io
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from model_reports import MODELS, report
from PIL import Image

from humetric.agreement.across import TOO_FEW, Across
from humetric.agreement.cell import CellAgreement, cell_agreement, measured
from humetric.agreement.evidence import Evidence, Level
from humetric.agreement.report import Agreement, agreement, caption
from humetric.alignment.report import COMMON, WRONG
from humetric.alignment.rows import PUBLISHED, published_rows, sections_of
from humetric.boards.pictures import alignment as model_scatter
from humetric.boards.pictures import concordance as metric_concordance
from humetric.boards.pictures import heatmap as metric_heatmap
from humetric.boards.pictures import order as metric_order
from humetric.boards.pictures import scatter as metric_scatter
from humetric.boards.pictures.draw import (
    concordance,
    heatmap,
    levels,
    model_pictures,
    scatter,
)
from humetric.boards.pictures.lanes import side_by_side
from humetric.boards.pictures.sheet import DPI, SUFFIXES
from humetric.boards.pictures.words import chance, cut, inches, signed, wrapped
from humetric.errors import HumetricError
from humetric.human.read import load_studies

LONG = "a-metric-with-a-name-that-is-much-longer-than-any-that-is-known"


@functools.cache
def published() -> Agreement:
    return agreement(load_studies())


def cell(
    metric: str, study: str, place: str, level: Level, made_on: str, defined: bool = True
) -> CellAgreement:
    """A metric with arbitrary values for the methods of a cell."""
    of = published().studies[study]
    assert of.primary is not None
    draw = np.random.default_rng([*metric.encode(), *place.encode(), *made_on.encode()])
    value = draw.normal(size=len(of.primary.methods)).round(2) * draw.choice([1e-3, 1.0, 4e4])
    evidence = Evidence(
        metric=metric,
        kind="baseline" if metric.startswith("base") else "metric",
        direction="lower" if len(metric) % 2 else "higher",
        study=study,
        cell=place,
        level=level,
        made_on=made_on,
        methods=of.primary.methods,
        value=value if defined else np.full(len(value), np.nan),
        precision=np.zeros(len(value)),
        derived_from="hase2020" if metric == "derived" else "",
    )
    return cell_agreement(evidence, of, measured(of, of.primary.measure), seed=0)


def over(metric: str, level: Level, cells: list[CellAgreement]) -> Across:
    """A metric over studies, with T from its cells; p and the rest are another's."""
    like = next(a for a in published().across if a.metric == "random")
    mine = [c for c in cells if c.metric == metric and not math.isnan(c.concordance.d)]
    d = {c.study: [x.concordance.d for x in mine if x.study == c.study] for c in mine}
    sampled = tuple({c.study: 0 for c in mine if c.in_sample})
    means = {study: float(np.mean(some)) for study, some in d.items() if study not in sampled}
    t = float(np.mean(list(means.values()))) if means else math.nan
    return replace(
        like,
        metric=metric,
        kind=cells[0].kind,
        tier="judged" if level in ("published", "replica") else level,
        levels=dict.fromkeys(means, level),
        test=like.test._replace(t=t, studies=means, p=like.test.p if means else math.nan),
        holm=0.25,
        verdict="disagrees in these studies",
        in_sample=sampled,
    )


@functools.cache
def many(count: int = 20) -> Agreement:
    """Twelve columns of toy and ten of published evidence, long names, one metric undefined."""
    found = published()
    measured_ones = [LONG, "undefined", "derived", "baseline"]
    copies = [f"copy-{i}" for i in range(count - len(measured_ones))]
    cells: list[CellAgreement] = []
    whole: list[Across] = []
    settings: dict[Level, list[str]] = {
        "published": ["the paper's own scores"],
        "toy": ["text/a-setting-with-a-long-name/transformer-large", "b/c/d"],
    }
    for level, made_on in settings.items():
        for name in measured_ones:
            mine = [
                cell(name, study.id, place, level, made_on[i], name != "undefined")
                for study in found.studies.values()
                if study.primary
                for place in study.primary.cells
                for i in range(min(len(made_on), 2 if study.id == "hase2020" else 1))
            ]
            cells += mine
            whole.append(over(name, level, mine))
        like = [c for c in cells if c.metric == LONG and c.level == level]
        for name in copies:
            mine = [replace(c, metric=name) for c in like]
            cells += mine
            whole.append(over(name, level, mine))
    sentinels = [a for a in found.across if a.kind == "sentinel"]
    return replace(
        found, cells=tuple(cells), across=(*whole, *sentinels), family=(*measured_ones, *copies)
    )


def small() -> Agreement:
    """One metric, without any defined value, in one cell."""
    cells = [cell("undefined", "arora2022", "bert", "toy", "a/b/c", defined=False)]
    return replace(published(), cells=tuple(cells), across=(over("undefined", "toy", cells),))


def texts(figure: Figure) -> list[Text]:
    """All words of a figure that are shown."""
    FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    found = figure.findobj(Text)
    return [t for t in found if isinstance(t, Text) and t.get_visible() and t.get_text().strip()]


def words(figure: Figure) -> str:
    return " ".join(t.get_text() for t in texts(figure))


FIGURES: dict[str, Callable[[], Figure]] = {
    "scatter, published": lambda: metric_scatter.draw(published(), "published"),
    "scatter, many published": lambda: metric_scatter.draw(many(5), "published"),
    "scatter, many toy": lambda: metric_scatter.draw(many(5), "toy"),
    "scatter, nothing defined": lambda: metric_scatter.draw(small(), "toy"),
    "concordance, published": lambda: metric_concordance.draw(published()),
    "concordance, many": lambda: metric_concordance.draw(many()),
    "concordance, nothing defined": lambda: metric_concordance.draw(small()),
    "heatmap, published": lambda: metric_heatmap.draw(published()),
    "heatmap, many": lambda: metric_heatmap.draw(many()),
    "heatmap, nothing defined": lambda: metric_heatmap.draw(small()),
    "models": lambda: models(),
    "models, of other texts": lambda: models("expert"),
}


def models(*oracles: str) -> Figure:
    """Of a made-up report, beside the study; with some oracles alone, of another task."""
    (section,) = sections_of([report()])
    if not oracles:
        study = load_studies()["prasad2021"]
        return model_scatter.draw(section.report, section.rows, published_rows(study))
    rows = [r for r in section.rows if not r.oracle or r.oracle in oracles]
    plain = [r for r in rows if not r.term.startswith("diagnostic")]
    return model_scatter.draw(section.report, plain, [])


@pytest.mark.parametrize("name", FIGURES)
def test_words_neither_overlap_nor_leave_the_figure(name: str) -> None:
    figure = FIGURES[name]()
    shown = [(t.get_text(), t.get_window_extent()) for t in texts(figure)]
    assert len(shown) > 8
    for text, box in shown:
        assert figure.bbox.x0 <= box.x0, text
        assert box.x1 <= figure.bbox.x1, text
        assert figure.bbox.y0 <= box.y0, text
        assert box.y1 <= figure.bbox.y1, text
    for (one, first), (two, second) in combinations(shown, 2):
        across = min(first.x1, second.x1) - max(first.x0, second.x0)
        down = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert min(across, down) < 0.025 * DPI, f"{one!r} lies on {two!r}"  # boxes have margins


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_bytes_every_time(suffix: str) -> None:
    found = published()
    for made in (
        lambda: scatter(found, "published", suffix),
        lambda: concordance(found, suffix),
        lambda: heatmap(found, suffix),
    ):
        first = made()
        assert first == made()
        start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix]
        assert first.startswith(start)


def test_a_png_says_what_it_is() -> None:
    shown = Image.open(io.BytesIO(scatter(published(), "published")))
    assert shown.info["dpi"] == pytest.approx((DPI, DPI), abs=0.5)
    assert shown.info["Title"] == metric_scatter.title("published")


def test_other_files_are_refused() -> None:
    with pytest.raises(HumetricError, match=r"end in .png, .svg, .pdf but got '.gif'"):
        heatmap(published(), ".gif")


def test_a_panel_per_metric_and_cell_with_its_numbers() -> None:
    found = published()
    figure = metric_scatter.draw(found, "published")
    table = metric_order.columns(found)
    assert len(figure.axes) == 3 * len(table) == 9
    said = [t.get_text() for t in texts(figure)]
    for cell in metric_order.primary_cells(found):
        for line in metric_scatter.statistics(cell, 6):
            assert line in said
    husky = next(c for c in found.cells if c.metric == "complexity" and c.cell == "husky-wolf")
    assert metric_scatter.statistics(husky, 6) == (
        "D +0.89   r +0.90   n 5 of 6",
        "p = 0.067   smallest 0.067",
    )
    assert said.count("in sample: not judged") == 3
    assert said.count("lower is better \N{RIGHTWARDS ARROW}") == 9
    assert said.count("higher is better \N{RIGHTWARDS ARROW}") == 3  # of what people did


def test_points_are_the_values_and_axes_run_to_the_better_side() -> None:
    found = published()
    figure = metric_scatter.draw(found, "published")
    rows = list(metric_order.metrics(found.cells))
    expected = [col[name] for name in rows for col in metric_order.columns(found).values()]
    for axes, cell in zip(figure.axes, expected, strict=True):
        points = [tuple(map(float, (*line.get_xdata(), *line.get_ydata()))) for line in axes.lines]
        assert points == list(zip(cell.metric_values, cell.human_values, strict=True))
        low, high = axes.get_xlim()
        assert (low > high) == (cell.direction == "lower")
        bottom, top = axes.get_ylim()
        assert bottom < top


def test_a_metric_that_sees_cues_has_a_point_for_the_condition_that_shows_them() -> None:
    of = published().studies["arora2022"]
    assert of.primary is not None
    names = (*of.primary.methods, *of.cue_conditions)
    assert of.cue_conditions
    seeing = Evidence(
        "seeing", "metric", "higher", of.id, "bert", "toy", "a", names,
        np.arange(len(names), dtype=float), np.zeros(len(names)), sees=("cues",),
    )  # fmt: skip
    row = cell_agreement(seeing, of, measured(of, of.primary.measure, sees_cues=True), seed=0)
    found = replace(published(), cells=(row,), across=())
    drawn = metric_scatter.draw(found, "toy")
    assert len(row.methods) == len(names)
    assert f"n {len(names)}" in words(drawn)
    assert all(name in words(drawn) for name in of.cue_conditions)


def test_bars_are_one_standard_error() -> None:
    found = many(4)
    of = [c for c in found.cells if c.study == "arora2022"]
    figure = metric_scatter.draw(replace(found, cells=tuple(of)), "toy")
    human = found.studies["arora2022"].matrix()
    bars = [line.get_ydata() for line in figure.axes[0].lines if len(line.get_ydata()) == 2]
    assert [float(low + high) / 2 for low, high in bars] == pytest.approx(human.value[0])
    assert [float(high - low) / 2 for low, high in bars] == pytest.approx(human.se[0])
    assert "one standard error" in words(figure)
    assert "No standard errors" in words(metric_scatter.draw(published(), "published"))


def test_a_method_has_one_mark_and_no_study_repeats_a_colour() -> None:
    look = metric_order.method_marks(published())
    assert len(set(look.values())) == len(look)
    for study in published().studies.values():
        if study.primary:
            colours = {look[m].colour for m in study.primary.methods}
            assert len(colours) == len(study.primary.methods)


def test_what_is_not_published_says_what_it_tests() -> None:
    found = small()
    for figure in (
        metric_scatter.draw(found, "toy"),
        metric_concordance.draw(found),
        metric_heatmap.draw(found),
    ):
        assert caption(found.cells[0], found.studies) in words(figure)
        assert "not evidence" in words(figure)
    for figure in (metric_scatter.draw(published(), "published"), metric_heatmap.draw(published())):
        assert "transfers" not in words(figure)
        assert "not evidence" not in words(figure)


def test_nothing_to_draw() -> None:
    assert levels(published()) == ("published",)
    assert levels(many()) == ("published", "toy")
    with pytest.raises(HumetricError, match=r"level 'toy' but there is none.*there is published"):
        scatter(published(), "toy")
    empty = replace(published(), cells=(), across=())
    for draw in (concordance, heatmap):
        with pytest.raises(HumetricError, match="there is none to draw"):
            draw(empty)


def test_concordance_says_t_p_and_verdict_of_every_metric() -> None:
    found = published()
    figure = metric_concordance.draw(found)
    said = [t.get_text() for t in texts(figure)]
    at = {name: said.index(name) for name in ("deletion", "complexity", "name-hash")}
    assert said[at["deletion"] :][:6] == ["deletion", "+0.25", "0.203", "1.000", "1", TOO_FEW]
    assert at["deletion"] < at["complexity"] < at["name-hash"]
    sampled = said.index("perceptual-similarity")
    dash = "\N{EM DASH}"
    assert said[sampled + 1 : sampled + 6] == [dash, dash, dash, "0 + 1 in sample", TOO_FEW]
    judged = {"complexity", "deletion", "perceptual-similarity"}
    without = ", ".join(name for name in found.family if name not in judged)
    told = f"Holm over {len(found.family)} metrics; without judged evidence: {without}."
    assert told in words(figure)


def test_concordance_draws_cells_means_and_t() -> None:
    found = published()
    axes = metric_concordance.draw(found).axes[0]
    drawn = [float(line.get_xdata()[0]) for line in axes.lines]
    for whole in found.across:
        for value in (whole.test.t, *whole.test.studies.values()):
            assert math.isnan(value) or any(value == pytest.approx(x) for x in drawn)
    deletion = [
        c.concordance.d for c in metric_order.primary_cells(found) if c.metric == "deletion"
    ]
    assert len(deletion) == 3
    assert all(any(d == pytest.approx(x) for x in drawn) for d in deletion)
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    assert len(crosses) == 3


def test_only_judged_evidence_is_filled() -> None:
    judged, toy = metric_concordance.draw(many()).axes
    for axes, hollow in ((judged, False), (toy, True)):
        marked = [line for line in axes.lines if line.get_marker() not in ("None", "x")]
        assert len(marked) > 20
        assert all((line.get_markerfacecolor() == "white") == hollow for line in marked)


def test_equal_values_stand_side_by_side() -> None:
    placed = side_by_side([0.5, 1.0, 0.5, -1.0, 0.5])
    assert placed[1] == 1.0
    assert placed[3] == -1.0
    assert len(set(placed)) == 5
    assert np.mean([placed[i] for i in (0, 2, 4)]) == pytest.approx(0.5)
    crowd = side_by_side([1.0] * 30)
    assert max(crowd) < 1.12  # within the axis


def test_every_number_of_the_heatmap() -> None:
    for found in (published(), many()):
        figure = metric_heatmap.draw(found)
        said = [t.get_text() for t in texts(figure)]
        cells = metric_order.primary_cells(found)
        for cell in cells:
            star = "*" if cell.in_sample else ""
            assert math.isnan(cell.concordance.d) or signed(cell.concordance.d) + star in said
        squares = [p for p in figure.axes[0].patches if p.get_hatch() is None]
        assert len(squares) == sum(not math.isnan(c.concordance.d) for c in cells)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.0, "+1.00"), (-0.467, "\N{MINUS SIGN}0.47"), (-0.001, "0.00"), (math.nan, "\N{EM DASH}")],
)
def test_signed_numbers(value: float, expected: str) -> None:
    assert signed(value) == expected


@pytest.mark.parametrize(
    ("p", "expected"),
    [(1.0, "1.000"), (0.00278, "0.003"), (0.000277, "0.00028"), (math.nan, "\N{EM DASH}")],
)
def test_chances(p: float, expected: str) -> None:
    assert chance(p) == expected


def test_words_fit() -> None:
    assert cut("short", 3.0) == "short"
    for room in (0.3, 0.8, 2.0):
        shown = cut(LONG, room)
        assert inches(shown) <= room
        assert (shown[:2], shown[-1:]) == (LONG[:2], LONG[-1:])
    lines = wrapped(f"some words and {LONG} as well", 1.2)
    assert all(inches(line) <= 1.2 for line in lines)
    assert " ".join(wrapped("some words and more", 0.8)) == "some words and more"


def test_models_are_drawn_where_their_numbers_say() -> None:
    """Every mark: accuracy upwards, alignment across, the study's apart from ours."""
    (section,) = sections_of([report()])
    printed = published_rows(load_studies()["prasad2021"])
    figure = models()
    assert len(figure.axes) == 3 * 3
    rows = [*section.rows, *printed]
    for i, (evidence, term) in enumerate(
        [(PUBLISHED, "accuracy"), ("toy", "accuracy"), ("toy", "diagnostic all")]
    ):
        mine = [r for r in rows if r.evidence == evidence]
        accuracy = {r.model: r.value for r in mine if (r.table, r.term) == ("accuracy", term)}
        for j, oracle in enumerate(("hard", "soft", "expert")):
            wanted = {
                (round(r.value, 9), round(accuracy[r.model], 9))
                for r in mine
                if (r.table, r.cases, r.oracle) == ("alignment", COMMON, oracle)
            }
            marks = [line for line in figure.axes[3 * i + j].lines if len(line.get_xdata()) == 1]
            drawn = {(round(float(m.get_xdata()[0]), 9), round(float(m.get_ydata()[0]), 9))
                     for m in marks}  # fmt: skip
            assert drawn == wanted
            assert len(marks) == (8 if evidence == PUBLISHED else len(MODELS))
            bars = [line for line in figure.axes[3 * i + j].lines if len(line.get_xdata()) == 2]
            assert len(bars) == 1 + (0 if evidence == PUBLISHED else len(MODELS)), "and zero"


def test_models_say_what_is_printed_and_what_is_toy() -> None:
    said = words(models())
    for part in (
        "Prasad et al. (2021), printed values: accuracy on ANLI", "r +0.42   p <0.01",
        "without bow: r \N{MINUS SIGN}0.04   p 0.83", "theirs on HANS: r +0.22", "bow (published)",
        "bow (toy)", "all models get wrong", "60 with expert marks", "not evidence about people",
    ):  # fmt: skip
        assert part in said
    other = words(models("expert"))
    assert "Prasad" not in other
    assert "published" not in other


def test_models_get_wrong_cases_where_none_are_common() -> None:
    (section,) = sections_of([report()])
    assert model_scatter.cases_of(section.rows) == COMMON
    apart = [r for r in section.rows if r.cases != COMMON]
    assert model_scatter.cases_of(apart) == WRONG
    alone = [r for r in section.rows if r.model in ("", "bow")]
    assert model_scatter.cases_of(alone) == "", "one model is no picture"
    study = load_studies()["prasad2021"]
    assert model_pictures([section._replace(rows=alone)], study) == {}
    drawn = model_pictures([section], study)
    assert list(drawn) == ["models-nli-inference.png"]
    assert drawn == model_pictures([section], study), "the same bytes every time"
