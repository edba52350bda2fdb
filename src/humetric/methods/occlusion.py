"""Occlusion: what happens to the score when a window is covered."""

from __future__ import annotations

import torch
from torch import Tensor

from humetric.cards import EVERY
from humetric.engine.questions import Program, about, alike, chosen, intact, spread
from humetric.methods import Explainer, method
from humetric.tasks.cases import Cases


@method(
    "occlusion",
    version=1,
    reference="Zeiler & Fergus 2014, arXiv:1311.2901",
    tasks=EVERY,
)
def occlusion(size: int = 0, stride: int = 0) -> Explainer:
    """Drop of the logit when a window is replaced by the baseline, averaged over a pixel's windows.

    Size and stride are a tenth of the image (Colin et al. 2022) unless given; the last window is
    clipped at the border. In a text every word is a window.
    """

    def explain(cases: Cases) -> Program[Tensor]:
        partition, covers = cases.task.windows(size, stride)
        hides = covers.numpy()
        bits = [
            ~(hides if cases.texts is None else hides[:n, :n])
            for n in cases.sizes(partition.groups)
        ]
        key = ("occlusion", partition.name)
        hidden, whole = yield [about(cases, bits, partition, key), intact(cases)]

        def each(members: list[int], kept: Tensor) -> Tensor:
            drop = whole.logit[members, None] - chosen(hidden.logit, bits, members)
            windows = (~kept[0]).to(torch.float64)
            return drop @ windows / windows.sum(0).clamp(min=1)

        return spread(cases, partition, ((m, each(m, kept)) for m, kept in alike(bits)))

    return explain
