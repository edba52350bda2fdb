"""Train the embedded text models: `python -m humetric.models.train_text SETTING ... | all`.

For each data set: train a tokenizer on its training texts, fit its models by their recipes, choose
the cases, and write under models/weights:

- TASK/DATA/tokenizer.json;
- TASK/DATA/MODEL/model.safetensors, whose metadata say how it came about, and for nli
  explained-SEED.safetensors, the explanation-informed six-way models;
- TASK/DATA/MODEL/cases.json: the pool texts that the benchmark explains. For qa these are under
  qa/original/MODEL and qa/adversarial/MODEL, which share the weights of qa/reading/MODEL.

What is there is not trained again (unless --again), and a training that was stopped goes on from
its last epoch. On one machine with the same versions the files come out byte for byte the same.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from humetric.data.embedded import reading
from humetric.data.embedded.inference import Pair
from humetric.data.embedded.texts import TEXTS, digest, written
from humetric.data.embedded.wording import SPLITS, Text
from humetric.errors import UnknownNameError
from humetric.models import stored, text_inputs, wordpiece
from humetric.models.convnet import WEIGHTS
from humetric.models.text import TextModel
from humetric.models.text_cases import CASES, choose, choose_shared, choose_spans
from humetric.models.text_fit import Recipe, fit
from humetric.models.text_inputs import Inputs
from humetric.models.text_recipes import (
    EXPLAINED_EPOCHS,
    EXPLAINED_TEXTS,
    RECIPES,
    SEEDS,
    TASK,
    VOCABULARY,
)
from humetric.models.text_scores import answers, probabilities, token_spans
from humetric.models.training import _listing, _settled
from humetric.tasks.answers import f1

RECIPE_VERSION = 1
VERSIONS = {"original": reading.draw, "adversarial": reading.draw_adversarial}


@cache
def texts(data: str, split: str, count: int) -> list[Any]:
    """The first texts of a split."""
    return [TEXTS[data].draw(index, split) for index in range(count)]


def tokenizer_of(data: str, root: Path) -> Tokenizer:
    """The data set's tokenizer; trained, where there is none, on 8000 training texts."""
    file = root / TASK[data] / data / "tokenizer.json"
    if not file.exists():
        lines = [line for sample in texts(data, "train", 8000) for line in written(sample)]
        made = wordpiece.train(lines, VOCABULARY[data])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(made.to_str(pretty=True) + "\n", encoding="utf-8")
    return Tokenizer.from_file(str(file))


def inputs_of(tokenizer: Tokenizer, samples: Sequence[Any], *, rule: bool = False) -> Inputs:
    """Samples of one data set for the task's models; `rule`: with LOW's answers as the truth."""
    first = samples[0]
    if isinstance(first, Text):
        return text_inputs.of_texts(tokenizer, samples)
    if isinstance(first, Pair):
        pairs = [(p.premise, p.hypothesis) for p in samples]
        return text_inputs.of_pairs(tokenizer, pairs, [p.label for p in samples])
    spans = [reading.last_word(q) if rule else q.span for q in samples]
    return text_inputs.of_questions(tokenizer, samples, spans)


def train(setting: str, root: Path, state: Path, again: bool) -> None:
    """Train the model of a setting, if it is not there yet."""
    _, data, name = setting.split("/")
    recipe, tokenizer = RECIPES[setting], tokenizer_of(data, root)
    classes = 0 if data == "reading" else len(TEXTS[data].CLASSES)
    file = root / setting / "model.safetensors"
    if again or not file.exists():
        print(f"{setting}: {recipe.texts} texts, {recipe.epochs} epochs", flush=True)
        samples = texts(data, "train", recipe.texts)
        given = inputs_of(tokenizer, samples, rule=name == "low")
        words = inputs_of(tokenizer, samples, rule=True) if recipe.matching else None
        kept = state / f"{setting.replace('/', '-')}.pt"
        model = fit(recipe, given, tokenizer.get_vocab_size(), classes, kept, words)
        write(file, model, setting, data, recipe)


def train_explained(setting: str, seed: int, root: Path, state: Path, again: bool) -> None:
    """Train the explanation-informed model of a setting and seed, if it is not there yet.

    It starts from random weights like the model itself, and shares nothing with it but its form.
    """
    file = root / setting / f"explained-{seed}.safetensors"
    if file.exists() and not again:
        return
    print(f"{setting}: explanation-informed, seed {seed}", flush=True)
    recipe, tokenizer = RECIPES[setting], tokenizer_of("inference", root)
    recipe = replace(recipe, texts=EXPLAINED_TEXTS, epochs=EXPLAINED_EPOCHS, seed=seed)
    pairs = texts("inference", "train", recipe.texts)
    both = text_inputs.matched_and_not(pairs, f"inference/explained/{seed}")
    given = text_inputs.explained(tokenizer, *both)
    kept = state / f"{setting.replace('/', '-')}-{seed}.pt"
    classes = 2 * len(TEXTS["inference"].CLASSES)
    model = fit(recipe, given, tokenizer.get_vocab_size(), classes, kept)
    write(file, model, setting, "inference", recipe)


def write(file: Path, model: TextModel, setting: str, data: str, recipe: Recipe) -> None:
    """Weights in half precision, and how they came about."""
    about = {
        "setting": setting,
        "data": data,
        "data_version": str(TEXTS[data].VERSION),
        "recipe_version": str(RECIPE_VERSION),
        "recipe": json.dumps(asdict(recipe), sort_keys=True),
        "torch": torch.__version__,
    }
    stored.save(model.half(), file, about)
    file.write_bytes(_settled(file.read_bytes()))


def choose_cases(data: str, root: Path) -> None:
    """Choose and write the cases of a data set whose models are all there."""
    settings = [s for s in RECIPES if s.split("/")[1] == data]
    if not all((root / s / "model.safetensors").exists() for s in settings):
        return
    tokenizer = tokenizer_of(data, root)
    models = {s: stored.load(root / s / "model.safetensors") for s in settings}
    if data == "reading":
        _choose_questions(models, tokenizer, root)
        return
    pool = texts(data, "pool", SPLITS["pool"])
    given, labels = inputs_of(tokenizer, pool), np.array([sample.label for sample in pool])
    scores = {s: probabilities(model, given) for s, model in models.items()}
    shared = None
    if data == "inference":
        best = settings.index("nli/inference/bert-base")
        shared = choose_shared(labels, list(scores.values()), best, CASES)
    for setting, score in scores.items():
        accuracy = round(float((score.argmax(1) == labels).mean()), 4)
        print(f"{setting}: pool accuracy {accuracy}", flush=True)
        rows = [
            {
                "index": index,
                "label": int(labels[index]),
                "predicted": int(score[index].argmax()),
                "sha256": digest(pool[index]),
            }
            for index in (shared or choose(labels, score[:, 1], CASES))
        ]
        _write_cases(root, setting, setting, data, {"pool_accuracy": accuracy}, rows)


def _choose_questions(models: dict[str, TextModel], tokenizer: Tokenizer, root: Path) -> None:
    """The same questions for all reading models, in both versions."""
    found, leads = {}, []
    for version, draw in VERSIONS.items():
        pool = [draw(index, "pool") for index in range(SPLITS["pool"])]
        given = inputs_of(tokenizer, pool)
        for setting, model in models.items():
            spans, lead = token_spans(model, given)
            leads.append(lead)
            places = answers(tokenizer, pool, spans)
            said = [q.passage[a:b] for q, (a, b) in zip(pool, places, strict=True)]
            mean = float(np.mean([f1(a, q.answer) for a, q in zip(said, pool, strict=True)]))
            found[version, setting] = (pool, places, said, round(mean, 4))
    for (version, setting), (pool, places, said, score) in found.items():
        name = f"qa/{version}/{setting.split('/')[2]}"
        print(f"{name}: pool F1 {score}", flush=True)
        rows = [
            {
                "index": index,
                "id": pool[index].id,
                "label": list(pool[index].span),
                "predicted": list(places[index]),
                "answer": said[index],
                "sha256": digest(pool[index]),
            }
            for index in choose_spans(leads, CASES)
        ]
        _write_cases(root, name, setting, "reading", {"pool_f1": score}, rows)


def _write_cases(
    root: Path, setting: str, weights: str, data: str, score: dict[str, float], rows: list[Any]
) -> None:
    summary = {
        "setting": setting,
        "data": data,
        "data_version": TEXTS[data].VERSION,
        "weights": f"{weights}/model.safetensors",
        "tokenizer": f"{TASK[data]}/{data}/tokenizer.json",
    }
    (root / setting).mkdir(parents=True, exist_ok=True)
    listing = _listing(summary | score, rows)
    (root / setting / "cases.json").write_text(listing, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Train the named settings, or all."""
    parser = argparse.ArgumentParser(description="Train the embedded text models.")
    parser.add_argument(
        "settings", nargs="+", metavar="SETTING", help="all, or among: " + ", ".join(RECIPES)
    )
    parser.add_argument("--output", type=Path, default=WEIGHTS, help="where to write")
    parser.add_argument("--state", type=Path, default=Path("runs/train_text"), help="for resuming")
    parser.add_argument("--again", action="store_true", help="train what is there, too")
    options = parser.parse_args(arguments)
    settings = list(RECIPES) if options.settings == ["all"] else options.settings
    for setting in settings:
        if setting not in RECIPES:
            raise UnknownNameError("text setting", setting, [*RECIPES, "all"])
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for setting in settings:
        start = time.perf_counter()
        train(setting, options.output, options.state, options.again)
        print(f"{setting}: {time.perf_counter() - start:.0f} s", flush=True)
    for data in dict.fromkeys(setting.split("/")[1] for setting in settings):
        choose_cases(data, options.output)
    for seed in SEEDS:
        for setting in settings:
            if setting.startswith("nli/"):
                train_explained(setting, seed, options.output, options.state, options.again)


if __name__ == "__main__":
    main()
