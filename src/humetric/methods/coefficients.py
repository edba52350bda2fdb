"""Coefficients: what a linear model itself adds up."""

from __future__ import annotations

import torch
from torch import Tensor

from humetric.methods import Explainer, method
from humetric.tasks.cases import Cases


@method(
    "coefficients",
    version=1,
    reference="used by Arora et al. 2022",
    tasks=("sentiment", "nli", "tabular"),
    needs="internals",
    reads="coefficients",
    passes=1,
)
def coefficients() -> Explainer:
    """Weight times value of each word or column in a linear model: with the bias they sum to f.

    TF-IDF values are divided by the norm of the whole text, so that removing a word also raises the
    values of the others: the logit falls by a word's attribution only if the norm stays. A column
    sums what the numbers that it is encoded as add.
    """

    def explain(cases: Cases) -> Tensor:
        if cases.table is not None:
            model = cases.tabular_module("coefficients")
            with torch.no_grad():
                added = model.contributions(cases.x)
            wanted = cases.target[:, None, None].expand(-1, added.shape[1], 1)
            summed = added.new_zeros(cases.shape)
            return summed.index_add_(1, model.source, added.gather(2, wanted)[:, :, 0])
        _, texts = cases.text()
        module = cases.text_module("coefficients")
        with torch.no_grad():
            found = module.contributions(*cases.x.unbind(1))
        own = found.gather(2, cases.target[:, None, None].expand(-1, found.shape[1], 1))
        return texts.tokens.sum(own[:, :, 0])

    return explain
