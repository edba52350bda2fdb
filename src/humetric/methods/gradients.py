"""Methods that differentiate the model: they see how the score would move, not how it does move.

The score is the logit of the explained output (Colin et al. 2022, supplement D.1). Texts are
differentiated with respect to their embeddings, rows of a table to their encoded columns, which
take the place of channels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from captum.attr import IntegratedGradients, LayerAttribution, LayerGradCam, Saliency
from torch import Tensor

from humetric.cards import EVERY
from humetric.errors import HumetricError
from humetric.methods import Explainer, method
from humetric.methods.text_gradients import BASELINES, One, to_words
from humetric.tasks.cases import Cases


@dataclass(frozen=True)
class Inner:
    """What images and rows are differentiated by: pixels in channels, or encoded columns."""

    x: Tensor
    baseline: Tensor
    logits: Callable[[Tensor], Tensor]
    sum: Callable[[Tensor], Tensor]
    """A number for each of x -> a number for each feature."""
    rows: int
    """Inputs that fit into one backward pass."""

    def norm(self, values: Tensor) -> Tensor:
        """L2 norm over the numbers of a feature."""
        return self.sum(values.square()).sqrt()

    def gradient(self, x: Tensor, target: Tensor) -> Tensor:
        """Gradient of the logit with respect to x."""
        saliency = Saliency(self.logits)
        return torch.cat(
            [
                saliency.attribute(block, target=of, abs=False).detach()
                for block, of in _blocks(x, target, self.rows)
            ]
        )


def inner(cases: Cases) -> Inner:
    """Where gradients of images and of rows begin.

    A row is compared with the mean of its encoded baseline rows: the path from several at once.
    """
    if cases.table is None:
        return Inner(
            cases.x, cases.baseline[:, 0], cases.module(), lambda v: v.sum(1), cases.gradient_rows
        )
    model = cases.tabular_module()
    with torch.no_grad():
        x = model.encode(cases.x)
        start = model.encode(cases.baseline.flatten(0, 1)).view(*cases.baseline.shape[:2], -1)

    def summed(values: Tensor) -> Tensor:
        return values.new_zeros(len(values), cases.features).index_add_(1, model.source, values)

    return Inner(x, start.mean(1), model.from_encoded, summed, cases.gradient_rows)


@method(
    "saliency",
    version=1,
    reference="Simonyan et al. 2014, arXiv:1312.6034",
    tasks=EVERY,
    needs="gradient",
    signed=False,
    passes=1,
)
def saliency() -> Explainer:
    """L2 norm over channels of the gradient of the logit: |df/dx|.

    In a text over the embedding's dimensions; a word sums its tokens' norms. In a table over the
    numbers that a column is encoded as.
    """

    def explain(cases: Cases) -> Tensor:
        if cases.texts is not None:
            return to_words(cases, lambda i, one: one.gradient(one.embedded)[0].norm(dim=1))
        of = inner(cases)
        return of.norm(of.gradient(of.x, cases.target))

    return explain


@method(
    "gradient-input",
    version=1,
    reference="Shrikumar et al. 2017, arXiv:1605.01713; absolute gradient as in Colin et al. 2022",
    tasks=EVERY,
    needs="gradient",
    passes=1,
)
def gradient_input(absolute: bool = True) -> Explainer:
    """Input times gradient, summed over channels; for images times its absolute value.

    Colin et al. define x * |gradient|; ``absolute=False`` is the usual signed product. For texts
    and rows of a table it is always the signed one.
    """

    def of_text(i: int, one: One) -> Tensor:
        return (one.embedded * one.gradient(one.embedded))[0].sum(1)

    def explain(cases: Cases) -> Tensor:
        if cases.texts is not None:
            return to_words(cases, of_text)
        of = inner(cases)
        gradient = of.gradient(of.x, cases.target)
        return of.sum(of.x * (gradient.abs() if absolute and cases.table is None else gradient))

    return explain


@method(
    "integrated-gradients",
    version=1,
    reference="Sundararajan et al. 2017, arXiv:1703.01365",
    tasks=EVERY,
    needs="gradient",
    passes="points",
)
def integrated_gradients(points: int = 80, text_baseline: str = "mask") -> Explainer:
    """Gradient integrated along the straight path from the baseline, times the distance.

    Trapezoid rule on ``points`` points, both ends included; signed sum over channels. Its sum is
    f(x) - f(baseline) up to the error of the rule. captum weights the n points by 1/n, so that
    its trapezoid sums to (n-1)/n; that is mended here.

    Images start from the setting's baseline, rows of a table from the mean of their encoded
    baseline rows. Texts start from embeddings with every word replaced:
    by the mask token's (the unknown token's where there is none), the padding token's, or zero
    (``text_baseline``: mask, pad, zero); special tokens stay as they are. With ``mask`` the end
    points are those of removal by mask.
    """
    if text_baseline not in BASELINES:
        raise HumetricError(
            f"Expected a text_baseline of {', '.join(BASELINES)} but got {text_baseline!r}."
        )

    def of_text(i: int, one: One) -> Tensor:
        start = one.baseline(text_baseline)
        share = torch.linspace(0, 1, points).to(start)
        weight = torch.full_like(share, 1 / max(1, points - 1))
        weight[[0, -1]] /= 2 if points > 1 else 1
        path = start + share[:, None, None] * (one.embedded - start)
        mean = (one.gradient(path) * weight[:, None, None]).sum(0)
        return (mean * (one.embedded - start)[0]).sum(1)

    def explain(cases: Cases) -> Tensor:
        if cases.texts is not None:
            return to_words(cases, of_text)
        begin, rows = inner(cases), cases.gradient_rows
        attribute = IntegratedGradients(begin.logits).attribute
        baseline = begin.baseline.expand_as(begin.x)
        blocks = zip(_blocks(begin.x, cases.target, rows), torch.split(baseline, rows), strict=True)
        integrated = torch.cat(
            [
                attribute(
                    block,
                    baselines=base,
                    target=of,
                    n_steps=points,
                    method="riemann_trapezoid",
                    internal_batch_size=rows,
                ).detach()
                for (block, of), base in blocks
            ]
        )
        return begin.sum(integrated) * (points / (points - 1))

    return explain


@method(
    "smoothgrad",
    version=1,
    reference="Smilkov et al. 2017, arXiv:1706.03825",
    tasks=EVERY,
    needs="gradient",
    signed=False,
    passes="samples",
)
def smoothgrad(samples: int = 80, sigma: float = 0.2, relative: bool = True) -> Explainer:
    """Norm over channels of the mean gradient at noisy copies of the input.

    ``sigma`` is a share of the input's range (as in the original paper), or absolute. Noise is
    drawn per case, which is why captum's NoiseTunnel is not used: there a case gets other noise
    alone than in a batch. Texts get noise on the embeddings of their words, whose range it is a
    share of; a word sums its tokens' norms.
    """

    def of_texts(cases: Cases) -> Tensor:
        rngs = cases.rng("smoothgrad")

        def of_text(i: int, one: One) -> Tensor:
            x, inside = one.embedded, (one.word >= 0)[:, None]
            own = x[0, one.word >= 0]
            scale = sigma * (own.amax() - own.amin()) if relative else sigma
            total = torch.zeros_like(x[0])
            for start in range(0, samples, one.rows):
                rows = min(one.rows, samples - start)
                noise = rngs[i].standard_normal((rows, *x.shape[1:]), dtype=np.float32)
                noisy = x + scale * inside * torch.from_numpy(noise).to(x)
                total += one.gradient(noisy).sum(0)
            norm: Tensor = (total / samples).norm(dim=1)
            return norm

        return to_words(cases, of_text)

    def explain(cases: Cases) -> Tensor:
        if cases.texts is not None:
            return of_texts(cases)
        maps, of = [], inner(cases)
        for i, rng in enumerate(cases.rng("smoothgrad")):
            x = of.x[i : i + 1]
            scale = sigma * (x.amax() - x.amin()) if relative else sigma
            total = torch.zeros_like(x)
            for start in range(0, samples, cases.gradient_rows):
                rows = min(cases.gradient_rows, samples - start)
                noise = rng.standard_normal((rows, *x.shape[1:]), dtype=np.float32)
                noisy = x + scale * torch.from_numpy(noise).to(x)
                total += of.gradient(noisy, cases.target[i].expand(rows)).sum(0, keepdim=True)
            maps.append(of.norm(total / samples))
        return torch.cat(maps)

    return explain


@method(
    "grad-cam",
    version=1,
    reference="Selvaraju et al. 2017, arXiv:1610.02391",
    needs="internals",
    signed=False,
    passes=1,
)
def grad_cam() -> Explainer:
    """Last convolution's maps weighted by their mean gradient, ReLU, enlarged bilinearly."""

    def explain(cases: Cases) -> Tensor:
        grad_cam = LayerGradCam(cases.module(), cases.layer())
        coarse = torch.cat(
            [
                grad_cam.attribute(block, target=of, relu_attributions=True)
                for block, of in _blocks(cases.x, cases.target, cases.gradient_rows)
            ]
        ).detach()
        size = (cases.x.shape[-2], cases.x.shape[-1])
        enlarged: Tensor = LayerAttribution.interpolate(coarse, size, "bilinear")
        return enlarged[:, 0]

    return explain


def _blocks(x: Tensor, target: Tensor, rows: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Inputs that gradients are wanted for, and their targets, as many as fit at once."""
    for block, of in zip(torch.split(x.detach(), rows), torch.split(target, rows), strict=True):
        yield block.clone().requires_grad_(), of
