"""Rules, paths, prototypes and the rest: what they say, in a terminal and on a page alike."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from html import unescape
from typing import Any

import kind_data as given
import pytest
from page_reader import Reader, printed
from rich.cells import cell_len
from rich.console import Console
from tabular_support import table_setting
from text_looks import looked, of_one, small

from humetric.boards.kinds import KINDS, html, panel_of, panels, terminal
from humetric.boards.kinds.panel import Bars, Grid, Panel, Run, Words, writer
from humetric.boards.kinds.subject import Letters, Subject, of_any, of_table, of_text
from humetric.boards.text_page import text_page
from humetric.methods import METHODS
from humetric.run.look import Look, look
from humetric.run.shown_table import shown_table
from humetric.run.shown_text import ShownText, shown_text
from humetric.tasks.named import load_setting

WORDS = ("good", "plot", ",", "good", "end", ".")
TEXT = Subject(
    target="positive",
    probability=0.75,
    classes=("negative", "positive"),
    one="word",
    many="words",
    inputs="texts",
    names=WORDS,
    written=(("text", tuple(Letters(*x) for x in zip(WORDS, range(6), strict=True))),),
)
ROW = Subject(
    target="> 50K",
    probability=0.75,
    classes=("<= 50K", "> 50K"),
    one="column",
    many="columns",
    inputs="rows",
    names=given.COLUMNS,
    values=given.ROW,
)


def plain(panel: Panel, width: int = 100, colours: bool = False) -> str:
    """A panel as a terminal shows it."""
    file = io.StringIO()
    console = Console(
        file=file, width=width, force_terminal=colours,
        color_system="truecolor" if colours else None, highlight=False,
    )  # fmt: skip
    for drawn in terminal.draw([panel], width):
        console.print(drawn, overflow="fold")
    return file.getvalue()


def said(panel: Panel) -> str:
    """The same in a line."""
    return " ".join(plain(panel).split())


def rows(panel: Panel) -> list[tuple[str, ...]]:
    """All cells of a panel's grids."""
    grids = [block for block in panel.blocks if isinstance(block, Grid)]
    return [tuple(run.text for run in row) for grid in grids for row in grid.rows]


def test_lime_adds_up() -> None:
    data = given.lime(list(WORDS), [1, 0, 3], [0.05, -0.11, 0.3])
    panel = panel_of("lime", data, TEXT)
    (shown,) = (block for block in panel.blocks if isinstance(block, Bars))
    assert [(bar.name, bar.text) for bar in shown.rows] == [
        ("good (word 4)", "+0.300"),
        ("plot", "+0.050"),
        ("good (word 1)", "\N{MINUS SIGN}0.110"),
    ]
    assert shown.totals == (
        ("Sum of words", "+0.240"), ("Baseline", "0.240"), ("Est. probability of positive", "0.480")
    )  # fmt: skip
    assert "fitted to 1,000 changed texts" in said(panel)
    assert "The model itself says 0.750." in said(panel)
    other = panel_of("lime", {**data, "probability": 0.5, "class": 0}, TEXT)
    assert "Other words +0.020" in said(other)
    assert "Est. probability of negative 0.500" in said(other)
    assert "The model itself" not in said(other)  # it is not known what it says of another class


def test_bars_are_as_long_as_their_numbers() -> None:
    names = [("a", 0.4), ("b", -0.2), ("c", 0.0), ("d", 1e-6)]
    panel = panel_of(
        "lime", given.lime([n for n, _ in names], [0, 1, 2, 3], [v for _, v in names]), TEXT
    )
    lines = plain(panel).splitlines()
    drawn = {line.split()[0]: line for line in lines if "│" in line}
    middle = {line.index("│") for line in drawn.values()}
    assert len(middle) == 1
    for name, value in names:
        left, right = drawn[name].split("│")
        long = (left.count("█"), right.count("█"))
        assert long == (round(max(0, -value) * 40), round(max(0, value) * 40)), name
    widths = re.findall(r'class="(for|against)" style="width:([\d.]+)%', html.draw([panel]))
    assert widths == [("for", "50.0"), ("for", "0.0"), ("against", "0.0"), ("against", "25.0")]


def test_a_rule_claims_no_more_than_its_lower_bound() -> None:
    panel = panel_of("rule", given.rule(list(WORDS), [1, 3]), TEXT)
    claim = (
        "If “plot” and “good (word 4)” stay, the model says positive in at least 95.0% of changed"
    )
    assert claim in said(panel)  # 95.099% is not 95.1%
    assert "Precision: 97.3% of 223 test samples (bounds 95.0% and 98.9%)" in said(panel)
    assert "Coverage: 25.0% of 1,000 changes at random (bounds 22.4% and 27.9%)" in said(panel)
    assert "No rule reached" not in said(panel)
    exact = {**given.rule(list(WORDS), [1]), "precision_low": 0.951}
    assert "If “plot” stays, the model says positive in at least 95.1%" in said(
        panel_of("rule", exact, TEXT)
    )
    row = panel_of("rule", given.rule(list(given.COLUMNS), [0, 6], False), ROW)
    assert "If age = 38 and sex = Male, the model says > 50K in at least" in said(row)
    assert "No rule was found that is sure to have a precision of 95%" in said(row)


def test_a_rule_without_conditions_always_holds() -> None:
    panel = panel_of("rule", given.rule([], []), TEXT)
    assert "Always (no condition is needed): the model says positive in at least 95.0%" in said(
        panel
    )
    assert not [block for block in panel.blocks if isinstance(block, Bars)]


@pytest.mark.parametrize("shown", [1, 4, 9])
def test_a_path_shows_its_last_steps_and_says_what_it_leaves_out(shown: int) -> None:
    edits = {i: (word, f"new{i}") for i, word in enumerate(WORDS)}
    data = given.path(list(WORDS), edits, shown)
    panel = panel_of("path", data, TEXT)
    found = rows(panel)
    assert found[0] == ("0", "the case as it is", "+5.21")
    left = max(0, 6 - shown)
    if left:
        assert found[1] == (f"1 to {left}", "not shown", "")
    steps = found[2:] if left else found[1:]
    assert [step[0] for step in steps] == [str(k + 1) for k in range(left, 6)]
    assert steps[-1] == ("6", ". → new5", "\N{MINUS SIGN}0.32")
    assert "37 of 10,000 sampled changes cross the boundary." in said(panel)
    assert "After 6 edits the model says negative." in said(panel)
    assert said(panel).count("positive while the model says positive") == 1
    end = panel.blocks[-1]
    assert isinstance(end, Words)
    assert [run for run in end.runs if run.stress == "new"] == [
        Run(f"new{i}", "new") for i in range(6)
    ]  # all edits, those that are not shown too


def test_only_the_words_at_edited_places_change() -> None:
    panel = panel_of("path", given.path(list(WORDS), {3: ("good", "bad")}), TEXT)
    assert panel.blocks[-1] == Words(
        tuple(Run("bad", "new") if i == 3 else Run(word) for i, word in enumerate(WORDS)),
        "Changed text",
    )
    assert "After 1 edit the model" in said(panel)
    assert "*bad*" in plain(panel)  # without colours too
    assert "<ins>bad</ins>" in html.draw([panel])


def test_one_step_that_is_left_out_has_no_range() -> None:
    edits = {i: (WORDS[i], "x") for i in range(5)}
    assert rows(panel_of("path", given.path(list(WORDS), edits), TEXT))[1][0] == "1"


def test_a_row_s_path_names_columns_and_ends_with_what_changed() -> None:
    data = given.of_columns()["path"]
    data["steps"][1]["feature"] = "40 < hours per week <= 48"  # as a rule says it
    panel = panel_of("path", data, ROW)
    found = rows(panel)
    assert found[2][1] == "marital status: Married-civ-spouse → Divorced"
    assert found[3:] == [
        ("education", "Bachelors", "11th"),
        ("hours per week", "45", "20"),
        ("marital status", "Married-civ-spouse", "Divorced"),
    ]


def test_a_boundary_that_no_sample_crosses() -> None:
    panel = panel_of("path", given.path(list(WORDS), {}), TEXT)
    assert "None of 10,000 sampled changes crosses the boundary." in said(panel)
    assert rows(panel) == [("0", "the case as it is", "+5.21")]
    assert "Changed" not in said(panel)


def test_with_three_classes_nobody_guesses_the_other_one() -> None:
    three = replace(TEXT, classes=("negative", "positive", "neutral"))
    edits = {0: ("good", "bad")}
    data = given.path(list(WORDS), edits)
    assert "the model no longer says positive." in said(panel_of("path", data, three))
    data["steps"][-1]["margin"] = 0.4
    assert "the model still says positive." in said(panel_of("path", data, three))


def test_a_prototype_is_another_model() -> None:
    panel = panel_of("prototype", given.prototype("Routine and rather silly .", []), TEXT)
    assert "Not the explained model but another" in said(panel)
    assert "Similarity: 9.96 out of 10, to a prototype of positive" in said(panel)
    assert "Most similar prototype: Routine and rather silly ." in said(panel)
    assert "true label: positive" in said(panel)
    assert "Important words: (none selected: none is above 0.05)" in said(panel)
    assert "That model says" not in said(panel)
    other = given.prototype("silly", [("plot", 1, 0.3)], 0) | {"label": None}
    found = said(panel_of("prototype", other, TEXT))
    assert "That model says negative, not positive, which is explained." in found
    assert "plot +0.300" in found
    assert "true label" not in found


def test_a_row_s_prototype_stands_beside_it() -> None:
    panel = panel_of("prototype", given.of_columns()["prototype"], ROW)
    (grid,) = (block for block in panel.blocks if isinstance(block, Grid))
    differ = [row[0].text for row in grid.rows if row[2].stress == "new"]
    assert differ == [
        n for n, a, b in zip(given.COLUMNS, given.ROW, given.OTHER, strict=True) if a != b
    ]
    assert "capital gain 0 *7298*" in said(panel)
    assert "education = Bachelors +0.620" in said(panel)


def test_answers_have_no_class_number() -> None:
    span = replace(TEXT, target="the mill", classes=(), answers=True)
    data = given.lime(list(WORDS), [1], [0.1], label=17)
    assert "Est. probability of the mill" in said(panel_of("lime", data, span))


def test_notes_are_sentences() -> None:
    assert said(panel_of("note", "the student agrees", TEXT)) == "The student agrees."
    assert said(panel_of("note", ["one!", "two."], TEXT)) == "One! Two."
    cue = {"word": "dull", "weight": 0.5}
    cues = panel_of("cues", [[cue, {**cue, "segment": "premise"}], []], TEXT)
    assert "For negative: dull 0.500, dull (premise) 0.500" in said(cues)
    assert "Of the whole setting" in said(cues)
    student = panel_of("student", {"agreement": 0.9, "terms": 12}, TEXT)
    assert said(student) == "Student of the model: agreement 0.9; terms 12."


@pytest.mark.parametrize("kind", [*KINDS, "of my own"])
@pytest.mark.parametrize("data", [None, 3, [1, None], {"class": "x", "steps": [3]}, {"bad": "<b>"}])
def test_what_cannot_be_read_is_shown_as_it_came(kind: str, data: Any) -> None:
    panel = panel_of(kind, data, TEXT)
    assert said(panel)
    assert "<b>" not in html.draw([panel])
    if kind in ("lime", "rule", "path", "prototype", "of my own"):
        assert panel.title == kind
        assert panel_of("anything", data, TEXT).blocks == panel.blocks


def test_long_unknown_data_is_cut_and_says_so() -> None:
    panel = panel_of("raw", "x" * 5000, TEXT)
    assert "(3,002 more characters)" in said(panel)


def test_numbers_below_each_other() -> None:
    write = writer([5.21, -0.32])
    assert [write(5.21, True), write(-0.32), write(-0.001)] == [
        "+5.21",
        "\N{MINUS SIGN}0.32",
        "0.00",
    ]
    assert [writer([0.0])(0.0, True), writer([])(0.0)] == ["0.00", "0.00"]
    assert writer([123456.0])(123456.0) == "123456"
    assert writer([2e-6])(2e-6, True) == "+2.00e\N{MINUS SIGN}06"


@pytest.mark.parametrize("width", [24, 40, 100])
@pytest.mark.parametrize("colours", [False, True])
@pytest.mark.parametrize("kind", ["lime", "rule", "path", "prototype"])
def test_nothing_is_cut_at_the_edge(kind: str, width: int, colours: bool) -> None:
    panel = panel_of(kind, given.of_columns()[kind], ROW)
    text = re.sub(r"\x1b\[[\d;]*m", "", plain(panel, width, colours))
    assert all(cell_len(line) <= width for line in text.splitlines())
    assert "…" not in text
    whole = letters(plain(panel))
    assert sorted(letters(text)) == sorted(whole)  # columns wrap each for itself, letters stay
    drawn = letters(unescape(re.sub(r"<[^>]*>", "", html.draw([panel]))))
    assert sorted(drawn) == sorted(whole.replace("*", ""))  # a page says the same


def letters(text: str) -> str:
    """Without spaces and lines."""
    return re.sub(r"[\s─│█]", "", text)


HOSTILE = "<script>x()</script>\x1b[31m\u202e[bold]"


def hostile(data: Any) -> Any:
    """Data with something hostile before every text."""
    if isinstance(data, dict):
        return {key: hostile(value) for key, value in data.items()}
    if isinstance(data, list):
        return [hostile(value) for value in data]
    return HOSTILE + data if isinstance(data, str) else data


@pytest.mark.parametrize("subject", [TEXT, ROW])
@pytest.mark.parametrize("kind", ["lime", "rule", "path", "prototype", "note", "cues", "mine"])
def test_hostile_data_stays_text(kind: str, subject: Subject) -> None:
    known = given.of_columns() if subject is ROW else given.of_words(list(WORDS))
    known |= {"note": "well", "cues": [[{"word": "a", "weight": 1.0, "segment": "b"}]], "mine": "x"}
    mean = replace(subject, target=HOSTILE, classes=(HOSTILE, HOSTILE + "2"))
    panel = panel_of(kind, hostile(known[kind]), mean)
    assert panel.title != kind or kind == "mine"
    page = html.draw([panel])
    assert "script" not in Reader(page).tags
    for raw in ("<script>", "\x1b", "\u202e"):
        assert raw not in page
    text = plain(panel)
    assert "[bold]" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def with_more(task: str = "sentiment") -> Look[ShownText]:
    """A look at a text with all kinds of one method, and a note of another."""
    found = looked(small(task), 1, ("occlusion", "random"))
    more = given.of_words(list(found.shown.words))
    return replace(found, more={"occlusion": more}, about={"random": {"note": "chance"}})


@pytest.mark.parametrize("task", ["sentiment", "nli", "qa"])
def test_kinds_stand_below_the_map_of_their_method(task: str) -> None:
    found = with_more(task)
    expected = ["LIME", "Rule", "Decision boundary", "Prototype"]
    subject = of_text(found)
    assert [panel.title for panel in panels(found, "occlusion", subject)] == expected
    reader, text = Reader(text_page(found)), text_page(found)
    assert reader.section == 2
    first, second = text.split("<section>")[1:]
    assert re.findall(r'class="kind"><h3>([^<]*)', first) == expected
    assert '<div class="said"><p>Chance.</p></div>' in second
    shown = printed(found, 100)
    assert all(cell_len(line) <= 100 for line in shown.splitlines())
    above, below = shown.split("\nrandom (control)")
    for title in expected:
        assert f"\n  {title}\n" in above
    assert "  Chance." in below
    assert ("Changed passage: " in above) == (task == "qa")


def test_a_changed_text_keeps_what_lies_between_its_words() -> None:
    found = looked(of_one("a  b\tc!"), 1, ("random",))
    subject = of_text(found)
    names = list(found.shown.words)
    data = given.path(names, {1: (names[1], "<new>")})
    end = panel_of("path", data, subject).blocks[-1]
    assert isinstance(end, Words)
    assert "".join(run.text for run in end.runs) == "a  <new> c!"


def test_cases_whose_features_have_no_names() -> None:
    found = replace(with_more(), classes=())
    subject = of_any(found)
    shown = said(panel_of("lime", given.lime(["cell 3"], [0], [0.2]), subject))
    assert "cell 3 +0.200" in shown
    assert "Est. probability of class 1" in shown


@pytest.mark.parametrize("name", ["lime", "decision-boundary"])
def test_what_methods_give_of_a_row_is_what_is_expected_here(name: str) -> None:
    """Data that is not as expected is shown as JSON, under its kind: nobody would notice."""
    made = table_setting()
    found = look(made, 1, [METHODS.make(name, {"samples": 200})], [], shown_table, device="cpu")
    subject = of_table(found)
    (panel,) = panels(found, name, subject)
    assert panel.title in ("LIME", "Decision boundary")
    columns = dict(zip(found.shown.columns, found.shown.values, strict=True))
    if name == "lime":
        (shown,) = (block for block in panel.blocks if isinstance(block, Bars))
        assert {bar.name for bar in shown.rows} <= {f"{n} = {v}" for n, v in columns.items()}
        assert len(shown.rows) == len(columns)
    else:
        last = rows(panel)[-1]
        assert columns[last[0]] == last[1] != last[2]
        assert f"{last[0]}: {last[1]} → {last[2]}" in said(panel)


@pytest.mark.parametrize("name", ["lime", "decision-boundary"])
def test_what_methods_give_of_a_text_is_what_is_expected_here(name: str) -> None:
    made = load_setting("sentiment/reviews/bilstm", cases=1)
    found = look(made, 1, [METHODS.make(name, {"samples": 400})], [], shown_text, device="cpu")
    (panel,) = panels(found, name, of_text(found))
    assert panel.title in ("LIME", "Decision boundary")
    if name == "lime":
        (shown,) = (block for block in panel.blocks if isinstance(block, Bars))
        assert {re.sub(r" \(word \d+\)", "", bar.name) for bar in shown.rows} <= set(
            found.shown.words
        )
    else:
        steps = found.more[name]["path"]["steps"]
        assert steps
        end = panel.blocks[-1]
        assert isinstance(end, Words)
        new = {step["index"]: step["to"] for step in steps}
        assert "".join(run.text for run in end.runs).split() == [
            new.get(i, word) for i, word in enumerate(found.shown.words)
        ]
