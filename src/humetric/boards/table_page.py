"""One row of a table as a web page of a single file: columns, attributions side by side, curves."""

from __future__ import annotations

from html import escape

from humetric.boards import curve_svg, text_style
from humetric.boards.kinds import html, panels
from humetric.boards.kinds.panel import writer
from humetric.boards.kinds.subject import of_table
from humetric.boards.page_parts import document, missing, name_of
from humetric.boards.pieces import class_verdict, clean
from humetric.boards.scale import word_scale
from humetric.run.look import Look
from humetric.run.shown_table import ShownTable

STYLE = """
.row { width: auto; min-width: 0; margin: .6rem 0; font-size: .93em; }
.row td, .row th { padding: .2rem 1.2rem .2rem 0; }
.row thead th { vertical-align: bottom; }
.row td.number { padding-right: .5rem; }
.row .drawn { min-width: 5.5rem; }
.many { display: flex; flex-wrap: wrap; gap: .5rem 1rem; }
.many > div { width: 13rem; }
.many h3 { margin: .4rem 0; }
"""


BESIDE = 4
"""Methods beside each other: as many as fit a page on a screen or on paper."""

KEY = """<p class="key">Bars to the right speak for the explained class, bars to the left against
it; bars from the left edge are importance without a sign. Each method has its own scale.</p>"""


def table_page(look: Look[ShownTable]) -> str:
    """The page as HTML. Everything that is shown is escaped, and nothing is fetched."""
    drawn = [name for name in look.methods if name in look.maps]
    parts = [
        *(_row(look, drawn[at : at + BESIDE]) for at in range(0, len(drawn) or 1, BESIDE)),
        KEY if drawn else "",
        *(
            f"<p>{escape(name_of(card))} {escape(missing(look, name))}</p>"
            for name, card in look.methods.items()
            if name not in look.maps
        ),
        _curves(look, drawn),
        *(_more(look, name) for name in drawn),
    ]
    style = text_style.STYLE + curve_svg.STYLE + html.STYLE + STYLE
    return document(look, class_verdict(look, look.shown.predicted), style, "\n".join(parts))


def _row(look: Look[ShownTable], drawn: list[str]) -> str:
    """A line for each column: name, value, and each method's number with its bar."""
    heads = "".join(
        f'<th scope="col" colspan="2">{escape(name_of(look.methods[name]))}</th>' for name in drawn
    )
    cells = [_cells(look, name) for name in drawn]
    lines = "".join(
        f'<tr><th scope="row">{escape(clean(column))}</th>'
        f'<td class="value">{escape(clean(value))}</td>'
        f"{''.join(own[i] for own in cells)}</tr>"
        for i, (column, value) in enumerate(zip(look.shown.columns, look.shown.values, strict=True))
    )
    return (
        f'<div class="wide"><table class="row"><thead><tr><th scope="col">column</th>'
        f'<th scope="col">value</th>{heads}</tr></thead><tbody>{lines}</tbody></table></div>'
    )


def _cells(look: Look[ShownTable], name: str) -> list[str]:
    """A method's number and bar for each column."""
    values, signed = look.maps[name], look.methods[name].signed
    scale, write = word_scale(values, signed), writer(values)
    return [
        f'<td class="number" title="{float(value)!r}">{write(value, signed)}</td>'
        f'<td class="drawn">{html.track(scale.share(float(value)), signed)}</td>'
        for value in values
    ]


def _curves(look: Look[ShownTable], drawn: list[str]) -> str:
    """Deletion and insertion, method beside method."""
    figures = "".join(
        f"<div><h3>{escape(name_of(look.methods[name]))}</h3>"
        f"{curve_svg.curves(look, name, 'columns')}</div>"
        for name in drawn
        if any(method == name for method, _ in look.curves)
    )
    return f'<h2>Deletion and insertion</h2><div class="many">{figures}</div>' if figures else ""


def _more(look: Look[ShownTable], name: str) -> str:
    """What a method has to show beside its numbers."""
    shown = html.draw(panels(look, name, of_table(look)))
    head = f"<h2>{escape(name_of(look.methods[name]))}</h2>"
    return f"<section>{head}{shown}</section>" if shown else ""
