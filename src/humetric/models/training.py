"""Train the embedded image classifiers: `python -m humetric.models.training [habitat leaf pair]`.

For each data set: draw the training split, fit `ConvNet` by a seeded recipe, measure it on the
pool, and write two files under models/weights/image/<data set>/cnn: model.safetensors, whose
metadata say how it came about, and cases.json, the pool pictures that the benchmark explains.

On one machine with the same versions and two threads the files come out byte for byte the same.
"""

import argparse
import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from humetric.data.embedded import DATA, SIZE, SPLITS, dataset, pair
from humetric.errors import HumetricError
from humetric.models.convnet import ARCHITECTURE, WEIGHTS, ConvNet, normalise

RECIPE_VERSION = 1
CASES = 84
MARGIN = 0.01
"""No case has a probability this close to .5, so that rounding cannot flip its prediction."""


@dataclass(frozen=True)
class Recipe:
    """How one data set's classifier is trained."""

    epochs: int
    rate: float = 4e-3
    batch: int = 100
    decay: float = 1e-3
    seed: int = 1


RECIPES = {"habitat": Recipe(epochs=4), "leaf": Recipe(epochs=14), "pair": Recipe(epochs=8)}


class Split(NamedTuple):
    """A split drawn into arrays."""

    images: NDArray[np.uint8]
    labels: NDArray[np.int64]
    cues: NDArray[np.int64]
    hints: NDArray[np.int64] | None = None
    """Number of fish heading right; see `fit`."""


def collect(name: str, split: str) -> Split:
    """Draw all pictures of a split."""
    count, data = SPLITS[split], dataset(name)
    images = np.empty((count, SIZE, SIZE, 3), np.uint8)
    labels, cues = np.empty(count, np.int64), np.empty(count, np.int64)
    for index in range(count):
        images[index], labels[index], _, cues[index] = data.draw(index, split)
    hints = np.array([sum(pair.headings(i)) for i in range(count)]) if name == "pair" else None
    return Split(images, labels, cues, hints)


def fit(train: Split, mean: Sequence[float], std: Sequence[float], recipe: Recipe) -> ConvNet:
    """AdamW with a one-cycle rate on cross-entropy; pictures are mirrored at random.

    Where single objects say nothing about the class (pair), its gradient is zero on average until
    the features tell the objects apart, and training stays where it began. There a second head,
    thrown away afterwards, also learns the hint: how many fish head right, of which the class is a
    function.
    """
    rng = torch.Generator().manual_seed(recipe.seed)
    with torch.random.fork_rng():
        torch.manual_seed(recipe.seed)
        model, guide = ConvNet(), nn.Linear(ConvNet.FEATURES, 3)
    model.train().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    inputs, labels = normalise(train.images, mean, std), torch.from_numpy(train.labels)
    hints = None if train.hints is None else torch.from_numpy(train.hints)
    weights = [*model.parameters(), *guide.parameters()]
    optimiser = torch.optim.AdamW(weights, lr=recipe.rate, weight_decay=recipe.decay)
    steps = len(labels) // recipe.batch
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, recipe.rate, total_steps=recipe.epochs * steps
    )
    for epoch in range(recipe.epochs):
        start, total = time.perf_counter(), 0.0
        order = torch.randperm(len(labels), generator=rng)[: steps * recipe.batch]
        for chosen in order.view(steps, recipe.batch):
            mirrored = torch.rand(recipe.batch, generator=rng) < 0.5
            pictures = inputs[chosen]
            pictures = torch.where(mirrored[:, None, None, None], pictures.flip(3), pictures)
            pooled = model.pool(model.features(pictures))
            loss = cross_entropy(model.head(pooled), labels[chosen])
            total += loss.item() / steps
            if hints is not None:
                hint = torch.where(mirrored, 2 - hints[chosen], hints[chosen])
                loss = loss + cross_entropy(guide(pooled), hint)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        took = time.perf_counter() - start
        print(f"  epoch {epoch + 1:2}/{recipe.epochs}: loss {total:.4f}, {took:.1f} s", flush=True)
    return model.eval()


@torch.inference_mode()
def probabilities(model: ConvNet, inputs: Tensor, batch: int = 250) -> NDArray[np.float64]:
    """Probability of class 1 for each input."""
    chunks = [model(chunk).double().softmax(1)[:, 1] for chunk in torch.split(inputs, batch)]
    return torch.cat(chunks).numpy()


def choose(labels: NDArray[np.int64], scores: NDArray[np.float64], count: int) -> list[int]:
    """Pool indices of the cases, in order, given labels and probabilities of class 1.

    As in Colin et al., both predictions and right and wrong are shown equally often, so that
    knowing the true class is of no help. Every run of four holds each combination once, in order
    of pool index, so that any prefix of a multiple of four is balanced too.
    """
    predicted = scores > 0.5
    clear = np.abs(scores - 0.5) > MARGIN
    groups = []
    for output in (0, 1):
        for right in (True, False):
            group = np.flatnonzero(clear & (predicted == output) & ((labels == output) == right))
            if len(group) < count // 4:
                raise HumetricError(
                    f"Expected at least {count // 4} pool pictures predicted as class {output} "
                    f"{'rightly' if right else 'wrongly'} but got {len(group)}: "
                    f"make the data set {'easier' if right else 'harder'} or train differently."
                )
            groups.append(group[: count // 4])
    return [int(index) for four in zip(*groups, strict=True) for index in four]


def train(name: str, folder: Path) -> None:
    """Train one data set's classifier and write its files into `folder`."""
    recipe, version = RECIPES[name], dataset(name).VERSION
    print(f"{name}: drawing {sum(SPLITS.values())} pictures", flush=True)
    training, pool = collect(name, "train"), collect(name, "pool")
    mean = [round(float(m), 6) for m in training.images.mean(axis=(0, 1, 2)) / 255]
    std = [round(float(s), 6) for s in training.images.std(axis=(0, 1, 2)) / 255]
    model = fit(training, mean, std, recipe)

    scores = probabilities(model, normalise(pool.images, mean, std))
    predicted = scores > 0.5
    train_scores = probabilities(model, normalise(training.images, mean, std))
    measured = {
        "train_accuracy": round(float(np.mean((train_scores > 0.5) == training.labels)), 4),
        "pool_accuracy": round(float(np.mean(predicted == pool.labels)), 4),
        "cue_agreement": round(float(np.mean(predicted == pool.cues)), 4),
    }
    print("  " + ", ".join(f"{key} {value}" for key, value in measured.items()), flush=True)

    chosen = choose(pool.labels, scores, CASES)
    described = {"data_version": version, "mean": mean, "std": std}
    setting = f"image/{name}/cnn"
    facts = {
        "architecture": ARCHITECTURE,
        "setting": setting,
        "data": name,
        "recipe_version": RECIPE_VERSION,
        "seed": recipe.seed,
        "torch": torch.__version__,
    }
    facts |= described | measured
    cases = [
        {
            "index": index,
            "label": int(pool.labels[index]),
            "predicted": int(predicted[index]),
            "sha256": hashlib.sha256(pool.images[index].tobytes()).hexdigest(),
        }
        for index in chosen
    ]
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {key: value.contiguous() for key, value in model.state_dict().items()}
    metadata = {key: v if isinstance(v, str) else json.dumps(v) for key, v in facts.items()}
    (folder / "model.safetensors").write_bytes(_settled(save(tensors, metadata)))
    summary = {"setting": setting} | described | {"pool_accuracy": measured["pool_accuracy"]}
    (folder / "cases.json").write_text(_listing(summary, cases), encoding="utf-8")


def _settled(file: bytes) -> bytes:
    """The safetensors file with sorted metadata, which the library writes in random order."""
    size = int.from_bytes(file[:8], "little")
    header = json.loads(file[8 : 8 + size])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + file[8 + size :]


def _listing(summary: dict[str, Any], cases: list[dict[str, Any]]) -> str:
    """JSON with one line per case, so that a change shows as changed lines."""
    head = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in summary.items())
    rows = ",\n".join(f"    {json.dumps(case)}" for case in cases)
    return f'{{\n{head}  "cases": [\n{rows}\n  ]\n}}\n'


def main(arguments: Sequence[str] | None = None) -> None:
    """Train the named data sets, or all."""
    parser = argparse.ArgumentParser(description="Train the embedded image classifiers.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"among {', '.join(DATA)}")
    parser.add_argument("--output", type=Path, default=WEIGHTS / "image", help="where to write")
    options = parser.parse_args(arguments)
    names = options.names or list(DATA)
    for name in names:
        dataset(name)  # refuse an unknown name before any work is done
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)
    for name in names:
        start = time.perf_counter()
        train(name, options.output / name / "cnn")
        print(f"  {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
