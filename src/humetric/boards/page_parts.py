"""What the pages of image and of text cases have in common: tables, notes, the frame."""

from __future__ import annotations

import math
from html import escape

from humetric import __version__
from humetric.boards.render import ARROWS
from humetric.cards import MethodCard
from humetric.run.look import Look

STYLE = """
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .3rem 0; }
.pale { font-size: .9em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; min-width: 38rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0;
  border-bottom: 1px solid #ddd; }
thead th { border-bottom: 1px solid currentColor; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.metrics { font-size: .85em; }
.metrics .number { padding-right: .25rem; }
th[scope=row] { font-weight: 600; white-space: nowrap; }
code { font: .9em "DejaVu Sans Mono", monospace; white-space: nowrap; }
@media print { body { margin: 0; max-width: none; } tr { break-inside: avoid; } }
"""


def name_of_case(look: Look[object]) -> str:
    """Which case it is."""
    return f"{look.setting}, case {look.case}"


def document(look: Look[object], verdict: str, style: str, body: str) -> str:
    """A page of a single file: heading, body, tables of metrics and methods, what went wrong.

    ``verdict`` says what is true of the case and what the model makes of it.
    """
    name = escape(name_of_case(look))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title>
<style>{STYLE}{style}</style>
</head>
<body>
<h1>{name}</h1>
<p>{escape(verdict)}.</p>
{body}
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


def cell(look: Look[object], method: str, metric: str) -> str:
    """A value with three decimals, or why there is none."""
    if any(skip.method == method for skip in look.skips):
        return "skipped"
    value = look.values.get((method, metric))
    if value is None:
        return "failed"
    return "—" if math.isnan(value) else f"{value:.3f}".replace("-", "\N{MINUS SIGN}")


def name_of(card: MethodCard) -> str:
    """A method's name, controls marked."""
    return f"{card.id} (control)" if card.control else card.id


def missing(look: Look[object], method: str) -> str:
    """Why a method has no map; empty if it has one."""
    for skip in look.skips:
        if skip.method == method:
            return f"skipped: it {skip.reason}"
    for failure in look.failures:
        if failure.method == method and not failure.metric:
            return f"failed. {failure.message}"
    return ""


def _values(look: Look[object]) -> str:
    """Methods by metrics."""
    heads = "".join(
        f'<th scope="col" class="number" title="{escape(card.summary)}">{escape(name)} '
        f"{ARROWS[card.direction]}</th>"
        for name, card in look.metrics.items()
    )
    rows = "\n".join(
        f'<tr><th scope="row">{escape(name_of(card))}</th>'
        + "".join(f'<td class="number">{cell(look, name, metric)}</td>' for metric in look.metrics)
        + "</tr>"
        for name, card in look.methods.items()
    )
    return _table(f'<th scope="col">method</th>{heads}', rows, "metrics")


def _methods(look: Look[object]) -> str:
    """What each method computes, with which parameters, and who described it."""
    rows = "\n".join(
        f'<tr><th scope="row">{escape(name_of(card))}</th><td>{escape(card.summary)}</td>'
        f"<td>{_parameters(card)}</td><td>{escape(card.reference)}</td></tr>"
        for card in look.methods.values()
    )
    heads = ("method", "what it computes", "parameters", "reference")
    return _table("".join(f'<th scope="col">{head}</th>' for head in heads), rows)


def _parameters(card: MethodCard) -> str:
    given = (f"{name} = {value}" for name, value in card.parameters.items())
    return "<br>".join(f"<code>{escape(words)}</code>" for words in given) or "none"


def _problems(look: Look[object]) -> str:
    """What failed or was skipped, and why; nothing if all went well."""
    said = [f"{skip.name} was skipped: it {skip.reason}." for skip in look.skips]
    for failure in look.failures:
        what = f"{failure.metric} of {failure.method}" if failure.metric else failure.method
        said.append(f"{what} failed. {failure.message}")
    listed = "".join(f"<li>{escape(words)}</li>" for words in said)
    return f"<h2>Not shown</h2>\n<ul>{listed}</ul>" if said else ""


def _table(heads: str, rows: str, kind: str = "about") -> str:
    return (
        f'<div class="wide"><table class="{kind}"><thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )
