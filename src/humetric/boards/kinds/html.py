"""Panels as HTML. Everything that is shown is made harmless and escaped here."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from humetric.boards.kinds.panel import Bars, Block, Grid, Panel, Run, Words
from humetric.boards.pieces import clean

TAGS = {"": "span", "strong": "strong", "pale": "span", "new": "ins", "code": "code"}

STYLE = """
.kinds { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr));
  gap: .8rem; margin: .8rem 0 0; align-items: start; }
.kind { border: 1px solid var(--line); border-radius: 6px; padding: .5rem .8rem .7rem;
  min-width: 0; overflow-wrap: anywhere; break-inside: avoid; }
.kind h3 { margin: 0 0 .3rem; }
.kind p { margin: .25rem 0; unicode-bidi: isolate; }
.kind ins { text-decoration: underline; text-decoration-thickness: 2px; font-weight: 700; }
.kind code { white-space: normal; }
.kind table { min-width: 0; width: auto; max-width: 100%; margin: .3rem 0; font-size: .95em; }
.kind th, .kind td { padding: .1rem .9rem .1rem 0; border: 0; font-weight: 400;
  white-space: normal; }
.kind thead th { color: var(--soft); font-size: .85em; }
.kind .steps td:first-child, .kind td.number { white-space: nowrap; }
.kind .bars { width: 100%; }
.bars th { width: 40%; }
.bars .number { width: 1%; }
.bars .total > * { border-top: 1px solid var(--soft); padding-top: .25rem; }
.track { position: relative; height: .85em; min-width: 5rem; margin-top: .35em; }
.track.signed::before { content: ""; position: absolute; left: 50%; top: -.2em; bottom: -.2em;
  border-left: 1px solid var(--soft); }
.track i { position: absolute; top: 0; bottom: 0; -webkit-print-color-adjust: exact;
  print-color-adjust: exact; }
.track .for { left: 50%; background: rgb(var(--plus)); }
.track .against { right: 50%; background: rgb(var(--minus)); }
.track .amount { left: 0; background: rgb(var(--size)); }
"""


def draw(panels: Sequence[Panel]) -> str:
    """Panels side by side where the page is wide enough, below those that are mere sentences."""
    said = "".join(_panel(panel) for panel in panels if not panel.title)
    drawn = "".join(_panel(panel) for panel in panels if panel.title)
    return said + (f'<div class="kinds">{drawn}</div>' if drawn else "")


def track(share: float, signed: bool = True) -> str:
    """A bar from the middle for a share from -1 to 1, or from the left for one from 0 to 1."""
    kind = ("for" if share > 0 else "against") if signed else "amount"
    width = abs(share) * (50 if signed else 100)
    middle = " signed" if signed else ""
    return f'<div class="track{middle}"><i class="{kind}" style="width:{width:.1f}%"></i></div>'


def _panel(panel: Panel) -> str:
    blocks = "".join(map(_block, panel.blocks))
    if not panel.title:
        return f'<div class="said">{blocks}</div>'
    return f'<div class="kind"><h3>{_safe(panel.title)}</h3>{blocks}</div>'


def _block(block: Block) -> str:
    if isinstance(block, Words):
        label = f"<strong>{_safe(block.label)}:</strong> " if block.label else ""
        return f"<p>{label}{''.join(map(_run, block.runs))}</p>"
    return _bars(block) if isinstance(block, Bars) else _grid(block)


def _bars(block: Bars) -> str:
    largest = max((abs(bar.value) for bar in block.rows), default=0.0) or 1.0
    rows = "".join(
        f'<tr><th scope="row">{_safe(bar.name)}</th><td class="number">{_safe(bar.text)}</td>'
        f"<td>{track(bar.value / largest)}</td></tr>"
        for bar in block.rows
    )
    totals = "".join(
        f'<tr{"" if i else " class=total"}><th scope="row">{_safe(name)}</th>'
        f'<td class="number">{_safe(text)}</td><td></td></tr>'
        for i, (name, text) in enumerate(block.totals)
    )
    return f'<table class="bars"><tbody>{rows}{totals}</tbody></table>'


def _grid(block: Grid) -> str:
    edge = len(block.head) - 1
    numeric = [block.numeric and i == edge for i in range(len(block.head))]
    kind = [' class="number"' if right else "" for right in numeric]
    heads = "".join(
        f'<th scope="col"{k}>{_safe(name)}</th>' for name, k in zip(block.head, kind, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(f"<td{k}>{_run(run)}</td>" for run, k in zip(row, kind, strict=True))
        + "</tr>"
        for row in block.rows
    )
    steps = ' class="steps"' if block.numeric else ""
    return f"<table{steps}><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _run(run: Run) -> str:
    if not run.stress:
        return _safe(run.text)
    tag = TAGS[run.stress]
    about = ' class="pale"' if run.stress == "pale" else ""
    return f"<{tag}{about}>{_safe(run.text)}</{tag}>"


def _safe(text: str) -> str:
    return escape(clean(str(text)))
