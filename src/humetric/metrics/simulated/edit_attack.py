"""Edit attack: does a simulated person bring the model's confidence down for having seen why?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from humetric.engine.questions import Program, intact
from humetric.errors import HumetricError
from humetric.methods import shared
from humetric.metrics import Simulation, metric
from humetric.metrics.panel import Panel, Replicates, Shown
from humetric.metrics.simulated.edit_desk import Desk, as_written
from humetric.metrics.simulated.editor import Ints, Memory, Sheet
from humetric.metrics.simulated.reader import evenly, shuffles
from humetric.metrics.simulated.terms import Floats, highlights, shuffled, terms, uniform
from humetric.models.student import terms_of
from humetric.seeding import generator

NAME = "edit-attack"
TRAINING, COHORTS, TEST = 20, 5, 10
"""As in the study: training cases, the same for all; cohorts, and test cases of each."""
REFERENCE = "after the protocol of Arora et al. 2022, arXiv:2112.09669; simulated"
TASKS = ("sentiment", "nli")


@metric(
    "edit-attack",
    version=1,
    direction="higher",
    range=(0.0, 1.0),
    reference=REFERENCE,
    tasks=TASKS,
    sees=("cues",),
)
def edit_attack(live: int = 20) -> Simulation:
    """How far a simulated person, once explanations are gone, brings the model's confidence down.

    Five people edit the same 20 training cases (of a panel's 24 the first), which are explained,
    and after every two of them one of ten test cases of their own, which are not. Each text is
    edited until the output flips, at most 8 times; after every edit the model's confidence in its
    first output is on the screen, in both phases. An edit takes a word out of the text as it is
    written, whatever masks do in the setting; one that does not lower the confidence is undone and
    counts. Value: the largest reduction reached in a test case, one for each of 50. In training,
    explanations are made anew after every edit that is kept, for the first ``live`` training cases;
    for the others the first one stays, without what was taken out.

    The reader is in metrics/simulated/editor.py. In training it goes by the highlights on the
    screen; at test by what it remembers of highlights and of its own edits in the training cases so
    far. What it does in one test case teaches it nothing for the next: people's tries may have.
    Cue words (see linear-student-global-cues) it remembers as if each had been in a case of its
    class, the first as highlighted as the most highlighted words of cases are, the others less, in
    proportion to their weights. People could also insert these and replace words, and it cannot, so
    reductions of the study are not reductions here. Texts with half of the words deleted, which the
    study discards, are never made; where no word may go, a case is undefined. (The study's other
    rule, on edit distance, then holds too.) That a text must go on meaning the same, which people
    were told and checked for, is not simulated.

    The value depends on how easily the model loses confidence: compare with the controls beside it,
    which are the same people without highlights, to whom one word is as good as another, and with
    each case's highlights on others of its words.
    """
    return _simulation(live, lambda found: found.reduced)


@metric(
    "edit-attack-flips",
    version=1,
    direction="higher",
    range=(0.0, 1.0),
    reference=REFERENCE,
    tasks=TASKS,
    sees=("cues",),
)
def edit_attack_flips(live: int = 20) -> Simulation:
    """Share of unexplained cases in which a simulated person's edits flip the model's output.

    The people, cases and edits are those of edit-attack with the same ``live``, and they are
    simulated once for both: 1 where an edit of a test case made the model give another output.
    """
    return _simulation(live, lambda found: found.flipped)


@metric(
    "edit-attack-training",
    version=1,
    direction="higher",
    range=(0.0, 1.0),
    reference=REFERENCE,
    tasks=TASKS,
)
def edit_attack_training(live: int = 20) -> Simulation:
    """How far a simulated person with explanations in view brings the model's confidence down.

    The people, cases and edits are those of edit-attack with the same ``live``, and they are
    simulated once for both: the largest reduction in each of the 20 training cases, averaged over
    the five people. Nothing is remembered here: a faithful order of words is enough, and the
    control without highlights takes out words at random.
    """
    return _simulation(live, lambda found: found.trained)


class Person(NamedTuple):
    """Somebody of a cohort, and what it is shown."""

    cohort: int
    highlight: Floats
    """(training cases, words): of the texts as they come, 1 on average."""
    live: int
    """Training cases, of the first, whose explanation is made anew."""
    cues: Floats
    """(outputs, terms): highlights of cue words for each output; 0 for all others."""


class Outcome(NamedTuple):
    """What five people achieved. Undefined where no edit is permitted."""

    reduced: Tensor
    """(test cases,)."""
    flipped: Tensor
    """(test cases,)."""
    trained: Tensor
    """(training cases,), over people."""


def _simulation(live: int, part: Callable[[Outcome], Tensor]) -> Simulation:
    if not 0 <= live <= TRAINING:
        raise HumetricError(
            f"Expected live from 0 to {TRAINING}, the number of training cases, but got {live}."
        )
    return Simulation(
        lambda panel, shown: _simulate(panel, shown, live, part), TRAINING, COHORTS * TEST
    )


def _simulate(
    panel: Panel, shown: Shown, live: int, part: Callable[[Outcome], Tensor]
) -> Program[Replicates]:
    """One part of an outcome; whoever asks for another part later does not simulate again."""
    key = (NAME, live)
    if key not in shown.memo:
        shown.memo[key] = yield from _outcomes(panel, shown, live)
    own, controls = cast(tuple[Outcome, dict[str, Outcome]], shown.memo[key])
    value = part(own)
    tested = [
        f"cohort {i + 1}: {panel.cases.ids[case]}"
        for i, cases in enumerate(cohorts(panel))
        for case in cases
    ]
    names = tested if len(value) == len(tested) else list(panel.cases.ids[:TRAINING])
    return Replicates(names, value, {name: part(found) for name, found in controls.items()})


def _outcomes(panel: Panel, shown: Shown, live: int) -> Program[tuple[Outcome, dict[str, Outcome]]]:
    of = terms(panel.cases)
    weights = highlights(shown.attribution, of, panel.learning)
    cues = cues_of(panel, shown, weights)
    own = [Person(i, weights, live, cues) for i in range(COHORTS)]
    mixed = [
        Person(i, shuffled(of, weights, rng), 0, cues[:, rng.permutation(of.size)])
        for i, rng in enumerate(shuffles(panel, NAME, COHORTS))
    ]
    plain = [Person(i, uniform(of, panel.learning), 0, np.zeros_like(cues)) for i in range(COHORTS)]
    none = yield from shared(panel.cases, (NAME, "none"), lambda: achieved(panel, shown, plain))
    both = yield from achieved(panel, shown, [*own, *mixed])
    return outcome(both[:COHORTS]), {"none": outcome(none), "shuffled": outcome(both[COHORTS:])}


def cohorts(panel: Panel) -> list[Ints]:
    """The test cases of each cohort: no two share one."""
    rng = generator(panel.cases.seed, panel.setting.id, f"{NAME} cohorts")
    order = evenly(np.arange(panel.learning, len(panel)), panel, rng)
    return [order[i * TEST : (i + 1) * TEST] for i in range(COHORTS)]


def cues_of(panel: Panel, shown: Shown, weights: Floats) -> Floats:
    """(outputs, terms): how much each cue word is highlighted, so to speak."""
    of = terms(panel.cases)
    texts = panel.cases.text()[1]
    listed: Sequence[Sequence[Any]] = shown.explanation.setting.get("cues", ())
    found = np.zeros((max(2, int(panel.target.max()) + 1), of.size))
    peak = weights[:TRAINING].max(1).mean()
    words = [terms_of(*pair) for pair in zip(texts.words, texts.segment, strict=True)]
    place = {
        term: int(number)
        for own, row in zip(words, of.number, strict=True)
        for term, number in zip(own, row, strict=False)
    }
    for output, cues in enumerate(listed[: len(found)]):
        for cue in cues:
            segment = texts.names.index(cue["segment"]) if "segment" in cue else 0
            (term,) = terms_of([cue["word"]], [segment])
            if term in place:
                share = cue["weight"] / cues[0]["weight"]
                found[output, place[term]] = 1 + (peak - 1) * share
    return found


class Achieved(NamedTuple):
    """The texts of one person as it left them."""

    training: list[Sheet]
    test: list[Sheet]


def outcome(people: Sequence[Achieved]) -> Outcome:
    """What people left behind, as numbers."""
    test = [sheet for person in people for sheet in person.test]
    reduced = torch.tensor([sheet.reduced for sheet in test], dtype=torch.float64)
    flipped = torch.tensor([sheet.flipped for sheet in test], dtype=torch.float64)
    trained = [[sheet.reduced for sheet in person.training] for person in people]
    return Outcome(
        reduced,
        torch.where(reduced.isnan(), reduced, flipped),
        torch.tensor(trained, dtype=torch.float64).mean(0),
    )


def achieved(panel: Panel, shown: Shown, people: Sequence[Person]) -> Program[list[Achieved]]:
    """What some people do, side by side.

    All training cases are edited at once, since a person goes by the screen there, and then all
    test cases, each with the memory of the training cases that come before it.
    """
    of = terms(panel.cases)
    (answers,) = yield [replace(intact(panel.cases), view=as_written(panel.cases))]
    first, given = answers.probability.numpy(), answers.margin.numpy() > 0
    desk = Desk(panel, shown)

    def sheet(cohort: int, case: int, worth: Floats, highlight: Floats) -> Sheet:
        count = panel.cases.lengths[case]
        rng = generator(panel.cases.seed, panel.cases.ids[case], f"{NAME} coin {cohort}")
        return Sheet(
            case, of.number[case, :count], float(first[case]), rng.random(count),
            worth[:count], highlight[:count], flipped=not given[case],
        )  # fmt: skip

    training = [
        [sheet(p.cohort, k, p.highlight[k], p.highlight[k]) for k in range(TRAINING)]
        for p in people
    ]
    looks = [
        s for person, sheets in zip(people, training, strict=True) for s in sheets[: person.live]
    ]
    yield from desk.edited([s for sheets in training for s in sheets], looks)
    own = cohorts(panel)
    test = []
    for person, sheets in zip(people, training, strict=True):
        memory = Memory(len(person.cues), of.size)
        for output, cues in enumerate(person.cues):
            (there,) = np.nonzero(cues)
            memory.note(output, there, cues[there])
        tested = []
        for turn, case in enumerate(own[person.cohort].tolist()):
            for done in sheets[2 * turn : 2 * turn + 2]:
                memory.add(int(panel.target[done.case]), done)
            known = memory.of(int(panel.target[case]))
            number = of.number[case]
            tested.append(sheet(person.cohort, case, known.worth[number], known.highlight[number]))
        test.append(tested)
    yield from desk.edited([s for sheets in test for s in sheets], [])
    return [Achieved(*both) for both in zip(training, test, strict=True)]
