"""Importance alignment of one model, case by case and oracle by oracle."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from humetric.alignment import oracles
from humetric.alignment.arithmetic import Pair, Values, drawn, pair
from humetric.alignment.features import Level, by_tokens, check_level, features_of, said_in
from humetric.alignment.importance import importances, refusal, with_gold
from humetric.alignment.informed import Informed, embedded_informed, soft_maps, soft_oracles
from humetric.alignment.marks import NO_MARKS, Marks, planted, read_marks
from humetric.alignment.real import readers, reasons, settings_with_reasons
from humetric.cards import MethodCard
from humetric.engine.placement import Placement, place
from humetric.errors import HumetricError
from humetric.methods import METHODS, Method
from humetric.results.store import Store
from humetric.tasks.named import load_setting
from humetric.tasks.setting import Setting
from humetric.tasks.words import Encoder

DEFAULT = "integrated-gradients"
NO_EXPLANATIONS = "no explanations in words"
NO_INFORMED = "no explanation-informed model"


@dataclass(frozen=True)
class Measured:
    """C and C_R of a model's cases by oracle, and what they were made from."""

    setting: str
    version: str
    task: str
    level: Level
    method: MethodCard
    source: str
    """Whose marks: ``planted``, ``people``, ``reasons`` (by people, without marks), or empty."""
    annotators: int
    """Of the case that most looked at."""
    informed: tuple[int, ...]
    """Seeds of the explanation-informed models."""
    family: str
    """Architecture of the model; of a transformer its kind, e.g. bert."""
    parameters: int
    ids: tuple[str, ...]
    right: NDArray[np.bool_]
    pairs: Mapping[str, tuple[Pair, ...]]
    """By oracle; of the soft one, means over seeds."""
    absent: Mapping[str, str]
    """Oracle -> why there is none."""
    oracles: Mapping[str, tuple[Values, ...]]
    """Oracle importances of every case; of the soft one, means over seeds."""
    notes: tuple[str, ...] = ()
    """What a reader must know of the setting."""


def measure(
    setting: Setting,
    method: Method | None = None,
    *,
    marks: Marks | None = None,
    tokenizer: Any = None,
    informed: Sequence[Informed] = (),
    level: str = "tokens",
    seed: int = 0,
    placement: Placement | None = None,
    store: Store | None = None,
    progress: Callable[[int], object] = lambda cases: None,
) -> Measured:
    """Alignment of a model's importances, by default |integrated gradients| for the gold label.

    ``marks`` are explanations and marks of the setting's cases; images have those of their
    ``region``. The setting's ``label`` is the gold label. ``tokenizer`` is needed where there are
    explanations; ``informed`` gives the soft oracle. ``level`` is ``tokens``, the model's own, or
    ``words``, whose importance is the absolute sum over their tokens.
    """
    method = METHODS.make(DEFAULT) if method is None else method
    placement = place() if placement is None else placement
    chosen = check_level(level)
    why = refusal(method, setting)
    if why:
        raise HumetricError(f"Importance alignment of {setting.id} cannot be measured: {why}.")
    cut = with_gold(setting)
    if setting.texts is not None and chosen == "tokens":
        cut = by_tokens(cut)
    found = importances(cut.place(placement), method, seed=seed, store=store, progress=progress)
    told = marks.explanations if marks is not None else ("",) * len(setting)
    candidates = drawn(setting.ids, told, seed)
    pairs: dict[str, tuple[Pair, ...]] = {}
    absent: dict[str, str] = {}
    own: dict[str, tuple[Values, ...]] = {}

    def add(name: str, mine: Sequence[Values], make: Callable[[int, int], Values]) -> None:
        own[name] = tuple(mine)
        pairs[name] = tuple(
            pair(found[i], mine[i], _tried(make, i, candidates[i])) for i in range(len(found))
        )

    if cut.texts is None:
        _regions(setting, add, absent)
    elif marks is None:
        absent |= dict.fromkeys(oracles.ORACLES, NO_MARKS)
    else:
        listed = features_of(cut.texts)
        if marks.marked:
            # A case that nobody looked at has a constant oracle: undefined.
            shares = [
                oracles.expert(f, a) if a else np.zeros(len(f))
                for f, a in zip(listed, marks.annotators, strict=True)
            ]
            words = [
                oracles.marked_texts(f, a) for f, a in zip(listed, marks.annotators, strict=True)
            ]
            add(
                "expert",
                shares,
                lambda i, j: (
                    oracles.expert_of_another(listed[i], words[j])
                    if words[j]
                    else np.zeros(len(listed[i]))
                ),
            )
        else:
            absent["expert"] = NO_MARKS
        if not marks.explained:
            absent |= dict.fromkeys(("hard", "soft"), NO_EXPLANATIONS)
        else:
            if tokenizer is None:
                raise HumetricError(
                    f"Expected the tokenizer of {setting.id}: explanations are cut as the model "
                    f"cuts its input. Give it as tokenizer=..."
                )
            encoder = Encoder(tokenizer, None)
            said = [said_in(e, encoder, chosen) if e else frozenset() for e in told]
            add(
                "hard",
                [oracles.hard(f, s) for f, s in zip(listed, said, strict=True)],
                lambda i, j: oracles.hard(listed[i], said[j]),
            )
            if informed:
                maps = [
                    soft_maps(oracle, candidates, store)
                    for oracle in soft_oracles(cut, told, informed, tokenizer, placement)
                ]
                own["soft"] = tuple(
                    np.mean(rows, 0) for rows in zip(*(m.own for m in maps), strict=True)
                )
                pairs["soft"] = tuple(
                    _mean([_soft(found[i], m.own[i], m.other[i], told[i]) for m in maps])
                    for i in range(len(found))
                )
            else:
                absent["soft"] = NO_INFORMED
    return Measured(
        setting=setting.id,
        version=setting.version,
        task=setting.task.id,
        level=chosen,
        method=method.card,
        source="planted" if cut.texts is None else "" if marks is None else marks.source,
        annotators=max(map(len, marks.annotators), default=0) if marks is not None else 0,
        informed=tuple(one.seed for one in informed),
        family=_family(setting.model.module),
        parameters=sum(p.numel() for p in setting.model.module.parameters()),
        ids=setting.ids,
        right=setting.right.numpy(),
        pairs=pairs,
        absent=absent,
        oracles=own,
        notes=setting.notes,
    )


def measure_named(
    id: str,
    method: Method | None = None,
    *,
    cases: int | None = None,
    marks: Path | None = None,
    level: str = "tokens",
    seed: int = 0,
    placement: Placement | None = None,
    store: Store | None = None,
    progress: Callable[[int], object] = lambda cases: None,
) -> Measured:
    """The same by name. Marks are a file's, or what was planted, or the data's own reasons."""
    setting = load_setting(id, cases)
    real = id in settings_with_reasons()
    own = reasons if real else planted
    known = own(setting) if marks is None else read_marks(marks, setting)
    tokenizer: Any = None
    informed: tuple[Informed, ...] = ()
    if known is not None and known.explained and real:
        tokenizer, informed = readers(id)
    elif known is not None and known.explained:
        from humetric.models import wordpiece
        from humetric.models.convnet import WEIGHTS

        chosen = json.loads((WEIGHTS / id / "cases.json").read_text())
        tokenizer = wordpiece.load(WEIGHTS / chosen["tokenizer"], 512)
        informed = embedded_informed(id)
    return measure(
        setting,
        method,
        marks=known,
        tokenizer=tokenizer,
        informed=informed,
        level=level,
        seed=seed,
        placement=placement,
        store=store,
        progress=progress,
    )


def _family(module: nn.Module) -> str:
    config = getattr(getattr(module, "model", None), "config", None)
    kind = getattr(config, "model_type", "")
    return str(kind or getattr(module, "architecture", type(module).__name__.lower()))


def _tried(
    make: Callable[[int, int], Values], case: int, others: Sequence[int]
) -> Iterator[Callable[[], Values]]:
    for other in others:
        yield lambda other=other: make(case, other)  # type: ignore[misc]


def _regions(
    setting: Setting,
    add: Callable[[str, Sequence[Values], Callable[[int, int], Values]], None],
    absent: dict[str, str],
) -> None:
    """Images: what was planted where is the expert's mark, another case's is in the same place."""
    absent |= dict.fromkeys(("hard", "soft"), NO_EXPLANATIONS)
    if setting.region is None:
        absent["expert"] = NO_MARKS
        return
    shown = list(setting.region.flatten(1).double().numpy())
    add("expert", shown, lambda i, j: shown[j])


def _soft(importance: Values, own: Values, other: Values | None, told: str) -> Pair:
    if not told:
        return Pair(math.nan, math.nan, -1, NO_EXPLANATIONS)
    if other is None:
        return pair(importance, own, ())
    return pair(importance, own, (lambda: other,))


def _mean(found: Sequence[Pair]) -> Pair:
    """Mean C and C_R over the informed models that define both."""
    defined = [p for p in found if not p.why]
    if not defined:
        return found[0]
    return Pair(
        float(np.mean([p.c for p in defined])),
        float(np.mean([p.c_random for p in defined])),
        defined[0].other,
        "",
    )
