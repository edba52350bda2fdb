"""Span guess: can a simulated person tell from highlights what the model answered?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from humetric.engine.questions import Program
from humetric.metrics import Simulation, metric
from humetric.metrics.panel import Panel, Replicates, Shown
from humetric.metrics.simulated.lexical import Floats, Reading, readings, shades
from humetric.seeding import generator
from humetric.tasks.answers import answer_text, f1

NAME = "span-guess"
BELIEF = 0.5
"""What belief in a word is worth, in the darkest highlight's worth."""
LONGEST = 10
"""Words of the longest guess: as many as are highlighted."""
SHUFFLES = 20
"""Over which the control of a question is averaged."""
REFERENCE = "after experiment 1 of Gonzalez et al. 2021, Findings of ACL; simulated"

Score = Callable[[str, str, str], float]
"""(guess, the model's answer, the true one, empty if it is not known) -> a score."""


@metric(NAME, version=1, direction="higher", range=(0.0, 1.0), reference=REFERENCE, tasks=("qa",))
def span_guess() -> Simulation:
    """How well a simulated person guesses the model's answer from what is highlighted: F1.

    The reader sees a question, its passage, and the ten words of highest attribution in both, and
    marks a span of the passage; one value per explained question, F1 of words between the span and
    the model's answer as SQuAD counts it (tasks/answers.py). 0: no word is right. The control
    ``none`` is the same reader's guess where nothing is highlighted, by its belief alone.

    The reader (metrics/simulated/lexical.py) believes in the sentence that has most of the
    question's words, and there in the content words that are not in the question. Evidence for a
    word of the passage is its shade, 1 for the darkest word of question and passage, plus half if
    it believes in it. The guess is the run of at most ten words within a sentence for which the sum
    of (evidence - half of the strongest in the passage) is highest; of equal ones the shortest,
    then the first, as people were asked for the shortest span that matched.

    People saw the model's answer after each question, and the study leaves out the fifteen that
    they practised on. So the reader, too, knows the model's answers to all questions but the one
    that it is asked, and learns one thing from them: if belief alone would have done better there
    (by mean F1), it goes by belief and ignores highlights. Highlights that say nothing then cost
    nothing: with ``shuffled`` ones it guesses as with none, except that where belief is never
    right, as in models that do not read, a few hits by chance are more than none.

    It does not learn how a model answers, and knows no kinds of answers ("when", "who"). Where
    people were shown two maps, for the start and for the end of the answer, and ten words of each,
    it sees one map, of both. Nor can it guess an answer that goes on over sentences, as poor models
    give.
    """
    return Simulation(lambda panel, shown: _simulate(panel, shown, to_the_model), 1)


@metric(
    f"{NAME}-gold",
    version=1,
    direction="lower",
    range=(0.0, 1.0),
    reference=REFERENCE,
    tasks=("qa",),
)
def span_guess_gold() -> Simulation:
    """Belief bias of a simulated person: F1 of its guess of the model's answer and the true answer.

    The guess is that of span-guess; only what it is compared with is another. Defined for
    questions whose model's answer and true answer have no word in common, undefined for others. 0:
    it never takes the true answer for the model's, as if the explanation had made it forget what
    it believes itself; 1: it always does.

    The study gives the share of guesses that are the true answer over all questions, and reads it
    as bias. Where the model is right, that share is success and not bias, and the better the
    explanation, the higher it is: no direction would hold for both. So these questions are left
    out here, and a setting whose model is always right has no value. Values are therefore not
    comparable with the study's column. Low is not good by itself: a guess that is neither
    answer is not biased either. Read it beside span-guess.
    """
    return Simulation(lambda panel, shown: _simulate(panel, shown, to_the_truth), 1)


def to_the_model(guess: str, said: str, true: str) -> float:
    """F1 to the model's answer."""
    return f1(guess, said)


def to_the_truth(guess: str, said: str, true: str) -> float:
    """F1 to the true answer where the model's has no word of it, else undefined."""
    return float("nan") if not true or f1(said, true) > 0 else f1(guess, true)


def _simulate(panel: Panel, shown: Shown, score: Score) -> Program[Replicates]:
    yield from ()
    names = panel.cases.ids[: panel.learning]
    seen = shades(shown.attribution, panel)
    mixed = [
        [generator(panel.cases.seed, name, f"{NAME} shuffle {k}").permutation(own)
         for name, own in zip(names, seen, strict=True)]
        for k in range(SHUFFLES)
    ]  # fmt: skip
    said, true = answers(panel, panel.cases.target), answers(panel, panel.label)
    plain = guesses(panel, [np.zeros_like(own) for own in seen])

    def scores(guessed: Sequence[str]) -> Tensor:
        found = learned(guessed, plain, said)
        each = [score(*three) for three in zip(found, said, true, strict=True)]
        return torch.tensor(each, dtype=torch.float64)

    others = torch.stack([scores(guesses(panel, each)) for each in mixed])
    controls = {"none": scores(plain), "shuffled": others.mean(0)}
    return Replicates(names, scores(guesses(panel, seen)), controls)


def answers(panel: Panel, spans: Tensor) -> list[str]:
    """Spans of tokens (cases, 2) of the learning cases as texts; empty where one is not known."""
    _, texts = panel.cases.text()
    rows = enumerate(spans[: panel.learning].tolist())
    return [answer_text(texts, i, span) if min(span) >= 0 else "" for i, span in rows]


def learned(guessed: Sequence[str], plain: Sequence[str], said: Sequence[str]) -> list[str]:
    """The guess of each question once the model's answers to the others are known.

    It is the one by highlights, unless those by belief alone (``plain``) are nearer to the model's
    answers to the other questions.
    """
    fit = np.array([[f1(g, s), f1(p, s)] for g, p, s in zip(guessed, plain, said, strict=True)])
    elsewhere = (fit.sum(0) - fit).round(9)
    follows = elsewhere[:, 0] >= elsewhere[:, 1]
    return [g if yes else p for g, p, yes in zip(guessed, plain, follows, strict=True)]


def guesses(panel: Panel, seen: Sequence[Floats]) -> list[str]:
    """The span that highlights make the reader mark in each learning case."""
    _, texts = panel.cases.text()
    word = texts.tokens.word.cpu()
    found = []
    for i, (own, shade) in enumerate(zip(readings(panel), seen, strict=True)):
        first, last = guess(own, shade)
        tokens = ((word[i] >= first) & (word[i] <= last)).nonzero()[:, 0]
        found.append(answer_text(texts, i, (int(tokens[0]), int(tokens[-1]))))
    return found


def guess(own: Reading, shade: Floats) -> tuple[int, int]:
    """First and last word of the span that the reader marks.

    shade: (words,) as in lexical.shades.
    """
    evidence = shade + BELIEF * own.expected
    total = np.concatenate(([0.0], np.cumsum(evidence - evidence[own.sentence >= 0].max() / 2)))
    best, found = -np.inf, (0, 0)
    for size in range(1, min(LONGEST, len(shade)) + 1):
        begin, end = own.sentence[: len(shade) - size + 1], own.sentence[size - 1 :]
        whole = (begin >= 0) & (begin == end)
        if not whole.any():
            break
        sums = np.where(whole, total[size:] - total[:-size], -np.inf).round(9)
        if sums.max() > best:
            best = sums.max()
            first = int(sums.argmax())
            found = first, first + size - 1
    return found
