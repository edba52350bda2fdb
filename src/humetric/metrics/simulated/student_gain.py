"""Student gain: does a small network learn the model better when it is told where to look?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from humetric.engine.questions import Program
from humetric.metrics import Simulation, metric
from humetric.metrics.panel import Panel, Replicates, Shown
from humetric.metrics.simulated.reader import Draw, draws, names, shuffles
from humetric.metrics.simulated.terms import Floats, highlights, shuffled, summed, terms, uniform
from humetric.seeding import generator

NAME = "student-gain"
WIDTH = 8
"""Numbers per term, and hidden units."""
STEPS, RATE = 60, 0.05
"""Of Adam, all cases at once."""
WEIGHT = 1.0
"""Of attention's cross-entropy to the highlights, beside the cross-entropy to the outputs."""
LEARN, TEST = 20, 36


@metric(
    NAME,
    version=1,
    direction="higher",
    range=(-1.0, 1.0),
    reference="after Pruthi et al. 2022, arXiv:2012.00893; simulated",
    tasks=("image", "sentiment", "nli", "tabular"),
)
def student_gain(draws: int = 10) -> Simulation:
    """A student's gain in accuracy at predicting the model, for learning with explanations.

    Twenty explained learning cases, thirty-six test cases without an explanation; accuracy of the
    student less that of the same student (same cases, same initial weights) whose explanations were
    uniform. 0: explanations do not help. One value for each of ``draws`` students and draws of
    cases from the panel.

    The student is a network, not a person: terms of a case (words, values of columns, kinds of
    patches) have vectors of 8 numbers, attention over them makes one vector of a case, and a layer
    of 8 tanh units reads it. Explanations teach its attention (cross-entropy to the highlights,
    weighed like that to the outputs), and at test it attends by itself. It is not linear, since a
    linear one would favour methods that show weights of linear students. It needs the arrangement
    of terms no more than the other readers do. Twenty cases are few: Pruthi et al. have hundreds.
    """
    return Simulation(lambda panel, shown: _simulate(panel, shown, draws), LEARN, TEST)


def _simulate(panel: Panel, shown: Shown, count: int) -> Program[Replicates]:
    yield from ()
    of = terms(panel.cases)
    people = draws(panel, NAME, count, LEARN, TEST)
    weights = highlights(shown.attribution, of, panel.learning)
    before = panel.cases.once(
        (NAME, count), lambda: accuracy(panel, people, [uniform(of, panel.learning)] * count, count)
    )
    mixed = [shuffled(of, weights, rng) for rng in shuffles(panel, NAME, count)]
    both = accuracy(panel, [*people, *people], [*[weights] * count, *mixed], count)
    after, other = both[:count] - before, both[count:] - before
    none = torch.zeros(count, dtype=torch.float64)
    controls = {"none": none, "shuffled": torch.from_numpy(other)}
    return Replicates(names(count), torch.from_numpy(after), controls)


def accuracy(panel: Panel, people: Sequence[Draw], seen: Sequence[Floats], count: int) -> Floats:
    """(students,): accuracy in the test cases; ``seen`` are the highlights that each is taught.

    Students come in rounds of ``count``, of which each begins with the same weights.
    """
    of, said = terms(panel.cases), torch.from_numpy(panel.target)
    who = panel.cases.seed, panel.setting.id
    counts = torch.from_numpy(summed(of, uniform(of))).float()
    told = [torch.from_numpy(summed(of, own)).float() for own in seen]
    learning, test = (torch.from_numpy(np.stack(k)) for k in zip(*people, strict=True))
    rngs = [generator(*who, f"{NAME} student {i % count}") for i in range(len(people))]
    student = fresh(of.size, int(said.max()) + 1, rngs)
    share = torch.stack([rows[k] for rows, k in zip(told, learning, strict=True)])
    taught(student, counts[learning], said[learning], share / share.sum(2, keepdim=True))
    with torch.no_grad():
        guessed = answers(student, counts[test])[0].argmax(2)
    found: Floats = (guessed == said[test]).double().mean(1).numpy()
    return found


class Student(NamedTuple):
    """Weights of several students, whom the first dimension tells apart."""

    term: Tensor
    """(students, terms, width)."""
    ask: Tensor
    """(students, width, width): attention's hidden layer."""
    answer: Tensor
    """(students, width, 1): how strongly a term pulls attention."""
    hidden: Tensor
    """(students, width, width)."""
    out: Tensor
    """(students, width, outputs)."""


def fresh(size: int, outputs: int, rngs: Sequence[np.random.Generator]) -> Student:
    """Students with normal weights, each from its own generator."""
    shapes = (size, WIDTH), (WIDTH, WIDTH), (WIDTH, 1), (WIDTH, WIDTH), (WIDTH, outputs)
    each = [[rng.standard_normal(shape) * shape[0] ** -0.5 for shape in shapes] for rng in rngs]
    made = [torch.from_numpy(np.stack(part)).float() for part in zip(*each, strict=True)]
    made[0] *= size**0.5 * WIDTH**-0.5
    return Student(*(part.requires_grad_() for part in made))


def answers(student: Student, counts: Tensor) -> tuple[Tensor, Tensor]:
    """Logits (students, cases, outputs) and log attention (students, cases, terms)."""
    pull = torch.tanh(student.term @ student.ask) @ student.answer
    attention = (pull.transpose(1, 2) + counts.log()).log_softmax(2)
    read = attention.exp() @ student.term
    return torch.tanh(read @ student.hidden) @ student.out, attention


def taught(student: Student, counts: Tensor, said: Tensor, share: Tensor) -> None:
    """Teach all students side by side; what one learns does not depend on the others."""
    optimizer = torch.optim.Adam(list(student), lr=RATE)
    there = counts > 0
    for _ in range(STEPS):
        logits, attention = answers(student, counts)
        wrong = F.cross_entropy(logits.flatten(0, 1), said.flatten(), reduction="none")
        astray = -(share * attention.masked_fill(~there, 0.0)).sum(2)
        loss = (wrong.view_as(said) + WEIGHT * astray).mean(1).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
