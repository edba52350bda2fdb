"""Occlusion: what happens to the score when a window is covered."""

from __future__ import annotations

import torch
from torch import Tensor

from humetric.engine.questions import GroupMasks, Program, about_each, intact
from humetric.methods import Explainer, method
from humetric.tasks.cases import Cases


@method("occlusion", version=1, reference="Zeiler & Fergus 2014, arXiv:1311.2901")
def occlusion(size: int = 0, stride: int = 0) -> Explainer:
    """Drop of the logit when a window is replaced by the baseline, averaged over a pixel's windows.

    Size and stride are a tenth of the image (Colin et al. 2022) unless given; the last window is
    clipped at the border.
    """

    def explain(cases: Cases) -> Program[Tensor]:
        partition, covers = cases.task.windows(size, stride)
        bits = (~covers).repeat(len(cases), 1)
        key = ("occlusion", partition.name)
        hidden, whole = yield [
            about_each(cases, GroupMasks(bits, partition), key=key),
            intact(cases),
        ]
        drop = whole.logit[:, None] - hidden.logit.view(len(cases), -1)
        windows = covers.to(torch.float64)
        per_group = drop @ windows / windows.sum(0).clamp(min=1)
        return partition.spread(per_group).view(cases.shape)

    return explain
