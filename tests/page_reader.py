"""Reading what is shown: a text in a terminal, the tags and texts of a page."""

from __future__ import annotations

import io
from html.parser import HTMLParser

from rich.console import Console

from humetric.boards.text_terminal import print_text
from humetric.run.look import Look
from humetric.run.shown_text import ShownText


def printed(look: Look[ShownText], width: int = 80, colours: bool = False) -> str:
    file = io.StringIO()
    system = "truecolor" if colours else None
    console = Console(
        file=file, width=width, force_terminal=colours, color_system=system, highlight=False  # type: ignore[arg-type]
    )  # fmt: skip
    print_text(look, console)
    return file.getvalue()


class Reader(HTMLParser):
    """Checks that tags are closed, and gathers text by the classes around it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str]]] = []
        self.tags: set[str] = set()
        self.words: list[tuple[str, dict[str, str]]] = []
        self.section = 0
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.section += tag == "section"
        if tag not in ("meta", "br"):
            self.open.append((tag, {k: v or "" for k, v in attrs} | {"n": str(self.section)}))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1][0] == "span":
            self.words.append((data, self.open[-1][1]))

    def of(self, name: str, section: int) -> list[tuple[str, dict[str, str]]]:
        return [
            (text, about)
            for text, about in self.words
            if name in about.get("class", "").split() and about["n"] == str(section)
        ]
