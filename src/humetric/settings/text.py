"""Classifiers of real texts as settings: how they are trained, chosen from and loaded."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pyarrow import parquet

from humetric.data.sources import find
from humetric.errors import HumetricError
from humetric.models import pretrained
from humetric.models.text_cases import CASES, choose
from humetric.models.text_fit import Recipe, fit_further, fit_linear
from humetric.models.text_inputs import Inputs
from humetric.models.text_scores import probabilities
from humetric.models.training import _listing
from humetric.settings.corpora import Corpus, Sample
from humetric.settings.declared import Rows, Training
from humetric.settings.files import cases_file, digest, trained, trainer
from humetric.tasks.neighbours import Neighbours, Table, nearest
from humetric.tasks.setting import Setting
from humetric.tasks.text import SEGMENTS
from humetric.tasks.text_setting import text_setting
from humetric.tasks.unlabelled import Unlabelled
from humetric.tasks.words import Encoder, bare

FILE = "trained.safetensors"
GLOVE = "glove_6b_50d"
OTHER = (
    "trained on this machine: weights {weights}, not {recorded}, of which published results are; "
    "cases were balanced for the latter"
)
HALVED = ("full", "minilm")
"""Kinds whose products are computed in half precision in training."""
COMMON = 4000
"""So many of the commonest training words may take another's place, beside the cases' own."""


@dataclass(frozen=True)
class Learner:
    """A classifier of texts: its kind (see models/pretrained.py), its texts and its recipe."""

    id: str
    """Whose weights these are; several settings may share them."""
    corpus: Corpus
    kind: str
    recipe: Recipe
    limit: int
    """Longest input in tokens."""
    minutes: float = 0
    source: str = pretrained.SOURCE
    """The pretrained encoder that it is made of."""

    def encoder(self) -> Encoder:
        """Makes inputs of texts, for training as for explaining."""
        return Encoder(pretrained.tokenizer(self.source), self.limit)

    def inputs(self, samples: Sequence[Sample]) -> Inputs:
        """Texts and their classes."""
        encoder = self.encoder()
        x, _ = encoder.rows([sample.segments for sample in samples])
        ids, types = torch.from_numpy(x[:, 0]), torch.from_numpy(x[:, 2])
        labels = torch.tensor([sample.label for sample in samples])
        return Inputs(ids, types, labels, encoder.special.pad)

    def train(self, task: Training) -> None:
        """Fit the model and write what was learned, unless it is there."""
        file = task.folder / FILE
        if file.exists() and not task.again:
            return
        samples = self.corpus.training()[: self.recipe.texts]
        data, classes, source = self.inputs(samples), len(self.corpus.classes), self.source
        task.say(f"{self.id}: {len(samples)} texts, {self.recipe.epochs} epochs")
        with torch.random.fork_rng():
            torch.manual_seed(self.recipe.seed)
            if self.kind == "tfidf":
                words = len(pretrained.tokenizer(source))
                model = fit_linear(self.recipe, data, words, classes, pretrained.marks(source))
            else:
                model = fit_further(
                    pretrained.untrained(self.kind, "classification", classes, source),
                    self.recipe,
                    data,
                    task.state / "state.pt",
                    marks=pretrained.marks(source),
                    bf16=self.kind in HALVED,
                    about=[self.id],
                    say=task.say,
                    device=trainer(),
                )
        about = {"setting": self.id, "recipe": asdict(self.recipe), "torch": torch.__version__}
        pretrained.save(model, self.kind, "classification", classes, file, about.items(), source)

    def weights(self) -> Any:
        """The trained model, and the checksum of its file."""
        if self.kind == "full":
            find(self.source)  # what training would miss is named first
        file = trained(self.id, FILE, self.minutes)
        return pretrained.load(file), digest(file)


def write_cases(id: str, about: Mapping[str, Any], cases: list[dict[str, Any]]) -> None:
    """cases.json: ids, labels and checksums; no text."""
    file = cases_file(id)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_listing({"setting": id, **about}, cases), encoding="utf-8")


def chosen_cases(learner: Learner, id: str, task: Training) -> None:
    """Balanced over the model's outputs and whether they are right, in the order of the pool."""
    model, weights = learner.weights()
    pool = learner.corpus.pool()
    scores = probabilities(model, learner.inputs(pool))
    labels = np.array([sample.label for sample in pool])
    accuracy = round(float((scores.argmax(1) == labels).mean()), 4)
    task.say(f"{id}: accuracy {accuracy} on {len(pool)} held-out texts")
    count = CASES
    while count > 4:
        try:
            picked = choose(labels, scores[:, 1], count)
            break
        except HumetricError as error:  # the model errs less often than that
            task.say(f"  {error}")
            count -= 4
    about = {"accuracy": accuracy, "pool": len(pool), "weights": weights}
    write_cases(id, about, listed(pool, scores, picked))


def listed(
    pool: Sequence[Sample], scores: NDArray[np.float64], picked: Iterable[int]
) -> list[dict[str, Any]]:
    """What cases.json says of the cases."""
    return [
        {
            "id": pool[i].id,
            "label": pool[i].label,
            "predicted": int(scores[i].argmax()),
            "sha256": pool[i].sha256,
        }
        for i in picked
    ]


def samples_of(corpus: Corpus, rows: Rows) -> list[Sample]:
    """The samples behind recorded cases, checked against the recorded texts."""
    known = {sample.id: sample for sample in corpus.pool()}
    found = [known.get(row["id"]) for row in rows]
    kept = [s for s, row in zip(found, rows, strict=True) if s and s.sha256 == row["sha256"]]
    if len(kept) < len(rows):
        raise HumetricError(
            f"Expected the recorded texts of {corpus.name} but {len(rows) - len(kept)} of "
            f"{len(rows)} are others or missing: the data in place are another version. Verify "
            f"them with humetric sources check {' '.join(corpus.sources)}."
        )
    return kept


def load(
    learner: Learner, id: str, chosen: Mapping[str, Any], rows: Rows, baseline: str = ""
) -> Setting:
    """A setting from its cases.json and the rows of it that are wanted; texts have no baseline."""
    model, weights = learner.weights()
    recorded = chosen["weights"] == weights
    corpus, task = learner.corpus, learner.corpus.task
    samples = samples_of(corpus, rows)
    segments = [s.segments[0] if len(s.segments) == 1 else s.segments for s in samples]
    made = text_setting(
        id,
        model,
        pretrained.tokenizer(learner.source),
        segments,
        task=task,
        label=[row["label"] for row in rows],
        target=[row["predicted"] for row in rows] if recorded else None,
        ids=[row["id"] for row in rows],
        version=f"data {digest_of(chosen)}, weights {weights}",
        classes=corpus.classes,
        limit=learner.limit,
    )
    cases = tuple(row["id"] for row in chosen["cases"])
    alike = [sample.segments for sample in corpus.alike(cases)]
    encoder = made.encoder
    assert encoder is not None
    table, version = neighbours(corpus, cases)
    return replace(
        made,
        version=f"{made.version}, {version}",
        unlabelled=Unlabelled(alike, encoder, SEGMENTS[task]),
        neighbours=Neighbours(table, encoder, SEGMENTS[task], version),
        notes=others(chosen, weights),
    )


def others(chosen: Mapping[str, Any], weights: str) -> tuple[str, ...]:
    """A note where weights are not those that the cases were chosen by."""
    recorded = chosen["weights"]
    return () if recorded in ("", weights) else (OTHER.format(weights=weights, recorded=recorded),)


@cache
def neighbours(corpus: Corpus, cases: tuple[str, ...]) -> tuple[Table, str]:
    """Similar words by GloVe's vectors: of the cases' words and the commonest of training texts."""
    found = find(GLOVE)
    index = parquet.read_table(found.file("glove_6B_index.parquet")).column("index").to_pylist()
    place = {word: i for i, word in enumerate(index)}
    wanted = set(cases)
    own = Counter(_words(sample for sample in corpus.pool() if sample.id in wanted))
    common = Counter(_words(corpus.training()))
    listed = sorted(common, key=lambda word: (-common[word], word))[:COMMON]
    words = sorted({word for word in (*own, *listed) if word in place})
    vectors = np.load(found.file("glove_6B_50d_emb.npy"), mmap_mode="r")
    table = nearest(words, np.asarray(vectors[[place[word] for word in words]], np.float64))
    known = hashlib.sha256("\n".join(words).encode()).hexdigest()[:12]
    return table, f"neighbours {GLOVE} {known}"


def _words(samples: Iterable[Sample]) -> Iterator[str]:
    """Their words in lower case, without signs."""
    return (bare(w).lower() for sample in samples for s in sample.segments for w in s.split())


def digest_of(chosen: Mapping[str, Any]) -> str:
    """A short name for the cases that a setting declares: all of them, loaded or not."""
    told = [[row["id"], row["sha256"]] for row in chosen["cases"]]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:12]
