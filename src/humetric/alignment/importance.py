"""Model importance: the absolute attribution of every feature with respect to the gold label.

Prasad et al. take integrated gradients (equation 1); any method can take their place. Steps and
baseline of a text are not in the paper: the method's own are used, and stand on its card.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from humetric.alignment.arithmetic import Values
from humetric.engine.engine import Engine
from humetric.errors import HumetricError
from humetric.methods import Method
from humetric.results.environment import environment
from humetric.results.store import Store
from humetric.run.plan import find_batch_size
from humetric.run.records import chunk_of
from humetric.run.work import Item, explanations, said
from humetric.tasks.setting import PlacedSetting, Setting

CHUNK = 12


def with_gold(setting: Setting) -> Setting:
    """The same setting with the true outputs explained instead of the model's own.

    Where the truth is beyond the model's longest input (an answer that was cut off) the model's own
    output stays; :func:`importances` leaves such a case out.
    """
    known = has_gold(setting)
    shape = (-1,) + (1,) * (setting.label.ndim - 1)
    label = torch.where(known.view(shape), setting.label, setting.target)
    return replace(setting, target=label)


def has_gold(setting: Setting) -> Tensor:
    """(cases,) bool: where the true output is within the model's input."""
    inside: Tensor = setting.label >= 0
    return inside if inside.ndim == 1 else inside.flatten(1).all(1)


def refusal(method: Method, setting: Setting) -> str:
    """Why a method cannot explain a setting; empty if it can."""
    if setting.task.id not in method.card.tasks:
        return f"{method.card.id} is for {', '.join(method.card.tasks)}, not for {setting.task.id}"
    why = setting.model.refuses(method.card.needs, method.card.reads)
    return f"{method.card.id} {why}" if why else ""


def importances(
    placed: PlacedSetting,
    method: Method,
    *,
    seed: int = 0,
    store: Store | None = None,
    batch_size: str | int = "auto",
    progress: Callable[[int], object] = lambda cases: None,
) -> list[Values]:
    """|attribution| of each case, one number per feature, for the setting's targets.

    With a store, maps are kept and read under the target ``gold``. Place ``with_gold(setting)``.
    """
    setting = placed.setting
    batch = find_batch_size(placed, batch_size)
    beside = {"batch_size": batch, "environment": environment()}
    found: list[Values] = []
    for start in range(0, len(setting), CHUNK):
        item = Item(setting.id, start, min(start + CHUNK, len(setting)), (method.card.id,), ())
        chunk = chunk_of(item, placed, seed, store, beside, target="gold")
        maps = chunk.map(method.card)
        cases = placed.cases(item.start, item.stop, seed)
        if maps is None:
            engine = Engine(cases, placed.fast_module, placed.placement.dtype, batch, memory=chunk)
            made = explanations([method], engine)[method.card.id]
            if isinstance(made, Exception):
                raise HumetricError(f"{method.card.id} failed on {setting.id}. {said(made)}")
            maps = made
            chunk.keep_map(method.card, maps, engine.rows, 0.0, engine.asked)
        numbers = maps.attribution.double().abs().flatten(1).cpu().numpy()
        found += [row[:n] for row, n in zip(numbers, cases.lengths, strict=True)]
        progress(len(cases))
    return [
        values if known else np.full_like(values, np.nan)
        for values, known in zip(found, has_gold(setting).tolist(), strict=True)
    ]
