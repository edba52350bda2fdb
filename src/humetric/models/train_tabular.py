"""Train the embedded models of rows: `python -m humetric.models.train_tabular [SETTING ...]`.

For each setting: fit its model by its recipe on the training rows of the census, choose the cases,
and write under models/weights/SETTING:

- model.safetensors, whose metadata say how it came about;
- cases.json: the pool rows that the benchmark explains.

On one machine with the same versions the files come out byte for byte the same. The trees are
fitted by scikit-learn, which is needed here alone (it is among the development requirements).
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from humetric.data.embedded import census
from humetric.errors import UnknownNameError
from humetric.models import stored, trees
from humetric.models.convnet import WEIGHTS
from humetric.models.tabular import MLP
from humetric.models.tabular_weights import load, probabilities
from humetric.models.training import CASES, _listing, _settled, choose
from humetric.models.trees import Trees

RECIPE_VERSION = 1
VALIDATION = 2000
"""The last training rows say when to stop; no weights are fitted on them."""

SIZES = tuple(len(column.categories) for column in census.COLUMNS)


@dataclass(frozen=True)
class Network:
    """Stochastic gradient descent on cross-entropy with early stopping, as Hase & Bansal."""

    hidden: tuple[int, ...]
    rate: float
    batch: int = 50
    momentum: float = 0.9
    decay: float = 1e-4
    """Of the squared weights, theirs."""
    epochs: int = 60
    patience: int = 6
    """Epochs without a better loss on the validation rows before it ends."""
    seed: int = 1


@dataclass(frozen=True)
class Boosting:
    """Trees fitted one after another to what is left of the log-loss."""

    trees: int
    depth: int
    rate: float
    seed: int = 1


RECIPES: dict[str, Network | Boosting] = {
    "tabular/census/mlp": Network(hidden=(50, 50), rate=0.01),
    "tabular/census/logistic": Network(hidden=(), rate=0.003),
    "tabular/census/trees": Boosting(trees=50, depth=4, rate=0.3),
}

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]


def fit_network(
    recipe: Network,
    rows: Rows,
    labels: Labels,
    validation: int,
    sizes: Sequence[int] = SIZES,
    classes: int = len(census.CLASSES),
) -> MLP:
    """The network as it was when its loss on the last rows was lowest."""
    x, y = torch.tensor(rows, dtype=torch.float32), torch.tensor(labels)
    count = len(y) - validation
    rng = torch.Generator().manual_seed(recipe.seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        model = MLP(sizes, recipe.hidden, classes)
    model.encoding.fit(x[:count])
    optimiser = torch.optim.SGD(
        model.parameters(), lr=recipe.rate, momentum=recipe.momentum, weight_decay=recipe.decay
    )
    best, found, waited = float("inf"), copy.deepcopy(model.state_dict()), 0
    for _ in range(recipe.epochs):
        for chosen in torch.randperm(count, generator=rng).split(recipe.batch):
            optimiser.zero_grad()
            cross_entropy(model(x[chosen]), y[chosen]).backward()
            optimiser.step()
        loss = _loss(model, x[count:], y[count:])
        waited += 1
        if loss < best:
            best, found, waited = loss, copy.deepcopy(model.state_dict()), 0
        if waited == recipe.patience:
            break
    model.load_state_dict(found)
    return model.eval()


@torch.inference_mode()
def _loss(model: MLP, x: Tensor, y: Tensor) -> float:
    return float(cross_entropy(model(x).double(), y))


def fit_trees(recipe: Boosting, rows: Rows, labels: Labels) -> Trees:
    """By scikit-learn; a category is compared by its place in the list, as if it were a number."""
    from sklearn.ensemble import GradientBoostingClassifier

    fitted = GradientBoostingClassifier(
        n_estimators=recipe.trees,
        max_depth=recipe.depth,
        learning_rate=recipe.rate,
        random_state=recipe.seed,
    )
    return trees.of_scikit_learn(fitted.fit(rows, labels))


def train(setting: str, root: Path, count: int | None = None) -> None:
    """Train the model of a setting, on the first ``count`` training rows if that is given."""
    recipe, file = RECIPES[setting], root / setting / "model.safetensors"
    rows, labels = census.rows("train", count)
    about = {
        "setting": setting,
        "data": "census",
        "data_version": str(census.VERSION),
        "recipe_version": str(RECIPE_VERSION),
        "recipe": json.dumps(asdict(recipe), sort_keys=True),
    }
    if isinstance(recipe, Network):
        model = fit_network(recipe, rows, labels, min(VALIDATION, len(rows) // 5))
        stored.save(model, file, about | {"torch": torch.__version__})
    else:
        import sklearn

        versions = {"scikit-learn": sklearn.__version__}
        trees.save(fit_trees(recipe, rows, labels), file, about | versions)
    file.write_bytes(_settled(file.read_bytes()))


def choose_cases(setting: str, root: Path) -> None:
    """Choose and write the cases of a setting whose model is there."""
    rows, labels = census.rows("pool")
    score = probabilities(load(root / setting / "model.safetensors"), rows)[:, 1]
    predicted = (score > 0.5).astype(int)
    accuracy = round(float((predicted == labels).mean()), 4)
    print(f"{setting}: pool accuracy {accuracy}", flush=True)
    summary = {
        "setting": setting,
        "data": "census",
        "data_version": census.VERSION,
        "pool_accuracy": accuracy,
    }
    cases = [
        {
            "index": index,
            "label": int(labels[index]),
            "predicted": int(predicted[index]),
            "sha256": census.digest(rows[index].tolist()),
        }
        for index in choose(labels, score, CASES)
    ]
    (root / setting / "cases.json").write_text(_listing(summary, cases), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Train the named settings, or all."""
    parser = argparse.ArgumentParser(description="Train the embedded models of rows.")
    parser.add_argument("settings", nargs="*", metavar="SETTING", help=", ".join(RECIPES))
    parser.add_argument("--output", type=Path, default=WEIGHTS, help="where to write")
    options = parser.parse_args(arguments)
    settings = options.settings or list(RECIPES)
    for setting in settings:
        if setting not in RECIPES:
            raise UnknownNameError("tabular setting", setting, RECIPES)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for setting in settings:
        start = time.perf_counter()
        train(setting, options.output)
        choose_cases(setting, options.output)
        print(f"{setting}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
