"""Terms: what a person could name in a case. A case is a bag of them, whatever the task.

- Texts: the words, in lower case and without signs; of pairs, in their segment.
- Tables: each column with its category, or with the quarter of the background that its value is in.
- Images: each of 8 x 8 cells, as one of 32 kinds of patch: k-means of colour, contrast and the
  strength of edges in four directions over the panel's images. These are frozen: they know nothing
  of the model, its answers or any map.

Where they stand in a case is not known to who sees only terms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2
from scipy.ndimage import sobel
from torch import Tensor

from humetric.errors import HumetricError
from humetric.models.student import terms_of
from humetric.seeding import generator
from humetric.tasks.cases import Cases
from humetric.tasks.partition import Partition, identity

Floats = NDArray[np.float64]

CELLS = 8
"""Along each side of an image."""
KINDS = 32
"""Of patches."""


class Terms(NamedTuple):
    """The units of some cases, and which term each is."""

    number: NDArray[np.int64]
    """(cases, units): the term of each unit; -1 beyond a case's own units."""
    size: int
    """Different terms."""
    partition: Partition
    """Features to units."""

    @property
    def there(self) -> NDArray[np.bool_]:
        """(cases, units): where a case has a unit."""
        found: NDArray[np.bool_] = self.number >= 0
        return found


def terms(cases: Cases) -> Terms:
    """The terms of a panel's cases."""
    return cases.once("terms", lambda: _terms(cases))


def _terms(cases: Cases) -> Terms:
    if cases.texts is not None:
        texts = cases.texts
        words = [terms_of(*pair) for pair in zip(texts.words, texts.segment, strict=True)]
        place = {term: i for i, term in enumerate(sorted({t for of in words for t in of}))}
        number = np.full((len(cases), cases.features), -1, dtype=np.int64)
        for row, of in zip(number, words, strict=True):
            row[: len(of)] = [place[term] for term in of]
        return Terms(number, len(place), identity(cases.features))
    if cases.table is not None:
        bins = cases.table.bins(cases.x.double().cpu().numpy())
        first = np.concatenate(([0], np.cumsum(cases.table.sizes())))
        return Terms(bins + first[:-1], int(first[-1]), identity(cases.features))
    partition = cases.task.groups(CELLS)
    return Terms(kinds_of_patches(cases), KINDS, partition)


def kinds_of_patches(cases: Cases) -> NDArray[np.int64]:
    """(cases, cells): which kind of patch each cell of an image is."""
    if cases.display is None:
        raise HumetricError("Expected images as people see them but there are none.")
    seen = descriptors(cases.display.numpy())
    flat = seen.reshape(-1, seen.shape[2])
    spread = flat.std(0)
    scaled = (flat - flat.mean(0)) / np.where(spread > 0, spread, 1)
    _, label = kmeans2(
        scaled, KINDS, minit="++", rng=generator(0, cases.ids[0], "kinds of patches"), iter=25
    )
    found: NDArray[np.int64] = label.astype(np.int64).reshape(seen.shape[:2])
    return found


def descriptors(images: NDArray[np.uint8]) -> Floats:
    """(images, cells, 8): mean colour, contrast and edges in four directions of every cell."""
    colour = images.astype(np.float64) / 255
    colour = np.repeat(colour, 3, 3) if colour.shape[3] == 1 else colour[..., :3]
    grey = colour.mean(3)
    down, right = sobel(grey, axis=1), sobel(grey, axis=2)
    edges = [np.abs(right), np.abs(down), np.abs(right + down), np.abs(right - down)]
    maps = np.stack([*np.moveaxis(colour, 3, 0), grey, grey**2, *edges], axis=3)
    cells = _over_cells(maps)
    mean, contrast = cells[..., 3], cells[..., 4]
    cells[..., 4] = np.sqrt(np.maximum(contrast - mean**2, 0))
    return np.delete(cells, 3, axis=2)


def _over_cells(maps: Floats) -> Floats:
    """(images, cells, channels): means over the cells of a grid; cell of pixel i is i * g // n."""
    count, height, width, channels = maps.shape
    row, column = (np.arange(n) * CELLS // n for n in (height, width))
    cell = (row[:, None] * CELLS + column[None, :]).ravel()
    total = np.zeros((CELLS * CELLS, count, channels))
    np.add.at(total, cell, np.moveaxis(maps.reshape(count, -1, channels), 1, 0))
    size = np.bincount(cell, minlength=CELLS * CELLS)
    found: Floats = np.moveaxis(total / np.maximum(size, 1)[:, None, None], 0, 1)
    return found


def highlights(attribution: Tensor, of: Terms, rows: int) -> Floats:
    """(rows, units): how much each unit of the first cases is highlighted, 1 on average.

    What speaks for the explained output counts, what speaks against it does not: a person who is
    told why the model said so is shown this. A map with nothing positive in it highlights all
    alike, and so does a constant one.
    """
    there = of.there[:rows]
    summed = of.partition.sum(attribution[:rows]).numpy()[:, : there.shape[1]]
    positive = np.where(there, np.maximum(summed, 0), 0)
    total, count = positive.sum(1, keepdims=True), there.sum(1, keepdims=True)
    shown = positive * count / np.where(total > 0, total, 1)
    found: Floats = np.where(total > 0, shown, there.astype(np.float64))
    return found


def uniform(of: Terms, rows: int | None = None) -> Floats:
    """(rows, units): no explanation of the first cases, every unit alike."""
    return of.there[:rows].astype(np.float64)


def shuffled(of: Terms, weights: Floats, rng: np.random.Generator) -> Floats:
    """The same highlights of the first cases, each case's on other units of the case."""
    found = np.zeros_like(weights)
    for row, own, there in zip(found, weights, of.there[: len(weights)], strict=True):
        units = np.flatnonzero(there)
        row[units] = own[rng.permutation(units)]
    return found


def summed(of: Terms, weights: Floats) -> Floats:
    """(rows, terms): the weights (rows, units) of the first cases' units, summed by term."""
    number = of.number[: len(weights)]
    found = np.zeros((len(number), of.size))
    row, unit = np.nonzero(number >= 0)
    np.add.at(found, (row, number[row, unit]), weights[row, unit])
    return found
