"""Prototype models that nobody trained: cases chosen by hand stand for classes."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np
import torch
from tabular_support import network, rows, table_setting
from text_support import NEAR, SENTENCES, bert, setting, wordpiece
from torch import Tensor, nn

from humetric.models.prototypes import (
    PrototypeModel,
    PrototypeModels,
    Prototypes,
    Shown,
    around,
    models_of,
)
from humetric.models.tabular import TabularModel
from humetric.models.text import TextModel
from humetric.tasks.setting import Setting
from humetric.tasks.text import SEGMENTS
from humetric.tasks.text_setting import packed
from humetric.tasks.words import Encoder

EACH = 3
"""Prototypes of a class."""


def inputs(task: str, model: TextModel) -> list[tuple[tuple[str, ...], Tensor]]:
    """Texts that are no cases, and each as the model takes it."""
    encoder = Encoder(wordpiece(), model.limit)
    texts: list[tuple[str, ...]] = [(s,) for s in SENTENCES]
    if len(SEGMENTS[task]) == 2:
        texts = [(one, other) for one, other in itertools.permutations(SENTENCES[:4], 2)]
    return [(t, packed([encoder.encode(t)], [t], SEGMENTS[task], 0)[0]) for t in texts]


def made(
    extractor: nn.Module, owner: list[int], latent: Tensor, shown: list[Shown], scale: float = 0.0
) -> PrototypeModel:
    """A model of prototypes with these latents; activations of others are about .4 by default."""
    layer = Prototypes(owner, latent.shape[1])
    apart = torch.cdist(latent, latent).square()
    with torch.no_grad():
        layer.vectors.copy_(latent)
        layer.scale.fill_(scale or float(apart[apart > 0].median()))
    return around(extractor, layer, shown).eval()


def text_prototypes(task: str, model: TextModel, classes: int) -> PrototypeModels:
    """Both variants, with different prototypes and, in ``own``, another extractor."""
    own = copy.deepcopy(model)
    with torch.no_grad():
        for weight in own.parameters():
            weight *= 1.05
    found = []
    for extractor, first in ((own, 0), (model, 1)):
        chosen = (inputs(task, model) * 2)[first : first + EACH * classes]
        owner = [i // EACH for i in range(len(chosen))]
        with torch.no_grad():
            latent = torch.cat(
                [extractor.features(extractor.embed(x[:, 0]), x[:, 1], x[:, 2]) for _, x in chosen]
            )
        shown = [Shown(t, owner[i], i, "train") for i, (t, _) in enumerate(chosen)]
        found.append(made(extractor, owner, latent, shown))
    return models_of(*found)


def equipped(task: str = "sentiment", **options: Any) -> Setting:
    """A setting of texts with all that methods may use."""
    if task == "qa":
        return setting(task, **options)
    classes = 3 if task == "nli" else 2
    model = options.pop("model", None) or bert(classes=classes)
    models = text_prototypes(task, model, classes)
    return setting(task, model, **{"neighbours": NEAR, "prototypes": models} | options)


def table_prototypes(model: TabularModel, classes: int = 2) -> PrototypeModels:
    """The same of rows."""
    found = []
    for first in (0, 7):
        values = rows(EACH * classes + 7, 11)[first : first + EACH * classes]
        owner = [i // EACH for i in range(len(values))]
        with torch.no_grad():
            latent = model.features(torch.tensor(values, dtype=torch.float32))
        shown = [Shown(tuple(v), owner[i], i, "train") for i, v in enumerate(values.tolist())]
        found.append(made(model, owner, latent, shown))
    return models_of(*found)


def equipped_table(cases: int = 6, **options: Any) -> Setting:
    """A setting of rows with prototype models."""
    model = network()
    return table_setting(model, cases, **{"prototypes": table_prototypes(model)} | options)


def plain_activations(latent: np.ndarray, model: PrototypeModel) -> np.ndarray:
    """(rows, prototypes), loop by loop."""
    vectors = model.layer.vectors.detach().double().numpy()
    scale = float(model.layer.scale)
    return np.array(
        [[np.exp(-sum((a - b) ** 2 for a, b in zip(z, p, strict=True)) / scale) for p in vectors]
         for z in latent]
    )  # fmt: skip
