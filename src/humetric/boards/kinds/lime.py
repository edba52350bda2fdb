"""LIME: the weights of a few features in a linear model of the probability around the case."""

from __future__ import annotations

from typing import Any

from humetric.boards.kinds.panel import Block, Panel, bars, count, words
from humetric.boards.kinds.subject import Subject


def panel(data: Any, subject: Subject) -> Panel:
    """Weights as bars, then sum, baseline and estimated probability as in the study's Figure 2.

    What the three leave open (features of the linear model that are not shown) has a line of its
    own, so that the column adds up.
    """
    features = sorted(data["features"], key=lambda f: -float(f["weight"]))
    explained = subject.output(data["class"])
    total, baseline, estimate = (float(data[x]) for x in ("sum", "intercept", "probability"))
    rest = estimate - total - baseline
    shown = bars(
        [(subject.named(f["feature"], f["index"]), f["weight"]) for f in features],
        [
            (f"Sum of {subject.many}", total, True),
            ("Baseline", baseline, False),
            *([(f"Other {subject.many}", rest, True)] if abs(rest) > 5e-4 else []),
            (f"Est. probability of {explained}", estimate, False),
        ],
    )
    said = (
        f"A linear model of the probability of {explained}, fitted to "
        f"{count(data['samples'], 'changed input', 'changed ' + subject.inputs)}."
    )
    blocks: list[Block] = [words(said, "pale"), shown]
    if explained == subject.target:
        blocks.append(words(f"The model itself says {subject.probability:.3f}.", "pale"))
    return Panel("LIME", tuple(blocks))
