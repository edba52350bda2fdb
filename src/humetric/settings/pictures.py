"""Huskies and wolves, apple leaves, ImageNet's dogs: EfficientNet-Lite0 (docs/standard.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from humetric.data.pictures import Pictures
from humetric.data.sources import rows
from humetric.models import lite_head
from humetric.settings import montages
from humetric.settings.declared import Declared
from humetric.settings.images import (
    Album,
    Measured,
    Sample,
    chosen_cases,
    classified,
    decoded,
    loader,
    shuffled,
)
from humetric.tasks.setting import outputs

STAND_IN = (
    "The study's supplement names no network, and its pictures are not at hand: other pictures, "
    "EfficientNet-Lite0."
)


def _husky_split() -> tuple[list[Sample], list[Sample]]:
    """Training pictures that montages are made of, and the others."""
    whole = classified("husky_wolf", "train")
    images, labels = decoded(whole)
    used = montages.picked(images, labels)
    taken = set(used.tolist())
    return [whole[i] for i in used], [s for i, s in enumerate(whole) if i not in taken]


def _husky_training() -> tuple[Pictures, NDArray[np.int64]]:
    return montages.montages(decoded(_husky_split()[0])[0])


def _husky_pool() -> list[Sample]:
    return [*_husky_split()[1], *classified("husky_wolf", "test")]


def _husky_measure(found: Measured) -> Mapping[str, float]:
    """The bias, beside that of a head which learned from the same pictures as they are."""
    middling = float(np.median(montages.background(decoded(classified("husky_wolf", "train"))[0])))
    whole, labels = decoded(_husky_split()[0])
    values = lite_head.features(lite_head.network(), lite_head.inputs(whole))
    plain = lite_head.network(lite_head.fit(values, labels))

    def classify(
        model: object, images: Pictures, hide: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        said = outputs(model, montages.hidden(lite_head.inputs(images), hide))  # type: ignore[arg-type]
        guessed: NDArray[np.int64] = said.argmax(1).numpy()
        return guessed

    measured: dict[str, float] = {}
    for model, name in ((found.model, ""), (plain, "unflawed head: ")):
        of = partial(classify, model)
        if name:
            right = of(found.images, None) == found.labels
            measured[f"{name}accuracy"] = round(float(right.mean()), 4)
        bias = montages.bias(of, found.images, found.labels, middling)
        measured |= {f"{name}{key}": value for key, value in bias.items()}
    return measured


HUSKIES = Album(
    "image/husky-wolf/lite0",
    "husky_wolf",
    ("husky", "wolf"),
    _husky_pool,
    _husky_training,
    measure=_husky_measure,
    recipe="montages: settings/montages.py, 1",
)

DISEASES = ("black_rot", "cedar_apple_rust")
"""Of the three pairs of diseases the one that heads on few pictures tell apart worst."""
LEAVES_EACH = 5
"""Training pictures of each disease."""


def _leaf_split() -> tuple[list[Sample], list[Sample]]:
    """The first training pictures of each disease in an order that says nothing, and the others."""
    whole = shuffled(classified("plantvillage_apple", "train", DISEASES))
    used = [s for k in (0, 1) for s in [s for s in whole if s.label == k][:LEAVES_EACH]]
    taken = {sample.id for sample in used}
    return used, [sample for sample in whole if sample.id not in taken]


def _leaf_pool() -> list[Sample]:
    return [*_leaf_split()[1], *classified("plantvillage_apple", "test", DISEASES)]


LEAVES = Album(
    "image/apple-leaves/lite0",
    "plantvillage_apple",
    ("black rot", "cedar apple rust"),
    _leaf_pool,
    lambda: decoded(_leaf_split()[0]),
    recipe=f"{LEAVES_EACH} pictures of each of {', '.join(DISEASES)}, 1",
)

HUNTING, WORKING = range(159, 222), range(222, 251)
"""WordNet's two largest kinds of dog among ImageNet's classes: hunting dogs (hounds, terriers,
sporting dogs) and working dogs (shepherds, watchdogs, mastiffs, sled dogs and others)."""


def _dogs() -> list[Sample]:
    kinds = {index: label for label, group in enumerate((HUNTING, WORKING)) for index in group}
    found = rows("imagenet_sample", "test")
    return [Sample(row, kinds[row["label"]]) for row in found if row["label"] in kinds]


def _dogs_measure(found: Measured) -> Mapping[str, float]:
    """How often the network's best of 1,000 classes is the true one."""
    plain, measured = lite_head.network(), {}
    everything = [Sample(row, row["label"]) for row in rows("imagenet_sample", "test")]
    for name, samples in (("these groups", _dogs()), ("the whole sample", everything)):
        images, _ = decoded(samples)
        best = outputs(plain, lite_head.inputs(images)).argmax(1).numpy()
        hit = best == np.array([sample.row["label"] for sample in samples])
        measured[f"top-1 of 1,000 classes, {name}"] = round(float(hit.mean()), 4)
    return measured


DOGS = Album(
    "image/imagenet/lite0",
    "imagenet_sample",
    ("hunting dog", "working dog"),
    _dogs,
    groups=(HUNTING, WORKING),
    measure=_dogs_measure,
)


def _declared(album: Album, summary: str, ships: bool, departs: str, seen: str = "") -> Declared:
    train: Callable[..., None] | None = None if album.training is None else album.train
    return Declared(
        id=album.id,
        summary=summary,
        sources=(album.source, lite_head.SOURCE),
        load=loader(album),
        train=train,
        choose=partial(chosen_cases, album),
        minutes=0.0 if train is None else 0.5,
        ships=ships,
        departs=f"{STAND_IN} {departs}",
        seen=seen,
        study="colin2022",
    )


IMAGES = (
    _declared(
        HUSKIES,
        "huskies and wolves, EfficientNet-Lite0 with a head that goes by the background",
        ships=False,
        departs="The bias was trained into the head on montages, in which the background goes with "
        "the class and the animal does not; cases are test pictures and training pictures that "
        "montages were not made of.",
        seen="EfficientNet-Lite0 was trained on ImageNet, which has huskies and wolves.",
    ),
    _declared(
        LEAVES,
        "apple leaves with black rot or cedar apple rust, EfficientNet-Lite0 with a head",
        ships=True,
        departs="The study's leaves are of kinds of plants, these have diseases of one. The head "
        f"learned from {LEAVES_EACH} pictures of each disease alone, so that it errs; cases are "
        "test pictures and the training pictures that it did not see.",
    ),
    _declared(
        DOGS,
        "ImageNet's hunting and working dogs, EfficientNet-Lite0 as it is, classes in two groups",
        ships=False,
        departs="The study has red and kit foxes, of which the sample has one picture each: here "
        "breeds in two groups of WordNet stand for the two classes. The network errs too seldom "
        "between them for as many wrong cases as right ones.",
        seen="EfficientNet-Lite0 was trained on ImageNet.",
    ),
)
