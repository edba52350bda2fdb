"""Classifiers of real pictures as settings: trained, chosen from, loaded (docs/standard.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from humetric.data.pictures import Pictures, pictures
from humetric.data.sources import rows
from humetric.data.sources.records import Row
from humetric.errors import HumetricError
from humetric.models import lite_head
from humetric.settings.declared import Rows, Training
from humetric.settings.files import digest, trained
from humetric.settings.picture_cases import choose_even
from humetric.settings.text import digest_of, others, write_cases
from humetric.tasks.image_setting import image_setting, name_of
from humetric.tasks.setting import REFERENCE, Setting, outputs

FILE = "head.safetensors"
CASES = 60
"""Of each setting: 24 that simulated users see explained, and 36 that they never do."""
DECODED = (
    "{count} of {all} pictures decode to other pixels than the recorded ones (another decoder "
    "rounds differently, if the data are intact): scores differ slightly from published ones"
)


class Sample(NamedTuple):
    """A picture and its class."""

    row: Row
    label: int

    @property
    def id(self) -> str:
        """Its path from the split on."""
        return str(self.row["id"])


class Measured(NamedTuple):
    """What ``Album.measure`` is given."""

    model: nn.Module
    images: Pictures
    labels: NDArray[np.int64]


@dataclass(frozen=True)
class Album:
    """Pictures of two kinds and the network that tells them apart."""

    id: str
    source: str
    classes: tuple[str, str]
    pool: Callable[[], Sequence[Sample]]
    """The cases are among these; nothing was learned from them."""
    training: Callable[[], tuple[Pictures, NDArray[np.int64]]] | None = None
    """What a head learns from; without one the network is taken as it is."""
    groups: tuple[Sequence[int], ...] = ()
    """Where it is taken as it is: its classes in each of ours."""
    measure: Callable[[Measured], Mapping[str, float]] = lambda found: {}
    """What else there is to know of the model, beside its accuracy on the pool."""
    recipe: str = ""
    """Names what the head is trained on, in the file of its weights."""
    base: lite_head.Base = lite_head.LITE
    """The pretrained network."""

    def train(self, task: Training) -> None:
        """Fit the head and write it, unless it is there."""
        file = task.folder / FILE
        if self.training is None or (file.exists() and not task.again):
            return
        images, labels = self.training()
        task.say(f"{self.id}: features of {len(images)} pictures")
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # another number of threads makes other last digits
        try:
            network = lite_head.network(base=self.base)
            values = lite_head.features(network, lite_head.inputs(images, self.base))
            head = lite_head.fit(values, labels)
        finally:
            torch.set_num_threads(threads)
        about = {"setting": self.id, "recipe": self.recipe, "torch": torch.__version__}
        lite_head.write(head, file, about, self.base)

    def weights(self) -> tuple[nn.Module, str, str]:
        """The model, the name of its last convolution, and the checksum of what it was made of."""
        if self.training is None:
            plain = lite_head.network(base=self.base)
            found = lite_head.Grouped(plain, self.groups).eval()
            weights = lite_head.network_checksum(self.base)[:12]
            return found, name_of(plain.last_convolution, found), weights
        lite_head.network_file(self.base)  # what training would miss is named first
        file = trained(self.id, FILE, 1)
        headed = lite_head.read(file, self.base)
        return headed, name_of(headed.last_convolution, headed), digest(file)


def classified(source: str, split: str, classes: Sequence[str] | None = None) -> list[Sample]:
    """Pictures of a split; with ``classes`` those of these alone, labelled by their place in it."""
    found = rows(source, split)
    if classes is None:
        return [Sample(row, row["label"]) for row in found]
    return [Sample(row, classes.index(row["class"])) for row in found if row["class"] in classes]


def decoded(samples: Sequence[Sample]) -> tuple[Pictures, NDArray[np.int64]]:
    """Pictures and labels."""
    images = pictures([sample.row["path"] for sample in samples])
    return images, np.array([sample.label for sample in samples], dtype=np.int64)


def shuffled(samples: Sequence[Sample]) -> list[Sample]:
    """In an order that says nothing: by the checksum of their ids."""
    return sorted(samples, key=lambda sample: hashlib.sha256(sample.id.encode()).hexdigest())


def sha256(image: NDArray[np.uint8]) -> str:
    """What tells one decoded picture from another."""
    return hashlib.sha256(image.tobytes()).hexdigest()


def chosen_cases(album: Album, task: Training) -> None:
    """Balanced over the model's outputs and, as far as it errs, over whether they are right."""
    model, _, weights = album.weights()
    pool = shuffled(album.pool())
    images, labels = decoded(pool)
    scores = outputs(model, lite_head.inputs(images, album.base)).double().softmax(1).numpy()
    right = scores.argmax(1) == labels
    picked = choose_even(labels, scores[:, 1], CASES)
    measured = {"accuracy": round(float(right.mean()), 4)}
    measured |= album.measure(Measured(model, images, labels))
    for name, value in measured.items():
        task.say(f"{album.id}: {name} {value}")
    wrong = int((~right[picked]).sum())
    task.say(f"{album.id}: {len(picked)} cases of {len(pool)}, {wrong} of them errors")
    cases = [
        {
            "id": pool[i].id,
            "label": int(labels[i]),
            "predicted": int(scores[i].argmax()),
            "sha256": sha256(images[i]),
        }
        for i in picked
    ]
    write_cases(album.id, {**measured, "pool": len(pool), "weights": weights}, cases)


def load(album: Album, chosen: Mapping[str, object], wanted: Rows, baseline: str) -> Setting:
    """A setting from its cases.json and the rows of it that are wanted."""
    model, layer, weights = album.weights()
    recorded = chosen["weights"] == weights
    notes = [*others(chosen, weights)]
    listed: Rows = chosen["cases"]  # type: ignore[assignment]
    needed = listed[: max(len(wanted), REFERENCE)]
    known = {sample.id: sample for sample in album.pool()}
    missing = [row["id"] for row in needed if row["id"] not in known]
    if missing:
        raise HumetricError(
            f"Expected the pictures of {album.source} but {len(missing)} of {len(needed)} are "
            f"missing, among them {missing[0]}: humetric sources check {album.source}."
        )
    images, _ = decoded([known[row["id"]] for row in needed])
    other = sum(sha256(i) != row["sha256"] for i, row in zip(images, needed, strict=True))
    if other:
        notes.append(DECODED.format(count=other, all=len(needed)))
    made = image_setting(
        album.id,
        model,
        images,
        mean=album.base.mean,
        std=album.base.std,
        layer=layer,
        label=[row["label"] for row in needed],
        target=[row["predicted"] for row in needed] if recorded else None,
        ids=[row["id"] for row in needed],
        version=f"data {digest_of(chosen)}, weights {weights}",
        classes=album.classes,
        baseline=baseline,
    )
    return replace(made.first(len(wanted)), notes=tuple(notes))


def loader(album: Album) -> Callable[[Mapping[str, object], Rows, str], Setting]:
    """``Declared.load`` of an album."""
    return partial(load, album)
