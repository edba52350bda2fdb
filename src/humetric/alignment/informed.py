"""The soft oracle: importance in a model that has read the explanation (equation 3).

An explanation-informed model has the architecture of the model in question and reads the input
followed by an explanation: the input's own tokens, those of the explanation, and the input's last
special token again, all with the type of the last segment. It predicts the label and whether the
explanation belongs to the input: class = label if it does, label + number of labels if not. Oracle
importance is |integrated gradients| of the gold label, matched for the case's own explanation and
mismatched for another's, kept at the tokens of the input. The path runs over all tokens, those of
the explanation included. There are several, of different seeds; each is an oracle.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from humetric.alignment.arithmetic import REDRAWS, Values, constant
from humetric.engine.placement import Placement
from humetric.errors import HumetricError
from humetric.methods import Method
from humetric.methods.gradients import integrated_gradients
from humetric.models import stored
from humetric.models.model import Model
from humetric.models.text import TextModel
from humetric.results.environment import environment
from humetric.results.identity import definition
from humetric.results.store import Store
from humetric.tasks.setting import PlacedSetting, Setting
from humetric.tasks.text import Texts, TextTask, Tokens
from humetric.tasks.words import Encoder


@dataclass(frozen=True)
class Informed:
    """An explanation-informed model, its seed, and what tells its weights from others."""

    model: TextModel
    seed: int
    version: str


def embedded_informed(setting: str) -> tuple[Informed, ...]:
    """The explanation-informed models that come with a setting; none for most."""
    from humetric.models.convnet import WEIGHTS

    files = sorted((WEIGHTS / setting).glob("explained-*.safetensors"))
    return tuple(
        Informed(stored.load(file), int(file.stem.removeprefix("explained-")), _digest(file))
        for file in files
    )


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]


@dataclass(frozen=True)
class SoftOracle:
    """One informed model on the cases of a setting whose features are tokens."""

    setting: Setting
    informed: Informed
    placement: Placement
    pieces: tuple[tuple[int, ...], ...]
    """Tokens of each case's explanation, without special ones."""
    method: Method

    def __call__(self, case: int, explanation: int) -> Values:
        """Importance of the case's tokens, given the explanation of a case (its own or another)."""
        placed, real = self._read(case, explanation)
        found = self.method.explain(placed.cases(0, 1))
        assert isinstance(found, torch.Tensor)
        numbers: Values = found[0, :real].double().abs().cpu().numpy()
        return numbers

    def _read(self, case: int, explanation: int) -> tuple[PlacedSetting, int]:
        """The input with an explanation as a setting of one case, and its own features."""
        texts, label = self.setting.texts, int(self.setting.label[case])
        assert texts is not None
        assert isinstance(self.setting.task, TextTask)
        count = int(texts.tokens.counts[case])
        ids, _, types = self.setting.x[case, :, :count]
        limit = self.informed.model.limit
        room = None if limit is None else limit - count - 1
        if room is not None and room < 0:
            raise HumetricError(
                f"Expected room for an explanation after {self.setting.ids[case]} but it has "
                f"{count} tokens and the explanation-informed model takes {limit}."
            )
        added = [*self.pieces[explanation][:room], int(ids[-1])]
        kind = torch.full((len(added),), int(types[-1]))
        x = torch.stack(
            (
                torch.cat((ids, torch.tensor(added))),
                torch.ones(count + len(added), dtype=torch.long),
                torch.cat((types, kind)),
            )
        )[None]
        own = texts.tokens.word[case, :count]
        real = len(texts.words[case])
        more = len(added) - 1
        word = torch.cat((own, torch.arange(real, real + more), torch.tensor([-1])))
        part = torch.where(word >= 0, 0, -1)
        tokens = Tokens(
            word[None],
            part[None],
            torch.cat((texts.tokens.sizes[case, :real], torch.ones(more, dtype=torch.long)))[None],
            torch.tensor([x.shape[2]]),
        )
        words = (tuple(map(str, range(real + more))),)
        shown = Texts(
            raw=(("",),),
            words=words,
            segment=((0,) * (real + more),),
            names=("text",),
            cut=(0,),
            tokens=tokens,
            offset=torch.zeros(1, x.shape[2], 2, dtype=torch.long),
        )
        task = replace(self.setting.task, words=real + more, longest=x.shape[2])
        classes = len(self.setting.classes) or int(self.setting.label.max()) + 1
        target = label if explanation == case else label + classes
        module = self.informed.model
        made = Setting(
            id=self.setting.id,
            version=self.informed.version,
            task=task,
            model=Model(self.setting.id, module, gives=module.gives, reads=module.reads),
            ids=(self.setting.ids[case],),
            x=x,
            baseline=x[:, None],
            target=torch.tensor([target]),
            label=torch.tensor([target]),
            texts=shown,
        )
        return PlacedSetting(made, self.placement, made.model, module, 80), real


def soft_oracles(
    setting: Setting,
    explanations: Sequence[str],
    informed: Sequence[Informed],
    tokenizer: Any,
    placement: Placement,
) -> list[SoftOracle]:
    """An oracle for each informed model."""
    encoder = Encoder(tokenizer, None)
    pieces = []
    for explanation in explanations:
        found = encoder.encode((explanation,))
        pieces.append(
            tuple(id for id, word in zip(found.ids, found.word, strict=True) if word >= 0)
        )
    return [
        SoftOracle(
            setting,
            replace(one, model=cast(TextModel, placement.module(one.model))),
            placement,
            tuple(pieces),
            integrated_gradients(),
        )
        for one in informed
    ]


class SoftMaps(NamedTuple):
    """Importances by one informed model, for each case."""

    own: list[Values]
    """With the case's own explanation."""
    other: list[Values | None]
    """With the first other explanation that leaves them varying; None where none of them did."""


def soft_maps(
    oracle: SoftOracle, candidates: Sequence[Sequence[int]], store: Store | None = None
) -> SoftMaps:
    """Own and other importances; ``candidates``: for each case, whose explanations to try.

    They do not depend on the method in question, so that with a store they are computed once.
    """
    identity = _identity(oracle, candidates)
    found = store.get(identity) if store is not None else None
    texts = oracle.setting.texts
    assert texts is not None
    sizes = [len(words) for words in texts.words]
    if found is None:
        maps = SoftMaps([], [])
        for case, others in enumerate(candidates):
            maps.own.append(oracle(case, case))
            tried = (oracle(case, other) for other in others[: 1 + REDRAWS])
            maps.other.append(next((o for o in tried if not constant(o)), None))
        if store is not None:
            tensors = {name: _padded(getattr(maps, name), max(sizes)) for name in maps._fields}
            store.put(identity, tensors, {"environment": environment()})
        return maps
    own, other = (found.tensors[name].numpy() for name in SoftMaps._fields)
    return SoftMaps(
        [row[:n] for row, n in zip(own, sizes, strict=True)],
        [None if np.isnan(row[0]) else row[:n] for row, n in zip(other, sizes, strict=True)],
    )


def _identity(oracle: SoftOracle, candidates: Sequence[Sequence[int]]) -> dict[str, Any]:
    setting = oracle.setting
    told = [oracle.pieces, [list(others[: 1 + REDRAWS]) for others in candidates]]
    return {
        "kind": "oracle",
        "setting": setting.id,
        "setting_version": setting.version,
        "cases": list(setting.ids),
        "informed": oracle.informed.version,
        "explanations": hashlib.sha256(json.dumps(told).encode()).hexdigest(),
        "method": definition(oracle.method.card),
        "device": oracle.placement.device.type,
        "precision": oracle.placement.precision,
    }


def _padded(rows: Sequence[Values | None], width: int) -> Tensor:
    """(cases, width), NaN where there is nothing."""
    out = torch.full((len(rows), width), torch.nan, dtype=torch.float64)
    for i, row in enumerate(rows):
        if row is not None:
            out[i, : len(row)] = torch.from_numpy(row)
    return out
