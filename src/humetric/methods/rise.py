"""RISE: pixels are important if the score is high whenever they are seen."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from humetric.engine.questions import GridMasks, Program, about_each, make
from humetric.methods import Explainer, method
from humetric.tasks.cases import Cases

BLOCK = 256


@method("rise", version=1, reference="Petsiuk et al. 2018, arXiv:1806.07421", signed=False)
def rise(samples: int = 4000, cells: int = 7, share: float = 0.5) -> Explainer:
    """Mean of random smooth masks, each weighted by the class probability of the masked image.

    Masks are coarse grids of bits (kept with probability ``share``), shifted by up to one cell and
    enlarged bilinearly; the sum is divided by ``share`` x samples.
    """

    def explain(cases: Cases) -> Program[Tensor]:
        height, width = cases.task.features
        draws = [
            (rng.random((samples, cells + 2, cells + 2)) < share, rng.random((samples, 2)))
            for rng in cases.rng("rise")
        ]
        dtype = cases.x.dtype
        masks = GridMasks(
            torch.from_numpy(np.concatenate([bits for bits, _ in draws])).to(dtype),
            torch.from_numpy(np.concatenate([shift for _, shift in draws])).to(dtype),
            (height, width),
        )
        key = ("rise", samples, cells, share)
        (answers,) = yield [about_each(cases, masks, key=key)]
        score = answers.probability.to(dtype)
        maps = torch.zeros(len(cases), cases.features, dtype=dtype)
        for case in range(len(cases)):
            for start in range(case * samples, (case + 1) * samples, BLOCK):
                stop = min(start + BLOCK, (case + 1) * samples)
                maps[case] += score[start:stop] @ make(masks, start, stop, dtype)
        return (maps / (share * samples)).view(cases.shape)

    return explain
