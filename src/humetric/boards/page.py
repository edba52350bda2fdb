"""One image case as a web page of a single file: the figure, metrics, and what the methods are."""

from __future__ import annotations

import base64
from html import escape

from humetric.boards.figure import DPI, png, title
from humetric.boards.kinds import html, panels
from humetric.boards.kinds.subject import of_any
from humetric.boards.page_parts import document, name_of
from humetric.run.look import Look
from humetric.run.shown_image import ShownImage

STYLE = """
:root { color-scheme: light; --soft: #555; --line: #ddd; --plus: 214 50 42;
  --minus: 34 102 204; --size: 128 60 180; }
body { color: #222; background: #fff; }
.pale { color: #555; }
img { max-width: 100%; height: auto; display: block; margin: 1rem 0; }
"""


def page(look: Look[ShownImage]) -> str:
    """The page as HTML. Everything that is shown is escaped; the figure is in the page itself."""
    drawn = png(look, titled=False)
    width = int.from_bytes(drawn[16:20], "big") * 96 // DPI  # a PNG's width stands in its head
    picture = base64.b64encode(drawn).decode()
    return document(
        look,
        title(look)[1],
        STYLE + html.STYLE,
        f'<img width="{width}" alt="{escape(_in_words(look))}" '
        f'src="data:image/png;base64,{picture}">'
        + "".join(_more(look, name) for name in look.maps),
    )


def _more(look: Look[ShownImage], name: str) -> str:
    """What a method has to show beside its map."""
    shown = html.draw(panels(look, name, of_any(look)))
    return f"<h2>{escape(name_of(look.methods[name]))}</h2>{shown}" if shown else ""


def _in_words(look: Look[ShownImage]) -> str:
    """The figure, for those who do not see it."""
    return (
        f"The image of case {look.case}, maps of {', '.join(look.methods)}, and their deletion and "
        f"insertion curves, whose areas stand in the table below."
    )
