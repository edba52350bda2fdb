"""Decision boundary: the fewest changes that make the model say something else, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from humetric.engine.questions import Program, instead, intact
from humetric.methods import Explainer, method, shared
from humetric.methods.changes import Changes, Chosen, changes_of
from humetric.methods.explanation import Explanation
from humetric.models.tabular import TabularModel
from humetric.models.text import TextModel
from humetric.tasks.cases import Cases

SHOWN = 4
"""Last steps of a path that people see."""


class Step(NamedTuple):
    """One edit, and the margin after it."""

    feature: int
    option: int
    margin: float


class Path(NamedTuple):
    """From the case across the boundary; without steps where no sample crossed it."""

    start: float
    steps: tuple[Step, ...]
    crossing: int


@method(
    "decision-boundary",
    version=1,
    reference="Hase & Bansal 2020, arXiv:2005.01831, sections 3.4 and A.1",
    tasks=("sentiment", "nli", "tabular"),
    signed=False,
    uses=("neighbours",),
)
def decision_boundary(samples: int = 10000) -> Explainer:
    """How far each edit of the shortest sampled way across the decision boundary moves the margin.

    Among ``samples`` random changes of the case (methods/changes.py) to which the model gives
    another output, that with the fewest edits is taken; of several, the one nearest in what the
    model's last layer sees (in the margin, where the model shows no layer). From the case to there
    edits are made one at a time, each time the one that moves the margin least. The margin is the
    explained output's logit less the highest other one's. As a map: |change of the margin| of each
    edit, 0 where nothing was edited.

    Where the explained output is not the one that the model gives, the path leads to where it is.

    Few features have a number above 0, and all 0 is a map of a case that no sample got across. More
    samples find shorter ways: maps with other numbers of them are not comparable.
    """

    def explain(cases: Cases) -> Program[Explanation]:
        paths = yield from shared_paths(cases, samples)
        return Explanation(projected(cases, paths), told(cases, paths, samples, SHOWN))

    return explain


def shared_paths(cases: Cases, samples: int) -> Program[list[Path]]:
    """The paths of some cases; searched for once, whoever asks."""
    return shared(cases, ("decision-boundary", samples), lambda: search(cases, samples))


def search(cases: Cases, samples: int) -> Program[list[Path]]:
    """Sample around each case, choose where to go, and go there edit by edit."""
    changes = changes_of(cases)
    rngs = cases.rng("decision-boundary")
    drawn = [c.nearby(rng, samples) for c, rng in zip(changes, rngs, strict=True)]
    inputs = [c.inputs(d) for c, d in zip(changes, drawn, strict=True)]
    answers, whole = yield [instead(cases, inputs), intact(cases)]
    margins = [m.numpy() for m in answers.margin.split([len(d) for d in drawn])]
    crossing: list[int] = []
    goals: list[NDArray[np.int64] | None] = []
    for i, (chosen, margin) in enumerate(zip(drawn, margins, strict=True)):
        across = margin < 0 if whole.margin[i] >= 0 else margin > 0
        crossing.append(int(across.sum()))
        if not across.any():
            goals.append(None)
            continue
        edits = (chosen >= 0).sum(1)
        fewest = np.flatnonzero(across & (edits == edits[across].min()))
        _, first = np.unique(chosen[fewest], axis=0, return_index=True)
        some = fewest[np.sort(first)]
        far = distances(
            cases, i, inputs[i][torch.from_numpy(some)], margin[some], float(whole.margin[i])
        )
        goals.append(chosen[some[int(far.argmin())]])
    steps = yield from walk(cases, changes, goals, whole.margin.numpy())
    return [Path(float(whole.margin[i]), tuple(steps[i]), crossing[i]) for i in range(len(cases))]


def walk(
    cases: Cases,
    changes: Sequence[Changes],
    goals: Sequence[NDArray[np.int64] | None],
    start: NDArray[np.float64],
) -> Program[list[list[Step]]]:
    """From each case to its goal, always by the edit that moves the margin least."""
    now = [np.full(c.features, -1, dtype=np.int64) for c in changes]
    steps: list[list[Step]] = [[] for _ in changes]
    margin = start.tolist()
    while True:
        left = [
            [] if goal is None else np.flatnonzero(goal != own).tolist()
            for goal, own in zip(goals, now, strict=True)
        ]
        if not any(left):
            return steps
        tried: list[Chosen] = []
        for own, goal, features in zip(now, goals, left, strict=True):
            each = np.repeat(own[None], len(features), axis=0)
            if goal is not None:
                each[np.arange(len(features)), features] = goal[features]
            tried.append(each)
        (found,) = yield [
            instead(
                cases, [_inputs(c, rows, cases) for c, rows in zip(changes, tried, strict=True)]
            )
        ]
        answers = [m.tolist() for m in found.margin.split([len(r) for r in tried])]
        for i, features in enumerate(left):
            if features:
                best = min(range(len(features)), key=lambda k: abs(answers[i][k] - margin[i]))
                margin[i], now[i] = answers[i][best], tried[i][best]
                option = int(now[i][features[best]])
                steps[i].append(Step(features[best], option, margin[i]))


def _inputs(changes: Changes, rows: Chosen, cases: Cases) -> Tensor:
    """Inputs of rows, of which there may be none."""
    return changes.inputs(rows) if len(rows) else cases.x[:0].cpu()


def distances(
    cases: Cases, case: int, inputs: Tensor, margin: NDArray[np.float64], start: float
) -> NDArray[np.float64]:
    """Squared Euclidean distance of inputs from a case in what the model's last layer sees."""
    module, x = cases.model.module, cases.x[case : case + 1]
    seen: list[Tensor] = []
    with torch.no_grad():
        if isinstance(module, TextModel) and "gradient" in module.gives:
            count = int(x[0, 1].sum())
            for block in (x[:, :, :count], *torch.split(inputs.to(x), cases.gradient_rows)):
                ids, attention, types = block.unbind(1)
                seen.append(module.features(module.embed(ids), attention, types))
        elif isinstance(module, TabularModel) and "features" in module.reads:
            seen = [module.features(block) for block in (x, inputs.to(x))]
        else:
            return (margin - start) ** 2
    own, others = seen[0], torch.cat(seen[1:])
    found: NDArray[np.float64] = (others - own).square().sum(1).double().cpu().numpy()
    return found


def projected(cases: Cases, paths: Sequence[Path]) -> Tensor:
    """|Change of the margin| of each edit."""
    found = torch.zeros(cases.shape, dtype=torch.float64)
    for i, path in enumerate(paths):
        before = path.start
        for step in path.steps:
            found[i, step.feature] = abs(step.margin - before)
            before = step.margin
    return found


def told(
    cases: Cases, paths: Sequence[Path], samples: int, shown: int
) -> tuple[dict[str, Any], ...]:
    """Each path as plain data."""
    return tuple(
        {
            "path": {
                "start": path.start,
                "steps": [
                    {
                        "step": k,
                        "index": step.feature,
                        "feature": own.condition(step.feature),
                        "from": own.was(step.feature),
                        "to": own.becomes(step.feature, step.option),
                        "margin": step.margin,
                    }
                    for k, step in enumerate(path.steps, start=1)
                ],
                "class": int(cases.target[i]),
                "edits": len(path.steps),
                "crossing": path.crossing,
                "samples": samples,
                "shown": shown,
            }
        }
        for i, (path, own) in enumerate(zip(paths, changes_of(cases), strict=True))
    )
