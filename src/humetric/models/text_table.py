"""A table of how good the embedded text models are, measured from the shipped weights.

`humetric models` prints it and writes it to docs/embedded-text.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from humetric.data.embedded import reading
from humetric.data.embedded.inference_two import DIAGNOSTIC, HEURISTICS, diagnostic
from humetric.data.embedded.texts import text_dataset
from humetric.data.embedded.wording import SPLITS
from humetric.models import stored, text_inputs
from humetric.models.convnet import WEIGHTS
from humetric.models.text import TextModel
from humetric.models.text_recipes import RECIPES, SEEDS
from humetric.models.text_scores import answers, probabilities, token_spans
from humetric.tasks.answers import f1

MEASURED = ("pool", "extra")
"""Splits: that which recipes and cases were chosen on, and that which no task model has seen."""


@dataclass(frozen=True)
class Table:
    """One table: a title, what its numbers are, the columns, and a row for each model."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """As Markdown."""
        lines = [self.columns, tuple("---" if i < 2 else "---:" for i in range(len(self.columns)))]
        body = "\n".join("| " + " | ".join(row) + " |" for row in (*lines, *self.rows))
        return f"## {self.title}\n\n{self.note}\n\n{body}\n"


Progress = Callable[[str], None]


def tables(
    root: Path = WEIGHTS, count: int = SPLITS["pool"], progress: Progress = lambda setting: None
) -> list[Table]:
    """Measure every model on the first `count` texts of its pool, and of the extra texts.

    Held out are the latter: no task model and no recipe has seen them.
    """

    def each(task: str, data: str = "") -> Iterable[str]:
        for setting in RECIPES:
            if setting.startswith(f"{task}/{data}") and (root / setting).exists():
                progress(setting)
                yield setting

    return [
        Table(
            "Sentiment",
            f"Accuracy on {count} texts of the pool, balanced over two labels; held out: on "
            f"{count} extra texts.",
            ("setting", "model", "parameters", "accuracy", "held out"),
            tuple(_sentiment(root, s, count) for s in each("sentiment")),
        ),
        Table(
            "Inference",
            f"Accuracy on {count} pairs of the pool, balanced over three labels; held out: on "
            f"{count} extra pairs. Six-way: accuracy on the pool of the explanation-informed "
            "models at label x matched or not, and at matched or not alone, means over "
            f"{len(SEEDS)} seeds, each pair with its own and with another reason.",
            ("setting", "model", "parameters", "accuracy", "held out", "six-way", "matched"),
            tuple(_inference(root, s, count) for s in each("nli")),
        ),
        Table(
            "Inference, diagnostic set",
            f"Accuracy at entailed or not on {DIAGNOSTIC} cases, by heuristic; on the left where "
            "the heuristic is right (entailed), on the right where it misleads (not entailed).",
            ("setting", "model", *(f"{h} {w}" for h in HEURISTICS for w in ("right", "misleads"))),
            tuple(_diagnostic(root, s) for s in each("nli")),
        ),
        Table(
            "Reading",
            f"F1 of the answer (words, as SQuAD) on {count} questions of the pool, and on their "
            "adversarial versions; at the rule: F1 against the first occurrence of the question's "
            f"last word; held out: on {count} extra questions and their adversarial versions.",
            (
                "setting",
                "model",
                "parameters",
                "original",
                "held out",
                "adversarial",
                "adversarial, held out",
                "original, at the rule",
            ),
            tuple(_reading(root, s, count) for s in each("qa")),
        ),
    ]


def _open(root: Path, setting: str) -> tuple[TextModel, Tokenizer, tuple[str, str, str]]:
    """Model, tokenizer and the first cells of a row."""
    model = stored.load(root / setting / "model.safetensors")
    tokenizer = Tokenizer.from_file(str((root / setting).parent / "tokenizer.json"))
    size = sum(weights.numel() for weights in model.parameters())
    return model, tokenizer, (setting, model.architecture, f"{size:,}")


def _sentiment(root: Path, setting: str, count: int) -> tuple[str, ...]:
    model, tokenizer, cells = _open(root, setting)
    data, found = text_dataset(setting.split("/")[1]), []
    for split in MEASURED:
        given = text_inputs.of_texts(tokenizer, [data.draw(i, split) for i in range(count)])
        found.append(_share(probabilities(model, given).argmax(1) == given.target.numpy()))
    return (*cells, *found)


def _inference(root: Path, setting: str, count: int) -> tuple[str, ...]:
    model, tokenizer, cells = _open(root, setting)
    plain = []
    for split in MEASURED:
        some = [text_dataset("inference").draw(i, split) for i in range(count)]
        pairs = [(p.premise, p.hypothesis) for p in some]
        given = text_inputs.of_pairs(tokenizer, pairs, [p.label for p in some])
        plain.append(_share(probabilities(model, given).argmax(1) == given.target.numpy()))
    pool = [text_dataset("inference").draw(i, "pool") for i in range(count)]
    six, matched = [], []
    both = text_inputs.matched_and_not(pool, "inference/explained/pool")
    told = text_inputs.explained(tokenizer, *both)
    truth = told.target.numpy()
    for seed in SEEDS:
        file = root / setting / f"explained-{seed}.safetensors"
        if file.exists():
            guess = probabilities(stored.load(file), told).argmax(1)
            six.append(guess == truth)
            matched.append((guess < 3) == (truth < 3))
    return (*cells, *plain, _share(six), _share(matched))


def _diagnostic(root: Path, setting: str) -> tuple[str, ...]:
    model, tokenizer, cells = _open(root, setting)
    cases = [diagnostic(i) for i in range(DIAGNOSTIC)]
    pairs = [(c.premise, c.hypothesis) for c in cases]
    given = text_inputs.of_pairs(tokenizer, pairs, [0] * len(pairs))
    entailed = probabilities(model, given).argmax(1) == 0
    truth = np.array([c.entailed for c in cases])
    kind = np.array([c.heuristic for c in cases])
    return (
        *cells[:2],
        *(
            _share(entailed[(kind == heuristic) & (truth == right)] == right)
            for heuristic in HEURISTICS
            for right in (True, False)
        ),
    )


def _reading(root: Path, setting: str, count: int) -> tuple[str, ...]:
    model, tokenizer, cells = _open(root, setting)
    scores = []
    for draw, split in product((reading.draw, reading.draw_adversarial), MEASURED):
        pool = [draw(i, split) for i in range(count)]
        given = text_inputs.of_questions(tokenizer, pool, [q.span for q in pool])
        places = answers(tokenizer, pool, token_spans(model, given)[0])
        said = [q.passage[a:b] for q, (a, b) in zip(pool, places, strict=True)]
        scores.append([f1(a, q.answer) for a, q in zip(said, pool, strict=True)])
        if draw is reading.draw and split == "pool":
            words = [q.passage[slice(*reading.last_word(q))] for q in pool]
            rule = [f1(a, w) for a, w in zip(said, words, strict=True)]
    return (*cells, *(_share(s) for s in (*scores, rule)))


def _share(values: object) -> str:
    found = np.asarray(values, dtype=float)
    return f"{found.mean():.3f}" if found.size else "none"


def document(found: Iterable[Table]) -> str:
    """The tables as a page."""
    head = (
        "# Embedded text models\n\nWritten by `humetric models --output docs`, "
        "which measures the shipped weights; nothing here is typed in. The texts are generated "
        "(src/humetric/data/embedded), the models trained by `python -m humetric.models.train_text "
        "all`.\n\nThe recipes were set by looking at the pools: scores on them describe the "
        "shipped models, and are not held-out estimates. Of MEDIUM several trainings were compared "
        "and the one about 20 points below HIGH was kept (src/humetric/models/text_recipes.py). "
        'The columns "held out" are: they are measured on extra texts, which no task model was '
        "trained or tuned on; only linear-student uses those, without their labels. They come from "
        "the same grammar, so that they say nothing of texts by people. Six-way, diagnostic and "
        "rule columns have no held-out counterpart.\n\n"
    )
    return head + "\n".join(table.markdown() for table in found)
