"""How a prototype model is trained (Hase & Bansal 2020, appendix A.1).

1. The extractor is the task model's. Prototypes start at the means of clusters (k-means) of the
   training cases' latents, class by class.
2. Minimised is cross-entropy + L1 * |weight of other classes| - SEPARATION * mean over cases of the
   squared distance to the nearest prototype of another class: cases are pushed away from it. (The
   study names the three terms but not their coefficients.) Beyond FAR nothing is gained by more
   distance, or it would grow without end.
3. Each prototype moves to one of the NEAR training cases of its class that are nearest to it: to
   the nearest first, then in turn, SWEEPS times, to the one with which the cross-entropy of the
   training cases is lowest. (Moved to the nearest alone, prototypes that lie between the cases lose
   what they have learned.) No case is a prototype twice. Then the scale is set anew.

The ``own`` variant trains the extractor along, as far as its weights ask for gradients; for
``fixed`` all latents are computed once.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from humetric.errors import HumetricError
from humetric.models import text_inputs
from humetric.models.prototypes import PrototypeModel, Prototypes, Shown, around
from humetric.models.text_inputs import Inputs

L1, SEPARATION, FAR = 1e-3, 0.05, 4.0
"""Coefficients of the loss; FAR is in units of the scale, an activation of .02."""
ROUNDS = 30
"""Of k-means."""
COVERED = 0.9
"""Share of the training cases whose activation is above .5 when training begins."""
STRANGE = 0.1
"""Median activation of training cases at the nearest prototype of another class in the end."""
NEAR, SWEEPS = 40, 3


@dataclass(frozen=True)
class Recipe:
    """How many prototypes a class has, and how they are trained."""

    prototypes: int
    epochs: int
    fixed_epochs: int = 20
    rate: float = 5e-4
    """Of the extractor."""
    prototype_rate: float = 5e-3
    weight_rate: float = 2e-2
    """Of the two weights."""
    decay: float = 1e-4
    batch: int = 64
    seed: int = 1


class Rows(NamedTuple):
    """Inputs that are one tensor, and what to predict of them."""

    x: Tensor
    target: Tensor

    def take(self, rows: Tensor) -> Rows:
        """Some rows."""
        return Rows(self.x[rows], self.target[rows])


Data = Inputs | Rows


def given(data: Data) -> tuple[Tensor, ...]:
    """What a model is called with."""
    return (data.x,) if isinstance(data, Rows) else (data.ids, data.attention, data.types)


def batches(data: Data, size: int, rng: np.random.Generator) -> Iterator[Data]:
    """Every row once, in random order."""
    if isinstance(data, Inputs):
        yield from text_inputs.batches(data, size, rng)
        return
    for rows in torch.from_numpy(rng.permutation(len(data.x))).split(size):
        yield data.take(rows)


def in_order(data: Data) -> Iterator[Data]:
    """Every row once, in order."""
    if isinstance(data, Inputs):
        yield from text_inputs.in_order(data)
        return
    for rows in torch.arange(len(data.x)).split(1000):
        yield data.take(rows)


@torch.no_grad()
def latents(model: PrototypeModel, data: Data) -> Tensor:
    """(rows, width): g(x) of every row."""
    return torch.cat([model.latent(*given(batch)) for batch in in_order(data)])


def train(
    task: nn.Module,
    data: Data,
    recipe: Recipe,
    fixed: bool,
    say: Callable[[str], object] = lambda line: None,
) -> tuple[PrototypeModel, list[int]]:
    """A prototype model, rounded as it is stored, and which training row each prototype is.

    ``shown`` is left empty but for labels: the caller knows what the rows are.
    """
    with torch.random.fork_rng():
        torch.manual_seed(recipe.seed)
        rng = np.random.default_rng(np.random.PCG64(recipe.seed))
        labels = data.target
        extractor = copy.deepcopy(task).float().eval()
        owner = np.repeat(np.arange(int(labels.max()) + 1), recipe.prototypes).tolist()
        blank = [Shown((), label=c) for c in owner]
        probe = around(extractor, Prototypes(owner, 1), blank)
        found = latents(probe, data)
        layer = Prototypes(owner, found.shape[1])
        model = around(extractor, layer, blank)
        _begin(layer, found, labels, recipe.prototypes, rng)
        own = [] if fixed else [w for w in extractor.parameters() if w.requires_grad]
        groups = [
            {"params": own, "lr": recipe.rate, "weight_decay": recipe.decay},
            {"params": [layer.vectors], "lr": recipe.prototype_rate},
            {"params": [layer.own, layer.other], "lr": recipe.weight_rate},
        ]
        optimiser = torch.optim.AdamW([g for g in groups if g["params"]], weight_decay=0.0)
        seen: Data = Rows(found, labels) if fixed else data
        for epoch in range(recipe.fixed_epochs if fixed else recipe.epochs):
            total = []
            for batch in batches(seen, recipe.batch, rng):
                latent = (
                    batch.x if fixed and isinstance(batch, Rows) else model.latent(*given(batch))
                )
                loss = loss_of(layer, latent, batch.target)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                total.append(loss.item())
            say(f"epoch {epoch + 1}: loss {np.mean(total):.4f}")
        halve(layer if fixed else model)
        final = found if fixed else latents(model, data)
        rows = settled(layer, final, labels)
        with torch.no_grad():
            layer.vectors.copy_(final[rows])
            layer.scale.fill_(_between(layer, final, labels) / -np.log(STRANGE))
        halve(layer)
    return model.eval(), rows


def loss_of(layer: Prototypes, latent: Tensor, target: Tensor) -> Tensor:
    """The three terms."""
    distances = layer.distances(latent)
    entropy = cross_entropy(layer.logits(layer.scores((-distances).exp())), target)
    return (
        entropy + L1 * layer.other.abs() + SEPARATION * separation(distances, layer.owner, target)
    )


def separation(distances: Tensor, owner: Tensor, target: Tensor) -> Tensor:
    """Less the mean distance to the nearest prototype of another class, none above FAR.

    To make it small is to push cases away from other classes' prototypes.
    """
    others = distances.masked_fill(owner == target[:, None], torch.inf)
    return -others.amin(1).clamp(max=FAR).mean()


def _begin(
    layer: Prototypes, latent: Tensor, labels: Tensor, count: int, rng: np.random.Generator
) -> None:
    """Prototypes at the means of clusters, and the scale."""
    points, of = latent.double().numpy(), labels.numpy()
    centres = [k_means(points[of == c], count, rng) for c in range(layer.classes)]
    with torch.no_grad():
        layer.vectors.copy_(torch.from_numpy(np.concatenate(centres)))
        cases = latent[nearest(layer, latent, labels)]
        layer.scale.fill_(_typical(layer, cases, latent, labels) / np.log(2))


def _typical(layer: Prototypes, cases: Tensor, latent: Tensor, labels: Tensor) -> float:
    """The median squared distance of rows to the nearest of some cases of their class."""
    apart = torch.cdist(latent.double(), cases.double()).square()
    apart = apart.masked_fill(layer.owner != labels[:, None], torch.inf)
    return float(apart.amin(1).quantile(COVERED))


def _between(layer: Prototypes, latent: Tensor, labels: Tensor) -> float:
    """The median squared distance of rows to the nearest prototype of another class."""
    apart = torch.cdist(latent.double(), layer.vectors.double()).square()
    return float(apart.masked_fill(layer.owner == labels[:, None], torch.inf).amin(1).median())


def nearest(layer: Prototypes, latent: Tensor, labels: Tensor) -> list[int]:
    """For each prototype in turn the nearest row of its class that is not taken yet."""
    apart = torch.cdist(layer.vectors.detach().double(), latent.double())
    apart = apart.masked_fill(layer.owner[:, None] != labels, torch.inf)
    found: list[int] = []
    for row in apart:
        row = row.index_fill(0, torch.tensor(found, dtype=torch.long), torch.inf)
        found.append(int(row.argmin()))
    return found


@torch.no_grad()
def settled(layer: Prototypes, latent: Tensor, labels: Tensor) -> list[int]:
    """The row that each prototype becomes."""
    apart = torch.cdist(layer.vectors.double(), latent.double())
    apart = apart.masked_fill(layer.owner[:, None] != labels, torch.inf)
    near = apart.topk(min(NEAR, int(labels.bincount().min())), largest=False).indices
    rows = nearest(layer, latent, labels)

    def activations(chosen: Tensor) -> Tensor:
        """(rows, chosen)."""
        return (-torch.cdist(latent, latent[chosen]).square() / layer.scale).exp()

    now = activations(torch.tensor(rows))
    for _ in range(SWEEPS):
        for k, c in enumerate(layer.owner.tolist()):
            taken = set(rows) - {rows[k]}
            options = torch.tensor([r for r in near[k].tolist() if r not in taken] or [rows[k]])
            scores = layer.scores(now.index_fill(1, torch.tensor([k]), -1.0))
            offered = activations(options)
            each = scores[:, None].repeat(1, len(options), 1)  # (rows, options, classes)
            each[:, :, c] = torch.maximum(each[:, :, c], offered)
            logits = layer.logits(each.flatten(0, 1)).view_as(each)
            losses = cross_entropy(
                logits.transpose(1, 2), labels[:, None].expand(-1, len(options)), reduction="none"
            )
            best = int(losses.mean(0).argmin())
            rows[k], now[:, k] = int(options[best]), offered[:, best]
    return rows


def k_means(
    points: NDArray[np.float64], count: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """(count, width): means of clusters; starts as k-means++ (Arthur & Vassilvitskii 2007)."""
    if len(points) < count:
        raise HumetricError(
            f"Expected at least {count} training cases of each class but got {len(points)}: ask "
            f"for fewer prototypes."
        )
    centres = points[[int(rng.integers(len(points)))]]
    while len(centres) < count:
        apart = _squared(points, centres).min(1)
        share = apart / apart.sum() if apart.sum() > 0 else None
        centres = np.concatenate((centres, points[[int(rng.choice(len(points), p=share))]]))
    for _ in range(ROUNDS):
        own = _squared(points, centres).argmin(1)
        for c in range(count):
            if (own == c).any():
                centres[c] = points[own == c].mean(0)
    return centres


def _squared(points: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """(points, centres): squared distances."""
    cross = points @ centres.T
    apart: NDArray[np.float64] = (points**2).sum(1)[:, None] - 2 * cross + (centres**2).sum(1)
    return np.maximum(apart, 0)


@torch.no_grad()
def halve(module: nn.Module) -> None:
    """Round what was trained to float16, as it is stored; all else (means, the scale) stays."""
    for value in module.parameters():
        if value.requires_grad:
            value.copy_(value.half().to(value.dtype))


@torch.no_grad()
def predictions(model: PrototypeModel, data: Data) -> NDArray[np.int64]:
    """(rows,): the class of the most similar prototype."""
    found = [model.scores(model(*given(batch))).argmax(1) for batch in in_order(data)]
    return torch.cat(found).numpy()
