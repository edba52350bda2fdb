"""captum's Lime set up to do what ours does: the same samples, weights of samples, and ridge."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from captum._utils.models.linear_model import SkLearnRidge
from captum.attr import Lime
from torch import Tensor

from humetric.tasks.cases import Cases

WIDTH = 0.25


def samples_of(cases: Cases, count: int) -> list[np.ndarray]:
    """The samples that our LIME draws for each case, and the intact text."""
    draws = zip(cases.rng("lime"), cases.lengths, strict=True)
    return [
        np.concatenate((rng.random((count, n)) < 0.5, np.ones((1, n), bool))) for rng, n in draws
    ]


def captum_lime(cases: Cases, samples: list[np.ndarray], at_once: int) -> list[np.ndarray]:
    """Weights of each word of each case, case by case as captum goes."""
    task, texts = cases.text()
    found = []
    for i, bits in enumerate(samples):
        count = int(texts.tokens.counts[i])
        ids, attention, types = cases.x[i : i + 1, :, :count].unbind(1)
        word = texts.tokens.word[i, :count]
        inside = word >= 0
        target = int(cases.target[i])
        upcoming: Iterator[np.ndarray] = iter(bits)

        def probability(
            x: Tensor, attention: Tensor = attention, types: Tensor = types, target: int = target
        ) -> Tensor:
            rows = len(x)
            with torch.inference_mode():
                given = x, attention.expand(rows, -1), types.expand(rows, -1)
                return cases.model.module(*given).softmax(1)[:, target]

        def likeness(original: Tensor, changed: Tensor, kept: Tensor, **_: object) -> Tensor:
            distance = 1 - kept.double().mean().sqrt()
            return torch.exp(-((distance / WIDTH) ** 2) / 2)

        def draw(
            original: Tensor, upcoming: Iterator[np.ndarray] = upcoming, **_: object
        ) -> Tensor:
            return torch.from_numpy(next(upcoming)[None].astype(np.int64))

        lime = Lime(
            probability,
            interpretable_model=SkLearnRidge(alpha=1.0),
            similarity_func=likeness,
            perturb_func=draw,
        )
        removed = torch.where(inside[None], torch.full_like(ids, task.removed), ids)
        weights = lime.attribute(
            ids,
            baselines=removed,
            feature_mask=word.clamp(min=0)[None],  # special tokens are the same in both
            n_samples=len(bits),
            perturbations_per_eval=at_once,
            return_input_shape=False,
        )
        found.append(weights[0].double().numpy())
    return found
