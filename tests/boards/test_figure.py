"""The figure and page of one case: what is drawn where, and that nothing lies on anything else."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image
from support import linear_setting, net_setting

from humetric.boards.figure import COLUMNS, DPI, draw, png, title
from humetric.boards.page import page
from humetric.boards.scale import Scale, numbers, scale_of
from humetric.cards import MethodCard
from humetric.errors import HumetricError, UnknownNameError
from humetric.methods import METHODS, Method
from humetric.metrics import METRICS
from humetric.results.result import Failure, Skip
from humetric.run.evaluate import evaluate
from humetric.run.look import Look, find_case, look
from humetric.run.shown_image import ShownImage, picture, shown_image
from humetric.tasks.named import load_setting

AREAS = ["deletion", "insertion"]


def looked(
    methods: int = 2, height: int = 12, width: int = 10, name: str = "own", **changes: object
) -> Look[ShownImage]:
    """A look at a linear model, with as many copies of a random map as are wanted."""
    setting = linear_setting(height=height, width=width)
    card = METHODS.make("random").card
    chosen = [
        Method(replace(card, id=f"{name}-{i}"), METHODS.make("random").explain)
        for i in range(methods)
    ]
    measured = [METRICS.make(name) for name in AREAS]
    found = look(setting, 2, chosen, measured, shown_image, device="cpu")
    return replace(found, **changes)  # type: ignore[arg-type]


def texts(figure: Figure) -> list[Text]:
    """All words of a figure that are shown."""
    FigureCanvasAgg(figure).draw()
    found = figure.findobj(Text)
    return [t for t in found if isinstance(t, Text) and t.get_visible() and t.get_text().strip()]


@pytest.mark.parametrize(
    ("precision", "near"),
    [("fp64", 1e-9), ("fp32", 1e-3)],  # fp32: pixels that are almost tied may swap
)
def test_a_case_has_the_values_of_a_run(precision: str, near: float) -> None:
    setting = net_setting(cases=5)
    names = ["saliency", "grad-cam", "integrated-gradients", "occlusion", "lime", "constant"]
    few = {"lime": {"samples": 200}}
    measured = ["deletion", "insertion", "mu-fidelity", "complexity", "sparseness"]
    methods = [METHODS.make(name, few.get(name)) for name in names]
    run = evaluate(setting, methods, measured, device="cpu", precision=precision)
    values = run.set_index(["case", "method", "metric"])["value"]
    for case in (2, setting.ids[4]):
        found = look(
            setting,
            case,
            methods,
            [METRICS.make(name) for name in measured],
            shown_image,
            device="cpu",
            precision=precision,
        )
        assert found.case == (setting.ids[1] if case == 2 else case)
        assert len(found.values) == 30
        for pair, value in found.values.items():
            expected = values[(found.case, *pair)]
            assert value == pytest.approx(expected, abs=near, nan_ok=True), pair


def test_curves_are_those_behind_the_values() -> None:
    found = looked()
    for key, value in found.values.items():
        curve = found.curves[key]
        assert curve.share[0] == 0
        assert curve.share[-1] == 1
        assert np.trapezoid(curve.probability, curve.share) == pytest.approx(value, abs=1e-6)
        intact = curve.probability[0 if key[1] == "deletion" else -1]
        assert intact == pytest.approx(found.probability, abs=1e-6)


def test_the_image_is_the_one_that_was_given() -> None:
    setting = linear_setting()
    assert setting.display is not None
    np.testing.assert_array_equal(picture(setting, 3), setting.display[3].numpy())
    restored = (setting.x[3].movedim(0, -1) * 0.25 + 0.5) * 255
    np.testing.assert_allclose(picture(setting, 3), restored.numpy(), atol=1e-3)
    stretched = picture(replace(setting, display=None), 3)
    assert (stretched.min(), stretched.max()) == (0, 255)


def test_cases_by_number_and_id() -> None:
    setting = load_setting("image/leaf/cnn", cases=3)
    assert find_case(setting, 2) == find_case(setting, "2") == 1
    assert find_case(setting, setting.ids[1]) == 1
    with pytest.raises(UnknownNameError, match="Did you mean 'leaf-0003'"):
        find_case(setting, "leaf-003")
    for wrong in (0, 4, -1):
        with pytest.raises(HumetricError, match=f"expected a number from 1 to 3 .*got {wrong}"):
            find_case(setting, wrong)


def test_scales() -> None:
    values = np.linspace(-1, 3, 401)
    signed = scale_of(values, signed=True)
    assert signed.low == -signed.high
    assert 2.9 < signed.high < 3
    unsigned = scale_of(values, signed=False)
    assert (unsigned.low, unsigned.high) == pytest.approx((-0.98, 2.98))
    assert scale_of(np.ones(9), signed=False) == Scale(0.5, 1.5, False)
    assert scale_of(np.zeros(9), signed=True) == Scale(-1.0, 1.0, True)
    lone = np.zeros(10_000)
    lone[7] = 5.0  # all but one value are cut off by the percentile
    assert scale_of(lone, signed=True).high == 5.0
    assert scale_of(lone, signed=False).high == 5.0


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (Scale(-0.161, 0.161, True), ["-0.16", "0", "0.16"]),
        (Scale(0.00014, 0.088, False), ["0", "0.088"]),
        (Scale(0.8, 1.0, False), ["0.80", "1.00"]),
        (Scale(0.04, 12.3, False), ["0", "12"]),
        (Scale(-2e-7, 2e-7, True), ["-2.0e-7", "0", "2.0e-7"]),
        (Scale(0.0, 3e9, False), ["0", "3.0e9"]),
    ],
)
def test_numbers_of_a_scale(scale: Scale, expected: list[str]) -> None:
    assert [n.replace("\N{MINUS SIGN}", "-") for n in numbers(scale)] == expected


@pytest.mark.parametrize("methods", [1, 2, 4, 5, 12])
@pytest.mark.parametrize("size", [(12, 10), (8, 24), (30, 10)])
@pytest.mark.parametrize("name", ["integrated-gradients", "m" * 60])
def test_words_neither_overlap_nor_leave_the_figure(
    methods: int, size: tuple[int, int], name: str
) -> None:
    figure = draw(looked(methods, *size, name=name))
    shown = [(t.get_text(), t.get_window_extent()) for t in texts(figure)]
    for words, box in shown:
        assert figure.bbox.x0 <= box.x0, words
        assert box.x1 <= figure.bbox.x1, words
        assert figure.bbox.y0 <= box.y0, words
        assert box.y1 <= figure.bbox.y1, words
    for (one, first), (two, second) in combinations(shown, 2):
        across = min(first.x1, second.x1) - max(first.x0, second.x0)
        down = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert min(across, down) < 0.02 * DPI, f"{one!r} lies on {two!r}"  # boxes have margins


def test_panels_wrap_into_rows() -> None:
    """The image, and a map, a colour bar and curves per method."""
    for methods in (1, 4, 12):
        figure = draw(looked(methods))
        assert len(figure.axes) == 1 + 3 * methods
        tops = {round(a.get_position().y1, 3) for a in figure.axes if a.images}
        assert len(tops) == -(-(1 + methods) // COLUMNS)


def test_the_title_and_the_areas_are_written() -> None:
    found = looked()
    words = " ".join(t.get_text() for t in texts(draw(found)))
    for line in title(found):
        assert line in words
    for (_, metric), value in found.values.items():
        assert f"{metric} {value:.3f}" in words
    assert title(found)[0] not in " ".join(t.get_text() for t in texts(draw(found, titled=False)))


def test_colours_fit_what_the_numbers_mean() -> None:
    found = looked(2)
    first, second = found.methods
    cards = {first: replace(found.methods[first], signed=True), second: found.methods[second]}
    figure = draw(replace(found, methods=cards))
    maps = [a.images[0] for a in figure.axes if a.images][1:]
    assert [m.get_cmap().name for m in maps] == ["RdBu_r", "viridis"]
    low, high = maps[0].get_clim()
    assert low == -high


def test_a_region_is_outlined_along_pixels() -> None:
    region = np.zeros((12, 10), dtype=bool)
    region[3:5, 4:7] = True
    found = looked(1)
    figure = draw(replace(found, shown=replace(found.shown, region=region)))
    outline = figure.axes[0].collections[0]
    lengths = [np.abs(p.vertices[1] - p.vertices[0]).sum() for p in outline.get_paths()]
    assert sum(lengths) == 2 * (2 + 3)
    corners = np.concatenate([p.vertices for p in outline.get_paths()])
    np.testing.assert_array_equal(corners.min(0), [3.5, 2.5])
    np.testing.assert_array_equal(corners.max(0), [6.5, 4.5])
    assert not draw(looked(1)).axes[0].collections


def test_a_png_of_300_dpi_that_is_the_same_every_time() -> None:
    found = looked(2)
    image = Image.open(io.BytesIO(png(found)))
    assert image.info["dpi"] == pytest.approx((DPI, DPI), abs=0.5)
    assert image.info["Title"] == "; ".join(title(found))
    assert png(found) == png(looked(2))


def broken() -> Look[ShownImage]:
    """A look with a method that failed, one that was skipped and a metric that failed."""
    found = looked(3)
    failed, skipped, partly = found.methods
    return replace(
        found,
        maps={partly: found.maps[partly]},
        values={(partly, "insertion"): float("nan")},
        curves={(partly, "insertion"): found.curves[partly, "insertion"]},
        failures=(
            Failure(found.setting, failed, "", "ValueError: <b>no</b>"),
            Failure(found.setting, partly, "deletion", "no deletion"),
        ),
        skips=(Skip(found.setting, skipped, "needs gradients"),),
    )


def test_what_is_missing_is_an_empty_panel_that_says_so() -> None:
    words = [t.get_text() for t in texts(draw(broken()))]
    assert "failed" in words
    assert "skipped" in words
    assert "deletion failed" in words
    assert all(name in words or f"{name} (control)" in words for name in broken().methods)


class Reader(HTMLParser):
    """Tags in order, and whether each one that was opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_by_itself() -> None:
    found = looked(2)
    text = page(found)
    reader = Reader()
    reader.feed(text)
    assert not reader.open
    assert "script" not in reader.tags
    assert not re.search(r"(src|href)=\"(?!data:)|url\(|@import|https?://", text)
    for (_, metric), value in found.values.items():
        assert f"{metric} " in text
        assert f"{value:.3f}" in text
    for card in found.methods.values():
        assert card.summary in text
    encoded = re.search(r"base64,([^\"]+)", text)
    assert encoded
    assert base64.b64decode(encoded[1]) == png(found, titled=False)


def test_the_page_escapes_everything_and_says_what_is_missing() -> None:
    found = broken()
    odd = MethodCard(
        "odd", 1, "<i>sum</i> & \"more\"", "<a href='x'>", ("image",), {"a": "<script>x"}
    )  # fmt: skip
    text = page(replace(found, label="<u>", methods={**found.methods, "odd": odd}))
    for raw in ("<i>", "<u>", "<b>no", "<script", "<a href"):
        assert raw not in text
    assert "ValueError: &lt;b&gt;no&lt;/b&gt;" in text
    assert "was skipped: it needs gradients." in text
    assert '<td class="number">—</td>' in text
    assert '<td class="number">failed</td>' in text
    assert '<td class="number">skipped</td>' in text


def test_a_page_has_what_methods_show_beside_their_maps() -> None:
    found = looked(2)
    assert 'class="said"' not in page(found)
    text = page(replace(found, about={"own-1": {"note": "of <1> thing"}}))
    head, _, rest = text.partition("<h2>own-1 (control)</h2>")
    assert rest.startswith('<div class="said"><p>Of &lt;1&gt; thing.</p></div>')
    assert "<h2>own-0" not in head
