"""Explanation-informed models of real pairs: the soft oracle's (see alignment/informed.py).

The first pairs of e-SNLI's validation set teach them, with people's reasons; the others, none of
which has a premise of these, may be cases, and tell how good the models are. There are no reasons
of training pairs in the data that we have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np
import torch

from humetric.alignment.informed import Informed
from humetric.errors import HumetricError
from humetric.models import pretrained
from humetric.models.text_fit import Recipe, fit_further
from humetric.models.text_inputs import Inputs, followed, twice
from humetric.models.text_recipes import SEEDS
from humetric.models.text_scores import probabilities
from humetric.settings.corpora import ESNLI, Corpus, Sample, plain
from humetric.settings.declared import Training
from humetric.settings.files import digest, trained, trainer
from humetric.settings.text import HALVED, Learner
from humetric.tasks.words import Encoder

READ = 6000
"""So many pairs of e-SNLI may be learned from with their reasons."""

MEASURED = 600
"""Pairs that the models are measured on, each with two reasons."""

RECIPES = {
    "full": Recipe("full", {}, texts=READ, epochs=2, rate=1e-5, batch=32, decay=0.0, masked=0.0),
    "minilm": Recipe("minilm", {}, texts=1500, epochs=2, rate=1e-3, batch=32, masked=0.15),
    "bilstm": Recipe("bilstm", {}, texts=READ, epochs=2, rate=2e-3, batch=32, masked=0.15),
    "bow": Recipe("bow", {}, texts=READ, epochs=6, rate=2e-3, batch=32, masked=0.15),
}


def apart(corpus: Corpus) -> list[int]:
    """Which of the pool no explanation-informed model has read."""
    read = {plain(sample) for sample in ESNLI.pool()[:READ]}
    return [i for i, sample in enumerate(corpus.pool()) if plain(sample) not in read]


def with_reasons(learner: Learner, samples: Sequence[Sample], purpose: str) -> Inputs:
    """Each pair twice, with its own first reason and with another's.

    The class is the label, plus the number of labels where the reason is another's.
    """
    if not all(sample.reasons for sample in samples):
        raise HumetricError(f"Expected reasons of all pairs of {learner.corpus.name}.")
    whose, told = twice([sample.reasons[0] for sample in samples], purpose)
    encoder = learner.encoder()
    x, lengths = encoder.rows([samples[i].segments for i in whose])
    alone = Encoder(pretrained.tokenizer(learner.source), None)
    more, counts = alone.rows([(reason,) for reason in told])
    own = list(zip(x, lengths.tolist(), strict=True))
    return followed(
        [row[0, :n].tolist() for row, n in own],
        [row[2, :n].tolist() for row, n in own],
        [row[0, 1 : n - 1].tolist() for row, n in zip(more, counts.tolist(), strict=True)],
        [_class(samples[i], len(learner.corpus.classes) * (j % 2)) for j, i in enumerate(whose)],
        encoder.special.pad,
    )


def _class(sample: Sample, more: int) -> int:
    assert isinstance(sample.label, int)
    return sample.label + more


def train_informed(learner: Learner, task: Training) -> None:
    """Models of all seeds that are not there yet; as the model itself, from where it began."""
    kind, classes = learner.kind, 2 * len(ESNLI.classes)
    for seed in SEEDS:
        file = task.folder / name_of(seed)
        if file.exists() and not task.again:
            continue
        recipe = replace(RECIPES[kind], seed=seed)
        samples = ESNLI.pool()[: recipe.texts]
        task.say(f"{learner.id}: with reasons, seed {seed}, {len(samples)} pairs")
        data = with_reasons(learner, samples, f"esnli/informed/{seed}")
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = fit_further(
                pretrained.untrained(kind, "classification", classes, learner.source),
                recipe,
                data,
                task.state / f"informed-{seed}.pt",
                marks=pretrained.marks(learner.source),
                bf16=kind in HALVED,
                about=[learner.id, "informed"],
                say=task.say,
                device=trainer(),
            )
        about = {"setting": learner.id, "recipe": asdict(recipe), "torch": torch.__version__}
        pretrained.save(model, kind, "classification", classes, file, about.items(), learner.source)


def name_of(seed: int) -> str:
    """Of the file of weights."""
    return f"explained-{seed}.safetensors"


def informed_of(learner: Learner) -> tuple[Informed, ...]:
    """The trained ones."""
    files = [trained(learner.id, name_of(seed), learner.minutes) for seed in SEEDS]
    return tuple(
        Informed(pretrained.load(file), seed, digest(file))
        for seed, file in zip(SEEDS, files, strict=True)
    )


def six_way(learner: Learner, informed: Sequence[Informed]) -> float:
    """Share of right answers to label x matched, of pairs that they have not read."""
    pool = learner.corpus.pool()
    held = [pool[i] for i in apart(learner.corpus)]
    some = [held[int(i)] for i in np.linspace(0, len(held) - 1, min(MEASURED, len(held)))]
    data = with_reasons(learner, some, f"{learner.corpus.name}/informed/held")
    wanted = data.target.numpy()
    hits = [(probabilities(one.model, data).argmax(1) == wanted).mean() for one in informed]
    return float(np.mean(hits))
