"""``humetric models`` measures every shipped model of texts and rows and writes what it prints."""

import re
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from typer.testing import CliRunner

from humetric.cli import app
from humetric.data.embedded.texts import text_dataset
from humetric.errors import HumetricError
from humetric.models import stored, text_inputs, train_prototypes, train_tabular
from humetric.models.convnet import WEIGHTS
from humetric.models.text_recipes import RECIPES
from humetric.models.text_scores import probabilities
from humetric.models.text_table import Table, _sentiment

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "embedded-text.md"


def test_models_are_measured_and_written(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    found = CliRunner().invoke(app, ["models", "--count", "12", "--output", str(folder)])
    assert found.exit_code == 0, found.output
    assert "Tabular" in found.output
    page = (folder / "embedded-text.md").read_text(encoding="utf-8")
    for setting in RECIPES:
        assert page.count(f"| {setting} |") == (2 if setting.startswith("nli/") else 1)
    numbers = [float(n) for n in re.findall(r"\b[01]\.\d{3}\b", page)]
    assert len(numbers) == 4 * 2 + 4 * 4 + 4 * 6 + 3 * 5
    assert max(numbers) <= 1
    rows = (folder / "embedded-tabular.md").read_text(encoding="utf-8")
    assert all(f"| {setting} |" in rows for setting in train_tabular.RECIPES)
    assert len(re.findall(r"\b[01]\.\d{3}\b", rows)) == 4 * 2
    beside = (folder / "embedded-prototypes.md").read_text(encoding="utf-8")
    assert all(f"| {setting} |" in beside for setting in train_prototypes.RECIPES)
    assert len(re.findall(r"\b[01]\.\d{3}\b", beside)) == 4 * 8


def test_pages_cannot_go_into_one_file(tmp_path: Path) -> None:
    for path in (tmp_path / "page.md", Path(__file__)):
        found = CliRunner().invoke(app, ["models", "--count", "1", "--output", str(path)])
        assert isinstance(found.exception, HumetricError)
        assert "Expected a folder, in which pages are written" in str(found.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("setting", train_tabular.RECIPES)
def test_the_tabular_page_says_what_the_rule_and_the_models_reach(setting: str) -> None:
    page = (DOCS / "embedded-tabular.md").read_text(encoding="utf-8")
    best = [float(n) for n in re.search(r"the rule \|  \| (\S+) \| (\S+)", page).groups()]  # type: ignore[union-attr]
    own = re.search(rf"\| {setting} \| \w+ \| \S+ \| (\S+) \| (\S+)", page)
    assert own is not None
    for reached, possible in zip(own.groups(), best, strict=True):
        assert 0.8 < float(reached) < possible < 0.9


@pytest.mark.parametrize("setting", train_prototypes.RECIPES)
def test_prototype_models_are_within_three_points_of_their_task_models(setting: str) -> None:
    page = (DOCS / "embedded-prototypes.md").read_text(encoding="utf-8")
    line = re.search(rf"\| {setting} \| 2 x \d+ \| (.*) \|", page)
    assert line is not None
    numbers = [float(n) for n in line.group(1).split(" | ")]
    for task, own, fixed in (numbers[:3], numbers[3:6]):
        assert own > task - 0.03
        assert fixed > task - 0.03
    assert min(numbers[6:]) > 0.9, "how often they say what the task model says"


def test_the_page_has_a_row_for_every_model() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"| {setting} |" in page for setting in RECIPES)
    assert "none" not in page, "every model is measured"


def test_held_out_is_measured_on_other_texts_than_the_pool() -> None:
    """The first row once more by hand: the same model on the first 90 texts of each split."""
    setting = "sentiment/reviews/bilstm"
    model = stored.load(WEIGHTS / setting / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(WEIGHTS / "sentiment" / "reviews" / "tokenizer.json"))
    shares = []
    for split in ("pool", "extra"):
        some = [text_dataset("reviews").draw(i, split) for i in range(90)]
        guess = probabilities(model, text_inputs.of_texts(tokenizer, some)).argmax(1)
        shares.append(sum(int(g) == t.label for g, t in zip(guess, some, strict=True)) / 90)
    assert shares[0] != shares[1], "else this test could not tell the splits apart"
    assert _sentiment(WEIGHTS, setting, 90)[-2:] == tuple(f"{s:.3f}" for s in shares)


def test_a_table_as_markdown() -> None:
    table = Table("T", "Note.", ("a", "b", "c"), (("1", "2", "3"),))
    expected = "## T\n\nNote.\n\n| a | b | c |\n| --- | --- | ---: |\n| 1 | 2 | 3 |\n"
    assert table.markdown() == expected
