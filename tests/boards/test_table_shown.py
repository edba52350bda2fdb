"""Rows of tables in the terminal and on a page: every column, every number, nothing cut."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import kind_data as given
import numpy as np
import pytest
from numpy.typing import NDArray
from page_reader import Reader
from rich.cells import cell_len
from rich.console import Console
from text_looks import looked, small

from humetric.boards.page_parts import cell
from humetric.boards.table_page import table_page
from humetric.boards.table_terminal import print_table
from humetric.results.result import Skip
from humetric.run.look import Look
from humetric.run.shown_table import ShownTable

NAMES = ("occlusion", "integrated-gradients", "saliency", "random")


def row(names: tuple[str, ...] = NAMES) -> Look[ShownTable]:
    """A look at a row, with the cards and scores of a text's look; saliency has no signs."""
    found = looked(small(), 1, names)
    draw = np.random.default_rng(0)
    maps: dict[str, NDArray[np.float64]] = {}
    for name in found.maps:
        values = draw.normal(size=len(given.COLUMNS))
        maps[name] = values if found.methods[name].signed else abs(values)
    return replace(  # type: ignore[return-value, type-var]
        found,
        setting="tabular/census/mlp",
        case="census-0003",
        label="<= 50K",
        target="> 50K",
        classes=("<= 50K", "> 50K"),
        maps=maps,
        shown=ShownTable(given.COLUMNS, given.ROW),  # type: ignore[arg-type]
        more={names[0]: given.of_columns()},
    )


def printed(look: Look[ShownTable], width: int = 100, colours: bool = False) -> str:
    file = io.StringIO()
    console = Console(
        file=file, width=width, force_terminal=colours,
        color_system="truecolor" if colours else None, highlight=False,
    )  # fmt: skip
    print_table(look, console)
    return re.sub(r"\x1b\[[\d;]*m", "", file.getvalue())


def test_every_column_of_a_page_has_its_numbers() -> None:
    found = row()
    text = table_page(found)
    assert not Reader(text).tags & {"script", "link", "img", "iframe", "object"}
    (table,) = re.findall(r'<table class="row">.*?</table>', text, re.S)
    lines = re.findall(r"<tr>(.*?)</tr>", table, re.S)[1:]
    for i, (line, name, value) in enumerate(zip(lines, given.COLUMNS, given.ROW, strict=True)):
        assert f'<th scope="row">{name}</th><td class="value">{value}</td>' in line
        exact = [float(x) for x in re.findall(r'title="([^"]*)"', line)]
        assert exact == [found.maps[method][i] for method in NAMES]
        bars = re.findall(r'class="(for|against|amount)" style="width:([\d.]+)%', line)
        for method, (kind, width) in zip(NAMES, bars, strict=True):
            values, signed = found.maps[method], found.methods[method].signed
            side = ("for" if values[i] > 0 else "against") if signed else "amount"
            most = abs(values).max() * (2 if signed else 1)
            assert (kind, float(width)) == (
                side,
                pytest.approx(100 * abs(values[i]) / most, abs=0.06),
            )
    assert text.count("<polyline") == 2 * len(NAMES)
    assert "columns changed" in text
    assert "words changed" not in text
    assert re.findall(r'class="kind"><h3>([^<]*)', text) == [
        "LIME", "Rule", "Decision boundary", "Prototype"
    ]  # fmt: skip
    assert "predicted label: &gt; 50K, probability" in text


def test_a_page_has_few_methods_beside_each_other() -> None:
    found = row()
    more = {f"{name}-{i}": name for i in (1, 2) for name in NAMES}
    many = replace(
        found,
        methods={new: replace(found.methods[old], id=new) for new, old in more.items()},
        maps={new: found.maps[old] for new, old in more.items()},
        more={},
    )
    tables = re.findall(r'<table class="row">.*?</table>', table_page(many), re.S)
    assert [table.count("colspan") for table in tables] == [4, 4]
    for table in tables:
        assert all(column in table for column in given.COLUMNS)


@pytest.mark.parametrize("colours", [False, True])
@pytest.mark.parametrize("width", [40, 60, 100])
def test_lines_fit_the_terminal(width: int, colours: bool) -> None:
    found = row()
    text = printed(found, width, colours)
    assert all(cell_len(line) <= width for line in text.splitlines())
    assert "…" not in text
    whole = " ".join(text.split())
    for name, metric in found.values:
        assert cell(found, name, metric) in whole
    letters = re.sub(r"[\s─│█]", "", text)
    everything = re.sub(r"[\s─│█]", "", printed(found, 1000))
    for sign in set(everything):  # columns that wrap keep their letters; few methods a table
        assert letters.count(sign) >= everything.count(sign)


def test_numbers_have_their_signs_and_stand_below_each_other() -> None:
    found = row(("occlusion", "saliency"))
    lines = printed(found).splitlines()
    assert lines[3].split() == ["column", "value", "occlusion", "saliency"]
    shown = lines[4 : 4 + len(given.COLUMNS)]
    assert len({line.index("│") for line in shown}) == 1
    for i, line in enumerate(shown):
        assert line.startswith(given.COLUMNS[i])
        assert f"  {given.ROW[i]} " in line
        signed, plain = (found.maps[name][i] for name in ("occlusion", "saliency"))
        assert f"{signed:+.2f} ".replace("-", "\N{MINUS SIGN}") in line
        left, right = line.split("│")
        assert ("█" in left) == (signed < 0)
        assert right.rstrip().count("█") >= round(9 * plain / found.maps["saliency"].max())


def test_methods_without_a_map_say_why() -> None:
    found = row()
    del found.maps["saliency"]  # type: ignore[attr-defined]
    skipped = replace(found, skips=(Skip(found.setting, "saliency", "needs <gradients>"),))
    assert "saliency skipped: it needs <gradients>" in printed(skipped)
    text = table_page(skipped)
    assert "saliency skipped: it needs &lt;gradients&gt;" in text
    assert text.count('colspan="2"') == len(NAMES) - 1


def test_hostile_columns_stay_text() -> None:
    bad = "<script>\x1b[31m\u202e[bold]"
    found = row(("occlusion",))
    shown = ShownTable((bad, *given.COLUMNS[1:]), (bad, *given.ROW[1:]), predicted=False)
    mean = replace(found, shown=shown, label=bad, target=bad, classes=(bad, bad))
    page, text = table_page(mean), printed(mean)
    assert "explained label: &lt;script&gt;" in page
    for raw in ("<script>", "\x1b", "\u202e"):
        assert raw not in page
    assert "<script>" in text
    assert "[bold]" in text
    for raw in ("\x1b", "\u202e"):
        assert raw not in text


def test_a_table_of_which_nothing_is_known() -> None:
    found = row(("random",))
    empty = replace(found, maps={}, values={}, curves={}, more={})
    lines = printed(empty).splitlines()
    assert [line.split()[0] for line in lines[4:6]] == ["age", "workclass"]
    assert "bar" not in printed(empty)
    assert "workclass" in table_page(empty)
