"""Train prototype models: `python -m humetric.models.train_prototypes SETTING ... | all`.

For each setting, from the weights and the training cases of its task model, write beside them
prototypes.safetensors and prototypes-fixed.safetensors (see prototype_files.py).

Recipes were set by looking at training texts that no task model has seen, behind those of its
recipe; neither the pool nor the held-out split had a say. What is there is not trained again
(unless --again). On one machine with the same versions the files come out byte for byte the same.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from humetric.data.embedded import census
from humetric.data.embedded.texts import TEXTS, segments_of
from humetric.errors import HumetricError, UnknownNameError
from humetric.models import prototype_files, stored
from humetric.models.convnet import WEIGHTS
from humetric.models.prototype_fit import Data, Recipe, Rows, train
from humetric.models.prototypes import Shown
from humetric.models.text_recipes import RECIPES as TEXT_RECIPES
from humetric.models.train_tabular import VALIDATION
from humetric.models.train_text import inputs_of, texts, tokenizer_of

RECIPE_VERSION = 1
RECIPES = {
    "sentiment/reviews/bilstm": Recipe(40, epochs=3),
    "sentiment/reviews/bert": Recipe(40, epochs=3),
    "sentiment/deception/bert": Recipe(40, epochs=3),
    "tabular/census/mlp": Recipe(20, epochs=3),
}
"""The study has 40 prototypes of each class for texts and 20 for rows."""


def training_cases(setting: str, root: Path) -> tuple[Data, list[Shown]]:
    """What the task model of a setting was trained on, as it takes it and as people read it."""
    task, data, _ = setting.split("/")
    if task == "tabular":
        count = census.SPLITS["train"] - VALIDATION
        values, labels = census.rows("train", count)
        rows = Rows(torch.tensor(values, dtype=torch.float32), torch.tensor(labels))
        listed = zip(values.tolist(), labels.tolist(), strict=True)
        return rows, [Shown(tuple(v), label, i, "train") for i, (v, label) in enumerate(listed)]
    samples = texts(data, "train", TEXT_RECIPES[setting].texts)
    shown = [Shown(segments_of(s), s.label, i, "train") for i, s in enumerate(samples)]
    return inputs_of(tokenizer_of(data, root), samples), shown


def version_of(setting: str) -> str:
    """The version of the data set behind a setting."""
    return str(
        census.VERSION if setting.startswith("tabular/") else TEXTS[setting.split("/")[1]].VERSION
    )


def make(setting: str, root: Path, again: bool) -> None:
    """Train both variants of a setting, if they are not there yet."""
    folder, recipe = root / setting, RECIPES[setting]
    weights = folder / prototype_files.WEIGHTS
    if not weights.exists():
        raise HumetricError(
            f"Expected the weights of {setting} in {root} but there are none: train its task "
            f"model first."
        )
    task = stored.load(weights)
    missing = {
        fixed: again or not (folder / name).exists()
        for fixed, name in ((False, prototype_files.OWN), (True, prototype_files.FIXED))
    }
    if not any(missing.values()):
        return
    data, shown = training_cases(setting, root)
    for fixed in (f for f, needed in missing.items() if needed):
        start = time.perf_counter()
        print(f"{setting}: {'fixed' if fixed else 'own'} extractor", flush=True)
        model, rows = train(task, data, recipe, fixed, lambda line: print(f"  {line}", flush=True))
        model.shown = tuple(shown[row] for row in rows)
        about = {
            "setting": setting,
            "data_version": version_of(setting),
            "recipe_version": str(RECIPE_VERSION),
            "recipe": json.dumps(asdict(recipe), sort_keys=True),
            "torch": torch.__version__,
        }
        prototype_files.save(model, folder, fixed, about)
        print(f"{setting}: {time.perf_counter() - start:.0f} s", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train the prototype models of the named settings, or of all."""
    parser = argparse.ArgumentParser(description="Train the embedded prototype models.")
    parser.add_argument(
        "settings", nargs="+", metavar="SETTING", help="all, or among: " + ", ".join(RECIPES)
    )
    parser.add_argument("--output", type=Path, default=WEIGHTS, help="where weights are")
    parser.add_argument("--again", action="store_true", help="train what is there, too")
    options = parser.parse_args(arguments)
    settings = list(RECIPES) if options.settings == ["all"] else options.settings
    for setting in settings:
        if setting not in RECIPES:
            raise UnknownNameError("setting with prototypes", setting, [*RECIPES, "all"])
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for setting in settings:
        make(setting, options.output, options.again)


if __name__ == "__main__":
    main()
