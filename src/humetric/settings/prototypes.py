"""Prototype models of settings on real data (Hase & Bansal 2020; see models/prototypes.py).

They are trained after the task model by the same command, on the rows that it was fitted on and by
the recipes of the embedded ones: nothing was chosen for these data. A file of one names the
training rows that its prototypes are by id and checksum; what they say is looked up in the data
when it is loaded. Of an extractor's weights only those are kept that were trained.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from humetric.errors import HumetricError
from humetric.models import pretrained, prototype_files
from humetric.models.adapters import merge
from humetric.models.prototype_fit import Data, Recipe, predictions
from humetric.models.prototype_fit import train as fit
from humetric.models.prototypes import PrototypeModel, PrototypeModels, Shown
from humetric.settings.corpora import Sample
from humetric.settings.declared import Declared, Rows, Training
from humetric.settings.files import cases_file, digest, trained_here
from humetric.settings.text import FILE, Learner, write_cases
from humetric.tasks.setting import Setting

NAMES = {False: prototype_files.OWN, True: prototype_files.FIXED}
"""By whether the extractor is the task model's."""
SCORES = {False: "prototype_accuracy", True: "fixed_prototype_accuracy"}


class Known(NamedTuple):
    """A training case, and what it is known by."""

    id: str
    label: int
    sha256: str
    content: tuple[str, ...] | tuple[float, ...]


@dataclass(frozen=True)
class Prototyped:
    """How a setting's prototype models are made."""

    recipe: Recipe
    task: Callable[[Path], nn.Module]
    """The task model in a file of weights; what may be trained of it asks for gradients."""
    cases: Callable[[], Sequence[Known]]
    """Training rows of the task model."""
    data: Callable[[], Data]
    """The same as it takes them."""
    pool: Callable[[], Data]
    """What accuracy is measured on."""
    minutes: float
    """What both variants take to train."""


def of_texts(
    learner: Learner, recipe: Recipe, minutes: float, texts: int = 0, frozen: str = ""
) -> Prototyped:
    """Of a classifier of texts, made of the first ``texts`` that it was trained on, or of all.

    Weights whose names the pattern ``frozen`` finds stay as they are in both variants.
    """

    def task(file: Path) -> nn.Module:
        model = pretrained.load(file, merged=False)
        for name, weights in model.named_parameters():
            if frozen and re.search(frozen, name):
                weights.requires_grad_(False)
        return model

    def samples() -> list[Sample]:
        return learner.corpus.training()[: texts or learner.recipe.texts]

    return Prototyped(
        recipe,
        task,
        lambda: [Known(s.id, _class(s.label), s.sha256, tuple(s.segments)) for s in samples()],
        lambda: learner.inputs(samples()),
        lambda: learner.inputs(learner.corpus.pool()),
        minutes,
    )


def equipped(declared: Declared, made: Prototyped) -> Declared:
    """A declaration whose setting has prototype models, in both variants."""
    assert declared.train is not None
    assert declared.choose is not None
    return replace(
        declared,
        train=partial(_train, declared.train, made),
        choose=partial(_choose, declared.choose, made),
        load=partial(_load, declared.load, declared.id, made),
        minutes=declared.minutes + made.minutes,
    )


def _train(first: Callable[[Training], None], made: Prototyped, task: Training) -> None:
    """The task model, then prototype models, each unless it is there."""
    first(task)
    missing = [f for f, name in NAMES.items() if task.again or not (task.folder / name).exists()]
    if not missing:
        return
    model, cases, data = made.task(task.folder / FILE), made.cases(), made.data()
    for fixed in missing:
        began = time.perf_counter()
        task.say(f"{task.id}: prototypes, {'the task model' if fixed else 'own'} extractor")
        found, chosen = fit(model, data, made.recipe, fixed, task.say)
        known = [{k: v for k, v in cases[i]._asdict().items() if k != "content"} for i in chosen]
        about = {
            "setting": task.id,
            "recipe": json.dumps(asdict(made.recipe), sort_keys=True),
            "torch": torch.__version__,
        }
        prototype_files.save(
            found, task.folder, fixed, about, weights=FILE, task=model, known=known
        )
        task.say(f"  {time.perf_counter() - began:.0f} s")


def _choose(first: Callable[[Training], None], made: Prototyped, task: Training) -> None:
    """Cases, and how good the prototype models are on the pool that they come from."""
    first(task)
    models = prototypes(task.id, made)
    if models is None:
        raise HumetricError(f"Expected prototype models of {task.id}: run humetric train first.")
    chosen = json.loads(cases_file(task.id).read_text())
    data = made.pool()
    for fixed, score in SCORES.items():
        right = predictions(models.variant(fixed), data) == data.target.numpy()
        chosen[score] = round(float(right.mean()), 4)
        task.say(f"{task.id}: {score} {chosen[score]}")
    cases, name = chosen.pop("cases"), chosen.pop("setting")
    write_cases(name, chosen, cases)


def _load(
    first: Callable[[Mapping[str, Any], Rows, str], Setting],
    id: str,
    made: Prototyped,
    chosen: Mapping[str, Any],
    rows: Rows,
    baseline: str,
) -> Setting:
    """The setting, with its prototype models where there are any."""
    setting, found = first(chosen, rows, baseline), prototypes(id, made)
    if found is None:
        return setting
    version = f"{setting.version}, prototypes {found.version}"
    return replace(setting, prototypes=found, version=version)


def prototypes(id: str, made: Prototyped) -> PrototypeModels | None:
    """Both variants, shipped or made on this machine; None if they are not there."""
    for folder in (cases_file(id).parent, trained_here(id)):
        if all((folder / name).exists() for name in (FILE, *NAMES.values())):
            version = ", ".join(digest(folder / name) for name in NAMES.values())
            return PrototypeModels(
                partial(_read, made, folder, False), partial(_read, made, folder, True), version
            )
    return None


def _read(made: Prototyped, folder: Path, fixed: bool) -> PrototypeModel:
    weights = folder / FILE
    look_up = partial(shown, made)
    found = prototype_files.load(folder / NAMES[fixed], made.task(weights), weights, look_up)
    merge(found.extractor)
    return found.requires_grad_(False)


def shown(made: Prototyped, known: Sequence[Mapping[str, Any]]) -> list[Shown]:
    """The training rows that prototypes are, checked against what was recorded of them."""
    there = {case.id: case for case in made.cases()}
    found = [there.get(one["id"]) for one in known]
    kept = [c for c, one in zip(found, known, strict=True) if c and c.sha256 == one["sha256"]]
    if len(kept) < len(known):
        raise HumetricError(
            f"Expected the training rows that prototypes are but {len(known) - len(kept)} of "
            f"{len(known)} are others or missing: the data in place are another version. Verify "
            f"them with humetric sources check."
        )
    return [Shown(case.content, case.label, split="train") for case in kept]


def _class(label: int | tuple[int, int]) -> int:
    """Prototypes stand for classes."""
    if not isinstance(label, int):
        raise HumetricError("Prototypes stand for classes, and answers to questions have none.")
    return label
