"""Embedded text settings by name: generated texts, shipped tokenizer and weights."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from humetric.data.embedded import reading
from humetric.data.embedded.inference import Pair
from humetric.data.embedded.reading import Question
from humetric.data.embedded.texts import digest, segments_of, text_dataset
from humetric.data.embedded.wording import SPLITS, Text
from humetric.errors import HumetricError
from humetric.models import stored, wordpiece
from humetric.models.convnet import WEIGHTS
from humetric.models.prototype_files import beside
from humetric.tasks.named import load_setting
from humetric.tasks.neighbours import load
from humetric.tasks.setting import Later, Setting
from humetric.tasks.text import SEGMENTS
from humetric.tasks.text_setting import text_setting
from humetric.tasks.unlabelled import Unlabelled
from humetric.tasks.words import Encoder


def samples_of(id: str, rows: Sequence[Mapping[str, Any]], data: str) -> list[Any]:
    """The samples behind the cases of a setting, checked against the recorded texts."""
    draw = reading.draw_adversarial if id.startswith("qa/adversarial/") else text_dataset(data).draw
    samples: list[Text | Pair | Question] = [draw(row["index"], "pool") for row in rows]
    other = sum(digest(s) != row["sha256"] for s, row in zip(samples, rows, strict=True))
    if other:
        raise HumetricError(
            f"Expected the recorded texts of {id} but {other} of {len(rows)} are others: data and "
            "weights of this package do not belong together. Install it again, or train the models "
            "with python -m humetric.models.train_text."
        )
    return samples


def load_text_setting(
    id: str, chosen: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], removal: str = "mask"
) -> Setting:
    """A text setting from its cases.json (`chosen`) and the rows of it that are wanted."""
    data = chosen["data"]
    samples = samples_of(id, rows, data)
    weights = WEIGHTS / chosen["weights"]
    model = stored.load(weights)
    parts = [segments_of(sample) for sample in samples]
    task = id.split("/")[0]
    spans = task == "qa"
    tokenizer = wordpiece.load(WEIGHTS / chosen["tokenizer"], model.limit or 512)
    made = text_setting(
        id,
        model,
        tokenizer,
        [part[0] if len(part) == 1 else part for part in parts],
        task=task,
        label=[tuple(row["label"]) if spans else row["label"] for row in rows],
        target=None if spans else [row["predicted"] for row in rows],
        ids=[f"{data}-{row['index']:04d}" for row in rows],
        version=f"data {chosen['data_version']}, weights "
        + hashlib.sha256(weights.read_bytes()).hexdigest()[:12],
        classes=() if spans else text_dataset(data).CLASSES,
        removal=removal,
        prototypes=None if spans else beside(weights.parent, model),
    )
    if spans:
        return made
    encoder, names = Encoder(tokenizer, model.limit), SEGMENTS[task]
    near = load(WEIGHTS / task / data / "neighbours.json", encoder, names)
    return replace(
        made,
        version=f"{made.version}, {near.version}",
        unlabelled=Unlabelled(Drawn(data), encoder, names),
        neighbours=near,
    )


WORSE = {"high": ("low", "medium"), "bert-base": ("bert-base-low", "tinybert")}
"""Readers that answer worse than another, by its name: of the paper suite, too."""


def rivals_of(id: str) -> dict[str, Callable[[], Setting]]:
    """The settings that Gonzalez et al. set beside a good reader: same questions, worse readers."""
    task, _, rest = id.partition("/")
    data, _, level = rest.partition("/")
    worse = WORSE.get(level, ()) if task == "qa" else ()
    return {n: Later(partial(load_setting, n)) for n in (f"qa/{data}/{w}" for w in worse)}


@dataclass(frozen=True)
class Drawn(Sequence[tuple[str, ...]]):
    """The unlabelled texts of a data set, each drawn when it is asked for.

    No text of their split is one of the pool, from which the cases are (see wording.py).
    """

    data: str

    def __len__(self) -> int:
        return SPLITS["extra"]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"Expected an index below {len(self)} but got {index}.")
        return _extra(self.data, index % len(self))


@cache
def _extra(data: str, index: int) -> tuple[str, ...]:
    """Drawing takes about a millisecond, and several settings share a data set."""
    return segments_of(text_dataset(data).draw(index, "extra"))
