"""How pages of texts look: on a phone, on paper, on a bright and on a dark screen."""

STYLE = """
:root { color-scheme: light dark; --ink: #222; --page: #fff; --soft: #555; --line: #ddd;
  --plus: 214 50 42; --minus: 34 102 204; --size: 128 60 180; --most: .62;
  --del: #d55e00; --ins: #0072b2; --start: #ffe066; --end: #9fe3d4; --gold: #1b7f3b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e3; --page: #16181b; --soft: #a9a9a9;
  --line: #3a3d42; --plus: 240 80 70; --minus: 80 140 255; --size: 180 110 240; --most: .6;
  --del: #ff8c3a; --ins: #58b6ee; --start: #6b5900; --end: #0d5f52; --gold: #5fd38a; } }
@media print { :root { color-scheme: light; --ink: #000; --page: #fff; --soft: #444; --line: #ccc;
  --plus: 214 50 42; --minus: 34 102 204; --size: 128 60 180; --most: .62; --del: #d55e00;
  --ins: #0072b2; --start: #ffe066; --end: #9fe3d4; --gold: #1b7f3b; } }
body { color: var(--ink); background: var(--page); }
.pale, .text h4, summary { color: var(--soft); }
th, td { border-color: var(--line); }
section { border-top: 1px solid var(--line); margin-top: 1.6rem; padding-top: .2rem;
  break-inside: avoid-page; }
section h2 { margin: .8rem 0 .4rem; }
h3 { font-size: .95rem; margin: 1rem 0 .2rem; }
h4 { font-size: .8rem; margin: .5rem 0 0; font-weight: 600; }
.text { font-size: 1.05rem; line-height: 1.75; overflow-wrap: anywhere; }
.text p { margin: 0; unicode-bidi: isolate; }
.sides { display: grid; grid-template-columns: minmax(0, 1fr) 14rem; gap: 0 1.5rem;
  align-items: start; }
@media (max-width: 44rem) { .sides { grid-template-columns: minmax(0, 1fr); }
  .curves { margin-top: .6rem; } }
.w { border-radius: 3px; position: relative; padding: .1em 0; -webkit-print-color-adjust: exact;
  print-color-adjust: exact; }
.plus { background: rgb(var(--plus) / calc(var(--a) * var(--most))); }
.minus { background: rgb(var(--minus) / calc(var(--a) * var(--most))); }
.size { background: rgb(var(--size) / calc(var(--a) * var(--most))); }
.w:focus { outline: 2px solid var(--ink); outline-offset: 1px; }
.w:focus::after { content: attr(title); position: absolute; left: 0; top: 100%; z-index: 1;
  background: var(--ink); color: var(--page); font: .8rem/1.4 system-ui, sans-serif;
  padding: 0 .4em; border-radius: 3px; white-space: nowrap; }
.answer { border-bottom: 3px solid var(--ink); }
.gold { border-top: 3px dashed var(--gold); }
.unread { color: var(--soft); font-style: italic; text-decoration: line-through; }
.start, .end { color: var(--ink); border-radius: 3px; padding: .1em .15em;
  -webkit-print-color-adjust: exact; print-color-adjust: exact; }
.start { background: var(--start); }
.end { background: var(--end); }
.start.end { background: linear-gradient(to bottom, var(--start) 50%, var(--end) 50%); }
.of-start { border-left: 3px solid var(--ink); }
.of-end { border-right: 3px solid var(--ink); }
.key { font-size: .85em; color: var(--soft); line-height: 1.8; }
.bar { display: inline-block; width: 8rem; height: .8em; vertical-align: -.1em; margin: 0 .4em;
  border: 1px solid var(--line); -webkit-print-color-adjust: exact; print-color-adjust: exact; }
.bar.signed { background: linear-gradient(to right, rgb(var(--minus) / var(--most)),
  rgb(var(--minus) / 0) 50%, rgb(var(--plus) / 0) 50%, rgb(var(--plus) / var(--most))); }
.bar.unsigned { background: linear-gradient(to right, rgb(var(--size) / 0),
  rgb(var(--size) / var(--most))); }
.bar + span, .key span { font-variant-numeric: tabular-nums; }
.values { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: .3rem 0; font-size: .9em; }
.values b { font-variant-numeric: tabular-nums; }
details { margin: .6rem 0; }
summary { cursor: pointer; font-size: .85em; }
.numbers { columns: 11rem; font-size: .85em; margin: .4rem 0; padding-left: 2.5em;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
@media print { section { break-inside: auto; } details { display: none; } }
"""
