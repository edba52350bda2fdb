"""One case as a web page of a single file: the figure, all metrics, and what the methods are."""

from __future__ import annotations

import base64
import math
from html import escape

from humetric import __version__
from humetric.boards.figure import DPI, png, title
from humetric.boards.render import ARROWS
from humetric.cards import MethodCard
from humetric.run.look import Look

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #222; background: #fff;
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .3rem 0; }
.pale { color: #555; font-size: .9em; }
.wide { overflow-x: auto; }
img { max-width: 100%; height: auto; display: block; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; min-width: 38rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0;
  border-bottom: 1px solid #ddd; }
thead th { border-bottom: 1px solid #222; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th[scope=row] { font-weight: 600; white-space: nowrap; }
code { font: .9em "DejaVu Sans Mono", monospace; white-space: nowrap; }
@media print { body { margin: 0; max-width: none; } tr { break-inside: avoid; } }
"""


def page(look: Look) -> str:
    """The page as HTML. Everything that is shown is escaped; the figure is in the page itself."""
    first, second = title(look)
    drawn = png(look, titled=False)
    width = int.from_bytes(drawn[16:20], "big") * 96 // DPI  # a PNG's width stands in its head
    picture = base64.b64encode(drawn).decode()
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(first)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{escape(first)}</h1>
<p>{escape(second)}.</p>
<img width="{width}" alt="{escape(_in_words(look))}" src="data:image/png;base64,{picture}">
<h2>Metrics</h2>
{_values(look)}
<p class="pale">↑ higher is better, ↓ lower is better, — undefined for this case. Values of one case
say little about a method; complexity and sparseness describe a map, not its quality.</p>
<h2>Methods</h2>
{_methods(look)}
{_problems(look)}
<p class="pale">Made by humetric {escape(__version__)} with the seed {look.seed} on
{escape(look.device)}.</p>
</body>
</html>
"""


def _in_words(look: Look) -> str:
    """The figure, for those who do not see it."""
    return (
        f"The image of case {look.case}, maps of {', '.join(look.methods)}, and their deletion and "
        f"insertion curves, whose areas stand in the table below."
    )


def _values(look: Look) -> str:
    """Methods by metrics."""
    heads = "".join(
        f'<th scope="col" class="number" title="{escape(card.summary)}">{escape(name)} '
        f"{ARROWS[card.direction]}</th>"
        for name, card in look.metrics.items()
    )
    rows = "\n".join(
        f'<tr><th scope="row">{escape(_name(card))}</th>'
        + "".join(f'<td class="number">{_cell(look, name, metric)}</td>' for metric in look.metrics)
        + "</tr>"
        for name, card in look.methods.items()
    )
    return _table(f'<th scope="col">method</th>{heads}', rows)


def _cell(look: Look, method: str, metric: str) -> str:
    if any(skip.method == method for skip in look.skips):
        return "skipped"
    value = look.values.get((method, metric))
    if value is None:
        return "failed"
    return "—" if math.isnan(value) else f"{value:.3f}".replace("-", "\N{MINUS SIGN}")


def _methods(look: Look) -> str:
    """What each method computes, with which parameters, and who described it."""
    rows = "\n".join(
        f'<tr><th scope="row">{escape(_name(card))}</th><td>{escape(card.summary)}</td>'
        f"<td>{_parameters(card)}</td><td>{escape(card.reference)}</td></tr>"
        for card in look.methods.values()
    )
    heads = ("method", "what it computes", "parameters", "reference")
    return _table("".join(f'<th scope="col">{head}</th>' for head in heads), rows)


def _parameters(card: MethodCard) -> str:
    given = (f"{name} = {value}" for name, value in card.parameters.items())
    return "<br>".join(f"<code>{escape(words)}</code>" for words in given) or "none"


def _problems(look: Look) -> str:
    """What failed or was skipped, and why; nothing if all went well."""
    said = [f"{skip.method} was skipped: it {skip.reason}." for skip in look.skips]
    for failure in look.failures:
        what = f"{failure.metric} of {failure.method}" if failure.metric else failure.method
        said.append(f"{what} failed. {failure.message}")
    listed = "".join(f"<li>{escape(words)}</li>" for words in said)
    return f"<h2>Not shown</h2>\n<ul>{listed}</ul>" if said else ""


def _name(card: MethodCard) -> str:
    return f"{card.id} (control)" if card.control else card.id


def _table(heads: str, rows: str) -> str:
    return (
        f'<div class="wide"><table><thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>'
        f"</table></div>"
    )
