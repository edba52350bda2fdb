"""``humetric models`` measures every shipped text model and writes what it prints."""

import re
from pathlib import Path

from typer.testing import CliRunner

from humetric.cli import app
from humetric.models.text_recipes import RECIPES
from humetric.models.text_table import Table

PAGE = Path(__file__).parents[2] / "docs" / "embedded-text.md"


def test_models_are_measured_and_written(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    found = CliRunner().invoke(app, ["models", "--count", "12", "--output", str(file)])
    assert found.exit_code == 0, found.output
    page = file.read_text(encoding="utf-8")
    for setting in RECIPES:
        assert page.count(f"| {setting} |") == (2 if setting.startswith("nli/") else 1)
    numbers = [float(n) for n in re.findall(r"\b[01]\.\d{3}\b", page)]
    assert len(numbers) == 4 * 1 + 4 * 3 + 4 * 6 + 3 * 3
    assert max(numbers) <= 1


def test_the_page_has_a_row_for_every_model() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"| {setting} |" in page for setting in RECIPES)
    assert "none" not in page, "every model is measured"


def test_a_table_as_markdown() -> None:
    table = Table("T", "Note.", ("a", "b", "c"), (("1", "2", "3"),))
    expected = "## T\n\nNote.\n\n| a | b | c |\n| --- | --- | ---: |\n| 1 | 2 | 3 |\n"
    assert table.markdown() == expected
