"""Texts whose words are worth a known amount: the log odds of the second class are their sum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import torch
from support import engine_for
from text_support import SPECIAL
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import Tensor, nn

from humetric.engine.engine import Engine
from humetric.methods.explanation import Explanation
from humetric.metrics.panel import LEARNING, Panel, Shown
from humetric.models.text import TextModel
from humetric.tasks.setting import Setting
from humetric.tasks.text_setting import text_setting


class Sum(TextModel):
    """Two classes; the log odds of the second are the sum of its words' weights and a bias."""

    architecture: ClassVar[str] = "sum"

    def __init__(self, weight: Tensor, bias: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.double())
        self.bias = bias

    @classmethod
    def make(cls, config: Mapping[str, Any]) -> Self:
        return cls(**config)

    def config_dict(self) -> dict[str, Any]:
        return {"weight": self.weight.tolist(), "bias": self.bias}

    def forward(self, ids: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        odds = (self.weight[ids] * attention).sum(1) + self.bias
        return torch.stack((-odds / 2, odds / 2), 1)


def sum_setting(
    texts: Sequence[str] | Sequence[tuple[str, str]],
    weights: Mapping[str, float],
    bias: float = 0.0,
    task: str = "sentiment",
    **options: Any,
) -> Setting:
    """Texts of known words; words without a weight are worth nothing."""
    parts = [p for text in texts for p in ([text] if isinstance(text, str) else text)]
    words = sorted({word for part in parts for word in part.split()})
    place = {name: i for i, name in enumerate([*SPECIAL, *words])}
    tokenizer = Tokenizer(models.WordLevel(place, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    weight = torch.tensor([weights.get(name, 0.0) for name in place])
    return text_setting(
        f"{task}/sum/test", Sum(weight, bias), tokenizer, list(texts), task=task, **options
    )


Maps = Callable[[Setting], Tensor]
"""Attributions (cases, words) of a setting's cases."""


def true_weights(setting: Setting) -> Tensor:
    """What each word adds to the log odds of the explained class."""
    assert setting.texts is not None
    module = setting.model.module
    assert isinstance(module, Sum)
    sign = setting.target * 2.0 - 1
    own = module.weight.detach()[setting.x[:, 0]] * setting.x[:, 1] * sign[:, None]
    return setting.texts.tokens.sum(own)


def opened(setting: Setting, seed: int = 0) -> tuple[Panel, Engine]:
    """A setting's panel, and the engine that its questions go to."""
    engine = engine_for(setting)
    object.__setattr__(engine.cases, "seed", seed)
    return Panel(engine.cases, LEARNING, setting.label, setting.right.numpy(), setting), engine


def shown_by(setting: Setting, maps: Maps, seen: list[Setting] | None = None, **more: Any) -> Shown:
    """What a method shows of a setting's learning cases; ``seen`` gets what it explains later."""

    def again(other: Setting) -> Explanation:
        if seen is not None:
            seen.append(other)
        return Explanation(maps(other))

    made = maps(setting.first(LEARNING)).double()
    wide = torch.zeros(LEARNING, setting.task.features[0], dtype=torch.float64)
    wide[:, : made.shape[1]] = made
    return Shown(wide, Explanation(made, setting=more), again)
